//! The settings of a plan, judged without a server: what the catalogues refuse, and what has no effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use experiment::{PlannedRun, ServerSpec};
use mycnf::{Machine, OptionFile, PrivateOptions, Side, Sources, Target, lint};

use crate::commands::{
    log_switches::{Log, log_of, variable_name},
    option_value::is_same_value,
};

/// Options of `set` that a private server cannot have, or that the catalogues refuse. The servers themselves check them
/// before the first run, but a plan starts none. Nothing is judged beside option files, which may load plugins with options
/// of their own.
pub(super) fn refused(
    runs: &[PlannedRun],
    target_of: impl Fn(Option<&str>) -> Option<Target>,
) -> Vec<String> {
    let servers = runs.iter().filter_map(|run| match &run.server {
        ServerSpec::Private { run, cnf, set, .. } => {
            cnf.is_empty().then_some((run.as_deref(), set))
        }
        ServerSpec::Given { .. } | ServerSpec::Absent => None,
    });
    let servers: BTreeSet<(Option<&str>, &BTreeMap<String, String>)> = servers.collect();
    let mut found = Vec::new();
    for (run, set) in servers {
        let written = PrivateOptions::new(&Sources {
            defaults: &[],
            layers: &[],
            groups: &[],
            guarded: &[],
            set,
            decided: &[],
        });
        if let Some(error) = written.err().map(|error| error.to_string()) {
            if !found.contains(&error) {
                found.push(error);
            }
            continue;
        }
        let file = OptionFile::parse("", Path::new("set"));
        let (Some(target), Ok(mut file)) = (target_of(run), file) else {
            continue;
        };
        for (option, value) in set {
            // What cannot be written into a file is refused when the server is made.
            let _ = file.push("mysqld", option, Some(value.clone()));
        }
        let advice = lint(&file, &target, &Machine::default()).advice.into_iter();
        for advice in advice.filter(|it| it.refuses_name() || it.refuses_value()) {
            let remark = advice.remark;
            let fix = remark.fix.map(|fix| format!("; {fix}")).unwrap_or_default();
            let text = format!("set {}: {target}: {}{fix}", remark.option, remark.what);
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

/// Warnings about options of `set` whose values vary without an effect. `target_of` finds the version of a private server by
/// the name in the file, if it is installed. Option files can switch a log on: with them, nothing is reported.
pub(super) fn without_effect(
    runs: &[PlannedRun],
    target_of: impl Fn(Option<&str>) -> Option<Target>,
) -> Vec<String> {
    let mut values: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        let ServerSpec::Private { cnf, set, .. } = &run.server else {
            continue;
        };
        if !cnf.is_empty() {
            return Vec::new();
        }
        for (option, value) in set {
            values
                .entry(variable_name(option))
                .or_default()
                .insert(value);
        }
    }
    values.retain(|_, values| values.len() > 1);
    let mut warnings = Vec::new();
    for name in values.keys() {
        let Some(log) = log_of(name) else {
            continue;
        };
        let off: BTreeSet<String> = servers_without(runs, log)
            .into_iter()
            .filter_map(|(run, is_off_by_plan)| {
                let target = target_of(run)?;
                (is_off_by_plan || is_off_by_default(&target, log)).then(|| target.to_string())
            })
            .collect();
        if !off.is_empty() {
            let off: Vec<String> = off.into_iter().collect();
            let (switch, on) = log.switched_on;
            warnings.push(format!(
                "{name} has no effect in {}, where {} is OFF: add {switch} = \"{on}\" to `set`",
                off.join(" and "),
                log.switches[0],
            ));
        }
    }
    warnings
}

/// Warnings about options of `set` that have one value in two forms: both measure the same.
pub(super) fn same_values(runs: &[PlannedRun]) -> Vec<String> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        if let ServerSpec::Private { set, .. } = &run.server {
            for (option, value) in set {
                values.entry(option).or_default().insert(value);
            }
        }
    }
    let mut warnings = Vec::new();
    for (option, values) in values {
        let values: Vec<&str> = values.into_iter().collect();
        for (at, one) in values.iter().enumerate() {
            let others = values[at + 1..].iter();
            for other in others.filter(|other| is_same_value(option, one, other)) {
                warnings.push(format!(
                    "set {option}: {one} and {other} are the same value, so that both measure the same"
                ));
            }
        }
    }
    warnings
}

