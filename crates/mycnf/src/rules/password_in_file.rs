//! Rule: a password is in the file in plain text.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "password-in-file",
    title: "Password in the file",
    reason: "Every reader of the file has the password, and backups keep it.",
    source: "MySQL Reference Manual, \"End-User Guidelines for Password Security\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let names = ["password", "master_password", "wsrep_sst_auth"];
    let lines = subject.assignments.iter().filter(|line| {
        names.contains(&line.entry.name.base())
            && line
                .entry
                .value
                .as_deref()
                .is_some_and(|value| !value.is_empty())
    });
    let remarks = lines.map(|line| {
        let what = format!("a password in plain text in [{}]", line.entry.group);
        let mut remark = Remark::on(line, Level::Warning, what)
            .fix("keep it in ~/.my.cnf with mode 0600, or use socket authentication");
        remark.option = format!("{}=...", line.entry.name);
        remark
    });
    remarks.collect()
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
            &["warning: password=...: a password in plain text in [client]"],
        );
        assert_found(&RULE, "mysql-5.6", "[client]\npassword=\nuser=x\n", &[]);
    }
}
