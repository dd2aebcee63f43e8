//! The experiment file of a comparison.

use std::time::Duration;

use blame::{Blame, Blamed};
use clap::ValueEnum;
use experiment::written;
use load::WarmUp;
use report::shell_word;
use units::span;

use super::{
    factor::{Factor, Kind, Level},
    measurement::Measurement,
};

/// Fewest and most runs of each combination. With fewer nothing is decided.
const BLOCKS: std::ops::RangeInclusive<u64> = 3..=30;
/// What a run takes besides warm-up and measurement: the restart, and the data put back.
const AROUND_A_RUN: Duration = Duration::from_secs(3);

/// The account on servers that are there.
pub(super) struct Account {
    /// `None` for the one in the option files.
    pub(super) user: Option<String>,
    pub(super) password_file: Option<String>,
    /// `None` for the load's own.
    pub(super) database: Option<String>,
}

/// The experiment file; `data` and `load` are the keys of their tables. Without `data` the load uses the tables that the
/// servers have.
pub(super) fn text(
    factors: &[Factor],
    account: &Account,
    measurement: &Measurement,
    data: Option<&str>,
    load: &str,
) -> String {
    let varied: Vec<&Factor> = factors.iter().filter(|factor| factor.varies()).collect();
    let command: Vec<String> = std::env::args_os()
        .skip(1)
        // The command of a comment; the levels themselves are no such text.
        .map(|word| shown(&word.to_string_lossy()))
        .collect();
    let questions: Vec<String> = varied.iter().map(|factor| question(factor)).collect();
    let question = written::string(&questions.join("; "));
    let seed = measurement.seed;
    let at_most = blocks(&varied, measurement);
    let budget = humantime::format_duration(measurement.budget);
    let mut text = format!(
        "# Written by: dbdyno {}\n\
         # Edit it and run it again: dbdyno run FILE (docs/experiment-file.md has every key).\n\
         format = 1\n\
         question = {question}\n\
         seed = {seed}\n\
         # Blocks with one run of each level, in random order, until every comparison is decided or a budget is spent.\n\
         repeats = \"until decided\"\n\
         at_most = {at_most}\n\
         time_at_most = \"{budget}\"\n\
         \n[matrix]\n",
        command.join(" ")
    );
    for factor in &varied {
        let levels: Vec<String> = factor.levels.iter().map(level).collect();
        text.push_str(&format!("{} = [{}]\n", factor.name(), levels.join(", ")));
    }
    let are_there = factors.iter().any(|it| it.kind == Kind::Server);
    let (of_servers, of_data) = if are_there {
        (
            "each exists, and is not changed",
            "loaded once on each server",
        )
    } else {
        (
            "a private one, restarted before each run",
            "loaded once, and restored before each run",
        )
    };
    text.push_str(&format!("\n[server] # {of_servers}\n"));
    text.push_str(&server(factors, account));
    if let Some(data) = data {
        text.push_str(&format!("\n[data] # {of_data}\n{data}\n"));
    }
    if let Some(sql) = factors.iter().find(|factor| factor.kind == Kind::Sql) {
        let name = sql.name();
        text.push_str(&format!(
            "\n[each] # on the loaded data; then the server is restarted, even without the statement\nchange = \
             [\"{{{name}}}\"]\n"
        ));
    }
    let connections = measurement.connections;
    let duration = humantime::format_duration(measurement.duration);
    text.push_str(&format!(
        "\n[load]\n{load}\nconnections = {connections}\n{}duration = \"{duration}\"\n",
        warm_up(measurement.warmup)
    ));
    let baseline = varied.iter().map(|factor| {
        let first = factor.levels.first().map_or("", |level| &level.label);
        format!("{} = {}", factor.name(), written::string(first))
    });
    let metric = measurement.metric.to_possible_value();
    let metric = metric.expect("no value is hidden");
    text.push_str(&format!(
        "\n[verdict] # every other combination is compared with this one\n\
         baseline = {}\nmetric = \"{}\"\nmin_effect = {}\n",
        inline_table(baseline),
        metric.get_name(),
        written::string(&measurement.min_effect)
    ));
    text
}

