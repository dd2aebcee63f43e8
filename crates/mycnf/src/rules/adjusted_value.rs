//! Rule: the version changes the value to the nearest one that it accepts.

use crate::assignment::Assignment;
use crate::catalogue::{Catalogue, Kind};
use crate::fix::Fix;
use crate::judge::{allowed, judge_value};
use crate::judgement::Judgement;
use crate::pool_rounding::rounded_pool;
use crate::rule::{Advice, Level, Rule, RuleFinding};
use crate::size::size;
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "adjusted-value",
    title: "Value out of range",
    reason: "The server uses a value other than the one in the file, and reports this only in its error log, if at all.",
    source: "value ranges of 15 versions: 11 read from running servers, 4 taken from documentation",
    check,
};

impl Advice {
    /// Whether the version uses another value than the written one, which it does not accept. A size that it only rounds is
    /// accepted.
    pub fn changes_value(&self) -> bool {
        self.rule.is(&RULE) && self.remark.level == Level::Warning
    }
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    subject
        .read()
        .filter_map(|line| remark(subject, line))
        .chain(pool_remark(subject))
        .collect()
}

/// A buffer pool size that MySQL rounds up to whole chunks in each instance.
fn pool_remark(subject: &Subject<'_>) -> Option<RuleFinding> {
    let line = subject.set("innodb_buffer_pool_size")?;
    let rounded = rounded_pool(subject)?;
    let (more, step) = (rounded.pool_bytes, rounded.step_bytes());
    let what = format!(
        "{}: the server rounds the size up to a multiple of {} ({} buffer pool instances with chunks of {} each)",
        Judgement::Number(more).what(),
        size(step),
        rounded.instances,
        size(rounded.chunk_bytes)
    );
    let fix = format!("set it to {} or {}", size(more - step), size(more));
    Some(RuleFinding::on(line, Level::Note, what).fix(fix))
}

fn remark(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<RuleFinding> {
    // `wrong-value` judges switches.
    let option = line.option.filter(|option| option.kind != Kind::Boolean)?;
    let value = line.entry.value.as_deref()?;
    let judged = judge_value(&subject.catalogue, option, &line.entry.name, value);
    // `wrong-value` reports refusals.
    let judged =
        judged.filter(|judged| !matches!(judged, Judgement::Refused(_) | Judgement::Ignored(_)))?;
    // The version may have the limits of the next catalogue already.
    let name = &line.entry.name;
    let is_taken = |later: Catalogue| {
        let option = later.find(name);
        option.is_some_and(|option| judge_value(&later, option, name, value).is_none())
    };
    if subject.target.later().is_some_and(is_taken) {
        return None;
    }
    let mut remark = RuleFinding::on(line, Level::Warning, judged.what());
    remark.fix = allowed(&subject.catalogue, &line.entry.name).map(Fix::Text);
    Some(remark)
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_version_newer_than_its_catalogue_may_have_the_next_limits() {
        let line = "innodb_redo_log_capacity=256G";
        let found = "warning: innodb_redo_log_capacity=256G: becomes";
        assert_found(&RULE, "mysql-8.0.33", line, &[found]);
        for target in ["mysql-8.0.42", "mysql-8.3", "mysql-8.4"] {
            assert_found(&RULE, target, line, &[]);
        }
        let line = "max_connections=0";
        assert_found(&RULE, "mysql-8.0.42", line, &["becomes 1"]);
    }

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

    #[test]
    fn a_pool_that_mysql_rounds_up_is_named() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "innodb_buffer_pool_size=4608M",
            &[
                "note: innodb_buffer_pool_size=4608M: becomes 5G: the server rounds the size up to a multiple of 1G",
            ],
        );
        for (version, file) in [
            ("mysql-8.0.33", "innodb_buffer_pool_size=4G"),
            ("mysql-8.0.33", "innodb_buffer_pool_size=512M"),
            ("mysql-8.0.33", "innodb_buffer_pool_size=100M"),
            (
                "mysql-8.0.33",
                "innodb_buffer_pool_size=4608M\ninnodb_buffer_pool_instances=4",
            ),
            ("mysql-5.6", "innodb_buffer_pool_size=4608M"),
            ("mysql-9.7", "innodb_buffer_pool_size=4608M"),
            ("mariadb-10.11", "innodb_buffer_pool_size=4608M"),
        ] {
            assert_found(&RULE, version, file, &[]);
        }
    }
}
