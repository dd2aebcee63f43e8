//! What the connections of a load run: compiled scripts, their lists, and how values get into statements.

use std::collections::BTreeMap;

use dataset::random::below;
use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use super::{
    error::Error,
    list::{List, ListRows},
    names::{CLIENT_ID, DEFAULT_SEED, Names, RANDOM_SEED, SCALE},
    program::{Action, Program, Role, Statement},
    scalar::Scalar,
    scripts::Scripts,
    variables::Variables,
};

/// How statements with variables are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Prepared once per connection, executed with values.
    Prepared,
    /// As text with literals.
    Text,
    /// Prepared, executed and closed each time.
    PrepareEach,
}

impl Mode {
    /// The names of the modes, the usual one first.
    pub const NAMES: &[&str] = &["prepared", "text", "prepare-each"];

    pub fn of(name: &str) -> Option<Self> {
        let modes = [Self::Prepared, Self::Text, Self::PrepareEach];
        let mut named = Self::NAMES.iter().zip(modes);
        named.find(|(known, _)| **known == name).map(|it| it.1)
    }

    /// Prepared statements of a connection whose scripts have this number of statements.
    pub fn prepared_statements(self, statements: usize) -> u64 {
        match self {
            Self::Prepared => statements as u64,
            Self::PrepareEach => 1,
            Self::Text => 0,
        }
    }
}

/// The numbers of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub mode: Mode,
    /// The value of `:scale`.
    pub scale: u64,
    /// Connections, among which lists that are drawn in sequence are divided.
    pub connections: u32,
    /// The value of `:random_seed`, from which everything random comes.
    pub seed: u64,
}

/// What every connection runs.
#[derive(Debug)]
pub struct Plan {
    pub(super) programs: Vec<Program>,
    pub(super) statements: Vec<Statement>,
    pub(super) lists: Vec<List>,
    pub(super) names: Names,
    pub(super) settings: Settings,
    /// A statement can leave a transaction open.
    pub(super) has_transactions: bool,
    defined: Vec<(u32, String)>,
    operations: Vec<String>,
    /// Names of the statements; empty if every operation is one statement that reads.
    statement_names: Vec<String>,
    /// The sums of the weights up to each script.
    weights: Vec<u64>,
}

impl Plan {
    /// The plan of these scripts; `answers` has the rows of the queries of their lists.
    pub fn new(
        mut scripts: Scripts,
        answers: impl IntoIterator<Item = ListRows>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let lists = scripts.take_lists(answers)?;
        for step in scripts.programs.iter_mut().flat_map(|it| &mut it.steps) {
            if let Action::Draw {
                list,
                prefix,
                targets,
            } = &mut step.action
            {
                let columns = lists[*list].columns().iter();
                let names = columns.map(|column| format!("{prefix}{column}"));
                *targets = names.map(|name| scripts.names.find(&name)).collect();
            }
        }
        let has_single_reads = scripts.programs.iter().all(|program| {
            let runs = program.steps.iter().filter_map(|step| match step.action {
                Action::Run(index) => Some(scripts.statements[index].role),
                _ => None,
            });
            let mut steps = program.steps.iter();
            runs.eq([Role::Read]) && !steps.any(|step| matches!(step.action, Action::Unless { .. }))
        });
        let mut sum = 0_u64;
        let weights = scripts.programs.iter().map(|program| {
            sum = sum.saturating_add(program.weight);
            sum
        });
        let weights = weights.collect();
        let names = scripts.statements.iter().map(|it| it.name.clone());
        Ok(Self {
            statement_names: if has_single_reads {
                Vec::new()
            } else {
                names.collect()
            },
            has_transactions: (scripts.statements.iter()).any(|it| it.role.may_open(&it.sql)),
            operations: scripts.programs.iter().map(|it| it.name.clone()).collect(),
            programs: scripts.programs,
            statements: scripts.statements,
            names: scripts.names,
            defined: scripts.defined,
            lists,
            settings,
            weights,
        })
    }

    /// Names of the operations: the scripts.
    pub fn operations(&self) -> &[String] {
        &self.operations
    }

    /// Names of the statements; empty if every operation is one statement that reads.
    pub fn statements(&self) -> &[String] {
        &self.statement_names
    }

    pub fn connections(&self) -> u32 {
        self.settings.connections
    }

    /// Prepared statements of each connection.
    pub fn prepared_statements(&self) -> u64 {
        self.settings
            .mode
            .prepared_statements(self.statements.len())
    }

    /// The settings in the record of a run.
    pub fn recorded_settings(&self) -> BTreeMap<String, String> {
        let mode = Mode::NAMES[self.settings.mode as usize].to_owned();
        let files = self.programs.iter();
        let files: Vec<String> = files
            .map(|it| format!("{}@{}", it.file, it.weight))
            .collect();
        let defined = (self.defined.iter())
            .map(|(slot, value)| (format!(":{}", self.names.of_slot(*slot)), value.clone()));
        let mut settings: BTreeMap<String, String> = defined.collect();
        settings.insert("scripts".to_owned(), files.join(" "));
        settings.insert("mode".to_owned(), mode);
        settings.insert("scale".to_owned(), self.settings.scale.to_string());
        settings
    }

    /// The random numbers of the connection with this index.
    pub(super) fn random(&self, index: u32) -> Xoshiro256PlusPlus {
        let mixed = SplitMix64::seed_from_u64(self.settings.seed).next_u64() ^ u64::from(index);
        Xoshiro256PlusPlus::seed_from_u64(SplitMix64::seed_from_u64(mixed).next_u64())
    }

    /// The variables of the connection with this index before its first operation.
    pub(super) fn variables(&self, index: u32) -> Variables {
        let mut variables = Variables::new(self.names.count());
        let seed = self.settings.seed;
        let default_seed = SplitMix64::seed_from_u64(seed).next_u64();
        for (slot, value) in [
            (CLIENT_ID, u64::from(index)),
            (DEFAULT_SEED, default_seed >> 1),
            (RANDOM_SEED, seed),
            (SCALE, self.settings.scale),
        ] {
            variables.set(slot, Scalar::Int(value as i64));
        }
        for (slot, value) in &self.defined {
            match Scalar::number_of(value) {
                Some(number) => variables.set(*slot, number),
                None => variables.set_text(*slot, value.as_bytes()),
            }
        }
        variables
    }

    /// Draws the script of the next operation.
    pub(super) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        match self.weights.as_slice() {
            [] | [_] => 0,
            weights => {
                let all = weights[weights.len() - 1];
                let point = below(all, random);
                weights.partition_point(|sum| *sum <= point)
            }
        }
    }
}
