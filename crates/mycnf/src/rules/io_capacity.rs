//! Rule: the limit of background writing is below its normal rate.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "io-capacity-order",
    title: "innodb_io_capacity above its maximum",
    reason: "Depending on its version, the server changes innodb_io_capacity or innodb_io_capacity_max, or rejects both values.",
    source: "MySQL Reference Manual, \"innodb_io_capacity_max\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let (Some(normal), Some(max)) = (
        subject.number("innodb_io_capacity"),
        subject.number("innodb_io_capacity_max"),
    ) else {
        return Vec::new();
    };
    // If the maximum is not set, the server uses twice the normal rate.
    if subject.set("innodb_io_capacity_max").is_none() || normal <= max {
        return Vec::new();
    }
    let what = format!(
        "the value is below innodb_io_capacity ({normal}), so the server changes one of the two values or rejects both"
    );
    vec![
        RuleFinding::of(subject, "innodb_io_capacity_max", Level::Warning, what)
            .fix("set innodb_io_capacity_max to at least the value of innodb_io_capacity"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_maximum_is_the_larger() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "innodb_io_capacity=5000\ninnodb_io_capacity_max=4000",
            &["warning: innodb_io_capacity_max=4000: the value is below innodb_io_capacity (5000)"],
        );
        assert_found(&RULE, "mysql-5.6", "innodb_io_capacity=10000", &[]);
        assert_found(&RULE, "mysql-5.5", "innodb_io_capacity=10000", &[]);
    }
}
