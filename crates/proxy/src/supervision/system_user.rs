//! The user of this system as whom a proxy runs.

use std::path::Path;

use crate::StartError;

/// Where the users are, and the largest size of that file, bytes.
const PASSWD: &str = "/etc/passwd";
const PASSWD_BYTES_MAX: u64 = 16 << 20;

/// The ids of a user and of the user's group.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SystemUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl SystemUser {
    /// The user with this name.
    pub(crate) fn named(name: &str) -> Result<Self, StartError> {
        let wrong = |why: String| StartError::User {
            name: name.to_owned(),
            why,
        };
        let passwd = files::read_regular_text(Path::new(PASSWD), PASSWD_BYTES_MAX)
            .map_err(|error| wrong(error.to_string()))?;
        Self::of(&passwd, name).ok_or_else(|| wrong(format!("not in {PASSWD}")))
    }

    fn of(passwd: &str, name: &str) -> Option<Self> {
        let mut users = passwd
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let user = users.find(|user| user.first() == Some(&name))?;
        Some(Self {
            uid: user.get(2)?.parse().ok()?,
            gid: user.get(3)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nproxy:x:13:14:proxy:/bin:/usr/sbin/nologin\n";
        let proxy = SystemUser { uid: 13, gid: 14 };
        assert_eq!(SystemUser::of(passwd, "proxy"), Some(proxy));
        assert_eq!(SystemUser::of(passwd, "nobody"), None);
    }
}
