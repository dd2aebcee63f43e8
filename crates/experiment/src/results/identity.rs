//! The identity of an experiment: text, overrides, and the files that the text names.
//!
//! In a results directory it is stored in `experiment.toml` and `experiment.json`, for example
//! ```json
//! {"format":1,"scale":0.05,"repeats":null,"seed":null,"text_sha256":"9f86d0…",
//!  "files_sha256":{"smacks/hp-sizing.smack":"60303a…"}}
//! ```

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io::{self, Write},
    path::{Path, PathBuf},
};

use files::Created;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    data_hash::hash_of_data,
    error::Error,
    file::{defaults::Defaults, overrides::Overrides, source::Source},
    plan::order::Draw,
    results::copied_files::{FILES, kept_path, name_of},
};

/// The experiment's text in a results directory.
const TEXT_FILE: &str = "experiment.toml";

/// The file with the rest of the identity.
const FACTS_FILE: &str = "experiment.json";

/// The version of `experiment.json`.
const FORMAT: u32 = 1;

/// In place of the hash of a file of data, where results are read again.
const NOT_KEPT: &str = "not kept";

/// The content of a file without its secrets; `None` if it has none.
pub type RedactedContent<'a> = &'a dyn Fn(&Path, &[u8]) -> Option<Vec<u8>>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Identity {
    text: String,
    facts: ExperimentDocument,
    /// The files that it names, by their names in the text.
    files: BTreeMap<String, PathBuf>,
    /// The files and directories of data, which are not copied.
    data: BTreeMap<String, PathBuf>,
    defaults: Defaults,
}

/// The content of `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ExperimentDocument {
    format: u32,
    scale: Option<f64>,
    repeats: Option<u32>,
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "is_false")]
    simulate: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warmup: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    only: BTreeMap<String, Vec<String>>,
    text_sha256: String,
    /// By path relative to the experiment file's directory.
    files_sha256: BTreeMap<String, String>,
    /// The hashes of those copies from which passwords were removed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    masked_sha256: BTreeMap<String, String>,
}

/// `experiment.json` with the values that are not part of the identity.
#[derive(Serialize, Deserialize)]
struct Saved {
    #[serde(flatten)]
    facts: ExperimentDocument,
    /// The version of the defaults; `None` in results from before their first change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    defaults: Option<Defaults>,
}

impl Saved {
    fn read(results_dir: &Path) -> Result<Self, Error> {
        let facts = read(results_dir, FACTS_FILE)?;
        serde_json::from_str(&facts).map_err(|error| Error::Damaged {
            path: results_dir.join(FACTS_FILE),
            cause: error.to_string(),
        })
    }
}

impl ExperimentDocument {
    fn read(results_dir: &Path) -> Result<Self, Error> {
        Saved::read(results_dir).map(|saved| saved.facts)
    }
}

impl Identity {
    /// The identity of an experiment's text with the files that it names.
    pub(crate) fn of(
        source: Source<'_>,
        overrides: &Overrides,
        named: impl Iterator<Item = PathBuf>,
        data: impl Iterator<Item = PathBuf>,
    ) -> Result<Self, Error> {
        let text = source.text;
        let directory = source.path.parent().unwrap_or(Path::new(""));
        let mut files_sha256 = BTreeMap::new();
        let mut files = BTreeMap::new();
        let mut data_files = BTreeMap::new();
        for path in data {
            let name = path.strip_prefix(directory).unwrap_or(&path);
            let name = name.to_string_lossy().into_owned();
            if let Entry::Vacant(unread) = files_sha256.entry(name.clone()) {
                // Results have no copy of it, and stay what they are if it is changed or removed.
                let hash = match source.kept {
                    Some(_) => NOT_KEPT.to_owned(),
                    None => hash_of_data(&path).map_err(|error| Error::io("read", &path, error))?,
                };
                unread.insert(hash);
                data_files.insert(name, path);
            }
        }
        for file in named {
            let name = match source.kept {
                Some(kept) => name_of(file.strip_prefix(kept).unwrap_or(&file)),
                None => file.strip_prefix(directory).unwrap_or(&file).to_owned(),
            };
            let name = name.to_string_lossy().into_owned();
            if let Entry::Vacant(unread) = files_sha256.entry(name.clone()) {
                let hash = hash_of(&file).map_err(|source| Error::io("read", &file, source))?;
                unread.insert(hash);
                files.insert(name, file);
            }
        }
        Ok(Self {
            text: text.to_owned(),
            facts: ExperimentDocument {
                format: FORMAT,
                scale: overrides.scale,
                repeats: overrides.repeats,
                seed: overrides.seed,
                simulate: overrides.simulate,
                duration: overrides.duration.clone(),
                warmup: overrides.warmup.clone(),
                only: overrides.only.clone(),
                text_sha256: hex(&Sha256::digest(text)),
                files_sha256,
                masked_sha256: BTreeMap::new(),
            },
            files,
            data: data_files,
            defaults: overrides.defaults,
        })
    }

