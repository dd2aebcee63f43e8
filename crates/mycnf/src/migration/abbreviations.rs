//! The lines with abbreviated names, which the old version accepts and the new one may not.

use std::path::Path;

use super::Migration;
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

/// The lines of a file with abbreviated names.
pub(super) struct Abbreviations<'a> {
    /// Each line with the whole name of its option.
    lines: Vec<(&'a Entry, &'static str)>,
}

impl<'a> Abbreviations<'a> {
    /// Those in the files of the old servers.
    pub(super) fn of(before: &[Subject<'a>]) -> Self {
        let lines = before.iter().flat_map(|subject| {
            subject.read().filter_map(move |line| {
                let full = full_name(subject, line)?;
                Some((line.entry, full))
            })
        });
        Self {
            lines: lines.collect(),
        }
    }

    fn find(&self, at: &Origin) -> Option<&(&'a Entry, &'static str)> {
        self.lines.iter().find(|(entry, _)| entry.origin == *at)
    }

    /// The file with whole names.
    pub(super) fn in_full(&self, file: &OptionFile) -> OptionFile {
        file.map_entries(|entry| {
            let mut entry = entry.clone();
            if let Some((_, full)) = self.find(&entry.origin) {
                entry.name = OptionName::new(&with_prefix(&entry.name, full));
            }
            vec![entry]
        })
    }

    /// Names the lines in findings about a file with whole names as they were written.
    pub(super) fn name_as_written(&self, findings: &mut [Advice]) {
        for advice in findings {
            let remark = &mut advice.remark;
            if let Some((entry, _)) = remark.at.as_ref().and_then(|at| self.find(at)) {
                remark.option = option_as_written(entry);
            }
        }
    }
}

impl Migration {
    /// Writes the whole names that the new version has. A line that needs more than that has been rewritten already.
    pub(super) fn write_in_full(
        &mut self,
        abbreviations: &Abbreviations<'_>,
        from: &Target,
        after: &Subject<'_>,
        path: &Path,
    ) {
        for (entry, full) in &abbreviations.lines {
            if after.has(full) {
                let name = with_prefix(&entry.name, full);
                let line = option_line(&name, entry.value.as_deref());
                self.replace(entry, line, &format!("in {from}"), path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Move, migrate};
    use super::*;

    #[test]
    fn an_abbreviated_name_is_written_in_full() {
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
}
