//! Layers that want out.

use std::fs;

use proptest::prelude::*;
use sandbox::{Bounds, StoreError};
use tar::EntryType;

use super::make::{Layer, Made, TestStore, tree};

/// Adds the layers; the files of the image, or why not. Whatever happens, what lies outside stays as it is.
fn unpacked(layers: Vec<Layer>) -> Result<Vec<String>, String> {
    let store = TestStore::in_memory();
    let outside = store.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "untouched").unwrap();
    let outcome = store.add(&Made::new(layers));
    assert_eq!(tree(&outside), ["file 644 untouched"]);
    let beside: Vec<String> = store
        .path("")
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    assert_eq!(beside.len(), 3, "{beside:?}");
    assert_eq!(fs::read_dir(store.store.folder().join("tmp")).unwrap().count(), 0);
    match outcome {
        Ok(root) => Ok(tree(&root)),
        Err(StoreError::Refused(why)) => Err(why),
        Err(error) => panic!("{error}"),
    }
}

fn refused(layers: Vec<Layer>, part: &str) {
    let why = unpacked(layers).unwrap_err();
    assert!(why.contains(part), "{why}");
}

#[test]
fn names_that_leave_are_refused() {
    let file = |path: &str| Layer::default().file(path, 0o644, "x");
    refused(vec![file("../outside/file")], "it leaves the image");
    refused(vec![file("a/../../outside/file")], "it leaves the image");
    refused(vec![file("a/..")], "it leaves the image");
    refused(
        vec![Layer::default().hard_link("h", "../../../outside/file")],
        "it leaves the image",
    );
    refused(vec![file("a/.wh...")], "cannot be unpacked");
    let hard = |target: &str| Layer::default().hard_link("h", target);
    refused(
        vec![hard("/etc/passwd")],
        "the entry `h` of a layer is refused: it is a second name of a file that the image does not have",
    );
    refused(vec![hard("/")], "it is a second name of a folder");
    refused(
        vec![
            Layer::default()
                .link("l", "/proc/1/root")
                .hard_link("h", "l/etc/passwd"),
        ],
        "it is a second name of a file that the image does not have",
    );
    // Absolute is from the image's root on.
    assert_eq!(
        unpacked(vec![file("/etc/x")]).unwrap(),
        ["etc/ 755", "etc/x 644 x"]
    );
}

#[test]
fn links_lead_nowhere_but_inside() {
    for target in [
        "../../../../outside",
        "/",
        "/../../..",
        "/proc/self/cwd",
        "/proc/1/root",
    ] {
        let layers = vec![
            Layer::default()
                .link("l", target)
                .file("l/outside/file", 0o644, "x"),
        ];
        let files = unpacked(layers).unwrap();
        assert!(
            files.iter().any(|line| line.ends_with("outside/file 644 x")),
            "{target}: {files:?}"
        );
    }
    // By another layer, through a second link, and as the last name.
    let two = vec![
        Layer::default().link("a", "b").link("b", "../../outside"),
        Layer::default().file("a/file", 0o644, "x"),
    ];
    assert!(unpacked(two).unwrap().contains(&"a/file 644 x".to_owned()));
    let last = vec![
        Layer::default()
            .link("f", "../../outside/file")
            .file("f", 0o644, "x"),
    ];
    assert_eq!(unpacked(last).unwrap(), ["f 644 x"]);
    let folder = vec![Layer::default().link("d", "../../outside").folder("d/", 0o777)];
    assert_eq!(unpacked(folder).unwrap(), ["d/ 777"]);
}

#[test]
fn hard_links_are_to_files_inside() {
    let outside = vec![Layer::default().link("l", "/outside").hard_link("h", "l/file")];
    refused(
        outside,
        "it is a second name of a file that the image does not have",
    );
    // The link itself gets a second name, not what it leads to.
    let to_link = vec![
        Layer::default()
            .link("l", "../../outside/file")
            .hard_link("h", "l")
            .file("h", 0o600, "x"),
    ];
    assert_eq!(unpacked(to_link).unwrap(), ["h 600 x", "l -> ../../outside/file"]);
    refused(
        vec![Layer::default().folder("d/", 0o755).hard_link("h", "d")],
        "it is a second name of a folder",
    );
    refused(
        vec![Layer::default().hard_link("h", "nothing")],
        "that the image does not have",
    );
    let itself = vec![Layer::default().file("h", 0o644, "x").hard_link("h", "./h")];
    assert_eq!(unpacked(itself).unwrap(), ["h 644 x"]);
}

