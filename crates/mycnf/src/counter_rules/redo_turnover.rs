//! Rule: the redo log is small for the rate at which it is written.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;
use units::{bytes, mean_bytes, percent, seconds};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "redo-turnover",
        title: "Redo log size and write rate",
        reason: "A nearly full redo log forces InnoDB to flush pages immediately while commits wait. A larger redo log takes longer to recover.",
        source: "MySQL Reference Manual, \"Optimizing InnoDB Redo Logging\"; three quarters and ten minutes are our own limits",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Innodb_os_log_written"],
        at_least: 100 << 20,
    },
    judge,
};

/// Checkpoint age as a share of the redo log, above which pages are about to be flushed at once.
const AGE_SHARE: f64 = 0.75;
/// Time in which the redo log is written once, seconds, below which its age is to be watched.
const TURNOVER_S: f64 = 600.0;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<Remark> {
    let redo = u64::try_from(subject.redo_bytes()?).ok()?;
    let written_per_s = counters.per_s("Innodb_os_log_written")?;
    let turnover_s = redo as f64 / written_per_s;
    let name = ["innodb_redo_log_capacity", "innodb_log_file_size"]
        .into_iter()
        .find(|name| subject.number(name).is_some())?;
    let written = format!(
        "{} of redo per second on average fill the log of {} every {}",
        mean_bytes(written_per_s),
        bytes(redo),
        seconds(turnover_s)
    );
    match age_share(counters, redo) {
        Some(age) if age >= AGE_SHARE => {
            let what = format!(
                "the checkpoint age is {} of the redo log now; {written}",
                percent(age)
            );
            let fix = "raise the redo log size and monitor the checkpoint age; crash recovery takes longer with a larger log";
            Some(Remark::of(subject, name, Level::Warning, what).fix(fix))
        }
        // The age is known, and there is room.
        Some(_) => None,
        None if turnover_s < TURNOVER_S => {
            let fix = "monitor the checkpoint age (SHOW ENGINE INNODB STATUS) under load before you increase the redo log";
            Some(Remark::of(subject, name, Level::Note, written).fix(fix))
        }
        None => None,
    }
}

/// The checkpoint age as a share of the largest; `None` if the version does not count it.
fn age_share(counters: &Counters, redo: u64) -> Option<f64> {
    let by_mariadb = counters
        .get("Innodb_checkpoint_age")
        .zip(counters.get("Innodb_checkpoint_max_age"));
    let by_mysql = || {
        let now = counters.get("Innodb_redo_log_current_lsn")?;
        let checkpoint = counters.get("Innodb_redo_log_checkpoint_lsn")?;
        Some((now.saturating_sub(checkpoint), redo))
    };
    let (age, limit) = by_mariadb.or_else(by_mysql)?;
    (limit > 0).then(|| age as f64 / limit as f64)
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
            "warning: innodb_log_file_size: the checkpoint age is 90 % of the redo log now; 1.00 MiB of redo per second on average fill the log of 96.0 MiB every",
        );
        assert_silent(&RULE, &SIZE, &age(10_000_000));
    }

    #[test]
    fn a_rate_alone_asks_for_the_age() {
        assert_counted(
            &RULE,
            &SIZE,
            &[WRITTEN],
            "note: innodb_log_file_size: 1.00 MiB of redo per second",
        );
        assert_silent(&RULE, &[("innodb_log_file_size", "1073741824")], &[WRITTEN]);
        assert_too_early(&RULE, &[("Innodb_os_log_written", 1 << 20)]);
    }
}
