//! `dbdyno ab`: compares settings, versions, option files, a change of the schema, or servers under one load.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use experiment::{Experiment, Overrides};
use report::Results;
use results::results_of;
use runs::Choices;
use toml_edit::Table;

use crate::commands::{
    experiment_options::ExperimentOptions,
    own_experiment::OwnExperiment,
    run::{Ending, RerunCommand, SideBySideOptions, warn_of_servers},
};

mod budget;
mod confirmation;
mod factor;
mod file;
mod given_servers;
mod known_options;
mod measurement;
mod own_tables;
mod side_by_side;
mod workload;

use confirmation::Decided;
use factor::{Factor, Kind};
use file::Account;
use measurement::Measurement;
use workload::Workload;

/// Name of the experiment.
const NAME: &str = "ab";
/// Name of the experiment whose classical runs confirm it.
const CONFIRMING: &str = "ab-classical";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The values, versions, files or servers that an option lists are called levels. The first level is the baseline, and
every other level is compared with it. The runs are executed in random order on private servers, which dbdyno creates.
The data is loaded once. Before each run, the server is restarted and the data is restored.

With --design side-by-side, every combination has a server of its own, and all servers run at the same time. One server
at a time is loaded, in slices of half a second, in random order. Slices that are close in time are compared with each
other, so that changes of the machine's speed affect both sides, and a verdict needs less time. The machine needs memory
for all private servers.

Existing servers (--server, --host) are not restarted, and the data is loaded once on each of them. With
--on-this-server, the values of --set are compared on one existing server: before each slice, SET GLOBAL sets them. The
original values are put back at the end, also if dbdyno is interrupted or killed.

The experiment ends when every comparison is decided, or when the --budget is used up. With --confirm, classical runs of
the baseline and of the best combination follow.

If several options have several levels, every combination of these levels is measured. If an option has only one level,
this level applies to all runs. If a value contains a comma, enclose the value in double quotes:
  --set 'sql_mode=\"ANSI,NO_ZERO_DATE\",\"\"'

dbdyno ab writes an experiment file to the results directory. To change the experiment, edit this file and run it with
dbdyno run.

Examples:
  dbdyno ab --set innodb_flush_log_at_trx_commit=1,2 oltp read_write --table-size 250k
  dbdyno ab --run mysql-8.0.33,mariadb-10.11 --budget 20m oltp read_only --table-size 1M
  dbdyno ab --cnf a.cnf,b.cnf --connections 32 oltp point_select --tables 4
  dbdyno ab --design side-by-side --set innodb_flush_log_at_trx_commit=1,2 oltp read_write --table-size 250k
  dbdyno ab --sql 'CREATE INDEX c ON sbtest1 (c)' script orders.sql --table-size 100k
  dbdyno ab --run mysql-5.7,mysql-8.0.33 script orders.sql --dump prod.sql.gz
  dbdyno ab --host db1,db2 --user bench --password-file ~/.bench-password script orders.sql
  dbdyno ab --host db1,db2 --design side-by-side script orders.sql
  dbdyno ab --host db1 --on-this-server --set innodb_flush_log_at_trx_commit=1,2 --database shop script orders.sql")]
pub(crate) struct AbArgs {
    /// Server option and its values to compare; may be repeated for other options
    #[arg(long, value_name = "OPTION=VALUE,...", value_parser = factor::setting)]
    set: Vec<Factor>,
    /// Server versions to compare, such as mysql-8.0.33,mariadb-10.11
    #[arg(long, value_name = "VERSION,...", value_parser = factor::versions)]
    run: Option<Factor>,
    /// Server option files to compare
    #[arg(long, value_name = "FILE,...", value_parser = factor::option_files)]
    cnf: Option<Factor>,
    /// Compare runs without and with this SQL statement, which is executed after the data is loaded; each further --sql
    /// adds a level
    #[arg(long, value_name = "SQL")]
    sql: Vec<String>,
    /// Names of the running private servers to compare
    #[arg(long, value_name = "NAME,...", value_parser = factor::named_servers, conflicts_with_all = ["run", "cnf", "sql", "host"])]
    server: Option<Factor>,
    /// Existing servers to compare: hosts (with or without a port) or socket paths
    #[arg(long, value_name = "HOST[:PORT],...", value_parser = factor::hosts, conflicts_with_all = ["run", "cnf", "sql"])]
    host: Option<Factor>,
    /// Name of the account on the --host servers [default: from the mysql client's option files]
    #[arg(long, short, value_name = "NAME", requires = "host")]
    user: Option<String>,
    /// File whose first line is the password of the --user account
    #[arg(long, value_name = "FILE", requires = "host", value_parser = factor::file)]
    password_file: Option<String>,
    /// Database that the scripts use on the --server and --host servers
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "cnf", "sql"])]
    database: Option<String>,
    #[command(flatten)]
    options: ExperimentOptions,
    #[command(flatten)]
    measurement: Measurement,
    #[command(subcommand)]
    load: Workload,
}

