//! What is to be proved: the lines of a file, in groups, against a base, for an installed version.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use blame::{Blame, Blamed};
use experiment::written;
use mycnf::{
    Candidates, DurabilityClass, Machine, OptionFile, OptionSelection, Side, Target, lint,
};
use server::Installation;
use toml_edit::{Array, Table, value};
use verdict::Parts;

use crate::{
    startable_file::StartableFile,
    workload::{LoadOptions, LoadTables},
};

/// The factor over the option files.
pub(crate) const FACTOR: &str = "file";
/// Share of the budget for the first round; the others get what is left.
pub(crate) const SCREENING_SHARE: f64 = 0.6;

#[derive(Debug)]
pub struct ProofParameters {
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// Most blocks of a round.
    pub blocks: u32,
    /// Most time of all rounds.
    pub budget: Option<Duration>,
    /// Seed of all randomness.
    pub seed: u64,
    /// Where the private server lives.
    pub datadir: Option<PathBuf>,
}

/// What the user wants to know.
#[derive(Debug)]
pub struct Request<'a> {
    /// The file.
    pub file: StartableFile,
    /// The base; `None` for the defaults.
    pub against: Option<StartableFile>,
    /// The version of the private servers.
    pub installation: &'a Installation,
    /// The machine of the private servers, by which the durability class is determined.
    pub machine: Machine,
    /// Lines to test together, and lines to test as well.
    pub wanted: OptionSelection<'a>,
    /// The load under which the files are measured.
    pub load: LoadOptions,
    /// The lowest durability class that the shortest file may have; `None` for the file's own.
    pub allow_class: Option<DurabilityClass>,
    /// The terms.
    pub terms: ProofParameters,
}

/// What is to be proved.
#[derive(Debug)]
pub struct Case {
    pub(crate) file: PathBuf,
    /// The base; `None` for the defaults.
    pub(crate) against: Option<PathBuf>,
    pub(crate) target: Target,
    /// The server as an experiment names it.
    pub(crate) run: String,
    pub(crate) candidates: Candidates,
    /// Groups that stay because the durability class would fall without them.
    pub(crate) pinned: Parts,
    /// The lowest class that the shortest file may have.
    lowest: DurabilityClass,
    pub(crate) load: LoadTables,
    pub(crate) terms: ProofParameters,
    machine: Machine,
}

impl Case {
    /// Judges the files, before anything is started.
    pub fn new(request: Request<'_>) -> Result<Self, Blamed> {
        let target = request.installation.target();
        let file = &request.file.options;
        let base = request.against.as_ref().map(|base| &base.options);
        let mut candidates = Candidates::new(file, base, &target, &request.wanted)?;
        candidates.join_dependent(&target)?;
        if candidates.groups.is_empty() {
            return Err(nothing_to_test(&request.file, &candidates, &target));
        }
        let shared = !candidates.shape_data(&target);
        let numbers: Vec<String> = target.numbers().iter().map(u32::to_string).collect();
        let mut case = Self {
            run: format!("{}-{}", request.installation.flavour, numbers.join(".")),
            file: request.file.path,
            against: request.against.map(|base| base.path),
            candidates,
            pinned: Parts::new(),
            lowest: DurabilityClass::D0,
            load: request.load.tables(shared)?,
            terms: request.terms,
            machine: request.machine,
            target,
        };
        case.check_connections()?;
        case.lowest = case.lowest(request.allow_class)?;
        case.pinned = case.pinned()?;
        Ok(case)
    }

    /// All groups.
    pub(crate) fn whole(&self) -> Parts {
        (0..self.candidates.groups.len()).collect()
    }

    pub(crate) fn file_with(&self, parts: &Parts) -> Result<OptionFile, Blamed> {
        Ok(self.candidates.with(parts)?)
    }

    pub(crate) fn class(&self, parts: &Parts) -> Result<DurabilityClass, Blamed> {
        let file = self.file_with(parts)?;
        Ok(lint(&file, &self.target, &self.machine).durability.class)
    }

    pub(crate) fn class_without(&self, part: usize) -> Result<DurabilityClass, Blamed> {
        self.class(&without(&self.whole(), part))
    }

    /// A name of a group for files and tables: its first option.
    pub(crate) fn label(&self, part: usize) -> &str {
        self.candidates.groups[part]
            .options
            .first()
            .map_or("lines", String::as_str)
    }

    /// The base as a word: its path, or the defaults.
    pub(crate) fn base_in_words(&self) -> String {
        let path = self.against.as_ref();
        path.map_or_else(
            || "the defaults".to_owned(),
            |path| path.display().to_string(),
        )
    }

