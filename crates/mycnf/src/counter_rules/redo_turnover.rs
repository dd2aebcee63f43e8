//! Rule: the redo log is small for its write rate.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{bytes, mean_bytes, percent, seconds};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "redo-turnover",
        title: "Redo log small for its write rate",
        reason: "If the redo log is nearly full, InnoDB must flush pages immediately, and statements that change data wait. With a larger redo log, crash recovery takes longer.",
        source: "MySQL Reference Manual, \"Optimizing InnoDB Redo Logging\"; the limits of three quarters and ten minutes are our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Innodb_os_log_written"],
        at_least: 100 << 20,
    },
    judge,
};

/// Checkpoint age, as a share of its limit, above which InnoDB is about to flush pages immediately.
const AGE_SHARE: f64 = 0.75;
/// Time in which the redo log is written once, seconds; below it, the checkpoint age should be monitored.
const TURNOVER_S: f64 = 600.0;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let redo = u64::try_from(subject.redo_bytes()?).ok()?;
    let written_per_s = counters.per_s("Innodb_os_log_written")?;
    let turnover_s = redo as f64 / written_per_s;
    let name = ["innodb_redo_log_capacity", "innodb_log_file_size"]
        .into_iter()
        .find(|name| subject.number(name).is_some())?;
    let written = format!(
        "the server writes {} of redo per second on average, which fills the redo log of {} every {}",
        mean_bytes(written_per_s),
        bytes(redo),
        seconds(turnover_s)
    );
    match age_share(counters, redo) {
        Some((age, limit)) if age >= AGE_SHARE => {
            let what = format!(
                "the checkpoint age is now {} of {limit}; {written}",
                percent(age)
            );
            let fix = "increase the size of the redo log and monitor the checkpoint age; crash recovery takes longer with a larger redo log";
            Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
        }
        // The age is known, and the log has free space.
        Some(_) => None,
        None if turnover_s < TURNOVER_S => {
            let fix = "monitor the checkpoint age (SHOW ENGINE INNODB STATUS) under load before you increase the size of the redo log";
            Some(RuleFinding::of(subject, name, Level::Note, written).fix(fix))
        }
        None => None,
    }
}

/// The checkpoint age as a share of its limit, and the limit's name; `None` if the version does not count the age.
fn age_share(counters: &Counters, redo: u64) -> Option<(f64, &'static str)> {
    let by_mariadb = counters
        .get("Innodb_checkpoint_age")
        .zip(counters.get("Innodb_checkpoint_max_age"))
        .map(|(age, max)| (age, max, "its maximum"));
    let by_mysql = || {
        let now = counters.get("Innodb_redo_log_current_lsn")?;
        let checkpoint = counters.get("Innodb_redo_log_checkpoint_lsn")?;
        Some((now.saturating_sub(checkpoint), redo, "the redo log's size"))
    };
    let (age, limit, name) = by_mariadb.or_else(by_mysql)?;
    (limit > 0).then(|| (age as f64 / limit as f64, name))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    const SIZE: [(&str, &str); 1] = [("innodb_log_file_size", "100663296")];
    /// 100 MiB in one day, a hundred times.
    const WRITTEN: (&str, u64) = ("Innodb_os_log_written", (100 * 864) << 20);

    #[test]
    fn a_high_age_is_the_need() {
        let age = |age| {
            [
                WRITTEN,
                ("Innodb_checkpoint_age", age),
                ("Innodb_checkpoint_max_age", 81_000_000),
            ]
        };
        assert_counted(
            &RULE,
            &SIZE,
            &age(72_900_000),
            "warning: innodb_log_file_size: the checkpoint age is now 90 % of its maximum; the server writes 1.00 MiB of redo per second on average, which fills the redo log of 96.0 MiB every",
        );
        assert_silent(&RULE, &SIZE, &age(10_000_000));
    }

    #[test]
    fn a_rate_alone_asks_for_the_age() {
        assert_counted(
            &RULE,
            &SIZE,
            &[WRITTEN],
            "note: innodb_log_file_size: the server writes 1.00 MiB of redo per second",
        );
        assert_silent(&RULE, &[("innodb_log_file_size", "1073741824")], &[WRITTEN]);
        assert_too_early(&RULE, &[("Innodb_os_log_written", 1 << 20)]);
    }
}