#[test]
fn whiteouts_reach_only_inside() {
    let through = vec![
        Layer::default().link("l", "../../outside"),
        Layer::default().file("l/.wh.file", 0o644, ""),
    ];
    assert_eq!(unpacked(through).unwrap(), ["l -> ../../outside"]);
    let opaque = vec![
        Layer::default().link("l", "../../outside"),
        Layer::default().file("l/.wh..wh..opq", 0o644, ""),
    ];
    assert_eq!(unpacked(opaque).unwrap(), ["l -> ../../outside"]);
    let whole = vec![
        Layer::default().file("f", 0o644, ""),
        Layer::default().file(".wh..wh..opq", 0o644, ""),
    ];
    assert!(unpacked(whole).unwrap().is_empty());
}

#[test]
fn devices_and_pipes_are_left_out_and_loops_end() {
    let meta = (0o666, 0, 0);
    let layer = Layer::default()
        .raw(EntryType::Char, b"dev/null", b"", b"", meta)
        .raw(EntryType::Block, b"disk", b"", b"", meta)
        .raw(EntryType::Fifo, b"pipe", b"", b"", meta)
        .raw(EntryType::new(b'Z'), b"what", b"", b"abc", meta)
        .file("f", 0o644, "x");
    assert_eq!(unpacked(vec![layer]).unwrap(), ["f 644 x"]);
    let looped = vec![
        Layer::default()
            .link("a", "b")
            .link("b", "a")
            .file("a/f", 0o644, "x"),
    ];
    assert_eq!(unpacked(looped).unwrap(), ["a/ 755", "a/f 644 x", "b -> a"]);
}

#[test]
fn names_too_long_and_sparse_files_are_refused() {
    let long = format!("{}\0", "d/".repeat(3000));
    let name = Layer::default()
        .raw(EntryType::new(b'L'), b"n", b"", long.as_bytes(), (0, 0, 0))
        .file("x", 0o644, "");
    refused(vec![name], "its path has more than 4096 bytes");
    let huge = vec![b'x'; (1 << 20) + 1];
    let name = Layer::default()
        .raw(EntryType::new(b'L'), b"n", b"", &huge, (0, 0, 0))
        .file("x", 0o644, "");
    refused(vec![name], "more than a megabyte");
    refused(
        vec![Layer::default().raw(EntryType::GNUSparse, b"s", b"", b"", (0, 0, 0))],
        "sparse",
    );
    refused(
        vec![Layer::default().raw(
            EntryType::XHeader,
            b"p",
            b"",
            b"22 GNU.sparse.major=1\n",
            (0, 0, 0),
        )],
        "sparse",
    );
    refused(
        vec![Layer::default().raw(EntryType::XHeader, b"p", b"", b"99 path=x\n", (0, 0, 0))],
        "extended header",
    );
}

/// Names that meet each other: folders, files and links of a few names, with ways out.
fn path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ab]",
        "[ab]",
        "[ab]",
        Just("..".to_owned()),
        Just(".wh.a".to_owned()),
        Just(".wh..wh..opq".to_owned()),
        Just("/".to_owned())
    ];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.join("/"))
}

fn entry() -> impl Strategy<Value = (u8, String, String, u32)> {
    let kind = prop_oneof![Just(b'0'), Just(b'5'), Just(b'2'), Just(b'1'), any::<u8>()];
    let target = prop_oneof![
        path(),
        Just("../../outside".to_owned()),
        Just("/outside/file".to_owned())
    ];
    (kind, path(), target, 0..0o7777_u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_mix_of_entries_touches_what_is_outside(layers in proptest::collection::vec(proptest::collection::vec(entry(), 1..8), 1..4)) {
        let layers = layers.into_iter().map(|entries| {
            entries.into_iter().fold(Layer::default(), |layer, (kind, path, target, mode)| {
                let bytes: &[u8] = if kind == b'0' { b"hostile" } else { b"" };
                layer.raw(EntryType::new(kind), path.as_bytes(), target.as_bytes(), bytes, (mode, 0, 0))
            })
        });
        drop(unpacked(layers.collect()));
    }

    #[test]
    fn any_bytes_are_a_layer_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2000), at in 0..1024_usize, with in any::<u8>()) {
        let store = TestStore::in_memory();
        let bounded = store.store.clone().with_bounds(Bounds { bytes: 1 << 20, entries: 50 });
        // Bytes as they come; and an honest layer with one changed.
        let mut changed = Layer::default().file("a/b", 0o644, "x").link("l", "a").done();
        changed[at] = with;
        for stream in [bytes, changed] {
            let mut image = Made::new([]);
            image.layers.push((stream.clone(), stream.clone()));
            let layout = store.layout("layout", &image.layout("x:1"));
            drop(bounded.add(&layout, None));
            let archive = store.write("archive", &stream);
            prop_assert!(bounded.add(&archive, Some("x")).is_err());
        }
    }
}
