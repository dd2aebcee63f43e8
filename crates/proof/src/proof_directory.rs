//! The directory of a proof: made for it, or that of the same proof that was interrupted.
//!
//! `prove.json` says what is proved, for example
//! ```json
//! {"format":1,"is_finished":false,"budget_s":1800.0,"case":{"version":"mariadb-10.11.14","whole":"[mysqld]\n…","base":"","groups":[["…"]]}}
//! ```

use std::{path::Path, time::Duration};

use blame::{Blame, Blamed};
use results::{ClaimedDirectory, last_path};
use runs::Context;
use serde_json::{Value, json};
use verdict::Parts;

use crate::{case::Case, plan::check_budget};

/// The file with what is proved.
const FILE: &str = "prove.json";
/// The name of the directories, without a number.
const NAME: &str = "prove";
/// Largest size of that file, bytes; it holds two option files.
const BYTES_MAX: u64 = 64 << 20;

/// The directory of a proof, locked.
#[derive(Debug)]
pub struct ProofDirectory {
    claimed: ClaimedDirectory,
    case: Value,
    budget: Option<Duration>,
    has_more_time: bool,
}

impl ProofDirectory {
    /// Opens the named directory, or the last one if it holds the same proof unfinished, or makes a new one.
    ///
    /// An error also for a new proof that its budget cannot hold; one that is continued has measured something already.
    pub fn open(named: Option<&Path>, asked: &Case, context: &Context) -> Result<Self, Blamed> {
        let budget = asked.terms.budget;
        let case = identity(asked)?;
        let last = match named {
            Some(path) => Some(path.to_owned()),
            None => last_path(NAME),
        };
        let known = last.as_ref().and_then(|path| Some((path, read(path)?)));
        if let Some((path, known)) = known {
            let is_same = known["case"] == case;
            let is_finished = known["is_finished"] == true;
            if is_same && (named.is_some() || !is_finished) {
                context.note(&format!("continues in {}", path.display()));
                let claimed = ClaimedDirectory::again(path)?;
                let before = known["budget_s"].as_f64();
                let has_more_time = before.is_some_and(|before_s| {
                    budget.is_none_or(|budget| budget.as_secs_f64() > before_s)
                });
                let mut directory = Self {
                    claimed,
                    case,
                    budget,
                    has_more_time,
                };
                if has_more_time {
                    directory.write(is_finished)?;
                }
                return Ok(directory);
            }
            if named.is_some() {
                let message = format!("{} contains another proof", path.display());
                let hint = "the file, the version or an option differs; name another directory with --results";
                return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
            }
        }
        check_budget(asked)?;
        let claimed = match named {
            Some(path) => ClaimedDirectory::new(path)?,
            None => ClaimedDirectory::numbered(NAME)?,
        };
        let mut directory = Self {
            claimed,
            case,
            budget,
            has_more_time: false,
        };
        directory.write(false)?;
        Ok(directory)
    }

    pub fn path(&self) -> &Path {
        self.claimed.path()
    }

    /// Whether the budget is longer than that of the command before.
    pub(crate) fn has_more_time(&self) -> bool {
        self.has_more_time
    }

    /// Notes that the proof is finished: the next one like it begins anew.
    pub fn finish(&mut self) -> Result<(), Blamed> {
        self.write(true)
    }

    fn write(&mut self, is_finished: bool) -> Result<(), Blamed> {
        let whole = json!({
            "format": 1,
            "is_finished": is_finished,
            "budget_s": self.budget.map(|time| time.as_secs_f64()),
            "case": self.case,
        });
        let path = self.path().join(FILE);
        files::replace(&path, format!("{whole:#}\n").as_bytes()).map_err(Blamed::machine)
    }
}

fn read(directory: &Path) -> Option<Value> {
    let bytes = files::read_regular(&directory.join(FILE), BYTES_MAX).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// All that the answer depends on; a longer budget continues.
fn identity(case: &Case) -> Result<Value, Blamed> {
    let groups = case.candidates.groups.iter().map(|group| &group.options);
    let terms = &case.terms;
    Ok(json!({
        "version": case.run,
        "whole": case.file_with(&case.whole())?.to_string(),
        "base": case.file_with(&Parts::new())?.to_string(),
        "groups": groups.collect::<Vec<_>>(),
        "pinned": case.pinned,
        "workload": case.load.text(),
        "margin": terms.margin,
        "blocks": terms.blocks,
        "seed": terms.seed,
        "datadir": terms.datadir,
    }))
}