pub(crate) fn run(args: AbArgs) -> anyhow::Result<ExitCode> {
    let factors = factors(&args)?;
    side_by_side::check(&factors, &args.measurement)?;
    let account = Account {
        user: args.user,
        password_file: args.password_file,
        database: args.database,
    };
    let (load, measurement) = (&args.load, &args.measurement);
    let text = experiment_file(load, &account, &factors, Vec::new(), measurement)?;
    let planned = unwritten(&text)?;
    let preparations_s = budget::preparations_s(planned.plan());
    budget::check(&factors, measurement, &preparations_s).map_err(Blamed::from)?;
    for warning in known_options::without_effect(&factors) {
        eprintln!("warning: {warning}");
    }
    if measurement.plan {
        println!("{}", planned.plan().describe());
        warn_of_servers(&planned, args.options.mysqld.as_deref());
        if measurement.confirm {
            let budget = units::span(measurement.budget);
            println!(
                "confirm  classical runs of the baseline and of the best combination, within another {budget}"
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    let results = measurement.results.as_deref();
    let beside = results.filter(|_| measurement.confirm);
    let beside = beside.map(confirmation::results_beside).transpose()?;
    let begun = OwnExperiment::new(results, NAME, &text, &[])?;
    let choices = args.options.choices();
    let again = RerunCommand::of_this_command(&["--duration", "--budget"])
        .or_side_by_side(side_by_side_options(load, &account, &factors, measurement));
    let verbose = measurement.verbose;
    let (code, results) = perform(begun, &choices, Some(again), verbose)?;
    let Some(classical) = measurement.confirming() else {
        return Ok(code);
    };
    let Some(decided) = Decided::of(&results_at(results)?) else {
        println!("confirm   no comparison is decided, so that there is nothing to confirm");
        return Ok(code);
    };
    println!();
    let factors = decided.factors(&factors);
    let excluded = confirmation::mixed_combinations(&factors);
    let text = experiment_file(load, &account, &factors, excluded, &classical)?;
    let begun = OwnExperiment::new(beside.as_deref(), CONFIRMING, &text, &[])?;
    let (code, results) = perform(begun, &choices, None, verbose)?;
    println!("confirm   {}", decided.in_words(&results_at(results)?));
    Ok(code)
}

/// The experiment of a file that is not written yet.
fn unwritten(text: &str) -> Result<Experiment, Blamed> {
    let path = std::path::absolute("ab.toml").map_err(Blamed::io(Blame::Input, Path::new(".")))?;
    let experiment = Experiment::parse(&path, text, &Overrides::default(), &VOCABULARY);
    experiment.map_err(Blamed::from)
}

/// The experiment file of a comparison of these factors under a load, without the excluded combinations.
fn experiment_file(
    load: &Workload,
    account: &Account,
    factors: &[Factor],
    excluded: Vec<Table>,
    measurement: &Measurement,
) -> Result<String, Blamed> {
    let are_there = factors.iter().any(|it| it.kind == Kind::Server);
    let (data, load) = load.tables(are_there)?;
    Ok(file::text(
        factors,
        excluded,
        account,
        measurement,
        data,
        load,
    ))
}

/// How the same comparison is measured side by side; `None` if it is so already, or if its factors or its load cannot be.
fn side_by_side_options(
    load: &Workload,
    account: &Account,
    factors: &[Factor],
    classical: &Measurement,
) -> Option<SideBySideOptions> {
    let measurement = side_by_side::instead_of(classical)?;
    side_by_side::check(factors, &measurement).ok()?;
    let text = experiment_file(load, account, factors, Vec::new(), &measurement).ok()?;
    let planned = unwritten(&text).ok()?;
    let preparations_s = budget::preparations_s(planned.plan());
    let too_short = budget::check(factors, &measurement, &preparations_s).err();
    Some(SideBySideOptions {
        is_duration_too_short: measurement.duration != classical.duration,
        budget: too_short.map(|it| it.enough),
    })
}

/// Measures, prints the answer and the place of the experiment file; returns the directory of the results, too.
fn perform(
    begun: OwnExperiment,
    choices: &Choices,
    again: Option<RerunCommand>,
    verbose: bool,
) -> anyhow::Result<(ExitCode, PathBuf)> {
    let (way_on, path) = (begun.way_on(), begun.path().display().to_string());
    let results = begun.results.path().to_owned();
    let ending = Ending {
        way_on: &way_on,
        again,
        verbose,
    };
    let code = begun.perform(choices, &ending)?;
    println!("file      {path}: edit it, then run: dbdyno run {path}");
    Ok((code, results))
}

/// What was measured, from its directory.
fn results_at(directory: PathBuf) -> Result<Results, Blamed> {
    results_of(&[directory], &VOCABULARY)
}

/// What varies and what is fixed; an error if nothing varies.
fn factors(args: &AbArgs) -> Result<Vec<Factor>, Blamed> {
    let mut factors = args.set.clone();
    factors.extend(args.run.clone());
    factors.extend(args.cnf.clone());
    factors.extend(Factor::of_sql(&args.sql));
    factors.extend(args.server.clone());
    factors.extend(args.host.clone());
    for (at, factor) in factors.iter().enumerate() {
        factor.check()?;
        if factors[..at].iter().any(|it| it.is_of_same(factor)) {
            let message = format!("{} is given twice", factor.option);
            let hint = format!("give all values in one option: {}", factor.example());
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
    }
    given_servers::check(&factors, &args.measurement, args.database.as_deref())?;
    if factors.iter().any(Factor::varies) {
        known_options::check(&factors)?;
        return Ok(factors);
    }
    let (message, hint) = match factors.first() {
        None => (
            "nothing to compare".to_owned(),
            "name the setting to compare with --set, --run, --cnf, --sql, --server or --host, for example --set \
             sync_binlog=0,1"
                .to_owned(),
        ),
        Some(factor) => (
            format!("nothing to compare: {} has only one value", factor.option),
            format!("name two or more values, for example {}", factor.example()),
        ),
    };
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::{Args, Command, FromArgMatches};

    use super::{factor::setting, *};

    #[test]
    fn a_comparison_can_be_measured_side_by_side_if_its_levels_can() {
        let options = |levels: &str, words: &str| {
            let command = AbArgs::augment_args(Command::new("ab").no_binary_name(true));
            let matches = command.try_get_matches_from(words.split(' '));
            let args = AbArgs::from_arg_matches(&matches.unwrap()).unwrap();
            let factors = [setting(&format!("sync_binlog={levels}")).unwrap()];
            let account = Account {
                user: None,
                password_file: None,
                database: None,
            };
            side_by_side_options(&args.load, &account, &factors, &args.measurement)
        };
        let unchanged = SideBySideOptions {
            is_duration_too_short: false,
            budget: None,
        };
        assert_eq!(options("0,1", "oltp point_select"), Some(unchanged));
        let short = options("0,1", "--duration 10s --budget 60s oltp point_select");
        let short = short.unwrap();
        assert!(short.is_duration_too_short);
        // Twice two combinations of 56 s each, and their preparations.
        assert!(short.budget >= Some(Duration::from_secs(224)), "{short:?}");
        assert_eq!(options("1,2,3,4,5,6,7,8,9", "oltp point_select"), None);
        let done = "--design side-by-side oltp point_select";
        assert_eq!(options("0,1", done), None);
    }
}
