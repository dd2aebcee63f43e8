//! The lines whose names only the old version may accept: abbreviations, and names with capital letters.

use std::path::Path;

use super::Migration;
use crate::assignment::Assignment;
use crate::catalogue::Catalogue;
use crate::entry::{Entry, Origin};
use crate::file::OptionFile;
use crate::finding::option_as_written;
use crate::name::OptionName;
use crate::print::option_line;
use crate::rename::with_prefix;
use crate::rule::Advice;
use crate::rules::abbreviated_name::full_name;
use crate::subject::Subject;
use crate::target::Target;

/// The lines of a file with such names.
pub(super) struct Abbreviations<'a> {
    /// Each line with the name in full.
    lines: Vec<(&'a Entry, OptionName)>,
}

impl<'a> Abbreviations<'a> {
    /// Those in the files of the old servers, for a new version.
    pub(super) fn of(before: &[Subject<'a>], new: &Catalogue) -> Self {
        let lines = before.iter().flat_map(|subject| {
            let read = subject.read();
            read.filter_map(move |line| Some((line.entry, name_in_full(subject, line, new)?)))
        });
        Self {
            lines: lines.collect(),
        }
    }

    fn find(&self, at: &Origin) -> Option<&(&'a Entry, OptionName)> {
        self.lines.iter().find(|(entry, _)| entry.origin == *at)
    }

    /// The file with names in full.
    pub(super) fn in_full(&self, file: &OptionFile) -> OptionFile {
        file.map_entries(|entry| {
            let mut entry = entry.clone();
            if let Some((_, full)) = self.find(&entry.origin) {
                entry.name = full.clone();
            }
            vec![entry]
        })
    }

    /// The lines as the user wrote them, by their origins.
    pub(super) fn as_written(&self) -> Vec<(Origin, String)> {
        let lines = self.lines.iter();
        lines
            .map(|(entry, _)| (entry.origin.clone(), option_as_written(entry)))
            .collect()
    }
}

/// The name of a line in the form that the new version can know; `None` if it is in that form already.
fn name_in_full(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    new: &Catalogue,
) -> Option<OptionName> {
    let name = &line.entry.name;
    if let Some(full) = full_name(subject, line) {
        return Some(OptionName::new(&with_prefix(name, full)));
    }
    let is_of_old_alone = subject.catalogue.takes_case_of(name) && !new.takes_case_of(name);
    is_of_old_alone.then(|| OptionName::new(&name.as_written().to_ascii_lowercase()))
}

impl Migration {
    /// A line as the user wrote it. `entry` may have its name in full.
    pub(super) fn as_written(&self, entry: &Entry) -> String {
        let mut written = self.written.iter();
        let own = written.find(|(at, _)| *at == entry.origin);
        own.map_or_else(|| option_as_written(entry), |(_, own)| own.clone())
    }

    /// Names the lines in findings about a file with names in full as they were written.
    pub(super) fn name_as_written(&self, findings: &mut [Advice]) {
        for advice in findings {
            let remark = &mut advice.remark;
            let mut written = self.written.iter();
            if let Some((_, own)) = written.find(|(at, _)| remark.at.as_ref() == Some(at)) {
                remark.option.clone_from(own);
            }
        }
    }

    /// Writes in full the names that the new version has. A line that needs more than that has been rewritten already.
    pub(super) fn write_in_full(
        &mut self,
        abbreviations: &Abbreviations<'_>,
        from: &Target,
        after: &Subject<'_>,
        path: &Path,
    ) {
        for (entry, full) in &abbreviations.lines {
            if after.has(full.as_written()) {
                let line = option_line(full.as_written(), entry.value.as_deref());
                self.replace(entry, line, &format!("in {from}"), path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Move, migrate};
    use super::*;
    use crate::rewrite::Edit;

    /// The report names each line as it is in the old file, whatever rewrites it.
    #[test]
    fn a_name_of_the_old_version_alone_is_written_in_full() {
        let path = Path::new("my.cnf");
        for (from, to, line, expected) in [
            (
                "mysql-5.6",
                "mysql-9.7",
                "innodb_file_per=ON",
                "innodb_file_per_table = ON",
            ),
            (
                "mysql-5.6",
                "mysql-9.7",
                "loose-innodb_file_per=ON",
                "loose_innodb_file_per_table = ON",
            ),
            // The option has a new name besides.
            (
                "mysql-5.6",
                "mysql-9.7",
                "innodb_log_file_s=64M",
                "innodb_redo_log_capacity = 128M",
            ),
            (
                "mariadb-10.11",
                "mysql-8.4",
                "innodb_file_per=ON",
                "innodb_file_per_table = ON",
            ),
            (
                "mariadb-10.11",
                "mysql-8.0.33",
                "innodb_flush_log_at_trx=3",
                "innodb_flush_log_at_trx_commit = 1",
            ),
            (
                "mysql-5.6",
                "mariadb-10.11",
                "innodb_log_file_s=64M",
                "innodb_log_file_size = 128M",
            ),
            (
                "mysql-5.6",
                "mariadb-10.11",
                "query_cache_si=64M",
                "query_cache_size = 0",
            ),
            (
                "mariadb-10.11",
                "mysql-8.4",
                "Max_Connections=300",
                "max_connections = 300",
            ),
            (
                "mariadb-10.11",
                "mariadb-11.4.5",
                "Skip-Log-Bin",
                "skip-log-bin",
            ),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, path).unwrap();
            let [from, to] = [from, to].map(|one| Target::parse(one).unwrap());
            let moves = migrate(&file, path, text.as_bytes(), &from, &to, &[]).moves;
            let now = moves.iter().find_map(|one| match one {
                Move::Rewritten { was, now, .. } if was == line => Some(now.as_str()),
                _ => None,
            });
            assert_eq!(now, Some(expected), "{line}: {moves:#?}");
        }
    }

    #[test]
    fn an_abbreviated_secret_is_in_no_report() {
        let (path, text) = (Path::new("my.cnf"), "[mysqld]\nreport_pa=mimsy\n");
        let file = OptionFile::parse(text, path).unwrap();
        let [from, to] = ["mysql-5.6", "mysql-8.0.33"].map(|one| Target::parse(one).unwrap());
        let migration = migrate(&file, path, text.as_bytes(), &from, &to, &[]);
        let was = migration.moves.iter().filter_map(|one| match one {
            Move::Rewritten { was, .. } => Some(was.as_str()),
            _ => None,
        });
        assert_eq!(was.collect::<Vec<_>>(), ["report_pa=..."]);
        let reasons = migration.edits.iter().filter_map(|edit| match edit {
            Edit::Line { reason, .. } => Some(reason.as_str()),
            Edit::After { .. } => None,
        });
        let expected = ["was report_pa=... in mysql-5.6"];
        assert_eq!(reasons.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_letter_case_that_the_new_version_takes_stays() {
        let (path, text) = (Path::new("my.cnf"), "[mysqld]\nMax_Connections=300\n");
        let file = OptionFile::parse(text, path).unwrap();
        let [from, to] = ["mariadb-10.11", "mariadb-11.8"].map(|one| Target::parse(one).unwrap());
        let migration = migrate(&file, path, text.as_bytes(), &from, &to, &[]);
        let is_of_line = |edit: &Edit| matches!(edit, Edit::Line { .. });
        assert!(!migration.edits.iter().any(is_of_line), "{migration:#?}");
    }
}
