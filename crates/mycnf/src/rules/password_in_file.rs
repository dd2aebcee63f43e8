//! Rule: a password is in the file in plain text.

use crate::rule::{Level, Rule, RuleFinding};
use crate::secret::is_or_abbreviates;
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "password-in-file",
    title: "Password in the file",
    reason: "Everyone who can read the file or a backup of it can read the password.",
    source: "MySQL Reference Manual, \"End-User Guidelines for Password Security\"; MariaDB documentation, \"Galera Cluster \
        System Variables\" (wsrep_sst_auth) and \"mariadb-backup SST Method\"",
    check,
};

/// The option with the user and the password of a state transfer.
const TRANSFER: &str = "wsrep_sst_auth";

/// Whether the value is a user without a password: `mysql:`.
fn is_user_alone(option: &str, value: &str) -> bool {
    option == TRANSFER
        && value
            .split_once(':')
            .is_none_or(|(_, password)| password.is_empty())
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let options = ["password", "master_password", TRANSFER];
    let lines = subject.assignments.iter().filter_map(|line| {
        let name = &line.entry.name;
        let mut options = options.into_iter();
        let option = options.find(|option| is_or_abbreviates(name, option))?;
        let value = line.entry.value.as_deref()?;
        (!value.is_empty() && !is_user_alone(option, value)).then_some((line, option))
    });
    let remarks = lines.map(|(line, option)| {
        let what = format!("plain-text password in the group [{}]", line.entry.group);
        let fix = match option {
            TRANSFER => fix_of_transfer(subject),
            _ => "keep the password in ~/.my.cnf (mode 0600), or use socket authentication",
        };
        let mut remark = RuleFinding::on(line, Level::Warning, what).fix(fix);
        remark.option = format!("{}=...", line.entry.name);
        remark
    });
    remarks.collect()
}

/// What to do about the password of a state transfer between the nodes of a cluster. A user without a password
/// (`wsrep_sst_auth = mysql:`) has none in the file.
fn fix_of_transfer(subject: &Subject<'_>) -> &'static str {
    let method = subject.value("wsrep_sst_method").unwrap_or_default();
    match method.as_str() {
        "rsync" => "remove the line: a state transfer with rsync does not use it",
        "mariabackup" | "mariadb-backup" => {
            "set wsrep_sst_auth = mysql: (without a password) and let this user log in with unix_socket, or move the line to a file that only the user mysql can read"
        }
        _ => {
            "move the line to a file that only the user mysql can read (mode 0600), and include that file"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_password_is_named_and_not_shown() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "[client]\nuser=x\npassword=secret\n",
            &["warning: password=...: plain-text password in the group [client]"],
        );
        assert_found(&RULE, "mysql-5.6", "[client]\npassword=\nuser=x\n", &[]);
    }

    #[test]
    fn an_abbreviated_name_is_recognised() {
        for (line, found) in [
            (
                "[client]\npasswor=secret\n",
                "warning: passwor=...: plain-text password in the group [client]; keep the password in ~/.my.cnf",
            ),
            (
                "[mysqld]\nwsrep_sst_method=rsync\nwsrep_sst_au=sst:mimsy\n",
                "warning: wsrep_sst_au=...: plain-text password in the group [mysqld]; remove the line: a state transfer",
            ),
        ] {
            assert_found(&RULE, "mariadb-10.6", line, &[found]);
        }
        for line in ["[mysqld]\nwsrep_sst_au=mysql:\n", "[client]\npa=1\n"] {
            assert_found(&RULE, "mariadb-10.6", line, &[]);
        }
    }

    #[test]
    fn the_password_of_a_state_transfer_has_advice_by_its_method() {
        for (lines, part) in [
            (
                "wsrep_sst_auth=sst:mimsy\nwsrep_sst_method=rsync",
                "warning: wsrep_sst_auth=...: plain-text password in the group [mysqld]; remove the line: a state transfer with rsync",
            ),
            (
                "wsrep_sst_method=mariabackup\nwsrep_sst_auth=sst:mimsy",
                "set wsrep_sst_auth = mysql: (without a password) and let this user log in with unix_socket",
            ),
            (
                "wsrep_sst_method=mysqldump\nwsrep_sst_auth=sst:mimsy",
                "that only the user mysql can read (mode 0600)",
            ),
        ] {
            assert_found(&RULE, "mariadb-10.6", lines, &[part]);
        }
        let user = "wsrep_sst_method=mariabackup\nwsrep_sst_auth=mysql:";
        assert_found(&RULE, "mariadb-10.6", user, &[]);
    }
}
