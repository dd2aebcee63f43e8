//! The experiment of one round: its option files, and its text.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use experiment::written;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};
use units::fine_percent;
use verdict::{Parts, Purpose, Round};

use crate::{
    case::{Case, FACTOR},
    workload::{SMACK, SMACK_NAME},
};

/// A round with the names of its files; the baseline is the first.
pub(crate) struct NamedRound {
    /// Name of its experiment: `1-screening`.
    pub(crate) name: String,
    pub(crate) files: Vec<(String, Parts)>,
}

impl NamedRound {
    /// Names the files of a round; `number` counts from 1.
    pub(crate) fn new(case: &Case, number: usize, round: &Round) -> Self {
        let purpose = match round.purpose {
            Purpose::Screening => "screening",
            Purpose::Check => "check",
            Purpose::AddingBack => "adding-back",
        };
        let all = std::iter::once(&round.baseline).chain(&round.others);
        let files = all.map(|parts| (name(case, round, parts), parts.clone()));
        Self {
            name: format!("{number}-{purpose}"),
            files: files.collect(),
        }
    }

    /// The name of a file.
    pub(crate) fn level(&self, parts: &Parts) -> Option<&str> {
        let found = self.files.iter().find(|(_, of)| of == parts);
        found.map(|(name, _)| name.as_str())
    }

    /// Writes the option files and the experiment into a directory; the experiment is the last, so that it is complete
    /// where it exists.
    pub(crate) fn write(&self, case: &Case, directory: &Path) -> Result<(), Blamed> {
        let files_directory = directory.join(self.files_name());
        std::fs::create_dir_all(&files_directory).map_err(Blamed::machine)?;
        for (path, text) in self.planned(case, directory)? {
            files::replace(&path, text.as_bytes()).map_err(Blamed::machine)?;
        }
        Ok(())
    }

    /// An error if the files in a directory are not those that are planned: results of other files would get the names of
    /// these.
    pub(crate) fn check(&self, case: &Case, directory: &Path) -> Result<(), Blamed> {
        for (path, text) in self.planned(case, directory)? {
            let found = files::read_regular_text(&path, experiment::TEXT_BYTES_MAX);
            if found.is_ok_and(|found| found == text) {
                continue;
            }
            let message = format!(
                "{} is not the file that this proof expects: it was changed, or an earlier round was decided \
                 differently",
                path.display()
            );
            let hint = "to measure again, name a new directory with --results; the existing results are kept";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        Ok(())
    }

    fn files_name(&self) -> String {
        format!("{}-files", self.name)
    }

    /// The files of the round with their texts; the experiment is the last.
    fn planned(&self, case: &Case, directory: &Path) -> Result<Vec<(PathBuf, String)>, Blamed> {
        let files_directory = directory.join(self.files_name());
        let mut planned = Vec::new();
        for (name, parts) in &self.files {
            let text = case.file_with(parts)?.to_string();
            planned.push((files_directory.join(format!("{name}.cnf")), text));
        }
        if case.load.is_bundled_smack {
            planned.push((directory.join(SMACK_NAME), SMACK.to_owned()));
        }
        let path = directory.join(format!("{}.toml", self.name));
        planned.push((path, self.text(case)?));
        Ok(planned)
    }

    fn text(&self, case: &Case) -> Result<String, Blamed> {
        let question = format!("Which lines of {} are worth keeping?", case.file.display());
        let terms = &case.terms;
        let mut file = DocumentMut::new();
        let format = written::commented_key("format", &["A round of dbdyno config prove."]);
        file.insert_formatted(&format, value(written::number(1)));
        file.insert("question", value(written::string(&question)));
        file.insert("seed", value(written::number(terms.seed)));
        file.insert("repeats", value(written::string("until decided")));
        file.insert("at_most", value(written::number(terms.blocks.into())));
        file.insert("order", value(written::string("random")));
        let names = self.files.iter().map(|(name, _)| written::literal(name));
        let names: Array = names.collect();
        let baseline = names.get(0).cloned();
        let mut matrix = Table::new();
        matrix.insert(FACTOR, value(names));
        file.insert("matrix", Item::Table(matrix));
        let server = case.server_table(&self.files_name())?;
        file.insert("server", Item::Table(server));
        file.insert("data", Item::Table(case.load.data.clone()));
        file.insert("load", Item::Table(case.load.load.clone()));
        let mut verdict = Table::new();
        let baseline: InlineTable = baseline.map(|first| (FACTOR, first)).into_iter().collect();
        verdict.insert("baseline", value(baseline));
        verdict.insert("metric", value(written::string(case.load.metric)));
        let min_effect = written::string(&fine_percent(terms.margin));
        verdict.insert("min_effect", value(min_effect));
        verdict.insert("leave_decided", value(written::string("on")));
        file.insert("verdict", Item::Table(verdict));
        Ok(file.to_string())
    }
}

/// The name of a file in its round.
fn name(case: &Case, round: &Round, parts: &Parts) -> String {
    let whole = case.whole();
    if parts.is_empty() {
        return "base".to_owned();
    }
    if *parts == whole {
        return "full".to_owned();
    }
    if *parts == round.baseline {
        return "shortest".to_owned();
    }
    let mut missing = round.baseline.difference(parts);
    let mut more = parts.difference(&round.baseline);
    match (missing.next(), missing.next(), more.next(), more.next()) {
        (Some(part), None, None, None) => format!("without-{}", case.label(*part)),
        (None, None, Some(part), None) => format!("with-{}", case.label(*part)),
        // Only the check has such a file: the whole file without its harmful lines.
        _ => "full-without-harmful".to_owned(),
    }
}
