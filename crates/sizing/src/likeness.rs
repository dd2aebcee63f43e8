//! Whether records are of one server and one workload.

use figures::{RunFigures, other_work};
use samples::{Record, is_of_the_instance};

use crate::{
    error::Error,
    server_machine::{cpu_limit, machine_of_server},
};

/// The entry of [`other_work`] that is no difference of the workload: the demands of one operation are compared.
const LENGTH: &str = "length of the measurement";
/// The name of an experiment's file.
const EXPERIMENT: &str = "experiment";

/// Beginnings of the names of variables that a server computes from its buffer pool or its number of connections, which
/// the executions may vary.
const COMPUTED: [&str; 11] = [
    "back_log",
    "host_cache_size",
    "innodb_buffer_pool_",
    "innodb_open_files",
    "innodb_page_cleaners",
    "max_connections",
    "open_files_limit",
    "performance_schema_",
    "table_definition_cache",
    "table_open_cache",
    "thread_cache_size",
];

/// What may differ between records that are otherwise alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayDiffer {
    Nothing,
    /// The name of the experiment: a search for a rate has a file of its own.
    Experiment,
    /// The settings of the server, which are the question.
    Configuration,
}

/// The first record, with which the others are compared.
#[derive(Debug)]
pub(crate) struct Reference {
    name: String,
    record: Record,
    figures: RunFigures,
}

impl Reference {
    pub(crate) fn new(name: &str, record: &Record, figures: RunFigures) -> Self {
        let mut record = record.clone();
        // Only descriptions are compared, and the series are large.
        record.intervals.clear();
        record.telemetry.clear();
        record.server_status.clear();
        Self {
            name: name.to_owned(),
            record,
            figures,
        }
    }

    /// An error that names the first difference of another record.
    pub(crate) fn check(
        &self,
        name: &str,
        record: &Record,
        figures: &RunFigures,
        may_differ: MayDiffer,
    ) -> Result<(), Error> {
        let Some((kind, difference)) = self.difference(record, figures, may_differ) else {
            return Ok(());
        };
        Err(Error::Unlike {
            name: name.to_owned(),
            first: self.name.clone(),
            kind,
            difference,
        })
    }

    /// An error that names the first difference of the records of another reference, except their settings.
    pub(crate) fn check_other(&self, other: &Self) -> Result<(), Error> {
        let may_differ = MayDiffer::Configuration;
        self.check(&other.name, &other.record, &other.figures, may_differ)
    }

    fn difference(
        &self,
        record: &Record,
        figures: &RunFigures,
        may_differ: MayDiffer,
    ) -> Option<(&'static str, String)> {
        let ours = facts(&self.record).into_iter();
        let facts = ours.zip(facts(record)).find_map(|(ours, theirs)| {
            let (ours_value, theirs_value) = (ours.value?, theirs.value?);
            let is_free = ours.what == EXPERIMENT && may_differ == MayDiffer::Experiment;
            (ours_value != theirs_value && !is_free)
                .then(|| (ours.kind, against(ours.what, &theirs_value, &ours_value)))
        });
        let work = || {
            let work = other_work((&self.record, &self.figures), (record, figures));
            let mut work = work.into_iter().filter(|(what, _)| what != LENGTH);
            let (what, [ours, theirs]) = work.next()?;
            Some(("workload", against(&what, &theirs, &ours)))
        };
        let variable = || {
            let variable = self.other_variable(record);
            variable.filter(|_| may_differ != MayDiffer::Configuration)
        };
        facts.or_else(work).or_else(variable)
    }

    fn other_variable(&self, record: &Record) -> Option<(&'static str, String)> {
        let ours = &self.record.servers.first()?.variables;
        let theirs = &record.servers.first()?.variables;
        let is_computed = |name: &str| COMPUTED.iter().any(|begin| name.starts_with(begin));
        ours.iter().find_map(|(name, ours)| {
            let theirs = theirs.get(name).filter(|theirs| *theirs != ours)?;
            let is_set = !is_of_the_instance(name) && !is_computed(name);
            is_set.then(|| ("configuration", against(name, theirs, ours)))
        })
    }
}

fn against(what: &str, theirs: &str, ours: &str) -> String {
    format!("{what} {theirs} against {ours}")
}

/// A property of a record that all records have to share.
struct Fact {
    kind: &'static str,
    what: &'static str,
    value: Option<String>,
}

