//! The accounts of a sandbox: on the host's root, the host's system accounts and nobody else; else the image's.

use crate::wire::{Account, Group};

/// Users and groups from here on are people's, all but `nobody`.
const FIRST_PERSON: u32 = 1000;
/// The last id that is mapped.
const LAST_ID: u32 = 65_535;

/// Reads `/etc/passwd` text: system accounts only; root and nobody are always there.
pub(super) fn users(passwd: &str) -> Vec<Account> {
    let mut users: Vec<Account> = Vec::new();
    for line in passwd.lines() {
        if let Some(user) = account(line)
            && is_system(user.uid, &user.name)
            && user.gid <= LAST_ID
            && users.iter().all(|known| known.name != user.name)
        {
            users.push(user);
        }
    }
    for (at, name, uid, home, shell) in [
        (0, "root", 0, "/root", "/bin/bash"),
        (usize::MAX, "nobody", 65_534, "/nonexistent", "/usr/sbin/nologin"),
    ] {
        if users.iter().all(|user| user.name != name) {
            let account = Account {
                name: name.to_owned(),
                uid,
                gid: uid,
                home: home.to_owned(),
                shell: shell.to_owned(),
            };
            users.insert(at.min(users.len()), account);
        }
    }
    users
}

/// Reads `/etc/group` text: system groups, their members among `users`.
pub(super) fn groups(group: &str, users: &[Account]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in group.lines() {
        if let Some(mut group) = group_line(line)
            && is_system(group.gid, &group.name)
            && groups.iter().all(|known| known.name != group.name)
        {
            group
                .members
                .retain(|member| users.iter().any(|user| user.name == *member));
            groups.push(group);
        }
    }
    if groups.iter().all(|known| known.gid != 0) {
        groups.insert(
            0,
            Group {
                name: "root".to_owned(),
                gid: 0,
                members: Vec::new(),
            },
        );
    }
    groups
}

/// Reads an image's `/etc/passwd` and `/etc/group`: everybody whose id a sandbox has, the first of a name.
pub(crate) fn of_image(passwd: &str, group: &str) -> (Vec<Account>, Vec<Group>) {
    let mut users: Vec<Account> = Vec::new();
    for line in passwd.lines() {
        if let Some(user) = account(line)
            && user.uid <= LAST_ID
            && user.gid <= LAST_ID
            && users.iter().all(|known| known.name != user.name)
        {
            users.push(user);
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for line in group.lines() {
        if let Some(group) = group_line(line)
            && group.gid <= LAST_ID
            && groups.iter().all(|known| known.name != group.name)
        {
            groups.push(group);
        }
    }
    (users, groups)
}

/// The text of `/etc/passwd` inside. No password, no full name.
pub(super) fn passwd_text(users: &[Account]) -> String {
    let line = |user: &Account| {
        format!(
            "{}:x:{}:{}::{}:{}\n",
            user.name, user.uid, user.gid, user.home, user.shell
        )
    };
    users.iter().map(line).collect()
}

/// The text of `/etc/shadow` inside: programs such as su want it. Nobody has a password.
pub(super) fn shadow_text(users: &[Account]) -> String {
    users
        .iter()
        .map(|user| format!("{}:*:19000:0:99999:7:::\n", user.name))
        .collect()
}

/// The text of `/etc/group` inside.
pub(super) fn group_text(groups: &[Group]) -> String {
    groups
        .iter()
        .map(|group| format!("{}:x:{}:{}\n", group.name, group.gid, group.members.join(",")))
        .collect()
}

/// A line of `/etc/passwd`.
fn account(line: &str) -> Option<Account> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| is_plain(name))?;
    let (uid, gid): (u32, u32) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
    let (home, shell) = (fields.nth(1)?, fields.next()?);
    Some(Account {
        name: name.to_owned(),
        uid,
        gid,
        home: if uid == 0 { "/root" } else { home }.to_owned(),
        shell: shell.to_owned(),
    })
}

/// A line of `/etc/group`.
fn group_line(line: &str) -> Option<Group> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| is_plain(name))?;
    let gid = fields.nth(1)?.parse().ok()?;
    let members = fields.next()?.split(',').filter(|member| !member.is_empty());
    Some(Group {
        name: name.to_owned(),
        gid,
        members: members.map(str::to_owned).collect(),
    })
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['+', '-', '#'])
}

fn is_system(id: u32, name: &str) -> bool {
    id < FIRST_PERSON || (id <= LAST_ID && matches!(name, "nobody" | "nogroup"))
}

#[cfg(test)]
mod tests {
    use super::{group_text, groups, passwd_text, users};

    const PASSWD: &str = "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
        ann:x:1000:1000:Ann Person,,,:/home/ann:/bin/bash\n\
        root:x:0:0:The Admin:/elsewhere:/bin/bash\n\
        +nis\nbroken:x:one:1::/:/bin/sh\ndaemon:x:2:2::/:/bin/sh\n\
        nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";

    #[test]
    fn people_and_broken_lines_are_left_out() {
        let users = users(PASSWD);
        assert_eq!(
            passwd_text(&users),
            "daemon:x:1:1::/usr/sbin:/usr/sbin/nologin\nroot:x:0:0::/root:/bin/bash\n\
             nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n"
        );
    }

    #[test]
    fn groups_name_only_users_that_are_there() {
        let users = users(PASSWD);
        let groups = groups("adm:x:4:ann,daemon\nann:x:1000:\nnogroup:x:65534:\n", &users);
        assert_eq!(
            group_text(&groups),
            "root:x:0:\nadm:x:4:daemon\nnogroup:x:65534:\n"
        );
    }

    #[test]
    fn root_and_nobody_are_there_without_a_file() {
        let names: Vec<_> = users("").into_iter().map(|user| user.name).collect();
        assert_eq!(names, ["root", "nobody"]);
    }
}
