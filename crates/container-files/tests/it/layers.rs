//! A Dockerfile laid over an image with known settings.

use std::time::Duration;

use container_files::{Healthcheck, ImageSettings, LayerFault, Layered, lay_over, parse};

fn base() -> ImageSettings {
    ImageSettings {
        env: vec![
            ("PATH".to_owned(), "/opt/bin:/bin".to_owned()),
            ("HOME_DIR".to_owned(), "/srv".to_owned()),
        ],
        workdir: Some("/srv/app".to_owned()),
        user: Some("app".to_owned()),
        entrypoint: vec!["/init".to_owned()],
        healthcheck: None,
    }
}

fn over(lines: &str) -> Layered {
    lay_over(&format!("FROM image\n{lines}\n"), &base()).unwrap_or_else(|fault| panic!("{lines}: {fault:?}"))
}

#[test]
fn a_bare_from_changes_nothing() {
    let layered = over("");
    assert_eq!(layered.settings, base());
    assert_eq!(layered.runs, []);
}

#[test]
fn settings_are_resolved_against_the_base_image() {
    for (lines, expected) in [
        ("WORKDIR sub", "/srv/app/sub"),
        ("WORKDIR ..", "/srv"),
        ("WORKDIR $HOME_DIR/x", "/srv/x"),
        ("WORKDIR '/a$b'", "/a$b"),
        ("WORKDIR /a\\$b", "/a$b"),
        ("WORKDIR ${NONE:-/d}", "/d"),
        ("ARG d=/arg\nWORKDIR $d", "/arg"),
    ] {
        assert_eq!(over(lines).settings.workdir.as_deref(), Some(expected), "{lines}");
    }
    let layered = over("ENV PATH=/x:$PATH NEW='$PATH' HOME_DIR=/h\nUSER ${WHO:-me}:grp");
    let env: Vec<(&str, &str)> = layered
        .settings
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        env,
        [("PATH", "/x:/opt/bin:/bin"), ("HOME_DIR", "/h"), ("NEW", "$PATH")]
    );
    assert_eq!(layered.settings.user.as_deref(), Some("me:grp"));
}

#[test]
fn an_image_without_a_path_gets_the_usual_one() {
    let layered = lay_over("FROM image\nENV A=$PATH\n", &ImageSettings::default()).expect("it is laid over");
    let usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(
        layered.settings.env,
        [
            ("PATH".to_owned(), usual.to_owned()),
            ("A".to_owned(), usual.to_owned())
        ]
    );
    assert_eq!(layered.settings.workdir, None);
}

