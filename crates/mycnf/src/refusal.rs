//! Whether a server starts in spite of what a review refuses.

use crate::lint::{IGNORED_FILE, Lint};
use crate::rule::{Advice, Level};

/// The words of a refusal after which the server starts all the same.
const IGNORED: &str = "ignores the line";

/// Whether the server ignores what is refused, a line or a whole file.
fn is_ignored(advice: &Advice) -> bool {
    advice.rule.id == IGNORED_FILE.id || advice.remark.what.contains(IGNORED)
}

impl Lint {
    /// Whether the server starts: nothing is refused, or it ignores all that is.
    pub fn starts(&self) -> bool {
        let mut advice = self.advice.iter();
        advice.all(|advice| advice.remark.level != Level::Refused || is_ignored(advice))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Level, Machine, OptionFile, Target, lint};

    #[test]
    fn a_server_starts_with_lines_that_it_ignores() {
        for (target, line, starts) in [
            ("mysql-8.0.12", "innodb_doublewrite=fast", true),
            ("mysql-5.5", "innodb_stats_on_metadata=OFF", true),
            ("mysql-8.0.33", "no_such_option=1", false),
            (
                "mysql-8.0.12",
                "innodb_doublewrite=fast\nno_such_option=1",
                false,
            ),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let path = Path::new("my.cnf");
            let file = OptionFile::parse(&text, path).unwrap();
            let target = Target::parse(target).unwrap();
            let mut lint = lint(&file, &target, &Machine::default());
            assert!(lint.count(Level::Refused) > 0, "{line}");
            assert_eq!(lint.starts(), starts, "{line}");
            lint.add_ignored_file(path);
            assert_eq!(lint.starts(), starts, "{line}");
        }
    }
}
