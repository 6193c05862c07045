//! Names, clearing, and links in the way.

use std::os::unix::fs::symlink;

use super::*;

fn temp() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    (folder, path)
}

#[test]
fn ids_become_harmless_names_that_stay_apart() {
    assert_eq!(folder_name("fix-bug_1.2"), "fix-bug_1.2");
    assert_eq!(folder_name("größe $x y"), "größe $x y");
    assert_eq!(folder_name("a\nb"), "a%0Ab");
    assert_eq!(folder_name(".."), "%2E.");
    assert_eq!(folder_name("../x"), "%2E.%2Fx");
    assert_eq!(folder_name("100%"), "100%25");
    assert_eq!(folder_name(""), "%");
    let a = folder_name(&"ä".repeat(150));
    let b = folder_name(&format!("{}b", "ä".repeat(149)));
    assert!(a.len() <= 200 && b.len() <= 200);
    assert_ne!(a, b);
}

#[test]
fn an_attempt_is_written_and_an_old_one_of_ours_cleared() {
    let (_keep, root) = temp();
    let target = prepare_results(&root.join("results"), "set").unwrap();
    let logs = TaskLogs::open(&target, "t").unwrap();
    let at = logs
        .write(AttemptKind::Nop, 1, None, &[("reward.txt", b"1".to_vec())])
        .unwrap();
    assert_eq!(std::fs::read(at.join("reward.txt")).unwrap(), b"1");
    let third = logs
        .write(AttemptKind::Oracle, 3, None, &[("solve.txt", b"x".to_vec())])
        .unwrap();
    assert_eq!(third, target.join("t/oracle-3"));
    std::fs::create_dir(target.join("t/oracle-x")).unwrap();
    std::fs::create_dir(target.join("t/oracle-1")).unwrap();
    std::fs::write(target.join("t/oracle-1/mine.txt"), b"keep").unwrap();
    std::fs::write(target.join("t/oracle-1/reward.txt"), b"old").unwrap();
    logs.write_state(b"{}").unwrap();
    assert_eq!(logs.read_state().unwrap().as_deref(), Some(&b"{}"[..]));
    TaskLogs::open(&target, "t").unwrap().clear().unwrap();
    assert_eq!(logs.read_state(), Ok(None));
    assert!(!target.join("t/nop-1").exists() && !third.exists());
    assert!(target.join("t/oracle-x").exists());
    assert!(!target.join("t/oracle-1/reward.txt").exists());
    assert!(target.join("t/oracle-1/mine.txt").exists());
}

#[test]
fn nothing_is_written_through_a_link() {
    let (_keep, root) = temp();
    let elsewhere = root.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, root.join("results")).unwrap();
    for spelling in ["results", "results/", "results/."] {
        let error = prepare_results(&root.join(spelling), "set").unwrap_err();
        assert!(matches!(error, ResultsError::Link(_)), "{spelling}: {error}");
    }
    std::fs::remove_file(root.join("results")).unwrap();

    let target = prepare_results(&root.join("results"), "set").unwrap();
    symlink(&elsewhere, target.join("t")).unwrap();
    assert!(matches!(TaskLogs::open(&target, "t"), Err(ResultsError::Link(_))));
    std::fs::remove_file(target.join("t")).unwrap();

    let logs = TaskLogs::open(&target, "t").unwrap();
    symlink(&elsewhere, target.join("t/oracle-1")).unwrap();
    assert!(matches!(
        logs.write(AttemptKind::Oracle, 1, None, &[("solve.txt", b"x".to_vec())]),
        Err(ResultsError::Link(_))
    ));
    std::fs::remove_file(target.join("t/oracle-1")).unwrap();

    std::fs::create_dir(target.join("t/oracle-1")).unwrap();
    symlink(elsewhere.join("victim"), target.join("t/oracle-1/solve.txt")).unwrap();
    logs.write(AttemptKind::Oracle, 1, None, &[("solve.txt", b"x".to_vec())])
        .unwrap();
    assert!(!elsewhere.join("victim").exists());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_file_in_the_way_is_named() {
    let (_keep, root) = temp();
    std::fs::write(root.join("results"), b"").unwrap();
    assert!(matches!(
        prepare_results(&root.join("results"), "set"),
        Err(ResultsError::NotAFolder(_))
    ));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    #[test]
    fn any_id_is_one_plain_folder_name(id in "[a-z./\\\\%\\x00-\\x1f\u{e9}\u{65e5}]{0,300}") {
        let name = folder_name(&id);
        proptest::prop_assert!(!name.is_empty() && name.len() <= 255 && !name.starts_with('.'));
        proptest::prop_assert!(!name.contains(['/', '\\']) && !name.contains(char::is_control));
        proptest::prop_assert_eq!(Utf8Path::new(&name).file_name(), Some(name.as_str()));
    }

    #[test]
    fn different_ids_have_different_names(a in "[ab./%\n]{0,6}", b in "[ab./%\n]{0,6}") {
        proptest::prop_assert_eq!(a == b, folder_name(&a) == folder_name(&b));
    }
}

#[test]
fn a_state_that_no_run_of_this_user_left_is_not_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_keep, root) = temp();
    let target = prepare_results(&root.join("results"), "set").unwrap();
    let logs = TaskLogs::open(&target, "t").unwrap();
    let state = target.join("t/state.json");
    let mode = |mode| std::fs::set_permissions(&state, std::fs::Permissions::from_mode(mode)).unwrap();
    logs.write_state(b"{}").unwrap();
    let found = std::fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(found & 0o777, 0o600);
    // As a checkout leaves a file that somebody committed.
    mode(0o644);
    assert!(logs.read_state().unwrap_err().contains("0600"));
    mode(0o600);
    std::fs::hard_link(&state, target.join("second")).unwrap();
    assert!(logs.read_state().is_err());
    std::fs::remove_file(target.join("second")).unwrap();
    assert!(logs.read_state().is_ok());
    std::fs::rename(&state, target.join("elsewhere")).unwrap();
    symlink(target.join("elsewhere"), &state).unwrap();
    assert_eq!(logs.read_state().unwrap_err(), "it is a link");
    std::fs::remove_file(&state).unwrap();
    std::fs::create_dir(&state).unwrap();
    assert!(logs.read_state().is_err());
    // Written over nothing that is not its own.
    assert!(logs.write_state(b"{}").is_err());
    assert!(!target.join("t/state.json.new").exists());
    std::fs::remove_dir(&state).unwrap();
    logs.write_state(&vec![b' '; (4 << 20) + 1]).unwrap();
    assert!(logs.read_state().unwrap_err().contains("larger"));
}