#[test]
fn run_lines_have_the_settings_in_effect_there() {
    let layered = over(
        "RUN one \\\n  # note\n  && two\nARG v=1\nENV A=b\nWORKDIR x\nUSER root\nRUN [\"a\", \"b c\"]\nSHELL [\"/bin/bash\", \"-ec\"]\nRUN three\nENV A=c",
    );
    let seen: Vec<(Vec<&str>, &str, Option<&str>)> = layered
        .runs
        .iter()
        .map(|run| {
            (
                run.argv.iter().map(String::as_str).collect(),
                run.workdir.as_str(),
                run.user.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (vec!["/bin/sh", "-c", "one   && two"], "/srv/app", Some("app")),
            (vec!["a", "b c"], "/srv/app/x", Some("root")),
            (vec!["/bin/bash", "-ec", "three"], "/srv/app/x", Some("root")),
        ]
    );
    let value = |at: usize, name: &str| {
        let found = layered.runs[at].env.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(
        (value(0, "A"), value(1, "A"), value(1, "v")),
        (None, Some("b"), Some("1"))
    );
    assert_eq!(value(0, "PATH"), Some("/opt/bin:/bin"));
    let end = layered.settings.env.iter().find(|(name, _)| name == "A");
    assert_eq!(end.map(|(_, value)| value.as_str()), Some("c"));
}

#[test]
fn entrypoints_are_kept_replaced_or_turned_off() {
    let words = |lines: &str| over(lines).settings.entrypoint.join("|");
    assert_eq!(words("CMD x"), "/init");
    assert_eq!(words("ENTRYPOINT []"), "");
    assert_eq!(words("ENTRYPOINT [\"/run\", \"a b\"]"), "/run|a b");
    assert_eq!(words("ENTRYPOINT exec /run $A"), "/bin/sh|-c|exec /run $A");
}

#[test]
fn healthchecks_have_dockers_defaults() {
    let check = over("HEALTHCHECK CMD test -f /ready").settings.healthcheck;
    let expected = Healthcheck {
        argv: ["/bin/sh", "-c", "test -f /ready"].map(str::to_owned).to_vec(),
        interval: Duration::from_secs(30),
        timeout: Duration::from_secs(30),
        start_period: Duration::ZERO,
        start_interval: Duration::from_secs(5),
        retries: 3,
    };
    assert_eq!(check, Some(expected));
    let check = over(
        "HEALTHCHECK --interval=1m --timeout=500ms --start-period=2s --retries=7 \\\n CMD [\"probe\", \"x\"]",
    )
    .settings
    .healthcheck
    .expect("a check");
    assert_eq!(check.argv, ["probe", "x"]);
    assert_eq!(check.interval, Duration::from_mins(1));
    assert_eq!(check.timeout, Duration::from_millis(500));
    assert_eq!(check.start_period, Duration::from_secs(2));
    assert_eq!(check.retries, 7);
    assert_eq!(
        over("HEALTHCHECK CMD a\nHEALTHCHECK NONE").settings.healthcheck,
        None
    );
}

#[test]
fn what_only_a_build_can_do_is_named() {
    for (lines, name) in [
        ("COPY a /a", "COPY"),
        ("ENV A=b\nADD a /a", "ADD"),
        ("RUN --mount=type=cache,target=/c x", "RUN --mount"),
        ("RUN <<EOF\nx\nEOF", "RUN with a here-document"),
        ("RUN a\nFROM other", "a second FROM"),
        ("ARG TARGETARCH", "ARG TARGETARCH"),
    ] {
        let text = format!("FROM image\n{lines}\n");
        let file = parse(&text).expect("it parses");
        let (found, place) = file.needs_build.expect("a build");
        assert_eq!(found, name);
        assert!(text.get(place.clone()).is_some_and(|part| !part.is_empty()));
        assert_eq!(
            lay_over(&text, &base()),
            Err(LayerFault::NeedsBuild {
                instruction: found,
                place
            })
        );
    }
    let text = "FROM --platform=linux/arm64 image\n";
    assert_eq!(
        parse(text).expect("it parses").needs_build.map(|n| n.0),
        Some("FROM --platform".to_owned())
    );
    for text in [
        "FROM image\nEXPOSE 80\nVOLUME /v\nSTOPSIGNAL TERM\nLABEL a=b\nONBUILD RUN x\n",
        "ARG V=1\nFROM image:$V\nARG V\nRUN x\n",
    ] {
        assert_eq!(parse(text).expect("it parses").needs_build, None, "{text}");
        lay_over(text, &base()).expect("it is laid over");
    }
}

#[test]
fn a_value_that_only_a_build_can_tell_is_refused() {
    for (lines, name) in [
        ("ENV a=x\nENV b=${a%x}", "ENV"),
        ("WORKDIR ${HOME_DIR#/}", "WORKDIR"),
        ("USER ${HOME_DIR%v}", "USER"),
        ("ARG a=${HOME_DIR%v}", "ARG"),
        ("HEALTHCHECK --interval=soon CMD x", "HEALTHCHECK"),
    ] {
        let fault = lay_over(&format!("FROM image\n{lines}\n"), &base()).expect_err(lines);
        assert!(
            matches!(&fault, LayerFault::Undetermined { instruction, .. } if *instruction == name),
            "{lines}: {fault:?}"
        );
    }
}
