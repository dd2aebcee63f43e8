//! Rule: joins read tables without an index.

use crate::counter_rule::{Base, CounterRule, ONE_A_MINUTE, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "joins-without-index",
        title: "Joins without an index",
        reason: "A join without an index reads the whole second table for each block of rows from the first table. A larger join_buffer_size only hides the missing index.",
        source: "MySQL Reference Manual, \"Select_full_join\": \"if this value is not 0, you should carefully check the indexes\"",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Questions"],
        at_least: 10_000,
    },
    judge,
};

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let per_s =
        counters.per_s("Select_full_join")? + counters.per_s("Select_range_check").unwrap_or(0.0);
    if per_s < ONE_A_MINUTE {
        return None;
    }
    let what = format!("joins without a usable index: {}", rate(per_s));
    let fix = "find the joins (full joins in the statement digests) and add the missing index; do not increase join_buffer_size";
    Some(RuleFinding::of(subject, "join_buffer_size", Level::Note, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn joins_are_information_and_no_reason_to_raise() {
        let questions = ("Questions", 1_000_000);
        assert_counted(
            &RULE,
            &[],
            &[
                questions,
                ("Select_full_join", 8_000),
                ("Select_range_check", 640),
            ],
            "note: join_buffer_size: joins without a usable index: 6 a minute; find the joins",
        );
        assert_silent(&RULE, &[], &[questions, ("Select_full_join", 100)]);
        assert_too_early(&RULE, &[("Questions", 9_999)]);
    }
}
