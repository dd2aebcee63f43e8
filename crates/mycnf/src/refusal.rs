//! Whether a server starts in spite of what a review refuses.

use crate::lint::Lint;
use crate::rule::{Level, RuleFinding, Startup};
use crate::rules::TIME_ZONE;

impl Lint {
    /// Settles whether a named time zone is accepted: `is_known` says whether the server that the file is for has this zone
    /// in its tables.
    pub fn settle_named_time_zone(&mut self, is_known: bool) {
        if is_known {
            self.advice.retain(|advice| !advice.rule.is(TIME_ZONE));
            return;
        }
        for advice in &mut self.advice {
            if advice.rule.is(TIME_ZONE) {
                advice.remark.level = Level::Refused;
                advice.remark.if_refused = Startup::Refused;
            }
        }
    }

    /// Whether the server starts: the worst finding decides.
    pub fn startup(&self) -> Startup {
        let all = self.advice.iter().map(|advice| advice.remark.startup());
        all.max().unwrap_or(Startup::Accepted)
    }

    /// The remarks that mean this for the start.
    pub fn remarks_with(&self, startup: Startup) -> impl Iterator<Item = &RuleFinding> {
        let all = self.advice.iter().map(|advice| &advice.remark);
        all.filter(move |remark| remark.startup() == startup)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Startup;
    use crate::{Finding, Level, Machine, OptionFile, Severity, Target, lint};

    /// The tables of an existing server may have the zone: only the server itself can say.
    #[test]
    fn a_named_time_zone_is_refused_only_by_a_server_without_it() {
        let text = "[mysqld]\ndefault_time_zone=Europe/Berlin\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-5.7").unwrap();
        let mut lint = lint(&file, &target, &Machine::default());
        assert_eq!(lint.worst(), Some(Level::Risk));
        assert_eq!(lint.startup(), Startup::WithTimeZones);
        lint.settle_named_time_zone(false);
        assert_eq!(lint.worst(), Some(Level::Refused));
        assert_eq!(lint.startup(), Startup::Refused);
        lint.settle_named_time_zone(true);
        assert_eq!(lint.startup(), Startup::Accepted);
        assert_eq!(lint.worst(), Some(Level::Note));
    }

    #[test]
    fn the_empty_directory_of_a_validator_has_no_zones_to_judge_by() {
        let text = "[mysqld]\ndefault_time_zone=Asia/Shanghai\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-8.0.33").unwrap();
        let mut lint = lint(&file, &target, &Machine::default());
        let finding = Finding::new(&file.entries()[0], Severity::Refused, "unknown time zone");
        lint.add_validator(&[finding], &[], &file);
        assert_eq!(
            (lint.count(Level::Refused), lint.count(Level::Risk)),
            (0, 1)
        );
    }

    #[test]
    fn a_doubt_ends_when_the_server_has_judged_the_line() {
        let text = "[mysqld]\nmax_connections=300\nuserstat=ON\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("percona-8.4").unwrap();
        let mut lint = lint(&file, &target, &Machine::default());
        assert_eq!(lint.startup(), Startup::Uncertain);
        let line = &file.entries()[1].origin;
        lint.add_validator(&[], std::slice::from_ref(line), &file);
        assert_eq!(lint.startup(), Startup::Accepted);
    }

    #[test]
    fn a_server_starts_with_lines_that_it_ignores() {
        let (fast, zone) = ("innodb_doublewrite=fast", "default_time_zone=Europe/Berlin");
        for (target, line, expected) in [
            ("mysql-8.0.12", "max_connections=300", Startup::Accepted),
            ("mysql-8.0.12", fast, Startup::Ignoring),
            (
                "mysql-5.5",
                "innodb_stats_on_metadata=OFF",
                Startup::Ignoring,
            ),
            ("mysql-8.0.33", zone, Startup::WithTimeZones),
            ("mysql-8.0.33", "default_time_zone=+15:00", Startup::Refused),
            ("mysql-8.0.33", "no_such_option=1", Startup::Refused),
            (
                "mysql-8.0.12",
                "innodb_doublewrite=fast\nno_such_option=1",
                Startup::Refused,
            ),
            // A catalogue of another version cannot tell.
            ("percona-8.4", "query_cache_size=8M", Startup::Uncertain),
            (
                "percona-8.4",
                "thread_handling=pool-of-threads",
                Startup::Uncertain,
            ),
            (
                "percona-8.4",
                "loose_query_cache_size=8M",
                Startup::Accepted,
            ),
            ("percona-8.4", "max_connections=300", Startup::Accepted),
            (
                "mysql-8.0.20",
                "innodb_redo_log_capacity=1G",
                Startup::Uncertain,
            ),
            ("mysql-8.0.20", "log_syslog=1", Startup::Uncertain),
            (
                "mysql-8.0.20",
                "innodb_doublewrite=DETECT_ONLY",
                Startup::Accepted,
            ),
            (
                "percona-8.4",
                "validate_password.policy=LOW",
                Startup::Accepted,
            ),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let path = Path::new("my.cnf");
            let file = OptionFile::parse(&text, path).unwrap();
            let target = Target::parse(target).unwrap();
            let mut lint = lint(&file, &target, &Machine::default());
            assert_eq!(lint.startup(), expected, "{line}");
            lint.add_ignored_file(path);
            assert_eq!(lint.startup(), expected.max(Startup::Ignoring), "{line}");
        }
    }
}