/// The keys of `[server]`.
fn server(factors: &[Factor], account: &Account) -> String {
    let value = |factor: &Factor| match factor.levels.as_slice() {
        [only] => written::literal(&only.value),
        _ => written::string(&format!("{{{}}}", factor.name())),
    };
    let mut keys = String::new();
    let mut set = Vec::new();
    for factor in factors {
        match &factor.kind {
            Kind::Version => keys.push_str(&format!("run = {}\n", value(factor))),
            Kind::OptionFile => keys.push_str(&format!("cnf = [{}]\n", value(factor))),
            Kind::Setting(name) => {
                set.push(format!("{} = {}", written::string(name), value(factor)))
            }
            Kind::Server => {
                keys.push_str(&format!("address = {}\n", value(factor)));
                let of_account = [
                    ("user", &account.user),
                    ("password_file", &account.password_file),
                    ("database", &account.database),
                ];
                for (key, value) in of_account {
                    if let Some(value) = value {
                        keys.push_str(&format!("{key} = {}\n", written::literal(value)));
                    }
                }
            }
            Kind::Sql => {}
        }
    }
    if !set.is_empty() {
        keys.push_str(&format!("set = {}\n", inline_table(set.into_iter())));
    }
    keys
}

/// `sync_binlog: 0 or 1?`
fn question(factor: &Factor) -> String {
    let labels: Vec<&str> = factor.levels.iter().map(|it| it.label.as_str()).collect();
    let (name, levels) = match &factor.kind {
        Kind::Setting(name) => (name.clone(), labels),
        Kind::Sql if labels.len() == 2 => {
            let sql = shown(&factor.levels[1].value);
            return format!("With or without {sql}?");
        }
        _ => (factor.name(), labels),
    };
    format!("{name}: {}?", levels.join(" or "))
}

fn level(level: &Level) -> String {
    // With dots it could be a range.
    if level.label == level.value && !level.label.contains("..") {
        return written::string(&level.label);
    }
    let (label, value) = (written::string(&level.label), written::string(&level.value));
    format!("{{ label = {label}, value = {value} }}")
}

fn warm_up(warm_up: WarmUp) -> String {
    match warm_up {
        WarmUp::None => "warmup = \"0s\"\n".to_owned(),
        WarmUp::For(time) => format!("warmup = \"{}\"\n", humantime::format_duration(time)),
        WarmUp::UntilSteady { at_most } => format!(
            "warmup = \"auto\"\nwarmup_at_most = \"{}\"\n",
            humantime::format_duration(at_most)
        ),
    }
}

/// An error where the budget has no time for the runs without which nothing is decided, even if they took no longer than
/// what they measure.
pub(super) fn check_budget(factors: &[Factor], measurement: &Measurement) -> Result<(), Blamed> {
    let warm_up = match measurement.warmup {
        WarmUp::None | WarmUp::UntilSteady { .. } => Duration::ZERO,
        WarmUp::For(time) => time,
    };
    let combinations = combinations(factors.iter());
    let run = warm_up + measurement.duration;
    let least = run.mul_f64((BLOCKS.start() * combinations) as f64);
    if measurement.budget >= least {
        return Ok(());
    }
    let message = format!(
        "--budget of {} cannot decide anything: at least {} runs of each of {combinations} combinations are needed, and \
         their warm-up and measurement alone take {}",
        span(measurement.budget),
        BLOCKS.start(),
        span(least)
    );
    let around = AROUND_A_RUN.mul_f64((BLOCKS.start() * combinations) as f64);
    let minutes = ((least + around).as_secs_f64() / 60.0).ceil();
    let hint = format!("use --budget {minutes:.0}m or more, or a shorter --duration or --warmup");
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

fn combinations<'f>(factors: impl Iterator<Item = &'f Factor>) -> u64 {
    factors.map(|it| it.levels.len().max(1) as u64).product()
}

/// About as many blocks as the budget has time for: the fewer analyses there may be, the sooner each decides.
fn blocks(varied: &[&Factor], measurement: &Measurement) -> u64 {
    let combinations = combinations(varied.iter().copied());
    let warm_up = match measurement.warmup {
        WarmUp::None => Duration::ZERO,
        WarmUp::For(time) | WarmUp::UntilSteady { at_most: time } => time,
    };
    let run = warm_up + measurement.duration + AROUND_A_RUN;
    let block_s = run.as_secs_f64() * combinations as f64;
    let blocks = measurement.budget.as_secs_f64() / block_s;
    (blocks as u64).clamp(*BLOCKS.start(), *BLOCKS.end())
}

/// `{ a = 1, b = 2 }`
pub(super) fn inline_table(keys: impl Iterator<Item = String>) -> String {
    let keys: Vec<String> = keys.collect();
    if keys.is_empty() {
        return "{}".to_owned();
    }
    format!("{{ {} }}", keys.join(", "))
}

/// `table_size = "250k"`
pub(super) fn key(name: &str, value: &str) -> String {
    format!("{name} = {}", written::literal(value))
}

/// A word of a command line on one line, in quotes where a shell needs them.
fn shown(word: &str) -> String {
    let is_control = |it: char| it.is_control();
    shell_word(&word.replace(is_control, " ")).into_owned()
}
