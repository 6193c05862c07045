//! What can be added, and how it is unpacked.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use sandbox::Store;
use serde_json::{Value, json};

use super::make::{Layer, Made, TestStore, digest, gzip, index, tarred, tree, zstd};
use super::refused::refusal;

pub(super) fn image(text: &str) -> Made {
    Made::new([Layer::default().file("f", 0o644, text)])
}

#[test]
fn every_form_of_an_image_gives_the_same_id_and_files() {
    let image = Made::new([
        Layer::default().file("a", 0o640, "one"),
        Layer::default().file("b", 0o755, "two"),
        Layer::default().file("a", 0o640, "one"),
    ]);
    let mut packed = image.clone();
    for (n, pack) in [
        (0, zstd as fn(&[u8]) -> Vec<u8>),
        (1, |plain: &[u8]| plain.to_vec()),
    ] {
        packed.layers[n].1 = pack(&packed.layers[n].0);
    }
    let store = TestStore::new();
    let layout = image.layout("me/x:1");
    let mut modern = tarred(&image.layout("1"));
    // What newer versions of `docker save` write: a layout, and a manifest.json beside.
    modern.truncate(modern.len() - 1024);
    let config = format!("blobs/{}", image.id().replace(':', "/"));
    let tags = json!([{"Config": config, "RepoTags": ["me/x:1"], "Layers": []}]);
    let modern = Layer(modern).bytes("manifest.json", 0o644, &serde_json::to_vec(&tags).unwrap());
    for (name, bytes) in [
        ("layout.tar", tarred(&layout)),
        ("layout.tar.gz", gzip(&tarred(&layout))),
        ("layout.tar.zst", zstd(&tarred(&packed.layout("me/x:1")))),
        ("saved.tar", image.saved(&["me/x:1"])),
        ("saved-modern.tar", modern.done()),
    ] {
        let store = TestStore::new();
        let added = store.store.add(&store.write(name, &bytes), None).unwrap();
        assert_eq!(added[0].name, "docker.io/me/x:1", "{name}");
        assert_eq!(added[0].id, image.id(), "{name}");
        assert_eq!(added[0].bytes, 9, "{name}");
        assert_eq!(
            tree(&store.root(&image.id())),
            ["a 640 one", "b 755 two"],
            "{name}"
        );
        assert_eq!(store.store.list().unwrap(), added, "{name}");
    }
    let added = store.store.add(&store.layout("folder", &layout), None).unwrap();
    assert_eq!(added[0].id, image.id());
    assert!(added[0].manifest.is_some());
}

#[test]
fn a_second_time_only_the_name_is_added() {
    let store = TestStore::new();
    let root = store.add(&image("x")).unwrap();
    let inode = fs::metadata(&root).unwrap().ino();
    let layout = store.path("layout");
    let again = store.store.add(&layout, Some("other:2")).unwrap();
    assert_eq!(again[0].name, "docker.io/library/other:2");
    assert_eq!(fs::metadata(&root).unwrap().ino(), inode);
    let names: Vec<String> = store
        .store
        .list()
        .unwrap()
        .into_iter()
        .map(|image| image.name)
        .collect();
    assert_eq!(names, ["docker.io/library/other:2", "docker.io/library/x:latest"]);
}

#[test]
fn several_processes_at_once_add_it_once() {
    let store = TestStore::new();
    let layout = store.layout("layout", &image("x").layout("x:1"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| store.store.add(&layout, None).unwrap());
        }
    });
    assert_eq!(store.store.list().unwrap().len(), 1);
    assert_eq!(fs::read_dir(store.store.folder().join("tmp")).unwrap().count(), 0);
}

#[test]
fn later_layers_replace_hide_and_add() {
    let store = TestStore::new();
    let lower = Layer::default()
        .folder("d/", 0o755)
        .file("d/gone", 0o644, "")
        .file("d/kept", 0o644, "old")
        .folder("o/", 0o755)
        .file("o/lower", 0o644, "")
        .folder("o/sub/", 0o700)
        .file("o/sub/lower", 0o644, "")
        .file("becomes-folder", 0o644, "")
        .folder("becomes-file/", 0o755)
        .file("becomes-file/x", 0o644, "")
        .link("l", "d")
        .file("implied/deep/f", 0o600, "f")
        .folder("whole/", 0o755)
        .file("whole/x", 0o644, "");
    let upper = Layer::default()
        .file("d/kept", 0o600, "new")
        .file("d/.wh.gone", 0o644, "")
        // Before and after the mark: of this layer, so both stay.
        .file("o/sub/before", 0o644, "b")
        .file("o/.wh..wh..opq", 0o644, "")
        .file("o/after", 0o644, "a")
        .file("becomes-folder/in", 0o644, "i")
        .file("becomes-file", 0o644, "f")
        .file("l/through", 0o644, "t")
        .file(".wh.whole", 0o644, "")
        .file(".wh.never-there", 0o644, "")
        .file(".wh..wh.plnk", 0o644, "")
        .hard_link("hard", "d/kept")
        .file("d/.wh.kept", 0o644, "");
    let root = store.add(&Made::new([lower, upper])).unwrap();
    assert_eq!(
        tree(&root),
        [
            "becomes-file 644 f",
            "becomes-folder/ 755",
            "becomes-folder/in 644 i",
            "d/ 755",
            "d/kept 600 new",
            "d/through 644 t",
            "hard 600 new",
            "implied/ 755",
            "implied/deep/ 755",
            "implied/deep/f 600 f",
            "l -> d",
            "o/ 755",
            "o/after 644 a",
            "o/sub/ 700",
            "o/sub/before 644 b",
        ]
    );
    let inode = |name: &str| fs::metadata(root.join(name)).unwrap().ino();
    assert_eq!(inode("hard"), inode("d/kept"));
    assert_eq!(fs::metadata(root.join("hard")).unwrap().mtime(), 1_600_000_000);
}

