//! The experiment file of a comparison.

mod comments;

use std::time::Duration;

use clap::ValueEnum;
use experiment::{Design, Slicing, written};
use load::WarmUp;
use report::shell_word;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use super::{
    budget,
    factor::{Factor, Kind, Level},
    measurement::Measurement,
};
use comments::Comments;

/// The account on servers that are there.
pub(super) struct Account {
    /// `None` for the one in the option files.
    pub(super) user: Option<String>,
    pub(super) password_file: Option<String>,
    /// `None` for the load's own.
    pub(super) database: Option<String>,
}

/// The experiment file; `data` and `load` are the beginnings of their tables. Without `data` the load uses the tables
/// that the servers have. `excluded` are the tables of the combinations that are left out.
pub(super) fn text(
    factors: &[Factor],
    excluded: Vec<Table>,
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
    let are_there = factors.iter().any(|it| it.kind == Kind::Server);
    let comments = Comments::of(measurement, are_there);
    let repeats = written::commented_key("repeats", &[comments.repeats]);
    file.insert_formatted(&repeats, string("until decided"));
    let at_most = budget::blocks(&varied, measurement);
    file.insert("at_most", value(written::number(at_most)));
    file.insert("time_at_most", time(measurement.budget));
    if let Design::SideBySide(slicing) = measurement.design() {
        turns(slicing, comments.turns, &mut file);
    }
    let mut matrix = Table::new();
    for factor in &varied {
        let levels: Array = factor.levels.iter().map(level).collect();
        matrix.insert(&factor.name(), value(levels));
    }
    file.insert("matrix", Item::Table(matrix));
    if !excluded.is_empty() {
        let excluded = excluded.into_iter().collect();
        file.insert("exclude", Item::ArrayOfTables(excluded));
    }
    let mut server = server(factors, account);
    if measurement.on_this_server {
        server.insert("on_this_server", value(true));
    }
    let server = commented(server, comments.server);
    file.insert("server", Item::Table(server));
    if let Some(data) = data {
        file.insert("data", Item::Table(commented(data, comments.data)));
    }
    if let Some(sql) = factors.iter().find(|factor| factor.kind == Kind::Sql) {
        let mut each = Table::new();
        each.insert("change", value(Array::from_iter([written_level(sql)])));
        let when = "on the loaded data; then the server is restarted, even without the statement";
        file.insert("each", Item::Table(commented(each, when)));
    }
    let connections = written::number(measurement.connections.into());
    load.insert("connections", value(connections));
    warm_up(measurement, &mut load);
    load.insert("duration", time(measurement.measured_time()));
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
    let mut keys = Table::new();
    let mut set = InlineTable::new();
    for factor in factors {
        let of_factor = written_level(factor);
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

/// The level of a factor in a run: `{sync_binlog}`, or the only level.
fn written_level(factor: &Factor) -> Value {
    match factor.levels.as_slice() {
        [only] => written::literal(&only.value),
        _ => written::string(&format!("{{{}}}", factor.name())),
    }
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

/// Writes the keys of the design side by side.
fn turns(slicing: Slicing, comment: &[&str], file: &mut DocumentMut) {
    let design = written::commented_key("design", comment);
    file.insert_formatted(&design, string("side by side"));
    file.insert("slice", time(slicing.slice));
    file.insert("settle", time(slicing.settle));
    if slicing.quiet {
        file.insert("quiet", value(true));
    }
}

/// Writes the keys of the warm-up to `[load]`, and the state that it is for where servers are side by side.
fn warm_up(measurement: &Measurement, load: &mut Table) {
    let warm_up = measurement.warm_up();
    if measurement.design() != Design::Classical {
        let state = match warm_up {
            WarmUp::UntilSteady { .. } => "steady",
            WarmUp::None | WarmUp::For(_) => "fresh",
        };
        load.insert("state", string(state));
    }
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

/// A word of a command line on one line, in quotes where a shell needs them.
fn shown(word: &str) -> String {
    let is_control = |it: char| it.is_control();
    shell_word(&word.replace(is_control, " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{
        super::factor::{hosts, setting, versions},
        *,
    };

    const ACCOUNT: Account = Account {
        user: None,
        password_file: None,
        database: None,
    };

    /// The file without its first line, which has the command of the test itself.
    fn written(
        words: &[&str],
        factors: &[Factor],
        account: &Account,
        data: Option<Table>,
    ) -> String {
        let measurement = Measurement::parsed(words);
        let script = InlineTable::from_iter([("script", written::literal("read_write"))]);
        let load = Table::from_iter([("oltp", value(script))]);
        let text = text(factors, Vec::new(), account, &measurement, data, load);
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
        let words = ["--warmup", "auto"];
        assert_eq!(written(&words, &factors, &ACCOUNT, Some(data)), expected);
    }

    #[test]
    fn a_comparison_side_by_side_says_what_its_times_are() {
        let data = Table::from_iter([("oltp", value(InlineTable::new()))]);
        let expected = r#"# Edit it and run it again: dbdyno run FILE (docs/experiment-file.md has every key).
format = 1
question = "sync_binlog: 0 or 1?"
seed = 1
# Sessions, in which each combination has a run, until every comparison is decided or a budget is spent.
repeats = "until decided"
at_most = 5
time_at_most = "10m"
# The servers of a session run at the same time, and one at a time is loaded: it settles, and is then measured
# for a slice. All slices of a combination together take the `duration` of [load].
design = "side by side"
slice = "500ms"
settle = "50ms"

[matrix]
sync_binlog = ["0", "1"]

[server] # a private one for each combination, restarted before each session
set = { "sync_binlog" = "{sync_binlog}" }

[data] # loaded once on each server, and restored before each session
oltp = {}

[load]
oltp = { script = "read_write" }
connections = 8
state = "steady"
warmup = "auto"
warmup_at_most = "20s"
duration = "30s"

[verdict] # every other combination is compared with this one
baseline = { sync_binlog = "0" }
metric = "throughput"
min_effect = "2 %"
"#;
        let words = ["--design", "side-by-side", "--settle", "50ms"];
        let factors = [setting("sync_binlog=0,1").unwrap()];
        let text = written(&words, &factors, &ACCOUNT, Some(data));
        assert_eq!(text, expected);
        let path = std::path::Path::new("ab.toml");
        let overrides = experiment::Overrides::default();
        let read = experiment::Experiment::parse(path, &text, &overrides, &benchmarks::VOCABULARY);
        let design = Measurement::parsed(&words).design();
        assert_eq!(read.unwrap().plan().design, design);
        let words = ["--design", "side-by-side", "--wait-until-quiet"];
        let quiet = written(&words, &factors, &ACCOUNT, None);
        assert!(
            quiet.contains("settle = \"100ms\"\nquiet = true\n"),
            "{quiet}"
        );
    }

    #[test]
    fn existing_servers_side_by_side_are_neither_started_nor_restored() {
        let data = Table::from_iter([("oltp", value(InlineTable::new()))]);
        let factors = [hosts("db1,db2:3307").unwrap()];
        let words = ["--design", "side-by-side"];
        let text = written(&words, &factors, &ACCOUNT, Some(data));
        for part in [
            "# Sessions, in which each combination has a run, until",
            "design = \"side by side\"\n",
            "[server] # each exists, and is not changed\naddress = \"{server}\"\n",
            "[data] # loaded once on each server\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn values_on_one_existing_server_are_set_in_turn() {
        let factors = [setting("sync_binlog=0,1").unwrap(), hosts("db1").unwrap()];
        let data = Table::from_iter([("oltp", value(InlineTable::new()))]);
        let text = written(&["--on-this-server"], &factors, &ACCOUNT, Some(data));
        for part in [
            "design = \"side by side\"\n",
            "# The combinations of a session take turns: each sets its values, settles, and",
            "address = \"db1\"\nset = { \"sync_binlog\" = \"{sync_binlog}\" }\non_this_server = true\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let path = std::path::Path::new("ab.toml");
        let overrides = experiment::Overrides::default();
        let read = experiment::Experiment::parse(path, &text, &overrides, &benchmarks::VOCABULARY);
        let runs = read.unwrap().plan().runs.clone();
        let values = runs.iter().map(|run| run.server.set_by_turns());
        assert!(
            values
                .map(|it| it["sync_binlog"].clone())
                .any(|it| it == "0")
        );
    }

    #[test]
    fn a_fresh_server_has_a_fixed_warm_up() {
        let factors = [setting("sync_binlog=0,1").unwrap()];
        let state = |words: &[&str]| {
            let words = [&["--design", "side-by-side"][..], words].concat();
            let text = written(&words, &factors, &ACCOUNT, None);
            let (_, load) = text.split_once("connections = 8\n").unwrap();
            load.split("\nduration").next().unwrap().to_owned()
        };
        assert_eq!(
            state(&["--state", "fresh"]),
            "state = \"fresh\"\nwarmup = \"5s\""
        );
        assert_eq!(
            state(&["--warmup", "0"]),
            "state = \"fresh\"\nwarmup = \"0s\""
        );
        let steady = "state = \"steady\"\nwarmup = \"auto\"\nwarmup_at_most = ";
        assert_eq!(state(&["--state", "steady"]), format!("{steady}\"20s\""));
        assert_eq!(state(&["--warmup", "auto"]), format!("{steady}\"1m\""));
    }

    #[test]
    fn a_statement_is_executed_after_the_data_is_loaded() {
        let factor = Factor::of_sql(&["CREATE INDEX c ON t (c)".to_owned()]).unwrap();
        let text = written(&[], &[factor], &ACCOUNT, None);
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
        let text = written(&[], &[server], &account, None);
        let server = "[server] # each exists, and is not changed\naddress = \"/run/{{\\\"a\\\"}}.sock\"\n\
                      user = \"b{{e}}n\\\"ch\"\n\n[load]\n";
        assert!(text.contains(server), "{text}");
    }
}
