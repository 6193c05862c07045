//! Any text is read or refused, quickly.

use container_files::{Dockerfile, ImageSettings, lay_over, parse};
use proptest::prelude::*;

fn sound(text: &str, file: &Dockerfile) {
    let places = file
        .changes
        .iter()
        .map(|(_, place)| place)
        .chain(file.from.iter().map(|(_, place)| place));
    for place in places {
        assert!(
            text.get(place.clone()).is_some_and(|part| !part.is_empty()),
            "{place:?} in {text:?}"
        );
    }
    assert!(
        file.workdir
            .as_ref()
            .is_none_or(|path| path.starts_with('/') && !path.contains("//"))
    );
}

fn check(text: &str) -> bool {
    let base = ImageSettings::default();
    if let Ok(layered) = lay_over(text, &base) {
        assert!(layered.runs.iter().all(|run| run.workdir.starts_with('/')));
    }
    match parse(text) {
        Ok(file) => {
            sound(text, &file);
            true
        }
        Err(fault) => {
            assert!(text.is_char_boundary(fault.offset), "{fault:?}");
            assert!(!fault.message.is_empty());
            false
        }
    }
}

#[test]
fn long_and_deep_files_are_read() {
    for piece in ["${a:-", "$", "'", "\"", "\\", "a=b ", "${", "\\\n", "<<A "] {
        for instruction in ["WORKDIR /", "ENV x=", "RUN ", "COPY ", "ARG a=", "USER "] {
            check(&format!("FROM a\n{instruction}{}\n", piece.repeat(20_000)));
        }
    }
    for line in [
        "ENTRYPOINT []\n",
        "FROM a\n",
        "ENV a=$a$a\n",
        "ONBUILD RUN x\n",
        "# c\n",
        "RUN <<A\nA\n",
    ] {
        check(&format!("FROM a\n{}", line.repeat(5_000)));
    }
}

#[test]
fn what_nobody_writes_is_refused() {
    let long = format!("FROM a\n{}", "RUN x\n".repeat(400_000));
    assert_eq!(parse(&long).expect_err("refused").message, "longer than 2 MiB");
    let stages = "FROM a\n".repeat(300);
    let fault = parse(&stages).expect_err("refused");
    assert_eq!(
        (fault.message.as_str(), fault.offset),
        ("more than 256 stages", 256 * 7)
    );
}

#[test]
fn values_that_double_stay_bounded() {
    let text = format!("FROM scratch\nENV a=xxxxxxxx\n{}", "ENV a=$a$a\n".repeat(200));
    assert!(check(&text));
}

#[test]
fn a_large_file_is_read_in_linear_time() {
    for line in [
        "ENV $x=1\n",
        "ENV v@=1\n",
        "ENV a=$a\n",
        "ARG a@=$b\n",
        "WORKDIR a/$b\n",
        "ENTRYPOINT []\n",
    ] {
        let lines: String = (0..80_000).map(|i| line.replace('@', &i.to_string())).collect();
        let start = std::time::Instant::now();
        assert!(check(&format!("FROM a\n{lines}")));
        assert!(start.elapsed().as_secs() < 20, "{line}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/.:]{1,8}",
        Just("$a".to_owned()),
        Just("${b:-/c}".to_owned()),
        Just("\"q $a\"".to_owned()),
        Just("'q'".to_owned()),
        Just("\\$x".to_owned()),
        Just("é".to_owned()),
        "\\PC{1,6}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "RUN",
        "copy",
        "ADD",
        "ENV",
        "ARG",
        "WORKDIR",
        "User",
        "LABEL",
        "CMD",
        "ENTRYPOINT",
    ]);
    let end = prop::sample::select(vec!["\n", "\r\n", " \\\n  more\n", "\n# note\n\n"]);
    (name, prop::collection::vec(word(), 1..4), end, any::<bool>()).prop_map(|(name, words, end, pairs)| {
        let text = if pairs {
            format!("k={}", words.join(" l="))
        } else {
            words.join(" ")
        };
        let text = if matches!(name, "copy" | "ADD") {
            format!("{text} /d")
        } else {
            text
        };
        format!("{name} {text}{end}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn files_of_the_grammar(stages in prop::collection::vec((word(), prop::collection::vec(line(), 0..6)), 1..3), bom in any::<bool>()) {
        let mut text = if bom { "\u{feff}".to_owned() } else { String::new() };
        for (image, lines) in &stages {
            text.extend(["FROM ", &image.replace(' ', ""), "\n", &lines.concat()]);
        }
        check(&text);
    }

    #[test]
    fn any_text(text in "\\PC{0,200}|[A-Z \\n\\r\\t\\\\$#<'\"{}\\[\\]=a:-]{0,200}") {
        check(&text);
        check(&format!("FROM a\n{text}"));
    }
}

#[test]
fn most_files_of_the_grammar_parse() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(line(), 0..6);
    let good = (0..200)
        .filter(|_| {
            let lines = strategy.new_tree(&mut runner).expect("a tree").current();
            check(&format!("FROM a\n{}", lines.concat()))
        })
        .count();
    assert!(good > 66, "{good} of 200");
}
