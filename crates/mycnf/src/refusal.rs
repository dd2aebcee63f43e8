//! Whether a server starts in spite of what a review refuses.

use crate::lint::Lint;
use crate::rule::{Remark, Startup};

impl Lint {
    /// Whether the server starts: the worst finding decides.
    pub fn startup(&self) -> Startup {
        let all = self.advice.iter().map(|advice| advice.remark.startup());
        all.max().unwrap_or(Startup::Accepted)
    }

    /// The remarks that mean this for the start.
    pub fn remarks_with(&self, startup: Startup) -> impl Iterator<Item = &Remark> {
        let all = self.advice.iter().map(|advice| &advice.remark);
        all.filter(move |remark| remark.startup() == startup)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Startup;
    use crate::{Machine, OptionFile, Target, lint};

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
