//! How long binary logs are kept, which two options set in different units.
//!
//! In MySQL 8.0, `binlog_expire_logs_seconds` decides wherever it stands, unless it is 0. `expire_logs_days` alone
//! replaces the default of 30 days, even with 0. In MariaDB from 10.6 on, both set one variable, and the last line
//! decides.
//!
//! Source: MySQL 8.0 Reference Manual, "binlog_expire_logs_seconds"; tried on MySQL 8.0.33 and MariaDB 10.11.

use crate::assignment::Assignment;
use crate::subject::Subject;

pub(crate) const DAYS: &str = "expire_logs_days";
pub(crate) const SECONDS: &str = "binlog_expire_logs_seconds";
pub(crate) const AUTO_PURGE: &str = "binlog_expire_logs_auto_purge";

const DAY_S: i128 = 86_400;

/// The seconds of a number of days, which MariaDB accepts with decimals: 43200 for `0.5`.
pub(crate) fn seconds_of_days(days: &str) -> Option<i128> {
    let days: f64 = days.trim().parse().ok()?;
    let seconds = days * 86_400.0;
    format!("{seconds:.0}").parse().ok()
}

/// The whole days that hold a number of seconds.
pub(crate) fn days_of_seconds(seconds: i128) -> i128 {
    seconds / DAY_S + i128::from(seconds % DAY_S > 0)
}

/// The option that a version should have in its file: seconds, where it knows them.
pub(crate) fn expiry_option(subject: &Subject<'_>) -> &'static str {
    if subject.has(SECONDS) { SECONDS } else { DAYS }
}

/// The longer of the two periods that a server shows, in seconds; only one of them is not 0, or both are equal.
pub(crate) fn shown_expiry_s(days: Option<&str>, seconds: Option<&str>) -> Option<i128> {
    let days = days.and_then(seconds_of_days);
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    days.max(seconds)
}

/// The period that a line sets, seconds.
fn period_s(line: &Assignment<'_>) -> Option<i128> {
    let value = line.value()?;
    match line.name() {
        DAYS => seconds_of_days(&value),
        _ => value.parse().ok(),
    }
}

impl<'a> Subject<'a> {
    /// The line that decides how long binary logs are kept; `None` if the default does.
    pub(crate) fn expiry_line(&self) -> Option<&Assignment<'a>> {
        let is_valid = |line: &&Assignment<'a>| line.value().is_some();
        let [days, seconds] = [DAYS, SECONDS].map(|name| self.set(name).filter(is_valid));
        let (Some(days), Some(seconds)) = (days, seconds) else {
            return days.or(seconds);
        };
        if self.is_mariadb() {
            let mut last = self.read().rev();
            return last.find(|line| [DAYS, SECONDS].contains(&line.name()));
        }
        let is_by_days = period_s(seconds) == Some(0) && period_s(days) != Some(0);
        Some(if is_by_days { days } else { seconds })
    }

    /// How long binary logs are kept, seconds; 0 if they are not removed by age, `None` if this is unknown.
    pub(crate) fn log_expiry_s(&self) -> Option<i128> {
        if self.is_on(AUTO_PURGE) == Some(false) {
            return Some(0);
        }
        match self.expiry_line().filter(|_| !self.is_running()) {
            Some(line) => period_s(line),
            None => shown_expiry_s(self.value(DAYS).as_deref(), self.value(SECONDS).as_deref()),
        }
    }

    /// The line of the other option that decides in the place of this one.
    pub(crate) fn expiry_line_instead_of(&self, line: &Assignment<'_>) -> Option<&Assignment<'a>> {
        let is_expiry = [DAYS, SECONDS].contains(&line.name()) && line.option.is_some();
        let deciding = self.expiry_line().filter(|_| is_expiry)?;
        (deciding.name() != line.name()).then_some(deciding)
    }

    /// The values of both options as a server shows them, where a line sets one of them.
    pub(crate) fn shown_expiry(&self) -> Option<[(&'static str, String); 2]> {
        let line = self.expiry_line()?;
        if !(self.has(DAYS) && self.has(SECONDS)) {
            return None;
        }
        let period_s = period_s(line)?;
        let is_by_days = line.name() == DAYS;
        let (days, seconds) = if self.is_mariadb() {
            // Microseconds of a day are what the server shows.
            let millionths = period_s.checked_mul(1_000_000)? / DAY_S;
            let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
            (format!("{whole}.{part:06}"), period_s)
        } else if is_by_days {
            (line.value()?, 0)
        } else {
            ("0".to_owned(), period_s)
        };
        Some([(DAYS, days), (SECONDS, seconds.to_string())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, OptionFile, Target};
    use std::path::Path;

    #[test]
    fn one_line_decides_by_the_rules_of_the_product() {
        let seconds_first = "binlog_expire_logs_seconds=86400\nexpire_logs_days=7";
        let days_first = "expire_logs_days=7\nbinlog_expire_logs_seconds=86400";
        for (target, lines, expected_s) in [
            ("mysql-8.0.33", seconds_first, 86_400),
            ("mysql-8.0.33", days_first, 86_400),
            ("mariadb-10.11", seconds_first, 604_800),
            ("mariadb-10.11", days_first, 86_400),
            ("mysql-8.0.33", "", 2_592_000),
            ("mariadb-10.11", "", 0),
            ("mysql-5.7", "", 0),
            ("mysql-5.7", days_first, 604_800),
            ("mysql-9.7", days_first, 86_400),
            ("mysql-8.0.33", "expire_logs_days=7", 604_800),
            ("mysql-8.0.33", "expire_logs_days=0", 0),
            (
                "mysql-8.0.33",
                "expire_logs_days=7\nbinlog_expire_logs_seconds=0",
                604_800,
            ),
            ("mysql-8.0.33", "binlog_expire_logs_auto_purge=OFF", 0),
            ("mariadb-10.11", "expire_logs_days=0.5", 43_200),
        ] {
            let file = OptionFile::parse(&format!("[mysqld]\n{lines}\n"), Path::new("my.cnf"));
            let (file, target) = (file.unwrap(), Target::parse(target).unwrap());
            let machine = Machine::default();
            let subject = Subject::new(&file, &target, &machine);
            assert_eq!(
                subject.log_expiry_s(),
                Some(expected_s),
                "{target}: {lines}"
            );
        }
    }
}