/// The private servers for which `set` does not switch a log, by their names in the file, and whether the plan switches it
/// off, as it does with the binary log of compared versions.
fn servers_without<'r>(runs: &'r [PlannedRun], log: &Log) -> BTreeSet<(Option<&'r str>, bool)> {
    let is_switch = |option: &str| log.switches.contains(&variable_name(option).as_str());
    let found = runs.iter().filter_map(|run| match &run.server {
        ServerSpec::Private {
            run, set, defaults, ..
        } => {
            let is_set = set.keys().any(|option| is_switch(option));
            let is_off = defaults.iter().any(|(option, _)| is_switch(option));
            (!is_set).then_some((run.as_deref(), is_off))
        }
        ServerSpec::Given { .. } | ServerSpec::Absent => None,
    });
    found.collect()
}

fn is_off_by_default(target: &Target, log: &Log) -> bool {
    let defaults = Side::of_version(target).values;
    defaults
        .get(log.switches[0])
        .is_some_and(|value| value == "OFF")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use benchmarks::VOCABULARY;
    use experiment::{Experiment, Overrides};

    use super::*;

    /// The plan of an experiment with these tables, and MariaDB for a server without a name.
    fn plan(matrix: &str, server: &str) -> (Experiment, impl Fn(Option<&str>) -> Option<Target>) {
        let text = format!(
            "format = 1\n[matrix]\n{matrix}\n[server]\n{server}\n[data]\noltp = {{ tables = 1, table_size = \"1k\" }}\n\
             [load]\noltp = {{ script = \"read_write\" }}\nconnections = 1\nduration = \"10s\"\n"
        );
        let path = Path::new("x.toml");
        let read = Experiment::parse(path, &text, &Overrides::default(), &VOCABULARY);
        let named = |run: Option<&str>| Target::parse(run.unwrap_or("mariadb-10.11")).ok();
        (read.unwrap(), named)
    }

    #[test]
    fn what_the_catalogues_refuse_is_found() {
        let refusals = |server: &str| {
            let (experiment, named) = plan("way = [\"O_DIRECT\", \"banana\"]", server);
            refused(&experiment.plan().runs, named)
        };
        let found = refusals(
            r#"set = { innodb_buffer_pol_size = "1G", innodb_flush_method = "{way}", max_connections = 7 }"#,
        );
        let expected = [
            "set innodb_buffer_pol_size=1G: mariadb-10.11: unknown to this version; is innodb_buffer_pool_size meant?",
            "set innodb_flush_method=banana: mariadb-10.11: the value is not one of the allowed words",
        ];
        assert_eq!(found.len(), 2, "{found:?}");
        for text in expected {
            assert!(found.iter().any(|it| it.starts_with(text)), "{found:?}");
        }
        let found = refusals("set = { port = \"{way}\" }");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("port"), "{found:?}");
        // A private server has an id.
        let log = r#"run = "mysql-5.7"
set = { log-bin = "b", loose_no_such_option = "{way}" }"#;
        assert!(refusals(log).is_empty());
    }

    #[test]
    fn one_value_in_two_forms_is_found() {
        let warnings = |matrix: &str| {
            let set = r#"set = { innodb_buffer_pool_size = "{pool}" }"#;
            same_values(&plan(matrix, set).0.plan().runs)
        };
        assert_eq!(
            warnings(r#"pool = ["64M", "67108864", "128M"]"#),
            [
                "set innodb_buffer_pool_size: 64M and 67108864 are the same value, so that both measure the same"
            ]
        );
        assert!(warnings(r#"pool = ["64M", "128M"]"#).is_empty());
    }

    #[test]
    fn values_that_cannot_differ_are_found() {
        let warnings = |matrix: &str, server: &str| {
            let (experiment, named) = plan(matrix, server);
            without_effect(&experiment.plan().runs, named)
        };
        let sync = "sync = [0, 1]";
        let set = r#"set = { sync_binlog = "{sync}" }"#;
        assert_eq!(
            warnings(sync, set),
            [
                "sync_binlog has no effect in mariadb-10.11, where log_bin is OFF: add log_bin = \"binlog\" to `set`"
            ]
        );
        let log = r#"set = { sync-binlog = "{sync}", log-bin = "b" }"#;
        assert!(warnings(sync, log).is_empty());
        let mysql = format!("run = \"mysql-8.0.33\"\n{set}");
        assert!(warnings(sync, &mysql).is_empty());
        // The plan switches the binary log of compared versions off.
        let versions = format!("{sync}\nversion = [\"mysql-8.0.33\", \"mysql-9.7\"]");
        let found = warnings(&versions, &format!("run = \"{{version}}\"\n{set}"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("in mysql-8.0.33 and mysql-9.7"),
            "{found:?}"
        );
        // One value for all runs compares nothing.
        let fixed = r#"set = { sync_binlog = 1, innodb_flush_log_at_trx_commit = "{sync}" }"#;
        assert!(warnings(sync, fixed).is_empty());
    }
}
