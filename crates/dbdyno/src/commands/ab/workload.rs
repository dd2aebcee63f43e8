//! The loads of a comparison, each a command with the options of its tables of data and load.

use benchmarks::{VOCABULARY, oltp::OltpData, script::ScriptLoad};
use blame::{Blame, Blamed};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand, parser::ValueSource};
use experiment::written;
use settings::{Absent, Kind, OptionSpec, OptionTable, WeightedFile, quantity};
use toml_edit::{Array, InlineTable, Table, Value, value};

use super::{
    factor::{check_file, whole_path},
    own_tables::{OwnTables, quoted_table},
};
use crate::commands::table_options;

/// The load of a comparison.
#[derive(Debug)]
pub(super) enum Workload {
    /// `oltp read_write --table-size 250k`: a load on its own data.
    Own {
        name: &'static str,
        given: GivenOptions,
    },
    Script(ScriptWorkload),
}

/// `script orders.sql@70 search.sql@30 -D customers=50000`
#[derive(Debug)]
pub(super) struct ScriptWorkload {
    files: Vec<WeightedFile>,
    define: Vec<(String, String)>,
    own_tables: Option<OwnTables>,
    given: GivenOptions,
}

/// An option's name and its value.
type GivenOption = (&'static str, String);

/// The options that the command line gives, of the tables of data and load.
#[derive(Debug, Default)]
pub(super) struct GivenOptions {
    data: Vec<GivenOption>,
    load: Vec<GivenOption>,
}

/// A load of which a command measures one on its own data.
struct OwnLoad {
    name: &'static str,
    summary: &'static str,
    data: &'static [OptionSpec],
    load: &'static [OptionSpec],
}

/// The loads that have data of their own.
fn own_loads() -> impl Iterator<Item = OwnLoad> {
    VOCABULARY.loads.iter().filter_map(|load| {
        let mut data = VOCABULARY.data.iter();
        let data = data.find(|data| data.name() == load.name())?;
        Some(OwnLoad {
            name: load.name(),
            summary: load.summary()?,
            data: data.options(),
            load: load.options(),
        })
    })
}

impl Workload {
    /// The keys of `[data]` and of `[load]`; on servers that are there, scripts without options for tables use those that
    /// there are, and have no `[data]`.
    pub(super) fn tables(&self, are_there: bool) -> Result<(Option<Table>, Table), Blamed> {
        match self {
            Self::Own { name, given } => {
                let (data, load) = given.tables(name);
                Ok((Some(data), load))
            }
            Self::Script(script) => script.tables(are_there),
        }
    }
}

impl Subcommand for Workload {
    fn augment_subcommands(command: Command) -> Command {
        let own = own_loads().map(|own| {
            Command::new(own.name)
                .about(own.summary)
                .args(arguments(own.data, own.load))
        });
        let script = Command::new(ScriptLoad.name())
            .about("Your own SQL, in scripts that use pgbench's language");
        command
            .subcommands(own)
            .subcommand(ScriptWorkload::augment_args(script))
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        name == ScriptLoad.name() || own_loads().any(|own| own.name == name)
    }
}

impl FromArgMatches for Workload {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        if name == ScriptLoad.name() {
            return ScriptWorkload::from_arg_matches(matches).map(Self::Script);
        }
        let own = own_loads().find(|own| own.name == name);
        let own = own.ok_or_else(missing)?;
        Ok(Self::Own {
            name: own.name,
            given: GivenOptions::of(own.data, own.load, matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ScriptWorkload {
    /// The keys of `[data]` and of `[load]`.
    fn tables(&self, are_there: bool) -> Result<(Option<Table>, Table), Blamed> {
        let given = &self.given;
        let files = self.files.iter().map(|file| {
            let path = whole_path(&file.path)?;
            Ok(written::literal(&format!("{path}@{}", file.weight)))
        });
        let files = files.collect::<Result<Array, String>>();
        let files = files.map_err(|error| Blamed::new(Blame::Input, error))?;
        let mut script = InlineTable::from_iter([("files", files)]);
        script.extend(written_options(&given.load));
        if !self.define.is_empty() {
            script.insert("define", quoted_table("--define", &self.define)?.into());
        }
        let makes_tables = self.own_tables.is_some() || !given.data.is_empty();
        let data = (!are_there || makes_tables).then(|| self.data());
        let load = Table::from_iter([(ScriptLoad.name(), value(script))]);
        Ok((data.transpose()?, load))
    }

    /// The keys of `[data]`.
    fn data(&self) -> Result<Table, Blamed> {
        let given = &self.given.data;
        if let Some(own_tables) = &self.own_tables {
            return own_tables.keys();
        }
        if given.is_empty() {
            let message = "a new server has no tables for the scripts";
            let hint = "--schema FILE or --dump FILE loads your own tables; --tables or --table-size creates \
                 sysbench's (sbtest1 and so on) in the database test";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        let data: InlineTable = written_options(given).collect();
        Ok(Table::from_iter([(OltpData.name(), value(data))]))
    }
}

impl GivenOptions {
    fn of(data: &'static [OptionSpec], load: &'static [OptionSpec], matches: &ArgMatches) -> Self {
        let given = |options: &'static [OptionSpec]| {
            let given = options.iter().filter_map(|option| {
                let source = matches.value_source(option.name)?;
                let value = matches.get_raw(option.name)?.next()?;
                (source == ValueSource::CommandLine)
                    .then(|| (option.name, value.to_string_lossy().into_owned()))
            });
            given.collect()
        };
        Self {
            data: given(data),
            load: given(load),
        }
    }

    fn tables(&self, name: &str) -> (Table, Table) {
        let table = |given: &[GivenOption]| {
            let keys: InlineTable = written_options(given).collect();
            Table::from_iter([(name, value(keys))])
        };
        (table(&self.data), table(&self.load))
    }
}

/// The options as keys of an experiment.
fn written_options(given: &[GivenOption]) -> impl Iterator<Item = (&'static str, Value)> {
    let given = given.iter();
    given.map(|(name, text)| (*name, written::literal(text)))
}

/// The options of both tables; one that both have is one option.
fn arguments(data: &'static [OptionSpec], load: &'static [OptionSpec]) -> Vec<Arg> {
    let is_new = |option: &&OptionSpec| !data.iter().any(|it| it.name == option.name);
    let options = data.iter().chain(load.iter().filter(is_new));
    options
        .map(|option| {
            let argument = table_options::argument(option);
            match (option.absent, option.kind) {
                // Which of several workloads it is comes first.
                (Absent::Required(_), Kind::Choice(_)) => Arg::new(option.name)
                    .required(true)
                    .index(1)
                    .value_name("WORKLOAD")
                    .help(option.help)
                    .value_parser(argument.get_value_parser().clone()),
                _ => argument,
            }
        })
        .collect()
}

impl Args for ScriptWorkload {
    fn augment_args(command: Command) -> Command {
        let files = Arg::new("files")
            .value_name("FILE[@WEIGHT]")
            .help("Script files; if there are several, @WEIGHT sets how often a script is chosen relative to the others")
            .required(true)
            .num_args(1..)
            .value_parser(weighted_file);
        let define = Arg::new("define")
            .long("define")
            .short('D')
            .value_name("NAME=VALUE")
            .help("Define a variable for the scripts; may be repeated")
            .action(clap::ArgAction::Append)
            .value_parser(pair);
        let made: Vec<&str> = OltpData.options().iter().map(|it| it.name).collect();
        let command = command
            .args([files, define])
            .args(arguments(OltpData.options(), ScriptLoad::NUMBERS));
        OwnTables::augment(command, &made)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ScriptWorkload {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let files = matches.get_many::<WeightedFile>("files");
        let define = matches.get_many::<(String, String)>("define");
        Ok(Self {
            files: files.into_iter().flatten().cloned().collect(),
            define: define.into_iter().flatten().cloned().collect(),
            own_tables: OwnTables::of(matches),
            given: GivenOptions::of(OltpData.options(), ScriptLoad::NUMBERS, matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn weighted_file(text: &str) -> Result<WeightedFile, String> {
    let file = quantity::weighted_file(text);
    let file = file.ok_or_else(|| "a weight is a whole number above 0".to_owned())?;
    check_file(&file.path)?;
    Ok(file)
}

fn pair(text: &str) -> Result<(String, String), String> {
    quantity::pair(text).ok_or_else(|| "a variable is given as NAME=VALUE".to_owned())
}