    /// The table `[server]` of the experiments, whose option files are `{file}.cnf` in a directory.
    pub(crate) fn server_table(&self, files: &str) -> Result<Table, Blamed> {
        let mut server = Table::new();
        server.insert("run", value(written::literal(&self.run)));
        let file = written::string(&format!("{files}/{{{FACTOR}}}.cnf"));
        server.insert("cnf", value(Array::from_iter([file])));
        server.insert("restart", value(written::literal("per-run")));
        if let Some(path) = &self.terms.datadir {
            // The experiment is in another directory.
            let whole = std::path::absolute(path).map_err(Blamed::io(Blame::Input, path))?;
            let whole = whole.display().to_string();
            server.insert("datadir", value(written::literal(&whole)));
        }
        Ok(server)
    }

    /// An error if the base or the file accepts fewer connections than the load opens.
    fn check_connections(&self) -> Result<(), Blamed> {
        let wanted = u64::from(self.load.connections);
        let files = [
            (self.whole(), self.file.display().to_string()),
            (Parts::new(), self.base_in_words()),
        ];
        for (parts, name) in files {
            let values = Side::of_file(&self.file_with(&parts)?, &self.target).values;
            for option in ["max_connections", "max_user_connections"] {
                let limit = values.get(option).and_then(|value| value.parse().ok());
                // A limit of 0 is none.
                let Some(limit) = limit.filter(|limit| (1..wanted).contains(limit)) else {
                    continue;
                };
                let message =
                    format!("{name}: {option} is {limit}, and the load opens {wanted} connections");
                let hint = format!("--connections {limit} or fewer, or a higher {option}");
                return Err(Blamed::new(Blame::Input, message).hint(hint));
            }
        }
        Ok(())
    }

    /// The lowest class that the shortest file may have: the file's own, unless a lower one is allowed.
    fn lowest(&self, allowed: Option<DurabilityClass>) -> Result<DurabilityClass, Blamed> {
        let own = self.class(&self.whole())?;
        let lowest = allowed.unwrap_or(own);
        if lowest > own {
            let message = format!(
                "--allow-class {}: {} itself has durability class {}",
                lowest.name(),
                self.file.display(),
                own.name()
            );
            let hint = format!("name {} or a lower class", own.name());
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
        Ok(lowest)
    }

    /// A group that a shorter file must have again, because its class is below the lowest allowed one; `None` if it is
    /// not.
    pub(crate) fn missing_for_class(&self, parts: &Parts) -> Result<Option<usize>, Blamed> {
        if self.class(parts)? >= self.lowest {
            return Ok(None);
        }
        let mut more = parts.clone();
        for part in self.whole().difference(parts) {
            more.insert(*part);
            if self.class(&more)? >= self.lowest {
                return Ok(Some(*part));
            }
        }
        let message = format!(
            "{} cannot reach durability class {}",
            self.file.display(),
            self.lowest.name()
        );
        Err(Blamed::new(Blame::Machine, message))
    }

    /// The groups without which the class falls below the lowest allowed one, alone or after the others before them.
    fn pinned(&self) -> Result<Parts, Blamed> {
        let whole = self.whole();
        let (own, lowest) = (self.class(&whole)?, self.lowest);
        let mut pinned = Parts::new();
        let mut rest = whole.clone();
        for part in &whole {
            let shorter = without(&rest, *part);
            if self.class_without(*part)? < lowest || self.class(&shorter)? < lowest {
                pinned.insert(*part);
            } else {
                rest = shorter;
            }
        }
        if pinned == whole {
            let message = format!(
                "every line of {} is needed for durability class {}, so none may be dropped",
                self.file.display(),
                own.name()
            );
            let hint = "use --allow-class to permit a lower class for the shortest file";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        Ok(pinned)
    }
}

fn without(parts: &Parts, part: usize) -> BTreeSet<usize> {
    parts.iter().copied().filter(|it| *it != part).collect()
}

fn nothing_to_test(file: &StartableFile, candidates: &Candidates, target: &Target) -> Blamed {
    let message = format!(
        "no line of {} can change the speed of {target}: {} of {} lines equal the base or do not affect speed",
        file.path.display(),
        candidates.untested.len() + candidates.common.len(),
        candidates.untested.len() + candidates.common.len()
    );
    let hint = "dbdyno config lint -v describes each line";
    Blamed::new(Blame::Input, message).hint(hint.to_owned())
}