fn facts(record: &Record) -> Vec<Fact> {
    let server = record.servers.first();
    let machine = machine_of_server(record);
    let limit = cpu_limit(record).map_or("none".to_owned(), |it| it.to_string());
    let fact = |kind, what, value| Fact { kind, what, value };
    vec![
        fact("server", "version", server.map(|it| it.version.clone())),
        fact(
            "server",
            "build",
            server.map(|it| it.version_comment.clone()),
        ),
        fact("machine", "CPU", machine.map(|it| it.cpu_model.clone())),
        fact("machine", "CPUs", machine.map(|it| it.cpus.to_string())),
        fact("machine", "CPU limit", machine.map(|_| limit)),
        fact(
            "workload",
            EXPERIMENT,
            Some(record.header.experiment.clone()),
        ),
        fact(
            "workload",
            "data",
            record.dataset.as_ref().map(|it| it.source.clone()),
        ),
        fact(
            "workload",
            "transport",
            Some(record.header.transport.clone()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"shop","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":4,"loops":1,"io":"epoll","transport":"unix socket"}"#;
    const SERVER: &str = r#"{"line":"server","at":"start","version":"10.11.1-MariaDB","version_comment":"x","address":"","private":true,"variables":{"innodb_buffer_pool_size":"1","port":"3306","sync_binlog":"1"}}"#;
    const OFFERED: &str = r#"{"line":"offered","process":"closed","rate_per_s":null,"due":1,"behind":0,"late":0,"waiting_max":0,"not_started":0,"unfinished":0,"waits":{"count":0,"sum_ns":0,"min_ns":0,"max_ns":0,"histogram":"HISTFAAAABx4nJNpmSzMwMDAyAABzFAaxmey/wBlAQA8yQJ9"},"shortfall":null}"#;

    fn record(text: &str) -> Record {
        Record::read(text.as_bytes()).unwrap()
    }

    fn checked(theirs: &Record) -> Result<(), Error> {
        let ours = record(&format!("{RUN}\n{SERVER}\n{OFFERED}\n"));
        let figures = |measured_s| RunFigures {
            measured_s,
            ..RunFigures::of(&ours)
        };
        let reference = Reference::new("a.jsonl", &ours, figures(30.0));
        reference.check("b.jsonl", theirs, &figures(60.0), MayDiffer::Nothing)
    }

    #[test]
    fn the_experiment_and_the_settings_may_differ_where_they_are_the_question() {
        let text = format!("{RUN}\n{SERVER}\n{OFFERED}\n");
        let ours = record(&text);
        let reference = Reference::new("a.jsonl", &ours, RunFigures::of(&ours));
        let is_alike = |from: &str, to: &str, may_differ| {
            let theirs = record(&text.replace(from, to));
            let figures = RunFigures::of(&theirs);
            let checked = reference.check("b.jsonl", &theirs, &figures, may_differ);
            checked.is_ok()
        };
        let experiment = ("\"shop\"", "\"shop-search\"");
        let setting = (r#""sync_binlog":"1""#, r#""sync_binlog":"0""#);
        for (may_differ, expected) in [
            (MayDiffer::Nothing, [false, false]),
            (MayDiffer::Experiment, [true, false]),
            (MayDiffer::Configuration, [false, true]),
        ] {
            let found = [experiment, setting].map(|(from, to)| is_alike(from, to, may_differ));
            assert_eq!(found, expected, "{may_differ:?}");
        }
    }

    #[test]
    fn the_buffer_pool_and_the_length_may_differ() {
        let server = SERVER
            .replace(
                r#""innodb_buffer_pool_size":"1""#,
                r#""innodb_buffer_pool_size":"2""#,
            )
            .replace("3306", "3307");
        checked(&record(&format!("{RUN}\n{server}\n{OFFERED}\n"))).unwrap();
    }

    #[test]
    fn another_server_workload_or_setting_is_named() {
        for (from, to, problem) in [
            (
                "10.11.1-MariaDB",
                "11.4.1-MariaDB",
                "b.jsonl: another server than in a.jsonl: version 11.4.1-MariaDB against 10.11.1-MariaDB",
            ),
            (
                "\"shop\"",
                "\"blog\"",
                "b.jsonl: another workload than in a.jsonl: experiment blog against shop",
            ),
            (
                r#""sync_binlog":"1""#,
                r#""sync_binlog":"0""#,
                "b.jsonl: another configuration than in a.jsonl: sync_binlog 0 against 1",
            ),
        ] {
            let text = format!("{RUN}\n{SERVER}\n{OFFERED}\n").replace(from, to);
            let error = checked(&record(&text)).unwrap_err();
            assert_eq!(error.to_string(), problem);
        }
    }
}
