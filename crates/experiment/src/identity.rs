//! What makes two experiments the same one: text, overrides, and the files that the text names.
//!
//! In a results directory it stands as `experiment.toml` and `experiment.json`, for example
//! ```json
//! {"format":1,"scale":0.05,"repeats":null,"seed":null,"text_sha256":"9f86d0…",
//!  "files_sha256":{"smacks/hp-sizing.smack":"60303a…"}}
//! ```

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{error::Error, overrides::Overrides};

/// The experiment's text in a results directory.
const TEXT_FILE: &str = "experiment.toml";

/// The rest of the identity beside it.
const FACTS_FILE: &str = "experiment.json";

/// The version of `experiment.json`.
const FORMAT: u32 = 1;

/// What makes two experiments the same one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Identity {
    text: String,
    facts: Facts,
}

/// `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Facts {
    format: u32,
    scale: Option<f64>,
    repeats: Option<u32>,
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "is_false")]
    simulate: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    only: BTreeMap<String, Vec<String>>,
    text_sha256: String,
    /// By path as it counts from the experiment file's directory.
    files_sha256: BTreeMap<String, String>,
}

impl Identity {
    /// The identity of `text`, which was read from `path`, with the files that it names.
    pub(crate) fn of<'a>(
        path: &Path,
        text: &str,
        overrides: &Overrides,
        files: impl Iterator<Item = &'a Path>,
    ) -> Result<Self, Error> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut files_sha256 = BTreeMap::new();
        for file in files {
            let name = file.strip_prefix(directory).unwrap_or(file);
            let name = name.to_string_lossy().into_owned();
            if let Entry::Vacant(unread) = files_sha256.entry(name) {
                let hash = hash_of(file).map_err(|source| Error::io("read", file, source))?;
                unread.insert(hash);
            }
        }
        Ok(Self {
            text: text.to_owned(),
            facts: Facts {
                format: FORMAT,
                scale: overrides.scale,
                repeats: overrides.repeats,
                seed: overrides.seed,
                simulate: overrides.simulate,
                only: overrides.only.clone(),
                text_sha256: hex(&Sha256::digest(text)),
                files_sha256,
            },
        })
    }

    /// One hash for all of it, in hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        let facts = serde_json::to_vec(&self.facts).expect("plain fields always serialise");
        hex(&Sha256::digest(facts))
    }

    /// The scale, 1 when nothing is shrunk.
    pub(crate) fn scale(&self) -> f64 {
        self.facts.scale.unwrap_or(1.0)
    }

    /// True for runs against a server that does nothing.
    pub(crate) fn is_simulated(&self) -> bool {
        self.facts.simulate
    }

    /// Writes both files; an error when one is there already.
    pub(crate) fn save(&self, results_dir: &Path) -> Result<(), Error> {
        let facts =
            serde_json::to_string_pretty(&self.facts).expect("plain fields always serialise");
        let files = [(TEXT_FILE, self.text.clone()), (FACTS_FILE, facts + "\n")];
        for (name, content) in files {
            let path = results_dir.join(name);
            let mut new = OpenOptions::new();
            let written = new
                .write(true)
                .create_new(true)
                .open(&path)
                .and_then(|mut file| file.write_all(content.as_bytes()));
            written.map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => Error::ResultsExist {
                    path: results_dir.to_owned(),
                },
                _ => Error::io("write", &path, source),
            })?;
        }
        Ok(())
    }

    /// An error unless the results directory belongs to this experiment.
    pub(crate) fn check(&self, results_dir: &Path) -> Result<(), Error> {
        let text = read(results_dir, TEXT_FILE)?;
        let facts = read(results_dir, FACTS_FILE)?;
        let facts: Facts = serde_json::from_str(&facts).map_err(|error| Error::Damaged {
            path: results_dir.join(FACTS_FILE),
            cause: error.to_string(),
        })?;
        match self.difference(&text, &facts) {
            None => Ok(()),
            Some(difference) => Err(Error::OtherExperiment {
                path: results_dir.to_owned(),
                difference,
            }),
        }
    }

    /// The first difference to what was run, in words.
    fn difference(&self, text_then: &str, then: &Facts) -> Option<String> {
        let now = &self.facts;
        if self.text != text_then {
            return Some(text_difference(&self.text, text_then));
        }
        let options = [
            option_difference("scale", now.scale, then.scale),
            option_difference("repeats", now.repeats, then.repeats),
            option_difference("seed", now.seed, then.seed),
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
        (now != then).then(|| format!("{FACTS_FILE} was written by another version of dbdyno"))
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
    (now != then).then(|| format!("they were made {}, this is {}", shown(&then), shown(&now)))
}

fn only_difference(
    now: &BTreeMap<String, Vec<String>>,
    then: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let shown = |only: &BTreeMap<String, Vec<String>>| {
        let words = only
            .iter()
            .map(|(name, levels)| format!(" --only {name}={}", levels.join(",")));
        match only.is_empty() {
            true => "without --only".to_owned(),
            false => format!("with{}", words.collect::<String>()),
        }
    };
    (now != then).then(|| format!("they were made {}, this is {}", shown(then), shown(now)))
}

fn flag_difference(flag: &str, now: bool, then: bool) -> Option<String> {
    let shown = |is_set| if is_set { "with" } else { "without" };
    (now != then).then(|| {
        let (then, now) = (shown(then), shown(now));
        format!("they were made {then} --{flag}, this is {now} it")
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
    fs::read_to_string(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::NoResults {
            path: results_dir.to_owned(),
            missing: name,
        },
        _ => Error::io("read", &path, source),
    })
}

fn hash_of(path: &Path) -> io::Result<String> {
    let mut hash = HashWriter(Sha256::new());
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hex(&hash.0.finalize()))
}

/// Hashes what is written to it.
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
