//! What services may do to the host: variables, `extends`, `include` and the forms of volumes, as Compose 2.40.3 resolves them.

use container_files::compose::{ComposeFile, Rights, parse, rights};

fn of(files: &[(&str, &str)]) -> Vec<Rights> {
    let file = |path: &str| -> Option<ComposeFile> {
        let (_, text) = files.iter().find(|(name, _)| *name == path)?;
        Some(parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{fault:?} in {text}")))
    };
    let known = |name: &str| (name == "CONTEXT_DIR").then(|| ".".to_owned());
    rights(
        &file("docker-compose.yaml").expect("the first file"),
        &known,
        &file,
    )
}

fn main_of(keys: &str) -> Rights {
    let text = format!("services:\n  main:\n    image: a\n    {keys}\n");
    of(&[("docker-compose.yaml", &text)]).remove(0)
}

/// Source, target, read only.
fn binds(rights: &Rights) -> Vec<(&str, &str, bool)> {
    let each = rights.binds.iter();
    each.map(|b| (b.source.as_str(), b.target.as_str(), b.read_only))
        .collect()
}

#[test]
fn privileged_is_what_compose_takes_for_true() {
    for yes in [
        "true",
        "True",
        "yes",
        "on",
        "y",
        "\"true\"",
        "\"yes\"",
        "${P:-true}",
    ] {
        assert!(
            main_of(&format!("privileged: {yes}")).privileged.is_some(),
            "{yes}"
        );
    }
    for no in ["false", "no", "off", "\"false\"", "${P:-false}", "${P}"] {
        assert_eq!(main_of(&format!("privileged: {no}")).privileged, None, "{no}");
    }
}

#[test]
fn a_bind_is_a_path_in_either_form() {
    let one = |volume: &str| {
        let rights = main_of(&format!("volumes: [{volume}]"));
        binds(&rights)
            .first()
            .map(|(source, _, ro)| ((*source).to_owned(), *ro))
    };
    let yes = |source: &str, ro: bool| Some((source.to_owned(), ro));
    assert_eq!(one("./d:/d"), yes("d", false));
    assert_eq!(one("./d/../../x:/d:ro"), yes("../x", true));
    assert_eq!(one("./d:/d:RO"), yes("d", false));
    assert_eq!(one("\"~/x:/d:z,ro\""), yes("~/x", true));
    assert_eq!(one("\"${CONTEXT_DIR}/x:/d:ro\""), yes("x", true));
    assert_eq!(one("\"${X:-./d}:/d:ro\""), yes("d", true));
    assert_eq!(one("\"$HOME/x:/d:ro\""), yes("/${HOME}/x", true));
    assert_eq!(one("\"./$$x:/d:ro\""), yes("$x", true));
    assert_eq!(
        one("{type: bind, source: d, target: /d, read_only: \"true\"}"),
        yes("d", true)
    );
    assert_eq!(one("{type: bind, source: /d, target: /d}"), yes("/d", false));
    for none in [
        "d:/d",
        "/d",
        "\"$$x:/d\"",
        "{type: volume, source: ./d, target: /d}",
        "{type: bind, target: /d}",
        "{type: tmpfs, target: /d}",
    ] {
        assert_eq!(one(none), None, "{none}");
    }
}

#[test]
fn the_last_volume_of_a_target_counts() {
    let rights = main_of("volumes: [\"./a:/d\", \"./b:/d:ro\"]");
    assert_eq!(binds(&rights), [("b", "/d", true)]);
    let rights = main_of("volumes: [\"./a:/d\", \"vol:/d\"]");
    assert_eq!(binds(&rights), []);
}

#[test]
fn a_named_volume_may_be_a_folder_of_the_host() {
    let one = |volume: &str, options: &str| {
        let text = format!(
            "services:\n  main: {{image: a, volumes: [\"{volume}\"]}}\nvolumes: {{vol: {{driver_opts: {{{options}}}}}}}\n"
        );
        let all = of(&[("docker-compose.yaml", &text)]);
        binds(&all[0])
            .first()
            .map(|(source, _, ro)| ((*source).to_owned(), *ro))
    };
    let etc = |ro: bool| Some(("/etc".to_owned(), ro));
    assert_eq!(one("vol:/d", "type: none, o: bind, device: /etc"), etc(false));
    assert_eq!(one("vol:/d:ro", "type: none, o: bind, device: /etc"), etc(true));
    assert_eq!(
        one("vol:/d", "type: none, o: \"rbind,ro\", device: /etc"),
        etc(true)
    );
    assert_eq!(
        one("vol:/d", "type: nfs, o: \"addr=10.0.0.1,rw\", device: \":/x\""),
        None
    );
    assert_eq!(one("vol:/d", "type: tmpfs, device: tmpfs"), None);
    assert_eq!(one("other:/d", "type: none, o: bind, device: /etc"), None);
}

#[test]
fn a_service_has_what_it_extends() {
    let text = "\
services:
  base: {image: a, privileged: true, cap_add: [A], volumes: [\"./base:/b:ro\", \"./over:/o\"]}
  same: {extends: base, cap_add: [B], volumes: [\"./own:/o:ro\"]}
  less: {extends: {service: same}, privileged: false}
";
    let all = of(&[("docker-compose.yaml", text)]);
    let [base, same, less] = all.as_slice() else {
        panic!("{all:#?}")
    };
    assert_eq!(base.capabilities.len(), 1);
    let names: Vec<&str> = same.capabilities.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["A", "B"]);
    assert_eq!(binds(same), [("base", "/b", true), ("own", "/o", true)]);
    assert!(same.privileged.is_some());
    assert_eq!(less.privileged, None);
    assert_eq!(binds(less), binds(same));
}

#[test]
fn paths_of_another_file_start_beside_it() {
    let top = "\
include:
  - sub/inc.yaml
  - {path: sub/deep/more.yaml, project_directory: .}
services:
  main:
    extends: {file: sub/base.yaml, service: base}
";
    let all = of(&[
        ("docker-compose.yaml", top),
        (
            "sub/base.yaml",
            "services:\n  base: {volumes: [\"./d:/d\", \"../up:/u\", \"../../out:/o\", \"/a:/a\", \"~/h:/h\"]}\n  other: {privileged: true}\n",
        ),
        (
            "sub/inc.yaml",
            "services:\n  inc: {extends: {file: deep/more.yaml, service: m}, volumes: [\"./i:/i\"]}\n",
        ),
        ("sub/deep/more.yaml", "services:\n  m: {volumes: [\"./m:/m\"]}\n"),
    ]);
    let [main, inc, more] = all.as_slice() else {
        panic!("{all:#?}")
    };
    let sources: Vec<&str> = main.binds.iter().map(|bind| bind.source.as_str()).collect();
    assert_eq!(sources, ["sub/d", "up", "../out", "/a", "~/h"]);
    assert_eq!(main.privileged, None);
    // The place is in the file that people opened.
    assert_eq!(
        top.get(main.binds[0].span.clone()),
        Some("{file: sub/base.yaml, service: base}")
    );
    assert_eq!(binds(inc), [("sub/deep/m", "/m", false), ("sub/i", "/i", false)]);
    assert_eq!(top.get(inc.binds[1].span.clone()), Some("sub/inc.yaml"));
    assert_eq!(binds(more), [("m", "/m", false)]);
}

#[test]
fn circles_and_files_that_are_not_there_end() {
    let text = "include: [docker-compose.yaml, docker-compose.yaml, no.yaml]\nservices:\n  a: {extends: b, privileged: true}\n  b: {extends: a}\n  c: {extends: {file: no.yaml, service: c}}\n  d: {extends: nobody}\n";
    let all = of(&[("docker-compose.yaml", text)]);
    assert!(all.len() >= 4 && all.len() <= 4 * 65, "{}", all.len());
    assert!(all[1].privileged.is_some());
}

#[test]
fn what_is_reset_is_as_if_nobody_had_written_it() {
    let rights =
        main_of("cap_add: !reset [A]\n    privileged: !reset true\n    volumes: !override [\"./a:/a\"]");
    assert_eq!(rights.privileged, None);
    assert_eq!(rights.capabilities, []);
    assert_eq!(binds(&rights), [("a", "/a", false)]);
}