    /// The same for the copies in a results directory: a copy without its passwords counts as the original file. An
    /// error if a copy is neither.
    pub(crate) fn of_copies(mut self, results_dir: &Path) -> Result<Self, Error> {
        let then = ExperimentDocument::read(results_dir)?;
        self.name_data_as(&then);
        for (name, hash) in &mut self.facts.files_sha256 {
            if (hash == NOT_KEPT || then.masked_sha256.get(name) == Some(hash))
                && let Some(original) = then.files_sha256.get(name)
            {
                hash.clone_from(original);
            }
        }
        Ok(self)
    }

    /// Gives files of data the names that they had when the results were made: a file that the text names by its whole path
    /// had it as its name if the experiment file was named without a directory.
    fn name_data_as(&mut self, then: &ExperimentDocument) {
        for (name, path) in std::mem::take(&mut self.data) {
            let whole = path.to_string_lossy().into_owned();
            let is_whole =
                !then.files_sha256.contains_key(&name) && then.files_sha256.contains_key(&whole);
            let known = if is_whole { whole } else { name.clone() };
            if let Some(hash) = self.facts.files_sha256.remove(&name) {
                self.facts.files_sha256.insert(known.clone(), hash);
            }
            self.data.insert(known, path);
        }
    }

    /// An error if a file of data is no longer what it was when the results were made.
    pub(crate) fn check_data(&self, results_dir: &Path) -> Result<(), Error> {
        for (name, path) in &self.data {
            let hash = hash_of_data(path).map_err(|error| Error::io("read", path, error))?;
            if self.facts.files_sha256.get(name) != Some(&hash) {
                return Err(Error::OtherExperiment {
                    path: results_dir.to_owned(),
                    difference: format!("{name} has changed since"),
                });
            }
        }
        Ok(())
    }

    /// A single hash of all of it, hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        // The copies are not part of it: `masked_sha256` is empty here.
        let facts = serde_json::to_vec(&self.facts).expect("plain fields always serialise");
        hex(&Sha256::digest(facts))
    }

    /// The scale; 1 by default.
    pub(crate) fn scale(&self) -> f64 {
        self.facts.scale.unwrap_or(1.0)
    }

    /// The orders of the runs that a draw may return.
    pub(crate) fn draw(&self) -> Draw {
        if self.defaults < Defaults::RESTRICTED_ORDER {
            Draw::Free
        } else {
            Draw::Restricted
        }
    }

    /// True for runs with a server that does nothing.
    pub(crate) fn is_simulated(&self) -> bool {
        self.facts.simulate
    }

    /// The text and the overrides that were run in a results directory.
    pub(crate) fn read(results_dir: &Path) -> Result<(String, Overrides), Error> {
        let text = read(results_dir, TEXT_FILE)?;
        let Saved { facts, defaults } = Saved::read(results_dir)?;
        let overrides = Overrides {
            defaults: defaults.unwrap_or(Defaults::FIRST),
            scale: facts.scale,
            repeats: facts.repeats,
            seed: facts.seed,
            simulate: facts.simulate,
            duration: facts.duration,
            warmup: facts.warmup,
            only: facts.only,
            time_at_most: None,
        };
        Ok((text, overrides))
    }

    /// Copies the files that the experiment names, without the secrets that `masked` finds in them; returns the hashes
    /// of those copies from which secrets were removed.
    fn keep_files(
        &self,
        results_dir: &Path,
        created: &mut Created,
        masked: RedactedContent<'_>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let mut masked_sha256 = BTreeMap::new();
        for (name, from) in &self.files {
            let to = results_dir.join(FILES).join(kept_path(Path::new(name)));
            let mut content = files::read_regular(from, NAMED_BYTES_MAX)
                .map_err(|error| Error::io("read", from, error))?;
            if let Some(without) = masked(from, &content) {
                content = without;
            }
            // Even if it was made from such a copy.
            let hash = hex(&Sha256::digest(&content));
            if self.facts.files_sha256.get(name) != Some(&hash) {
                masked_sha256.insert(name.clone(), hash);
            }
            let directory = to.parent().unwrap_or(results_dir);
            created
                .make_dir(directory)
                .and_then(|_| created.write(&to, &content))
                .map_err(|error| Error::io("write", &to, error.into()))?;
        }
        Ok(masked_sha256)
    }

    /// Writes both files and copies the named files, `experiment.json` last; an error when results exist already.
    pub(crate) fn save(
        &self,
        results_dir: &Path,
        created: &mut Created,
        masked: RedactedContent<'_>,
    ) -> Result<(), Error> {
        if results_dir.join(FACTS_FILE).exists() {
            return Err(Error::ResultsExist {
                path: results_dir.to_owned(),
            });
        }
        let facts = ExperimentDocument {
            masked_sha256: self.keep_files(results_dir, created, masked)?,
            ..self.facts.clone()
        };
        let defaults = (self.defaults > Defaults::FIRST).then_some(self.defaults);
        let saved = Saved { facts, defaults };
        let facts = serde_json::to_string_pretty(&saved).expect("plain fields always serialise");
        let files = [(TEXT_FILE, self.text.clone()), (FACTS_FILE, facts + "\n")];
        for (name, content) in files {
            let path = results_dir.join(name);
            created
                .write(&path, content.as_bytes())
                .map_err(|error| Error::io("write", &path, error.into()))?;
        }
        Ok(())
    }

    /// An error unless the results directory belongs to this experiment.
    pub(crate) fn check(&self, results_dir: &Path) -> Result<(), Error> {
        let text = read(results_dir, TEXT_FILE)?;
        let facts = ExperimentDocument::read(results_dir)?;
        match self.difference(&text, &facts) {
            None => Ok(()),
            Some(difference) => Err(Error::OtherExperiment {
                path: results_dir.to_owned(),
                difference,
            }),
        }
    }

    /// The first difference from the experiment that was run, in words.
    fn difference(&self, text_then: &str, then: &ExperimentDocument) -> Option<String> {
        let now = &self.facts;
        if self.text != text_then {
            return Some(text_difference(&self.text, text_then));
        }
        if now.text_sha256 != then.text_sha256 {
            return Some(format!(
                "its {TEXT_FILE} was edited after the experiment had started"
            ));
        }
        let options = [
            option_difference("scale", now.scale, then.scale),
            option_difference("repeats", now.repeats, then.repeats),
            option_difference("seed", now.seed, then.seed),
            option_difference("duration", now.duration.as_ref(), then.duration.as_ref()),
            option_difference("warmup", now.warmup.as_ref(), then.warmup.as_ref()),
            flag_difference("simulate", now.simulate, then.simulate),
            only_difference(&now.only, &then.only),
        ];
        if let Some(difference) = options.into_iter().flatten().next() {
            return Some(difference);
        }
        let changed = now
            .files_sha256
            .iter()
            .find(|(name, hash)| then.files_sha256.get(*name) != Some(hash));
        if let Some((name, _)) = changed {
            return Some(format!("{name} has changed since"));
        }
        let then = ExperimentDocument {
            masked_sha256: BTreeMap::new(),
            ..then.clone()
        };
        (*now != then).then(|| format!("{FACTS_FILE} was written by another version of dbdyno"))
    }
}

