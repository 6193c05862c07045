//! Who commands run as.

use sandbox::{Command, UserError, UserName};

use crate::support::{Caller, apart, bash, done, engine, for_each_caller, named, ok, start};

#[test]
fn root_is_the_default_and_has_only_the_usual_capabilities() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        let user = sandbox.user(None).unwrap();
        assert_eq!(
            (user.uid, user.gid, user.name.as_str(), user.home.as_str()),
            (0, 0, "root", "/root")
        );
        let shown = ok(
            &mut *sandbox,
            "id -u; umask; grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status; tty; echo $0; cat",
        );
        assert_eq!(
            shown,
            "0\n0022\nCapInh:\t0000000000000000\nCapPrm:\t00000000a80425fb\nCapEff:\t00000000a80425fb\n\
             CapBnd:\t00000000a80425fb\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nnot a tty\nbash\n"
        );
    });
}

#[test]
fn a_system_user_runs_with_its_ids_and_no_capability() {
    let Some(engine) = engine(Caller::Root) else {
        return;
    };
    let mut sandbox = start(&engine);
    let user = named(&mut *sandbox, "daemon");
    let command = Command {
        user,
        ..bash(
            "id -u; id -g; grep CapEff /proc/self/status; ! touch /app/x 2>/dev/null; touch /tmp/x; stat -c %U /tmp/x",
        )
    };
    assert_eq!(
        done(&mut *sandbox, &command),
        "1\n1\nCapEff:\t0000000000000000\ndaemon\n"
    );
}

#[test]
fn numeric_users_need_no_account() {
    let Some(engine) = engine(Caller::Root) else {
        return;
    };
    let mut sandbox = start(&engine);
    for name in [UserName::Uid(4321), UserName::Name("4321".into())] {
        let user = sandbox.user(Some(&name)).unwrap();
        assert_eq!((user.uid, user.gid, user.home.as_str()), (4321, 0, "/tmp"));
        assert_eq!(
            done(
                &mut *sandbox,
                &Command {
                    user,
                    ..bash("id -u; id -g; id -G")
                }
            ),
            "4321\n0\n0\n"
        );
    }
}

#[test]
fn a_user_that_cannot_be_had_is_refused() {
    for_each_caller(|caller, engine| {
        let mut sandbox = start(engine);
        let mut ask = |name: UserName| sandbox.user(Some(&name));
        assert!(matches!(
            ask(UserName::Name("nosuchuser".into())),
            Err(UserError::Unknown(_))
        ));
        assert!(matches!(
            ask(UserName::Name(String::new())),
            Err(UserError::Unknown(_))
        ));
        assert!(matches!(
            ask(UserName::Name("root:nosuchgroup".into())),
            Err(UserError::Forbidden(..))
        ));
        assert!(ask(UserName::Name("root:root".into())).is_ok());
        assert_eq!(
            ask(UserName::Name("root:1".into())).is_ok(),
            caller == Caller::Root
        );
        assert!(matches!(ask(UserName::Uid(-1)), Err(UserError::Forbidden(..))));
        assert!(matches!(
            ask(UserName::Uid(65_536)),
            Err(UserError::Forbidden(..))
        ));
        assert!(matches!(
            ask(UserName::Uid(i64::MAX)),
            Err(UserError::Forbidden(..))
        ));
        assert_eq!(ask(UserName::Uid(1)).is_ok(), caller == Caller::Root);
        assert_eq!(
            ask(UserName::Name("daemon".into())).is_ok(),
            caller == Caller::Root
        );
        assert!(ask(UserName::Uid(0)).is_ok());
    });
}

#[test]
fn people_and_passwords_of_the_host_are_not_in_the_accounts() {
    for_each_caller(|_, engine| {
        let mut sandbox = start(engine);
        let script = "getent passwd | awk -F: '$3 >= 1000 && $1 != \"nobody\"'; cut -d: -f2 /etc/shadow | sort -u; ls /etc/gshadow 2>&1 | grep -c 'No such'";
        assert_eq!(ok(&mut *sandbox, script), "*\n1\n");
    });
}

#[test]
fn root_can_become_another_user_inside() {
    let Some(engine) = engine(Caller::Root) else {
        return;
    };
    let mut sandbox = start(&engine);
    let script = "su -s /bin/bash daemon -c 'id -u'; runuser -u daemon -- id -u; setpriv --reuid=daemon --clear-groups id -u";
    assert_eq!(ok(&mut *sandbox, script), "1\n1\n1\n");
    sandbox.isolate(&["/tests".into()]).unwrap();
    assert_eq!(done(&mut *sandbox, &apart(script)), "1\n1\n1\n");
}
