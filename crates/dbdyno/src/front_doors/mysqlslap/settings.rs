//! The settings of a call, from its options.

use std::{path::PathBuf, time::Duration};

use benchmarks::slap::{Engine, Statement, Tables, default_of};
use blame::Blamed;
use load::{Arrivals, OnError};

use crate::{
    front_doors::{
        my_getopt::{Arguments, Options},
        mysqlslap::{
            specs::Dialect,
            values::{Limit, Reader},
        },
    },
    seed::fresh_seed,
};

pub(super) struct Settings {
    /// Program name in errors.
    pub(super) program: &'static str,
    pub(super) dialect: Dialect,
    /// Statements that create and fill the tables.
    pub(super) tables: Tables,
    /// Statements that the clients run.
    pub(super) queries: Vec<Statement>,
    /// True if the table was generated with a primary key, whose values are read after it is filled.
    pub(super) reads_keys: bool,
    pub(super) schema: String,
    pub(super) no_drop: bool,
    pub(super) yes_drop: bool,
    pub(super) pre_query: Vec<Statement>,
    pub(super) post_query: Vec<Statement>,
    pub(super) pre_system: Option<String>,
    pub(super) post_system: Option<String>,
    pub(super) concurrency: Vec<u32>,
    pub(super) iterations: u64,
    pub(super) limit: Limit,
    pub(super) remainder: bool,
    pub(super) duration: Option<Duration>,
    pub(super) arrivals: Arrivals,
    pub(super) engines: Vec<Engine>,
    pub(super) commit_every: u64,
    pub(super) reconnect_every: u64,
    pub(super) on_connect: Vec<String>,
    pub(super) on_error: OnError,
    pub(super) seed: u64,
    pub(super) loops: Option<u32>,
    pub(super) output: Output,
    pub(super) verbose: u32,
    pub(super) load_type: String,
    pub(super) label: Option<String>,
    pub(super) percentiles: Vec<f64>,
    pub(super) record: Option<PathBuf>,
    pub(super) sample_every: Option<Duration>,
    /// Warnings to print before the test.
    pub(super) warnings: Vec<String>,
}

/// Output of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    Text,
    /// CSV lines, appended to a file or printed to standard output.
    Csv(Option<PathBuf>),
    Nothing,
}

impl Settings {
    /// Reports a step, if `-vv` requests it.
    pub(super) fn say(&self, step: &str) {
        if self.verbose >= 2 {
            println!("{step}");
        }
    }

    /// Reads the values of the options, and the files that they name.
    pub(super) fn new(
        options: &Options<'_>,
        program: &'static str,
        dialect: Dialect,
        arguments: &Arguments,
    ) -> Result<Self, Blamed> {
        let read = Reader { options, arguments };
        let generated = if arguments.is_on("auto-generate-sql") {
            Some(read.generator()?)
        } else {
            None
        };
        let delimiter = arguments
            .text("delimiter")
            .unwrap_or(default_of("delimiter"));
        if delimiter.is_empty() {
            return Err(read.wrong("delimiter", "is empty"));
        }
        let mut warnings = arguments.warnings.clone();
        let mut script = |name| read.script(name, delimiter, &mut warnings);
        let (create, query) = (script("create")?, script("query")?);
        let (pre_query, post_query) = (script("pre-query")?, script("post-query")?);
        let statements = read.count("auto-generate-sql-write-number")?;
        let reads_keys = generated
            .as_ref()
            .is_some_and(|generator| generator.primary_key.is_some());
        let (tables, queries) = match &generated {
            None => (Tables::own(create), query),
            Some(generator) => {
                if statements > 1 && generator.unique_writes == 0 {
                    let name = "auto-generate-sql-unique-write-number";
                    return Err(read.wrong(name, "is 0: there is nothing to fill the table with"));
                }
                let generated = generator.generate();
                (Tables::made_up(&generated, statements), generated.queries)
            }
        };
        if arguments.is_on("no-drop") && arguments.is_on("yes-drop") {
            return Err(read.wrong("yes-drop", "contradicts --no-drop"));
        }
        let limit = read.limit(generated.is_some())?;
        let engines = read.engines()?;
        let has_option = engines.iter().any(|engine| engine.option.is_some());
        if dialect == Dialect::MySql && generated.is_none() && has_option {
            let warning = "--engine: the option after the colon is only for generated tables; put it into --create";
            warnings.push(warning.to_owned());
        }
        let seed = read.whole("seed")?.unwrap_or_else(fresh_seed);
        Ok(Self {
            program,
            dialect,
            tables,
            queries,
            reads_keys,
            schema: arguments
                .text("create-schema")
                .unwrap_or("mysqlslap")
                .to_owned(),
            no_drop: arguments.is_on("no-drop"),
            yes_drop: arguments.is_on("yes-drop"),
            pre_query,
            post_query,
            pre_system: arguments.text("pre-system").map(str::to_owned),
            post_system: arguments.text("post-system").map(str::to_owned),
            concurrency: read.concurrency()?,
            iterations: match read.whole("iterations")?.unwrap_or(1) {
                0 => return Err(read.wrong("iterations", "is 0: nothing would be run")),
                iterations => iterations,
            },
            limit,
            remainder: arguments.is_on("remainder"),
            duration: read.duration("duration")?,
            arrivals: read.arrivals()?,
            engines,
            commit_every: read.count("commit")?,
            reconnect_every: read.count("detach")?,
            on_connect: on_connect(arguments),
            on_error: read.on_error()?,
            seed,
            loops: read.loops()?,
            output: output(arguments),
            verbose: arguments.times("verbose"),
            load_type: arguments
                .text("auto-generate-sql-load-type")
                .unwrap_or(default_of("auto-generate-sql-load-type"))
                .to_owned(),
            label: arguments.text("label").map(str::to_owned),
            percentiles: read.percentiles()?,
            record: arguments.text("record").map(PathBuf::from),
            sample_every: read.sample_every()?,
            warnings,
        })
    }