fn option_difference<T: PartialEq + ToString>(
    option: &str,
    now: Option<T>,
    then: Option<T>,
) -> Option<String> {
    let shown = |value: &Option<T>| match value {
        Some(value) => format!("with --{option} {}", value.to_string()),
        None => format!("without --{option}"),
    };
    (now != then).then(|| {
        format!(
            "they were measured {}, this run is {}",
            shown(&then),
            shown(&now)
        )
    })
}

fn only_difference(
    now: &BTreeMap<String, Vec<String>>,
    then: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let shown = |only: &BTreeMap<String, Vec<String>>| {
        let words = only
            .iter()
            .map(|(name, levels)| format!(" --only {name}={}", levels.join(",")));
        if only.is_empty() {
            "without --only".to_owned()
        } else {
            format!("with{}", words.collect::<String>())
        }
    };
    (now != then).then(|| {
        format!(
            "they were measured {}, this run is {}",
            shown(then),
            shown(now)
        )
    })
}

fn flag_difference(flag: &str, now: bool, then: bool) -> Option<String> {
    let shown = |is_set| if is_set { "with" } else { "without" };
    (now != then).then(|| {
        let (then, now) = (shown(then), shown(now));
        format!("they were measured {then} --{flag}, this run is {now} it")
    })
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The first line that differs, in words.
fn text_difference(now: &str, then: &str) -> String {
    let (mut now, mut then) = (now.lines(), then.lines());
    let mut number = 0;
    loop {
        number += 1;
        let shown = match (now.next(), then.next()) {
            (Some(now), Some(then)) if now == then => continue,
            (Some(now), Some(then)) => format!("was `{}`, now it is `{}`", then.trim(), now.trim()),
            (Some(now), None) => format!("`{}` is new", now.trim()),
            (None, Some(then)) => format!("`{}` is gone", then.trim()),
            (None, None) => "ends differently".to_owned(),
        };
        return format!("line {number} of the experiment: {shown}");
    }
}

fn read(results_dir: &Path, name: &'static str) -> Result<String, Error> {
    let path = results_dir.join(name);
    files::read_regular_text(&path, TEXT_BYTES_MAX).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::NoResults {
            path: results_dir.to_owned(),
            missing: name,
        },
        _ => Error::io("read", &path, source),
    })
}

/// Maximum length of an experiment file, and of a text kept with the results, bytes.
pub const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Maximum length of a file that an experiment names, bytes: it is copied into the results.
const NAMED_BYTES_MAX: u64 = 1 << 30;

fn hash_of(path: &Path) -> io::Result<String> {
    let mut hash = HashWriter(Sha256::new());
    let mut file = files::open_regular_within(path, NAMED_BYTES_MAX)?;
    io::copy(&mut file, &mut hash)?;
    Ok(hex(&hash.0.finalize()))
}

/// Hashes the written bytes.
struct HashWriter(Sha256);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
