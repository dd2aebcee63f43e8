//! Rule: the version accepts the option and ignores it.

use crate::catalogue::Kind;
use crate::rename::renamed;
use crate::rule::{Level, Remark, Rewrite, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "option-without-effect",
    title: "Option without effect",
    reason: "The server accepts the line, for example for compatibility with old files, but ignores it.",
    source: "the versions' option lists: options that the server accepts although it has no variable of the same name; MariaDB's list of removed options",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for line in subject.read() {
        if line
            .option
            .is_some_and(|option| option.kind == Kind::NoEffect)
        {
            let rewrite = renamed(subject, line).unwrap_or(Rewrite::Remove);
            let fix = match &rewrite {
                Rewrite::Remove => "leave it out".to_owned(),
                Rewrite::Replace(new) => format!("write {new}"),
            };
            let what = "has no effect in this version";
            remarks.push(
                Remark::on(line, Level::Note, what)
                    .fix(fix)
                    .rewrite(rewrite),
            );
        } else if subject.is_decided_by_capacity(line.name()) {
            let what = "has no effect, because innodb_redo_log_capacity is also set";
            remarks.push(
                Remark::on(line, Level::Note, what)
                    .fix("leave it out")
                    .rewrite(Rewrite::Remove),
            );
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn old_names_are_taken_and_do_nothing() {
        let dead = "innodb_file_format=Barracuda";
        assert_found(
            &RULE,
            "mariadb-10.11",
            dead,
            &["has no effect in this version; leave it out"],
        );
        assert_found(&RULE, "mysql-5.6", dead, &[]);
        assert_found(
            &RULE,
            "mariadb-11.8",
            "innodb_thread_concurrency=0",
            &["no effect"],
        );
    }

    #[test]
    fn the_capacity_of_the_redo_log_replaces_the_size_of_its_files() {
        let both = "innodb_redo_log_capacity=2G\ninnodb_log_file_size=1G";
        let beside = "note: innodb_log_file_size=1G: has no effect, because innodb_redo_log_capacity is also set";
        assert_found(&RULE, "mysql-8.0.33", both, &[beside]);
        assert_found(&RULE, "mysql-8.0.33", "innodb_log_file_size=1G", &[]);
        assert_found(&RULE, "mysql-5.7", both, &[]);
    }
}
