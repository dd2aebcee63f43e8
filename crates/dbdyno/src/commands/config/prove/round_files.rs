//! The experiment of one round: its option files, and its text.

use std::{path::Path, time::Duration};

use runs::Blamed;
use units::fine_percent;
use verdict::{Parts, Purpose, Round};

use super::{
    case::Case,
    workload::{SMACK, SMACK_NAME, quoted},
};

/// The factor over the option files.
pub(super) const FACTOR: &str = "file";

/// A round with the names of its files; the baseline is the first.
pub(super) struct NamedRound {
    /// Name of its experiment: `1-screening`.
    pub(super) name: String,
    pub(super) files: Vec<(String, Parts)>,
}

impl NamedRound {
    /// Names the files of a round; `number` counts from 1.
    pub(super) fn new(case: &Case, number: usize, round: &Round) -> Self {
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
    pub(super) fn level(&self, parts: &Parts) -> Option<&str> {
        let found = self.files.iter().find(|(_, of)| of == parts);
        found.map(|(name, _)| name.as_str())
    }

    /// Writes the option files and the experiment into a directory; the experiment is the last, so that it is complete
    /// where it exists.
    pub(super) fn write(
        &self,
        case: &Case,
        directory: &Path,
        time: Option<Duration>,
    ) -> Result<(), Blamed> {
        let files_name = format!("{}-files", self.name);
        let files_directory = directory.join(&files_name);
        std::fs::create_dir_all(&files_directory).map_err(Blamed::machine)?;
        for (name, parts) in &self.files {
            let text = case.file_with(parts)?.to_string();
            let path = files_directory.join(format!("{name}.cnf"));
            files::replace(&path, text.as_bytes()).map_err(Blamed::machine)?;
        }
        if case.workload.toml.contains(&quoted(SMACK_NAME)) {
            let path = directory.join(SMACK_NAME);
            files::replace(&path, SMACK.as_bytes()).map_err(Blamed::machine)?;
        }
        let text = self.text(case, &files_name, time)?;
        let path = directory.join(format!("{}.toml", self.name));
        files::replace(&path, text.as_bytes()).map_err(Blamed::machine)
    }

    fn text(&self, case: &Case, files: &str, time: Option<Duration>) -> Result<String, Blamed> {
        let question = format!("Which lines of {} earn their place?", case.file.display());
        let terms = &case.terms;
        let time = time.map(|time| format!("time_at_most = \"{}ms\"\n", time.as_millis()));
        let names: Vec<String> = self.files.iter().map(|(name, _)| quoted(name)).collect();
        Ok(format!(
            "# A round of dbdyno config prove.\nformat = 1\nquestion = {}\nseed = {}\nrepeats = \"until decided\"\n\
             at_most = {}\n{}order = \"random\"\n\n[matrix]\n{FACTOR} = [{}]\n\n{}\n{}\n\
             [verdict]\nbaseline = {{ {FACTOR} = {} }}\nmetric = \"{}\"\nmin_effect = \"{}\"\nleave_decided = \"on\"\n",
            serde_json::Value::from(question),
            terms.seed,
            terms.blocks,
            time.unwrap_or_default(),
            names.join(", "),
            case.server_table(files)?,
            case.workload.toml,
            names.first().map_or("", String::as_str),
            case.workload.metric,
            fine_percent(terms.margin),
        ))
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
        // Only the check has such a file: the whole one without its harmful lines.
        _ => "full-without-harmful".to_owned(),
    }
}