#[test]
fn closed_folders_can_still_be_filled_by_later_layers() {
    let store = TestStore::new();
    let lower = Layer::default()
        .folder("./", 0o511)
        .folder("closed/", 0o000)
        .file("closed/a", 0o000, "");
    let upper = Layer::default()
        .file("closed/b", 0o644, "")
        .file("closed/.wh.a", 0o644, "");
    let root = store.add(&Made::new([lower, upper])).unwrap();
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(""), mode("closed")), (0o511, 0));
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(root.join("closed/b").exists() && !root.join("closed/a").exists());
}

#[test]
fn long_names_and_extended_headers_are_read() {
    let store = TestStore::new();
    let long = format!("{}/{}", "d".repeat(200), "f".repeat(200));
    let record = |key: &str, value: &str| {
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len() + 1;
        while format!("{length}{rest}").len() != length {
            length += 1;
        }
        format!("{length}{rest}")
    };
    let pax =
        record("path", &format!("{long}-pax")) + &record("mtime", "1500000000.25") + &record("size", "3");
    let kinds = tar::EntryType::new;
    let layer = Layer::default()
        .raw(
            kinds(b'g'),
            b"pax_global_header",
            b"",
            record("comment", "x").as_bytes(),
            (0, 0, 0),
        )
        .raw(
            kinds(b'L'),
            b"././@LongLink",
            b"",
            format!("{long}-gnu\0").as_bytes(),
            (0, 0, 0),
        )
        .file("cut", 0o644, "gnu")
        .raw(kinds(b'x'), b"PaxHeaders/x", b"", pax.as_bytes(), (0, 0, 0))
        .file("cut", 0o644, "pax")
        .raw(
            kinds(b'K'),
            b"././@LongLink",
            b"",
            format!("{}\0", "t".repeat(300)).as_bytes(),
            (0, 0, 0),
        )
        .link("link", "cut");
    let root = store.add(&Made::new([layer])).unwrap();
    let read = |end: &str| fs::read_to_string(root.join(format!("{long}{end}"))).unwrap();
    assert_eq!((read("-gnu"), read("-pax")), ("gnu".into(), "pax".into()));
    let meta = fs::metadata(root.join(format!("{long}-pax"))).unwrap();
    assert_eq!((meta.mtime(), meta.mtime_nsec()), (1_500_000_000, 250_000_000));
    assert_eq!(root.join("link").read_link_utf8().unwrap(), "t".repeat(300));
}

#[test]
fn owners_are_shifted_for_root_and_setuid_dies_with_the_owner() {
    let layer = || {
        Layer::default()
            .owned("app", 0o4755, "", (1234, 99))
            .owned("beyond", 0o2755, "", (70_000, 4_000_000_000))
            .folder("shared/", 0o2775)
    };
    let plain = TestStore::new();
    let root = plain.add(&Made::new([layer()])).unwrap();
    assert_eq!(tree(&root), ["app 755 ", "beyond 755 ", "shared/ 2775"]);
    if !rustix::process::geteuid().is_root() {
        super::make::skipped("owners_are_shifted_for_root", "root");
        return;
    }
    let mut shifted = TestStore::new();
    shifted.store = Store::new(shifted.store.folder().to_owned());
    let root = shifted.add(&Made::new([layer()])).unwrap();
    let owner = |name: &str| {
        let meta = fs::symlink_metadata(root.join(name)).unwrap();
        (meta.uid(), meta.gid(), meta.mode() & 0o7777)
    };
    let base = owner("").0;
    assert!(base >= 1_879_048_192, "{base}");
    assert_eq!(owner("app"), (base + 1234, base + 99, 0o4755));
    assert_eq!(owner("beyond"), (base + 65_534, base + 65_534, 0o2755));
    assert_eq!(owner("shared"), (base, base, 0o2775));
    // Nobody else on the host reaches any of them.
    assert_eq!(
        fs::metadata(shifted.store.folder()).unwrap().mode() & 0o777,
        0o700
    );
}

#[test]
fn the_image_for_this_machine_is_picked_out_of_nested_indexes() {
    let ours = image("ours");
    let mut other = image("other");
    other.architecture = "s390x".to_owned();
    let platform = |mut descriptor: Value, architecture: &str| {
        descriptor["platform"] = json!({"os": "linux", "architecture": architecture});
        descriptor
    };
    let (mut files, first) = other.blobs();
    let (more, second) = ours.blobs();
    files.extend(more);
    let mut attestation = platform(second.clone(), "unknown");
    attestation["annotations"] = json!({"vnd.docker.reference.type": "attestation-manifest"});
    let inner = json!({"manifests": [attestation, platform(first.clone(), "s390x"), platform(second, &ours.architecture)]});
    let inner = serde_json::to_vec(&inner).unwrap();
    let nested = json!({"digest": digest(&inner), "size": inner.len(),
        "annotations": {"io.containerd.image.name": "ghcr.io/a/b:2", "org.opencontainers.image.ref.name": "2"}});
    files.push((format!("blobs/{}", digest(&inner).replace(':', "/")), inner));
    let alone = files.clone();
    files.extend(index(&[nested]));
    let store = TestStore::new();
    let added = store.store.add(&store.layout("layout", &files), None).unwrap();
    assert_eq!(
        (added[0].name.as_str(), &added[0].id),
        ("ghcr.io/a/b:2", &ours.id())
    );

    // Also when only its configuration says for which machine it is.
    let mut files = alone;
    files.extend(index(&[first]));
    let why = refusal(store.store.add(&store.layout("foreign", &files), Some("x")));
    assert!(why.ends_with("only for: linux/s390x"), "{why}");
}