    /// Whether the test has tables of its own: then the schema is created, and dropped again.
    pub(super) fn makes_schema(&self) -> bool {
        !self.tables.is_empty()
    }

    /// The named engines, or a single `None` if none is named.
    pub(super) fn engines_or_none(&self) -> Vec<Option<&Engine>> {
        if self.engines.is_empty() {
            vec![None]
        } else {
            self.engines.iter().map(Some).collect()
        }
    }

    /// Suffix of the first statement that creates a table.
    pub(super) fn create_suffix(&self, engine: Option<&Engine>) -> String {
        let Some(Engine { name, option }) = engine else {
            return String::new();
        };
        match (self.dialect, option) {
            (Dialect::MariaDb, Some(option)) => format!(" Engine = {name} {option}"),
            (Dialect::MariaDb, None) => format!(" Engine = {name}"),
            (Dialect::MySql, Some(option)) if self.tables.is_made_up() => format!(" {option}"),
            (Dialect::MySql, _) => String::new(),
        }
    }

    /// Whether the report contains more than the originals'.
    pub(super) fn asks_for_more(&self) -> bool {
        let asks = self.label.is_some() || self.duration.is_some() || !self.percentiles.is_empty();
        asks || self.arrivals != Arrivals::Closed
    }

    /// True if the tables were generated.
    pub(super) fn is_made_up(&self) -> bool {
        self.tables.is_made_up()
    }

    /// Number of statements of each of `clients` clients, and the number of clients with one more; `None` if each runs
    /// its list until the time is over.
    pub(super) fn per_client(&self, clients: u32) -> Option<(u64, u32)> {
        let once = self.queries.len() as u64;
        match self.limit {
            Limit::Once if self.duration.is_some() => None,
            Limit::Once => Some((once, 0)),
            Limit::Each(count) => Some((count, 0)),
            Limit::Together(count) => {
                let left = (count % u64::from(clients)) as u32;
                let more = if self.remainder { left } else { 0 };
                match count / u64::from(clients) {
                    // mysqlslap interprets a share of 0 as no limit, and runs the list once.
                    0 if !self.remainder => Some((once, 0)),
                    share => Some((share, more)),
                }
            }
        }
    }
}

fn on_connect(arguments: &Arguments) -> Vec<String> {
    let mode = arguments
        .text("sql-mode")
        .map(|mode| format!("SET SESSION sql_mode={}", runs::quoted(mode)));
    let command = arguments.text("init-command").map(str::to_owned);
    mode.into_iter().chain(command).collect()
}

fn output(arguments: &Arguments) -> Output {
    if arguments.is_on("csv") {
        return Output::Csv(arguments.text("csv").map(PathBuf::from));
    }
    if arguments.is_on("silent") || arguments.is_on("only-print") {
        Output::Nothing
    } else {
        Output::Text
    }
}
