//! Users, network, folders, limits.

use sandbox::{Command, Network, UserError, UserName};

use crate::engines::for_each_engine;
use crate::support::{bash, done, named, ok, text};

#[test]
fn users_are_the_roots_own_and_never_somebody_else() {
    for_each_engine(|subject| {
        let mut sandbox = subject.start();
        let user = sandbox.user(None).unwrap();
        assert_eq!(
            (user.uid, user.gid, user.name.as_str(), user.home.as_str()),
            (0, 0, "root", "/root")
        );
        let mut ask = |name: &str| sandbox.user(Some(&UserName::Name(name.into())));
        assert!(matches!(ask("nosuchuser"), Err(UserError::Unknown(_))));
        assert!(matches!(ask(""), Err(UserError::Unknown(_))));
        assert_eq!(ask("root:root").is_ok(), subject.engine.applies().groups);
        assert!(matches!(
            sandbox.user(Some(&UserName::Uid(-1))),
            Err(UserError::Forbidden(..))
        ));
        if let Ok(user) = sandbox.user(Some(&UserName::Uid(4321))) {
            let command = Command {
                user,
                ..bash("id -u; id -g; echo mine > /logs/verifier/x; stat -c %u /logs/verifier/x")
            };
            assert_eq!(done(&mut *sandbox, &command), "4321\n0\n4321\n");
            let user = named(&mut *sandbox, "nobody");
            let command = Command {
                user,
                output: Some("/logs/verifier/out.txt".into()),
                ..bash("id -u; touch /app/x 2>/dev/null || echo closed")
            };
            assert_eq!(
                done(&mut *sandbox, &command),
                "65534\nclosed\n",
                "{}",
                subject.name()
            );
        }
        let status = ok(
            &mut *sandbox,
            "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status",
        );
        assert_eq!(
            status,
            "CapEff:\t00000000a80425fb\nCapBnd:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\n",
            "{}",
            subject.name()
        );
    });
}

#[test]
fn without_network_there_is_a_loopback_and_nothing_else() {
    for_each_engine(|subject| {
        let mut sandbox = subject.start();
        let shown = ok(
            &mut *sandbox,
            "ls /sys/class/net 2>/dev/null || cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '
             (echo x > /dev/tcp/192.0.2.1/80) 2>&1 | grep -o 'unreachable' | head -n 1; grep -c . /proc/net/route",
        );
        assert_eq!(shown, "lo\nunreachable\n1\n", "{}", subject.name());
        let mut spec = subject.spec();
        spec.network = Network::Host;
        let mut sandbox = subject.engine.start(&spec).unwrap();
        let shown = ok(
            &mut *sandbox,
            "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' ' | grep -cv '^lo$'",
        );
        assert_ne!(shown, "0\n", "{}", subject.name());
    });
}

#[test]
fn folders_have_their_modes_and_a_bad_one_is_named() {
    for_each_engine(|subject| {
        let mut spec = subject.spec();
        spec.folders.push(("/a/b/c".into(), 0o1777));
        spec.folders.push(("/srv/x".into(), 0o700));
        let mut sandbox = subject.engine.start(&spec).unwrap();
        assert_eq!(
            ok(
                &mut *sandbox,
                "stat -c '%a %u' /a /a/b /a/b/c /tests /logs /app /srv/x"
            ),
            "755 0\n755 0\n1777 0\n777 0\n755 0\n755 0\n700 0\n",
            "{}",
            subject.name()
        );
        for path in ["/proc/x", "relative", "/", "/etc/passwd/x"] {
            let mut spec = subject.spec();
            spec.folders.push((path.into(), 0o755));
            let refused = subject.engine.start(&spec).err().unwrap().to_string();
            assert!(
                refused.starts_with(&format!("make `{path}` in the sandbox: ")),
                "{}: {refused}",
                subject.name()
            );
        }
    });
}

#[test]
fn memory_is_bounded() {
    for_each_engine(|subject| {
        let mut spec = subject.spec();
        spec.limits.memory_bytes = 128 << 20;
        let mut sandbox = subject.engine.start(&spec).unwrap();
        let exit = sandbox
            .run(&bash("a=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#a}"))
            .unwrap();
        assert!(!text(&exit).contains("300000000"), "{}: {exit:?}", subject.name());
        assert_eq!(ok(&mut *sandbox, "echo alive"), "alive\n");
    });
}
