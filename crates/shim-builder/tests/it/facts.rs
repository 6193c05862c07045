//! Constants and paths of modules.

use proptest::prelude::*;
use shim_builder::{PythonFacts, PythonShape, python_facts};

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

/// The keys of the rewards that a module writes.
fn rewards(text: &str) -> Vec<Vec<String>> {
    let keys = |reward: shim_builder::PythonReward| {
        let keys = reward.entries.into_iter().map(|(key, _)| key.value);
        keys.collect::<Vec<_>>()
    };
    facts(text).rewards.into_iter().map(keys).collect()
}

#[test]
fn rewards_are_dicts_that_reach_reward_json_as_they_stand() {
    for text in [
        "with open('/logs/verifier/reward.json', 'w') as f:\n    json.dump({'a': 1, 'b': x}, f)\n",
        "d = {'a': 1, 'b': x}\nwith P.open() as g, (OUT / 'reward.json').open('w') as f:\n    f.write(json.dumps(d))\n",
        "import json\ndef main():\n    p = OUT / 'reward.json'\n    d = {'a': 1, 'b': x}\n    print(json.dumps(d))\n    p.write_text(json.dumps(d, indent=2))\n",
        "DIR = '/logs/verifier'\njson.dump({'a': 1, 'b': x}, open(f'{DIR}/reward.json', 'w'))\n",
    ] {
        assert_eq!(rewards(text), [["a", "b"]], "{text}");
    }
    for text in [
        // Another file, a dict that is changed or passed on, keys that only a run knows.
        "with open('/logs/verifier/details.json', 'w') as f:\n    json.dump({'a': 1}, f)\n",
        "d = {'a': 1}\nd['reward'] = 1\nopen('reward.json', 'w').write(json.dumps(d))\n",
        "d = {'a': 1}\nfill(d)\nopen('reward.json', 'w').write(json.dumps(d))\n",
        "d = {'a': 1}\nd = {'b': 1}\nopen('reward.json', 'w').write(json.dumps(d))\n",
        "json.dump({'a': 1, **more}, open('reward.json', 'w'))\n",
        "json.dump({key: 1}, open('reward.json', 'w'))\n",
        "p = p\np.write_text(json.dumps({'a': 1}))\n",
        "with open('reward.json') as f:\n    pass\nf.write(json.dumps({'a': 1}))\n",
    ] {
        assert!(rewards(text).is_empty(), "{text}");
    }
}

#[test]
fn values_of_rewards_have_a_shape_where_the_source_says_it() {
    let text =
        "json.dump({'a': [1], 'b': f'{x}', 'c': None, 'd': 1.0, 'e': f()}, open('reward.json', 'w'))\n";
    let all = facts(text).rewards.remove(0).entries;
    let shapes: Vec<PythonShape> = all.into_iter().map(|(_, shape)| shape).collect();
    assert_eq!(
        shapes,
        [
            PythonShape::Collection,
            PythonShape::Text,
            PythonShape::Nothing,
            PythonShape::Other,
            PythonShape::Other
        ]
    );
}

/// Pieces that modules with facts are made of.
const PIECES: [&str; 24] = [
    "A = ",
    "B: str = ",
    "A",
    "B",
    "'/app'",
    "\"é\"",
    "Path(",
    ")",
    " / ",
    " + ",
    "f'{A}/x'",
    "\n",
    "    ",
    "def f():\n",
    "with open(",
    " as f:\n",
    "json.dump(",
    "{'a': 1}",
    ", f",
    "os.path.join(",
    "assert ",
    " == ",
    "-1.5",
    "A.write_text(",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn places_lie_in_the_text_whatever_it_is(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
        let text: String = pieces.iter().map(|at| PIECES[*at]).collect();
        if let Some(facts) = python_facts(&text) {
            let constants = facts.constants.iter().map(|constant| constant.text.span);
            let rewards = facts.rewards.iter().map(|reward| reward.span);
            for span in constants.chain(facts.paths.iter().map(|path| path.span)).chain(rewards) {
                prop_assert!(text.get(span.start..span.end).is_some(), "{:?} of {:?}", span, text);
            }
        }
    }
}
