//! The experiment file of a comparison.

use std::time::Duration;

use blame::{Blame, Blamed};
use clap::ValueEnum;
use experiment::written;
use load::WarmUp;
use report::shell_word;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};
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

/// The experiment file; `data` and `load` are the beginnings of their tables. Without `data` the load uses the tables
/// that the servers have.
pub(super) fn text(
    factors: &[Factor],
    account: &Account,
    measurement: &Measurement,
    data: Option<Table>,
    mut load: Table,
) -> String {
    let varied: Vec<&Factor> = factors.iter().filter(|factor| factor.varies()).collect();
    let command: Vec<String> = std::env::args_os()
        .skip(1)
        // The command of a comment; the levels themselves are no such text.
        .map(|word| shown(&word.to_string_lossy()))
        .collect();
    let mut file = DocumentMut::new();
    let format = written::commented_key(
        "format",
        &[
            &format!("Written by: dbdyno {}", command.join(" ")),
            "Edit it and run it again: dbdyno run FILE (docs/experiment-file.md has every key).",
        ],
    );
    file.insert_formatted(&format, value(written::number(1)));
    let questions: Vec<String> = varied.iter().map(|factor| question(factor)).collect();
    file.insert("question", string(&questions.join("; ")));
    file.insert("seed", value(written::number(measurement.seed)));
    let repeats = written::commented_key(
        "repeats",
        &[
            "Blocks with one run of each level, in random order, until every comparison is decided or a budget is spent.",
        ],
    );
    file.insert_formatted(&repeats, string("until decided"));
    let at_most = blocks(&varied, measurement);
    file.insert("at_most", value(written::number(at_most)));
    file.insert("time_at_most", time(measurement.budget));
    let mut matrix = Table::new();
    for factor in &varied {
        let levels: Array = factor.levels.iter().map(level).collect();
        matrix.insert(&factor.name(), value(levels));
    }
    file.insert("matrix", Item::Table(matrix));
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
    let server = commented(server(factors, account), of_servers);
    file.insert("server", Item::Table(server));
    if let Some(data) = data {
        file.insert("data", Item::Table(commented(data, of_data)));
    }
    if let Some(sql) = factors.iter().find(|factor| factor.kind == Kind::Sql) {
        let mut each = Table::new();
        each.insert("change", value(Array::from_iter([placeholder(sql)])));
        let when = "on the loaded data; then the server is restarted, even without the statement";
        file.insert("each", Item::Table(commented(each, when)));
    }
    let connections = written::number(measurement.connections.into());
    load.insert("connections", value(connections));
    warm_up(measurement.warmup, &mut load);
    load.insert("duration", time(measurement.duration));
    file.insert("load", Item::Table(load));
    let verdict = commented(
        verdict(&varied, measurement),
        "every other combination is compared with this one",
    );
    file.insert("verdict", Item::Table(verdict));
    file.to_string()
}

/// The keys of `[server]`.
fn server(factors: &[Factor], account: &Account) -> Table {
    let of_factor = |factor: &Factor| match factor.levels.as_slice() {
        [only] => written::literal(&only.value),
        _ => placeholder(factor),
    };
    let mut keys = Table::new();
    let mut set = InlineTable::new();
    for factor in factors {
        let of_factor = of_factor(factor);
        match &factor.kind {
            Kind::Version => {
                keys.insert("run", value(of_factor));
            }
            Kind::OptionFile => {
                keys.insert("cnf", value(Array::from_iter([of_factor])));
            }
            Kind::Setting(name) => {
                set.insert_formatted(&written::quoted_key(name), of_factor);
            }
            Kind::Server => {
                keys.insert("address", value(of_factor));
                let of_account = [
                    ("user", &account.user),
                    ("password_file", &account.password_file),
                    ("database", &account.database),
                ];
                for (key, text) in of_account {
                    if let Some(text) = text {
                        keys.insert(key, value(written::literal(text)));
                    }
                }
            }
            Kind::Sql => {}
        }
    }
    if !set.is_empty() {
        keys.insert("set", value(set));
    }
    keys
}

/// The keys of `[verdict]`: the first level of each factor is the baseline.
fn verdict(varied: &[&Factor], measurement: &Measurement) -> Table {
    let baseline = varied.iter().map(|factor| {
        let first = factor.levels.first().map_or("", |level| &level.label);
        (factor.name(), written::string(first))
    });
    let metric = measurement.metric.to_possible_value();
    let metric = metric.expect("no value is hidden");
    let mut verdict = Table::new();
    verdict.insert("baseline", value(baseline.collect::<InlineTable>()));
    verdict.insert("metric", string(metric.get_name()));
    verdict.insert("min_effect", string(&measurement.min_effect));
    verdict
}

/// The level of a factor in a run: `{sync_binlog}`.
fn placeholder(factor: &Factor) -> Value {
    written::string(&format!("{{{}}}", factor.name()))
}

fn string(text: &str) -> Item {
    value(written::string(text))
}

