//! What a server's reset of a session leaves, by kind of server, and the question that finds it.

/// Which sessions may have a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fresh {
    /// The session that used it last: its variables, tables and locks may be there.
    No,
    /// Those of its own user: a role that belongs to the user is active, which no login of another user takes away.
    ForItsUser,
    /// Those that log in on it: the server cannot reset it without a login.
    ForLogins,
    /// All.
    ForAll,
}

impl Fresh {
    /// Whether a session of the connection's user may have it without a login.
    pub(crate) fn is_for_user(self) -> bool {
        matches!(self, Self::ForItsUser | Self::ForAll)
    }

    /// Whether a session may have it that logs in by `COM_CHANGE_USER`.
    pub(crate) fn is_for_logins(self) -> bool {
        matches!(self, Self::ForLogins | Self::ForAll)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    /// MariaDB, else MySQL.
    pub(crate) is_mariadb: bool,
    /// 50506 for 5.5.6.
    pub(crate) version: u32,
}

/// What survives `COM_RESET_CONNECTION`, and `COM_CHANGE_USER` too unless it says otherwise. Measured on MariaDB 10.11 and
/// MySQL 9.7; the other versions are from the manuals.
///
/// The current database survives the reset everywhere and is asked for everywhere. Of what no question finds, the relay
/// sees the commands: `Link::is_spoiled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnresetState {
    /// The role of MariaDB's sessions; it also survives `COM_CHANGE_USER`, the default role of the former user with it.
    pub(crate) role: Role,
    /// Statements in `SHOW PROFILES`, with their texts.
    pub(crate) profiles: bool,
}

/// What is to be done about roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    None,
    /// Compared with no role: the server has no default roles.
    Compared,
    /// Compared with the user's default role.
    ComparedWithDefault,
    /// Set to the user's default: MySQL's `COM_RESET_CONNECTION` leaves it, its `COM_CHANGE_USER` does not.
    Set,
}

/// From this version on, by kind: `(is_mariadb, version, survivors)`; the last row that fits holds.
const TABLE: &[(bool, u32, UnresetState)] = &[
    (true, 0, survivors(Role::None, true)),
    (true, 100_005, survivors(Role::Compared, true)),
    (true, 100_103, survivors(Role::ComparedWithDefault, true)),
    (false, 0, survivors(Role::None, true)),
    (false, 80_000, survivors(Role::Set, true)),
    // SHOW PROFILES is empty after a reset, and the table behind it may go.
    (false, 90_000, survivors(Role::Set, false)),
];

const fn survivors(role: Role, profiles: bool) -> UnresetState {
    UnresetState { role, profiles }
}

impl Kind {
    /// What survives on such a server.
    pub(crate) fn survivors(self) -> UnresetState {
        let fits =
            |row: &&(bool, u32, UnresetState)| row.0 == self.is_mariadb && row.1 <= self.version;
        let row = TABLE.iter().rev().find(fits);
        row.map_or(survivors(Role::None, true), |row| row.2)
    }

    /// The statement whose one row has the database, the role, the default role and the number of profiled statements.
    pub(crate) fn question(self) -> String {
        let UnresetState { role, profiles } = self.survivors();
        let (role, default) = match role {
            Role::None => ("NULL", "NULL"),
            // Whether a login activates all roles, not only those by default.
            Role::Set => ("@@GLOBAL.activate_all_roles_on_login", "NULL"),
            Role::Compared => ("CURRENT_ROLE()", "NULL"),
            Role::ComparedWithDefault => (
                "CURRENT_ROLE()",
                "(SELECT ROLE_NAME FROM information_schema.APPLICABLE_ROLES WHERE IS_DEFAULT = 'YES' LIMIT 1)",
            ),
        };
        let profiles = if profiles {
            "(SELECT COUNT(*) FROM information_schema.PROFILING)"
        } else {
            "0"
        };
        format!("SELECT DATABASE(), {role}, {default}, {profiles}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_that_of_the_server() {
        let cases = [
            (true, 50_568, "NULL, NULL, (SELECT COUNT(*)"),
            (true, 100_038, "CURRENT_ROLE(), NULL, (SELECT COUNT(*)"),
            (true, 101_118, "CURRENT_ROLE(), (SELECT ROLE_NAME"),
            (true, 120_102, "CURRENT_ROLE(), (SELECT ROLE_NAME"),
            (false, 50_744, "NULL, NULL, (SELECT COUNT(*)"),
            (
                false,
                80_044,
                "@@GLOBAL.activate_all_roles_on_login, NULL, (SELECT",
            ),
            (
                false,
                90_704,
                "@@GLOBAL.activate_all_roles_on_login, NULL, 0",
            ),
            (
                false,
                260_700,
                "@@GLOBAL.activate_all_roles_on_login, NULL, 0",
            ),
        ];
        for (is_mariadb, version, expected) in cases {
            let kind = Kind {
                is_mariadb,
                version,
            };
            let question = kind.question();
            let begin = format!("SELECT DATABASE(), {expected}");
            assert!(question.starts_with(&begin), "{kind:?}: {question}");
        }
    }
}
