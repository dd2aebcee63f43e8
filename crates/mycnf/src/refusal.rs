//! Whether a server starts in spite of what a review refuses.

use crate::lint::{IGNORED_FILE, Lint};
use crate::rule::{Advice, Level};
use crate::time_zone::NEEDS_TABLES;

/// Whether a server starts with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// It starts: nothing is refused.
    Accepted,
    /// It starts, and ignores the lines or files that are refused.
    Ignoring,
    /// It starts if its time zone tables have the zone that the file names; in a new data directory they are empty.
    WithTimeZones,
    /// It does not start.
    Refused,
}

/// The words of a refusal after which the server starts all the same.
const IGNORED: &str = "ignores the line";

/// What one finding means for the start.
fn start(advice: &Advice) -> Start {
    if advice.remark.level != Level::Refused {
        Start::Accepted
    } else if advice.rule.id == IGNORED_FILE.id || advice.remark.what.contains(IGNORED) {
        Start::Ignoring
    } else if advice.remark.what == NEEDS_TABLES {
        Start::WithTimeZones
    } else {
        Start::Refused
    }
}

impl Lint {
    /// Whether the server starts: the worst finding decides.
    pub fn start(&self) -> Start {
        let starts = self.advice.iter().map(start);
        starts.max().unwrap_or(Start::Accepted)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Start;
    use crate::{Machine, OptionFile, Target, lint};

    #[test]
    fn a_server_starts_with_lines_that_it_ignores() {
        let (fast, zone) = ("innodb_doublewrite=fast", "default_time_zone=Europe/Berlin");
        for (target, line, expected) in [
            ("mysql-8.0.12", "max_connections=300", Start::Accepted),
            ("mysql-8.0.12", fast, Start::Ignoring),
            ("mysql-5.5", "innodb_stats_on_metadata=OFF", Start::Ignoring),
            ("mysql-8.0.33", zone, Start::WithTimeZones),
            ("mysql-8.0.33", "default_time_zone=+15:00", Start::Refused),
            ("mysql-8.0.33", "no_such_option=1", Start::Refused),
            (
                "mysql-8.0.12",
                "innodb_doublewrite=fast\nno_such_option=1",
                Start::Refused,
            ),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let path = Path::new("my.cnf");
            let file = OptionFile::parse(&text, path).unwrap();
            let target = Target::parse(target).unwrap();
            let mut lint = lint(&file, &target, &Machine::default());
            assert_eq!(lint.start(), expected, "{line}");
            lint.add_ignored_file(path);
            assert_eq!(lint.start(), expected.max(Start::Ignoring), "{line}");
        }
    }
}
