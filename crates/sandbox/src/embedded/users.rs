//! Users as tasks and images name them.

use crate::api::{User, UserError, UserName};
use crate::wire::{Account, Facts, Group};

/// The last id that is mapped for root.
const LAST_ID: i64 = 65_535;

/// The accounts of a root file system.
pub(super) struct Users {
    pub(super) facts: Facts,
    pub(super) accounts: Vec<Account>,
    pub(super) groups: Vec<Group>,
    /// What the image says; uid 0 without.
    pub(super) default: Option<String>,
}

impl Users {
    /// Resolves a name, an id, or nothing.
    pub(super) fn resolve(&self, name: Option<&UserName>) -> Result<User, UserError> {
        match name {
            Some(UserName::Uid(id)) => self.by_id(*id, &id.to_string()),
            Some(UserName::Name(name)) => self.by_name(name),
            None => match &self.default {
                Some(name) => self.by_name(name),
                None => self.by_id(0, "root"),
            },
        }
    }

    /// The further groups of a user, none when its group is not the account's: then it was named.
    pub(super) fn groups_of(&self, user: &User) -> Vec<u32> {
        let account = self.accounts.iter().find(|account| account.name == user.name);
        if account.is_some_and(|account| account.gid != user.gid) {
            return Vec::new();
        }
        let named = self
            .groups
            .iter()
            .filter(|group| group.members.contains(&user.name));
        named
            .map(|group| group.gid)
            .filter(|gid| *gid != user.gid)
            .collect()
    }

    /// `USER` or `USER:GROUP`, each a name or an id.
    fn by_name(&self, shown: &str) -> Result<User, UserError> {
        let (name, group) = match shown.split_once(':') {
            Some((name, group)) => (name, Some(group)),
            None => (shown, None),
        };
        let mut user = match self.accounts.iter().find(|account| account.name == name) {
            Some(account) => self.by_id(account.uid.into(), shown).map(|_| of(account))?,
            None => match digits(name) {
                Some(id) => self.by_id(id, shown)?,
                None => return Err(UserError::Unknown(name.to_owned())),
            },
        };
        if let Some(group) = group {
            user.gid = self.group(group, shown)?;
        }
        Ok(user)
    }

    fn group(&self, name: &str, shown: &str) -> Result<u32, UserError> {
        let forbidden = |why: String| Err(UserError::Forbidden(shown.to_owned(), why));
        let known = self.groups.iter().find(|group| group.name == name);
        let known = known.map(|group| i64::from(group.gid));
        let Some(id) = known.or_else(|| digits(name)) else {
            return forbidden(format!("there is no group `{name}` in the sandbox's /etc/group"));
        };
        match u32::try_from(id) {
            Ok(gid) if id <= LAST_ID && (id == 0 || self.facts.many_ids) => Ok(gid),
            Ok(_) if id <= LAST_ID => {
                forbidden("a sandbox that is not started by root has only group 0; run as root".to_owned())
            }
            _ => forbidden("the sandbox has the ids 0 to 65535".to_owned()),
        }
    }

    /// A user by id; `shown` is what the task wrote.
    fn by_id(&self, id: i64, shown: &str) -> Result<User, UserError> {
        let forbidden = |why: &str| Err(UserError::Forbidden(shown.to_owned(), why.to_owned()));
        let Ok(uid) = u32::try_from(id) else {
            return forbidden(if id < 0 {
                "an id is not negative"
            } else {
                "the sandbox has the ids 0 to 65535"
            });
        };
        if id > LAST_ID {
            return forbidden("the sandbox has the ids 0 to 65535");
        }
        if id != 0 && !self.facts.many_ids {
            return forbidden("a sandbox that is not started by root has only uid 0; run as root");
        }
        let account = self.accounts.iter().find(|account| account.uid == uid);
        Ok(match account {
            Some(account) => of(account),
            None if uid == 0 => User {
                uid,
                gid: 0,
                name: "root".to_owned(),
                home: "/root".to_owned(),
            },
            None => User {
                uid,
                gid: 0,
                name: uid.to_string(),
                home: "/tmp".to_owned(),
            },
        })
    }
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().unwrap_or(i64::MAX))
}

fn of(account: &Account) -> User {
    let home = if account.uid == 0 {
        "/root"
    } else {
        account.home.as_str()
    };
    User {
        uid: account.uid,
        gid: account.gid,
        name: account.name.clone(),
        home: home.to_owned(),
    }
}
