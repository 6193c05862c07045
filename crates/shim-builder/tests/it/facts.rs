//! Constants and paths of modules.

use shim_builder::{PythonFacts, python_facts};

fn facts(text: &str) -> PythonFacts {
    python_facts(text).unwrap_or_else(|| panic!("no Python: {text}"))
}

fn paths(text: &str) -> Vec<(String, String)> {
    let all = facts(text).paths.into_iter();
    let at = |span: findings::Span| text.get(span.start..span.end).unwrap_or_default().to_owned();
    all.map(|path| (path.value, at(path.span))).collect()
}

fn values(text: &str) -> Vec<String> {
    paths(text).into_iter().map(|(path, _)| path).collect()
}

#[test]
fn constants_know_their_name_and_whether_they_are_compared() {
    let text = "'''doc'''\nEXPECTED = {'a': [\"x\" 'y', -1_000.5]}\nself.want: str = 'w'\ndef f():\n    '''doc'''\n    assert g('p', 2) , 'no'\n    if h == 0x1F: q('z')\n";
    let found: Vec<(String, bool, Option<String>, bool)> = facts(text)
        .constants
        .into_iter()
        .map(|c| (c.text.value, c.string, c.assigned, c.compared))
        .collect();
    let expected = Some("EXPECTED".to_owned());
    assert_eq!(
        found,
        [
            ("a".to_owned(), true, expected.clone(), false),
            ("xy".to_owned(), true, expected.clone(), false),
            ("1_000.5".to_owned(), false, expected, false),
            ("w".to_owned(), true, Some("want".to_owned()), false),
            ("p".to_owned(), true, None, true),
            ("2".to_owned(), false, None, true),
            ("no".to_owned(), true, None, true),
            ("0x1F".to_owned(), false, None, true),
            ("z".to_owned(), true, None, false),
        ]
    );
}

#[test]
fn paths_are_put_together_from_what_the_module_says() {
    let text = "import os\nfrom pathlib import Path\nAPP = Path('/app')\nOUT: str = str(APP / 'out')\n\ndef test():\n    assert (APP / 'a.csv').exists()\n    open(os.path.join(OUT, 'b.csv'))\n    open(f'{OUT}/c.csv')\n    APP.joinpath('d', 'e')\n    open(OUT + '.log')\n    open(f'{APP / name}/f')\n    ','.join('/x/')\n    run('/bin/sh -c x')\n";
    assert_eq!(
        values(text),
        [
            "/app",
            "/app/out",
            "/app/a.csv",
            "/app/out/b.csv",
            "/app/out/c.csv",
            "/app/d/e",
            "/app/out.log",
            "/x/",
        ]
    );
}

#[test]
fn a_name_with_two_values_is_not_known() {
    assert_eq!(values("A = '/a'\nA = '/b'\nopen(A + '/c')\n"), ["/a", "/b", "/c"]);
}

#[test]
fn places_are_those_of_the_whole_expression() {
    assert_eq!(
        paths("é = 1\nopen(Path('/app') / \"x\")\n"),
        [("/app/x".to_owned(), "Path('/app') / \"x\"".to_owned())]
    );
}

#[test]
fn values_that_double_stay_short_and_what_is_no_python_is_nothing() {
    let doubled: Vec<String> = (0..64).map(|i| format!("a{} = a{i} + a{i}\n", i + 1)).collect();
    let text = "a0 = '/aaaaaaaaaaaaaaaa'\n".to_owned() + &doubled.concat();
    assert!(values(&text).iter().all(|path| path.len() <= 1024));
    for text in ["def", "x = (", "\0", "print 1"] {
        assert_eq!(python_facts(text), None, "{text:?}");
    }
    assert_eq!(python_facts(&format!("x = {}1", "-".repeat(100_000))), None);
}
