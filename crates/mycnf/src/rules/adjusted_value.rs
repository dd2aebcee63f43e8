//! Rule: the version changes the value to the nearest that it takes.

use crate::assignment::Assignment;
use crate::catalogue::Kind;
use crate::finding::Severity;
use crate::judge::{allowed, judge_value, parse_number};
use crate::rename::size;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "adjusted-value",
    title: "Value out of range",
    reason: "The server does not use the value in the file, and reports this only in its log, if at all.",
    source: "ranges of 11 versions, read from running servers, and of 4 more from documentation",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    subject
        .read()
        .filter_map(|line| remark(subject, line))
        .collect()
}

fn remark(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<Remark> {
    // A switch has a rule of its own for it.
    let option = line.option.filter(|option| option.kind != Kind::Boolean)?;
    let value = line.entry.value.as_deref()?;
    let judged = judge_value(&subject.catalogue, option, &line.entry.name, value);
    if let Some((Severity::Note, what)) = judged {
        let becomes = parse_number(what.trim_start_matches("becomes "));
        let what = match becomes {
            Some(number) if number >= 1 << 20 => format!("becomes {}", size(number)),
            _ => what,
        };
        let mut remark = Remark::on(line, Level::Warning, what);
        remark.fix = allowed(&subject.catalogue, &line.entry.name);
        return Some(remark);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn what_a_value_becomes_is_said() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "max_connections=0",
            &["becomes 1; allowed: 1 to 100000"],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "innodb_log_file_size=1M",
            &["becomes 4M"],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "innodb_flush_log_at_trx_commit=7",
            &["becomes 2"],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "innodb_flush_log_at_trx_commit=7",
            &["becomes 3"],
        );
        assert_found(&RULE, "mysql-8.0.33", "max_connections=77", &[]);
    }
}
