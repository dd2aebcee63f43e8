//! `dbdyno sql compare`: statements under two or more variants, interleaved until the difference is decided.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use mycnf::OptionFile;
use statements::compare::{self, Question, Variant};

use super::{input::InputArgs, timeout::timeout};
use crate::{
    commands::run::terminal_width,
    connection_options::ConnectionOptions,
    output::{write_file, write_out},
    terminal::context,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A variant has the form NAME: PART; PART. It has one or more of these parts:
  SET or USE of the session       is executed at the start of the variant's session
  other SQL, such as CREATE INDEX, DROP INDEX, ALTER, ANALYZE TABLE, SET GLOBAL
                                  is executed once, on a copy of the private server
  option NAME=VALUE               sets a server option on a copy of the private server
  hint HINT                       inserts /*+ HINT */ after the first word of every statement
  rewrite FILE                    replaces each statement with the statement at the same position
                                  in FILE, which must return the same result

Instead of variants, --cnf compares option files on copies of the private server (--server). With --setup FILE.sql,
dbdyno creates new private servers, and FILE.sql creates the schema and the data on them. --cnf then compares option
files on these servers, and --run compares versions. The first file or version is the baseline.

The sides of the comparison are the baseline and the variants. If a variant contains SQL or server options, the variant
and the baseline run on copies of the private server (--server). The server itself is stopped while it is copied, and is
not changed. On an existing server (--host, --socket), dbdyno only opens sessions.

First, every statement is executed twice on every side without timing, and the result rows are compared as text,
regardless of their order. The timed blocks follow. Each block executes every statement on every side, in random order.
A short statement is executed up to nine times per block, and the median of its times is used. Statements that change
data are rolled back each time.

The comparison ends when every difference is decided (by the same rule as in experiments), or when --repeats or --budget
is used up. Two copies of a server differ by a few per cent even without a change. A difference between copies is
therefore decided only if its whole confidence interval is beyond --min-effect, or within it.

If a variant and the baseline return different results, the exit code is 1.

Examples:
  dbdyno sql compare q.sql --server demo --variant 'index: create index len on page (page_len)'
  dbdyno sql compare q.sql --host db1 --variant \"no mrr: set optimizer_switch='mrr=off'\" --html plans.html
  dbdyno sql compare q.sql --server demo --cnf old.cnf,new.cnf
  dbdyno sql compare q.sql --setup shop.sql --database shop --run mysql-8.0.33,mariadb-10.11
  dbdyno sql compare q.sql --server demo --variant 'big: option innodb_buffer_pool_size=2G' --variant 'join: rewrite q2.sql'")]
pub(super) struct CompareArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Variant to compare with the baseline, in the form NAME: PART; PART (see below); may be repeated
    #[arg(long, value_name = "VARIANT", required_unless_present_any = ["cnf", "run"], value_parser = Variant::parse)]
    variant: Vec<Variant>,
    /// Changes that apply to the baseline, in the same form as a variant [default: none; the statements are unchanged]
    #[arg(long, value_name = "VARIANT", value_parser = Variant::parse)]
    baseline: Option<Variant>,
    /// Option files to compare. With --setup, each new server is started with one of them. Without --setup, each copy
    /// of the private server gets the options of one file in addition to its own
    #[arg(long, value_name = "FILE,...", value_delimiter = ',', conflicts_with_all = ["variant", "baseline"])]
    cnf: Vec<PathBuf>,
    /// With --setup: server versions to compare, such as mysql-8.0.33,mariadb-10.11
    #[arg(long, value_name = "SPEC,...", value_delimiter = ',', conflicts_with_all = ["variant", "baseline"])]
    run: Vec<String>,
    /// SQL file that creates the schema and the data on new private servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "host", "port", "socket", "from"])]
    setup: Option<PathBuf>,
    /// Maximum number of blocks (a block executes every statement on every side)
    #[arg(long, alias = "runs", value_name = "N", default_value = "20",
        value_parser = clap::value_parser!(u32).range(3..=200))]
    repeats: u32,
    /// Time limit for all blocks together; when it is reached, no new block is started
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// Smallest difference that matters, in per cent [default: 5 if copies of a server are compared, otherwise 2]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    min_effect: Option<u32>,
    /// Random seed for the execution order
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Time limit for each statement; a statement that exceeds it is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Show every comparison with its plans and counters
    #[arg(long, short)]
    verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Also write the result, with the plans of all sides, as an HTML page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table of the verdicts with their reasons
    Table,
    /// One JSON object with every measured time and every plan
    Json,
    /// CSV with a header line
    Csv,
}

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let sides = args.sides()?;
    for (at, variant) in sides.iter().enumerate() {
        if sides[..at].iter().any(|other| other.name == variant.name) {
            let message = format!("two sides have the name {}", variant.name);
            return Err(Blamed::new(Blame::Input, message).into());
        }
    }
    let statements = match args.setup {
        Some(_) => args.input.statements_for_new_servers()?,
        None => args.input.statements(&args.connection)?,
    };
    let question = Question {
        sides: &sides,
        statements: &statements,
        setup: args.setup.as_deref(),
        blocks: args.repeats as usize,
        budget: args.budget,
        min_effect: args.min_effect.map(|percent| f64::from(percent) / 100.0),
        seed: args.seed,
        timeout: args.timeout,
    };
    let report = compare::compare(&question, &args.connection, &context()?)?;
    match args.format {
        Format::Table => {
            let width = usize::from(terminal_width());
            print!("{}", compare::table(&report, args.verbose, width));
        }
        Format::Json => write_out(compare::json(&report).as_bytes())?,
        Format::Csv => write_out(compare::csv(&report).as_bytes())?,
    }
    // After the answer, which a path that cannot be written shall not cost.
    if let Some(path) = &args.html {
        write_file(path, compare::page(&report).as_bytes())?;
    }
    let is_different = report.has_different_results();
    if let Some(failure) = report.failure.or(report.not_removed) {
        return Err(failure.into());
    }
    Ok(if is_different {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

impl CompareArgs {
    /// The sides, the baseline first.
    fn sides(&self) -> Result<Vec<Variant>, Blamed> {
        if self.cnf.is_empty() && self.run.is_empty() {
            let baseline = self.baseline.clone().unwrap_or_else(Variant::baseline);
            return Ok([baseline].into_iter().chain(self.variant.clone()).collect());
        }
        if !self.run.is_empty() && self.setup.is_none() {
            let message = "--run creates new servers, which have no data";
            let hint =
                "give the statements that create the schema and the data with --setup FILE.sql";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        // Before a server is made or stopped for them.
        for path in &self.cnf {
            OptionFile::read(path).map_err(server::Error::from)?;
        }
        let runs = self.run.iter().map(|it| Some(it.as_str()));
        let runs: Vec<Option<&str>> = runs.chain(self.run.is_empty().then_some(None)).collect();
        let files = self.cnf.iter().map(|it| Some(it.as_path()));
        let files: Vec<Option<&Path>> = files.chain(self.cnf.is_empty().then_some(None)).collect();
        let mut sides = Vec::new();
        for run in runs {
            for file in &files {
                sides.push(Variant::of_server(run, *file));
            }
        }
        if sides.len() < 2 {
            let message = format!(
                "{} is the only side, so there is nothing to compare it with",
                sides[0].name
            );
            let hint = "name two or more, separated by commas; the first is the baseline";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        Ok(sides)
    }
}
