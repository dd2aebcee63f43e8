//! Rule: the query cache is on, or it is off but its memory is reserved, or it is on without memory.

use crate::assignment::Assignment;
use crate::catalogue::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::bytes;

pub(super) const RULE: Rule = Rule {
    id: "query-cache",
    title: "Query cache",
    reason: "A single mutex protects the query cache. With several threads, this mutex limits the throughput of the whole server, and CPUs stay idle. The cache is deprecated in MySQL 5.7 and was removed in MySQL 8.0, which does not start if the file sets a query cache option.",
    source: "HP Japan, MySQL Server 5.0 sizing information: CPU use stayed at 40 to 50 % with the query cache, and throughput quadrupled after the cache was disabled; MySQL 5.7 Reference Manual, \"The MySQL Query Cache\"",
    check,
};

/// Minimum number of CPUs with which the single mutex limits throughput.
const CPUS: usize = 4;

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let size = match subject.number("query_cache_size") {
        Some(0) => return Vec::from_iter(on_without_memory(subject)),
        Some(size) if size > 0 => size,
        _ => return Vec::new(),
    };
    let is_off = subject.is_one_of("query_cache_type", &["OFF", "0"]);
    // 5.7 is the last version of MySQL that has it.
    let is_last = subject.target.is_at_least(Family::MySql, &[5, 7]);
    let size_text = bytes(u64::try_from(size).unwrap_or(0));
    match (subject.set("query_cache_size"), is_off) {
        // Without the line, the default size would be reserved.
        (Some(line), true) if size > default_size(subject) => {
            let what = format!(
                "reserves {size_text} for the query cache, although query_cache_type disables the cache"
            );
            vec![RuleFinding::on(line, Level::Note, what).fix("remove the line")]
        }
        (Some(line), false) if is_enabled_by_size(subject) => {
            let what = format!(
                "the query cache is enabled with {size_text}, although query_cache_type is OFF: in MariaDB, any size above 0 enables the cache"
            );
            let fix = "set query_cache_size = 0 to disable the cache";
            vec![RuleFinding::on(line, Level::Warning, what).fix(fix)]
        }
        (_, false) => {
            let level = match subject.machine.cpus {
                Some(cpus) if cpus < CPUS && !is_last => Level::Note,
                _ => Level::Warning,
            };
            let last = if is_last {
                "; the cache is deprecated in this version and was removed in MySQL 8.0"
            } else {
                ""
            };
            let what = format!(
                "the query cache is enabled with {size_text}, and all threads share its single mutex{last}"
            );
            let off = if subject.is_mariadb() {
                "query_cache_size=0"
            } else {
                "query_cache_type=0"
            };
            let fix = format!(
                "compare the throughput with and without {off}, and measure Qcache_hits per SELECT"
            );
            vec![RuleFinding::of(subject, "query_cache_size", level, what).fix(fix)]
        }
        (_, true) => Vec::new(),
    }
}

/// A line that enables the cache, where another gives it no memory.
fn on_without_memory(subject: &Subject<'_>) -> Option<RuleFinding> {
    let line = subject.set("query_cache_type")?;
    subject.set("query_cache_size")?;
    let is_off = subject.is_one_of("query_cache_type", &["OFF", "0"]);
    let what = "enables the query cache, but query_cache_size is 0: no result is cached";
    let remark = RuleFinding::on(line, Level::Warning, what);
    (!is_off).then(|| remark.fix("remove both lines: the cache is off without them"))
}

/// The size of the cache without a line, bytes.
fn default_size(subject: &Subject<'_>) -> i128 {
    let size = subject.catalogue.default_value("query_cache_size");
    size.and_then(|size| size.parse().ok()).unwrap_or(0)
}

/// Whether a file has a line that disables the cache, and the line with the size enables it all the same.
fn is_enabled_by_size(subject: &Subject<'_>) -> bool {
    let name = "query_cache_type";
    let own = subject.set(name).and_then(Assignment::value);
    !subject.is_running()
        && own.is_some_and(|own| own == "OFF")
        && subject.decided_by_another(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};
    use crate::Machine;

    #[test]
    fn on_and_reserved_are_different() {
        assert_found(
            &RULE,
            "mysql-5.5",
            "query_cache_size=64M",
            &["warning: query_cache_size=64M: the query cache is enabled"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "query_cache_size=64M",
            &["note: query_cache_size=64M: reserves 64.0 MiB"],
        );
        // It is the default size.
        assert_found(&RULE, "mysql-5.7", "query_cache_size=1M", &[]);
        assert_found(
            &RULE,
            "mysql-5.6",
            "query_cache_size=64M\nquery_cache_type=1",
            &["the query cache is enabled"],
        );
        assert_found(
            &RULE,
            "mysql-5.5",
            "query_cache_size=0M\nquery_cache_type=0",
            &[],
        );
        assert_found(&RULE, "mariadb-10.11", "", &[]);
        assert_found(&RULE, "mysql-8.0.33", "query_cache_size=64M", &[]);
    }

    #[test]
    fn a_cache_that_is_on_needs_memory() {
        let on = "query_cache_type=1\nquery_cache_size=0";
        let found = "warning: query_cache_type=1: enables the query cache, but query_cache_size is 0: no result is cached";
        for target in ["mysql-5.6", "mysql-5.7", "mariadb-10.11"] {
            assert_found(&RULE, target, on, &[found]);
        }
        let off = "query_cache_type=0\nquery_cache_size=0";
        assert_found(&RULE, "mysql-5.7", off, &[]);
    }

    #[test]
    fn any_size_enables_the_cache_of_mariadb() {
        let without = "and all threads share its single mutex; compare the throughput with and without query_cache_size=0";
        let although = "warning: query_cache_size=64M: the query cache is enabled with 64.0 MiB, although query_cache_type is OFF: \
                        in MariaDB, any size above 0 enables the cache; set query_cache_size = 0";
        for (lines, found) in [
            ("query_cache_size=64M", without),
            ("query_cache_size=1M", without),
            ("query_cache_size=64M\nquery_cache_type=2", without),
            ("query_cache_size=64M\nquery_cache_type=0", although),
            ("query_cache_type=OFF\nquery_cache_size=64M", although),
        ] {
            assert_found(&RULE, "mariadb-10.11", lines, &[found]);
        }
        let off = "query_cache_size=0\nquery_cache_type=OFF";
        assert_found(&RULE, "mariadb-10.11", off, &[]);
    }

    #[test]
    fn the_last_version_that_has_it_is_warned() {
        let small = Machine {
            cpus: Some(2),
            ..Machine::default()
        };
        for target in ["mysql-5.7", "percona-5.7", "mysql-5.7.44"] {
            for lines in [
                "query_cache_type=1",
                "query_cache_type=ON\nquery_cache_size=64M",
            ] {
                assert_found_on(
                    &RULE,
                    &small,
                    target,
                    lines,
                    &[
                        "its single mutex; the cache is deprecated in this version and was removed in MySQL 8.0; compare the throughput with and without query_cache_type=0",
                    ],
                );
            }
        }
        let on = "query_cache_type=1";
        assert_found_on(&RULE, &small, "mysql-5.6", on, &["note: query_cache_size"]);
        assert_found_on(
            &RULE,
            &small,
            "mariadb-10.6",
            on,
            &["note: query_cache_size"],
        );
    }
}
