//! Why a statement takes less or more: the counters of one execution on either side.

use units::count;
use verdict::Decision;

/// An amount that explains a time, as the sum of the counters whose names begin so.
struct Amount {
    words: &'static str,
    counters: &'static [&'static str],
    /// Whether all versions count it in one way. The same scan of 4,100 rows looks up 471 pages in MySQL 5.6, 52 in 8.0
    /// and 10 in MariaDB 10.11; only MariaDB counts the rows of temporary tables by themselves.
    is_comparable: bool,
    /// The smallest difference that explains anything; the server's background reads pages, too.
    at_least: u64,
}

/// The amounts, the most telling first.
const AMOUNTS: [Amount; 8] = [
    Amount {
        words: "rows read",
        counters: &["Handler_read_"],
        is_comparable: true,
        at_least: 1,
    },
    Amount {
        words: "pages read from disk",
        counters: &["Innodb_pages_read"],
        is_comparable: true,
        at_least: 100,
    },
    Amount {
        words: "rows written to temporary tables",
        counters: &["Handler_tmp_write"],
        is_comparable: false,
        at_least: 1,
    },
    Amount {
        words: "temporary tables on disk",
        counters: &["Created_tmp_disk_tables"],
        is_comparable: true,
        at_least: 1,
    },
    Amount {
        words: "temporary tables",
        counters: &["Created_tmp_tables"],
        is_comparable: false,
        at_least: 1,
    },
    Amount {
        words: "merge passes of sorts",
        counters: &["Sort_merge_passes"],
        is_comparable: true,
        at_least: 1,
    },
    Amount {
        words: "rows sorted",
        counters: &["Sort_rows"],
        is_comparable: false,
        at_least: 1,
    },
    Amount {
        words: "pages looked up",
        counters: &["Innodb_buffer_pool_read_requests"],
        is_comparable: false,
        at_least: 1,
    },
];

/// An amount that grows or shrinks by less than this factor explains nothing.
const FACTOR_AT_LEAST: f64 = 1.2;

/// What an execution adds to counters.
pub(super) type Costs = [(String, i64)];

/// The reason of a verdict: `because rows read 1.60M to 39.4k`; without a difference what is the same. It names
/// this number of amounts at most, of servers with two versions only those that both count in one way.
pub(super) fn reason(
    decision: Decision,
    [before, after]: [&Costs; 2],
    amounts: usize,
    is_one_version: bool,
) -> String {
    let mut changed = changed(decision, [before, after], is_one_version);
    changed.truncate(amounts);
    let [was, is] = [before, after].map(|costs| count(AMOUNTS[0].of(costs) as f64));
    let rows = if was == is {
        format!("rows read {is} on both sides")
    } else {
        format!("rows read {was} to {is}")
    };
    match (decision.is_different(), changed.is_empty()) {
        (true, false) => format!("because {}", changed.join(", ")),
        (false, false) => changed.join(", "),
        (true, true) => format!("no counter of the session explains it ({rows})"),
        (false, true) => rows,
    }
}

/// Whether the work that both sides counted explains a difference of their times.
pub(super) fn is_explained(decision: Decision, costs: [&Costs; 2], is_one_version: bool) -> bool {
    decision.is_different() && !changed(decision, costs, is_one_version).is_empty()
}

/// The amounts that changed in the direction of a verdict, the most telling first: `rows read 1.60M to 39.4k`.
fn changed(decision: Decision, [before, after]: [&Costs; 2], is_one_version: bool) -> Vec<String> {
    let mut changed = Vec::new();
    let comparable = AMOUNTS
        .iter()
        .filter(|it| it.is_comparable || is_one_version);
    for amount in comparable {
        let (was, is) = (amount.of(before), amount.of(after));
        let grows = is > was;
        let factor = (was.max(is) as f64) / (was.min(is).max(1) as f64);
        let explains = match decision {
            Decision::Faster => !grows,
            Decision::Slower => grows,
            Decision::Equivalent | Decision::Inconclusive => true,
        };
        // A few more rows of a small table are no reason.
        if was.abs_diff(is) >= amount.at_least && factor >= FACTOR_AT_LEAST && explains {
            changed.push(format!(
                "{} {} to {}",
                amount.words,
                count(was as f64),
                count(is as f64)
            ));
        }
    }
    changed
}

impl Amount {
    fn of(&self, costs: &Costs) -> i64 {
        let belongs = |name: &str| self.counters.iter().any(|start| name.starts_with(start));
        costs
            .iter()
            .filter(|(name, _)| belongs(name))
            .map(|(_, added)| added)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(read: i64, written: i64) -> Vec<(String, i64)> {
        vec![
            ("Handler_read_key".to_owned(), 1),
            ("Handler_read_next".to_owned(), read),
            ("Handler_tmp_write".to_owned(), written),
        ]
    }

    #[test]
    fn the_reason_has_the_direction_of_the_verdict() {
        let (many, few) = (costs(1_599_999, 0), costs(39_433, 700));
        for (decision, before, after, expected) in [
            (
                Decision::Faster,
                &many,
                &few,
                "because rows read 1.60M to 39.4k",
            ),
            (
                Decision::Slower,
                &many,
                &few,
                "because rows written to temporary tables 0 to 700",
            ),
            (
                Decision::Equivalent,
                &many,
                &many,
                "rows read 1.60M on both sides",
            ),
            (
                Decision::Faster,
                &many,
                &many,
                "no counter of the session explains it (rows read 1.60M on both sides)",
            ),
        ] {
            assert_eq!(reason(decision, [before, after], 2, true), expected);
        }
    }

    #[test]
    fn pages_read_from_disk_are_a_reason_unless_they_are_few() {
        let with = |pages| [costs(9, 0), vec![("Innodb_pages_read".to_owned(), pages)]].concat();
        let after = costs(9, 0);
        let of = |pages| reason(Decision::Faster, [&with(pages), &after], 1, false);
        assert_eq!(of(118_522), "because pages read from disk 119k to 0");
        assert_eq!(
            of(5),
            "no counter of the session explains it (rows read 10 on both sides)"
        );
    }

    #[test]
    fn counters_that_versions_count_differently_are_no_reason_between_two() {
        let (one, other) = (costs(99, 700), costs(101, 0));
        let between = |is_one_version| reason(Decision::Faster, [&one, &other], 2, is_one_version);
        assert_eq!(
            between(true),
            "because rows written to temporary tables 700 to 0"
        );
        assert_eq!(
            between(false),
            "no counter of the session explains it (rows read 100 to 102)"
        );
    }
}
