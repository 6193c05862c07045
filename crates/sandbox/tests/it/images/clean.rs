//! What crashes leave, and images that nobody names.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use sandbox::{Embedded, Engine as _, Image, ImageRequest, Pull};

use super::make::{Layer, Made, TestStore};

fn named(engine: &Embedded, name: &str) -> Image {
    let request = ImageRequest::Named {
        name: name.to_owned(),
        pull: Pull::Never,
    };
    engine.prepare(&request).unwrap()
}

#[test]
fn leftovers_and_nameless_images_go_and_what_is_used_stays() {
    let store = TestStore::new();
    let image = |text: &str| Made::new([Layer::default().folder("closed/", 0).file("f", 0o644, text)]);
    assert!(store.store.clean(false).unwrap().is_empty());
    assert!(!store.store.folder().exists(), "looking makes nothing");
    store.add(&image("old")).unwrap();
    let engine = Embedded::new(Vec::new()).with_store(store.store.clone());
    assert_eq!(named(&engine, "x").digest, Some(image("old").id()));
    // The name goes to another image.
    store.add(&image("new")).unwrap();
    // A crash in the middle of unpacking.
    let crashed = store.store.folder().join("tmp/1-0");
    fs::create_dir_all(crashed.join("image/root/a/b")).unwrap();
    fs::write(crashed.join("image/root/a/b/f"), "").unwrap();
    fs::create_dir_all(crashed.join("t0/x")).unwrap();
    fs::set_permissions(crashed.join("image/root/a"), fs::Permissions::from_mode(0o0)).unwrap();

    let would = store.store.clean(true).unwrap();
    assert_eq!(would, [format!("unfinished image `{crashed}`")]);
    assert!(crashed.exists());
    assert_eq!(engine.clean().unwrap(), would);
    assert!(!crashed.exists());
    assert!(store.root(&image("old").id()).exists(), "an engine uses it");
    drop(engine);
    let line = format!("image `{}` without a name", image("old").id());
    let file = "1 file(s) of images that are gone".to_owned();
    assert_eq!(store.store.clean(false).unwrap(), [line, file]);
    assert!(!store.root(&image("old").id()).exists());
    assert!(store.root(&image("new").id()).exists());
    assert!(store.store.clean(false).unwrap().is_empty());
}

#[test]
fn what_images_have_in_common_is_kept_once_and_goes_with_the_last() {
    let store = TestStore::new();
    let base = || {
        Layer::default()
            .file("same", 0o644, "text")
            .file("twin", 0o644, "text")
            .file("mode", 0o600, "text")
    };
    let one = Made::new([base(), Layer::default().file("own", 0o644, "1")]);
    let two = Made::new([base(), Layer::default().file("own", 0o644, "2")]);
    let (first, second) = (store.add(&one).unwrap(), store.add(&two).unwrap());
    let inode = |path: camino::Utf8PathBuf| fs::metadata(path).unwrap().ino();
    for name in ["same", "mode"] {
        assert_eq!(inode(first.join(name)), inode(second.join(name)), "{name}");
    }
    assert_ne!(inode(first.join("own")), inode(second.join("own")));
    // In one image equal files are still two: whoever moves one over the other must not find them to be one.
    for root in [&first, &second] {
        assert_ne!(inode(root.join("same")), inode(root.join("twin")));
        assert_ne!(inode(root.join("same")), inode(root.join("mode")));
    }
    let files = |lines: Vec<String>| lines.into_iter().find(|line| line.contains("file(s)"));
    // The first lost its name; what the second has too stays.
    assert_eq!(
        files(store.store.clean(false).unwrap()).unwrap(),
        "1 file(s) of images that are gone"
    );
    assert!(!first.exists() && second.join("same").exists());
    assert_eq!(fs::read_to_string(second.join("own")).unwrap(), "2");
    // A refused image leaves nothing but files that the next cleaning finds.
    let mut broken = Made::new([Layer::default().file("left", 0o644, "over")]);
    broken.layers.push((b"no layer".to_vec(), vec![7; 600]));
    assert!(store.add(&broken).is_err());
    assert_eq!(
        files(store.store.clean(false).unwrap()).unwrap(),
        "1 file(s) of images that are gone"
    );
}

#[test]
fn after_a_crash_no_file_is_taken_from_what_may_be_half_written() {
    let store = TestStore::new();
    let image = |text: &str| Made::new([Layer::default().file("f", 0o644, "text").file("own", 0o644, text)]);
    let first = store.add(&image("1")).unwrap();
    // The mark of a process that was killed while it added.
    let owners = store
        .store
        .folder()
        .join("files")
        .read_dir_utf8()
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let mark = owners.path().join("adding");
    assert!(!mark.exists());
    fs::write(&mark, "").unwrap();
    let second = store.add(&image("2")).unwrap();
    let inode = |path: camino::Utf8PathBuf| fs::metadata(path).unwrap().ino();
    assert_ne!(inode(first.join("f")), inode(second.join("f")));
    assert!(!mark.exists());
    let third = store.add(&image("3")).unwrap();
    assert_eq!(inode(second.join("f")), inode(third.join("f")));
}
