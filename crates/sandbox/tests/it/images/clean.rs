//! What crashes leave, and images that nobody names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

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
    assert_eq!(store.store.clean(false).unwrap(), [line]);
    assert!(!store.root(&image("old").id()).exists());
    assert!(store.root(&image("new").id()).exists());
    assert!(store.store.clean(false).unwrap().is_empty());
}