fn time(time: Duration) -> Item {
    string(&humantime::format_duration(time).to_string())
}

/// A table with a comment behind its name.
fn commented(mut table: Table, comment: &str) -> Table {
    table.decor_mut().set_suffix(format!(" # {comment}"));
    table
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

fn level(level: &Level) -> Value {
    let (label, value) = (written::string(&level.label), written::string(&level.value));
    // With dots it could be a range.
    if level.label == level.value && !level.label.contains("..") {
        return label;
    }
    InlineTable::from_iter([("label", label), ("value", value)]).into()
}

/// Writes the keys of the warm-up to `[load]`.
fn warm_up(warm_up: WarmUp, load: &mut Table) {
    match warm_up {
        WarmUp::None => {
            load.insert("warmup", string("0s"));
        }
        WarmUp::For(duration) => {
            load.insert("warmup", time(duration));
        }
        WarmUp::UntilSteady { at_most } => {
            load.insert("warmup", string("auto"));
            load.insert("warmup_at_most", time(at_most));
        }
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

/// A word of a command line on one line, in quotes where a shell needs them.
fn shown(word: &str) -> String {
    let is_control = |it: char| it.is_control();
    shell_word(&word.replace(is_control, " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            factor::{setting, versions},
            measurement::Metric,
        },
        *,
    };

    const ACCOUNT: Account = Account {
        user: None,
        password_file: None,
        database: None,
    };

    /// The file without its first line, which has the command of the test itself.
    fn written(factors: &[Factor], account: &Account, data: Option<Table>) -> String {
        let measurement = Measurement {
            connections: 8,
            duration: Duration::from_secs(10),
            warmup: WarmUp::UntilSteady {
                at_most: Duration::from_secs(60),
            },
            budget: Duration::from_secs(600),
            metric: Metric::Throughput,
            min_effect: "2 %".to_owned(),
            seed: 1,
            results: None,
            plan: false,
            verbose: false,
        };
        let script = InlineTable::from_iter([("script", written::literal("read_write"))]);
        let load = Table::from_iter([("oltp", value(script))]);
        let text = text(factors, account, &measurement, data, load);
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(first.starts_with("# Written by: dbdyno "), "{first}");
        rest.to_owned()
    }

    #[test]
    fn a_comparison_is_an_experiment_with_comments() {
        let factors = [
            setting("sync_binlog=0,1").unwrap(),
            setting("sql_mode=\"\",ANSI").unwrap(),
            versions("mariadb-10.11").unwrap(),
        ];
        let data = Table::from_iter([("oltp", value(InlineTable::new()))]);
        let expected = r#"# Edit it and run it again: dbdyno run FILE (docs/experiment-file.md has every key).
format = 1
question = "sync_binlog: 0 or 1?; sql_mode: (empty) or ANSI?"
seed = 1
# Blocks with one run of each level, in random order, until every comparison is decided or a budget is spent.
repeats = "until decided"
at_most = 3
time_at_most = "10m"

[matrix]
sync_binlog = ["0", "1"]
sql_mode = [{ label = "(empty)", value = "" }, "ANSI"]

[server] # a private one, restarted before each run
run = "mariadb-10.11"
set = { "sync_binlog" = "{sync_binlog}", "sql_mode" = "{sql_mode}" }

[data] # loaded once, and restored before each run
oltp = {}

[load]
oltp = { script = "read_write" }
connections = 8
warmup = "auto"
warmup_at_most = "1m"
duration = "10s"

[verdict] # every other combination is compared with this one
baseline = { sync_binlog = "0", sql_mode = "(empty)" }
metric = "throughput"
min_effect = "2 %"
"#;
        assert_eq!(written(&factors, &ACCOUNT, Some(data)), expected);
    }

    #[test]
    fn a_statement_is_executed_after_the_data_is_loaded() {
        let factor = Factor::of_sql(&["CREATE INDEX c ON t (c)".to_owned()]).unwrap();
        let text = written(&[factor], &ACCOUNT, None);
        let each = "[each] # on the loaded data; then the server is restarted, even without the statement\n\
                    change = [\"{sql}\"]\n\n[load]\n";
        assert!(text.contains(each), "{text}");
    }

    #[test]
    fn servers_may_have_quotes_and_braces_in_their_paths() {
        let account = Account {
            user: Some("b{e}n\"ch".to_owned()),
            ..ACCOUNT
        };
        let path = "/run/{\"a\"}.sock".to_owned();
        let server = Factor {
            option: "--host".to_owned(),
            kind: Kind::Server,
            levels: vec![Level {
                label: path.clone(),
                value: path,
            }],
        };
        let text = written(&[server], &account, None);
        let server = "[server] # each exists, and is not changed\naddress = \"/run/{{\\\"a\\\"}}.sock\"\n\
                      user = \"b{{e}}n\\\"ch\"\n\n[load]\n";
        assert!(text.contains(server), "{text}");
    }
}
