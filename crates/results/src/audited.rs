//! The audit of records, and of the experiment beside them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use audit::{
    AskedComparison, Audit, AuditedRun, BesideRecords, Comparison, Preregistration, SidesAudit,
    Subject,
};
use blame::Blamed;
use experiment::{Experiment, Repeats, ServerSpec};
use samples::{RATE, Record, RunParts, run_count};
use settings::Vocabulary;
use verdict::{Decision, Execution, Question};

use crate::{
    origin::Origin,
    questions::question,
    record_files::RecordFiles,
    searches::{is_search, search_limits},
};

/// The audit of one run of a command.
pub fn audit_of_run(record: &Record) -> Audit {
    let run = std::slice::from_ref(record);
    let parts = RunParts::of(run);
    audit::audit(&Subject {
        stages: parts_of(&parts.staged.records),
        batches: parts_of(&parts.batches.records),
        ..Subject::of_run(record, report::limit_of(record))
    })
}

/// The audit of the records in a results directory, with the known experiment or else the one beside them, if any.
pub(crate) fn audit_of_results(
    directory: &Path,
    experiment: Option<&Experiment>,
    records: &[Record],
) -> Result<Audit, Blamed> {
    let runs = records.iter().map(|record| measured(record, None));
    let parts = RunParts::of(records);
    Ok(audit::audit(&Subject {
        runs: runs.collect(),
        stages: parts_of(&parts.staged.records),
        batches: parts_of(&parts.batches.records),
        declared: experiment
            .map(|experiment| declared(experiment, run_count(records)))
            .unwrap_or_default(),
        comparisons: experiment
            .filter(|experiment| !is_search(experiment))
            // Whether time is left changes no decision.
            .and_then(|experiment| question(experiment, false))
            .map(|question| comparisons(&question, parts.compared(records)))
            .unwrap_or_default(),
        kept: kept(directory, experiment, records)?,
        storage: None,
    }))
}

/// The audit of the records at a path: of one run if it is a record, otherwise of the whole directory.
pub fn audit_of_path(
    path: &Path,
    records: &[Record],
    vocabulary: &Vocabulary,
) -> Result<Audit, Blamed> {
    match (path.is_dir(), records) {
        (false, [record]) => Ok(audit_of_run(record)),
        _ => {
            let experiment = experiment_of(path, vocabulary)?;
            audit_of_results(path, experiment.as_ref(), records)
        }
    }
}

/// The experiment in a results directory; `None` if there is none. Its tables of options are those of the vocabulary.
pub fn experiment_of(
    directory: &Path,
    vocabulary: &Vocabulary,
) -> Result<Option<Experiment>, Blamed> {
    let path = directory.join("experiment.toml");
    if !path.exists() {
        return Ok(None);
    }
    // It is named after the original file, which need not exist any more.
    let file = if Origin::is_in(directory) {
        Origin::read(directory)?.experiment
    } else {
        path
    };
    let experiment = Experiment::reread(directory, &file, vocabulary).map_err(Blamed::from)?;
    Ok(Some(experiment))
}

/// The runs of one side of a comparison, with their experiments.
pub struct ComparedSide<'r> {
    /// The name that the user gave.
    pub name: &'r str,
    pub records: Vec<&'r Record>,
    /// Their stages, and the runs without any; empty if no run has stages.
    pub stages: Vec<&'r Record>,
    /// The batches of slices of those side by side, and the runs or stages without any; empty if no run has batches.
    pub batches: Vec<&'r Record>,
    /// The experiments beside the runs, where they exist.
    pub experiments: Vec<&'r Experiment>,
}

impl<'r> ComparedSide<'r> {
    /// The runs, the stages and the batches.
    fn measured(&self, with_side: bool) -> [Vec<AuditedRun<'r>>; 3] {
        let side = with_side.then(|| self.name.to_owned());
        [&self.records, &self.stages, &self.batches].map(|records| {
            let records = records.iter();
            records
                .map(|record| measured(record, side.clone()))
                .collect()
        })
    }
}

pub fn audit_of_comparison(sides: [ComparedSide<'_>; 2]) -> SidesAudit {
    let alone = sides.each_ref().map(|side| {
        let [runs, stages, batches] = side.measured(false);
        Subject {
            runs,
            stages,
            batches,
            declared: declared_of(&side.experiments),
            ..Subject::default()
        }
    });
    let experiments: Vec<_> = sides
        .iter()
        .flat_map(|side| side.experiments.clone())
        .collect();
    let mut both = Subject {
        declared: declared_of(&experiments),
        ..Subject::default()
    };
    let have_stages = sides.iter().any(|side| !side.stages.is_empty());
    let have_batches = sides.iter().any(|side| !side.batches.is_empty());
    for [runs, mut stages, mut batches] in sides.iter().map(|side| side.measured(true)) {
        // The other side may have some.
        if have_stages && stages.is_empty() {
            stages.clone_from(&runs);
        }
        if have_batches && batches.is_empty() {
            batches.clone_from(if have_stages { &stages } else { &runs });
        }
        both.stages.extend(stages);
        both.batches.extend(batches);
        both.runs.extend(runs);
    }
    SidesAudit::of(alone.each_ref(), &both)
}

/// The declarations of experiments, of which the runs may be only a part.
fn declared_of(experiments: &[&Experiment]) -> Preregistration {
    let mut all = Preregistration::default();
    for experiment in experiments {
        let of = declared(experiment, 0);
        all.is_experiment = true;
        all.is_search |= of.is_search;
        all.search_limits.extend(of.search_limits);
        all.factors.extend(of.factors);
        all.variables.extend(of.variables);
    }
    all.factors.sort();
    all.factors.dedup();
    all
}

/// The audit of two sides to be compared; `factors` are the intended differences.
pub fn audit_of_sides(sides: &BTreeMap<String, Vec<Record>>, factors: &[String]) -> Audit {
    let parts: Vec<RunParts> = sides
        .values()
        .map(|records| RunParts::of(records))
        .collect();
    let runs = sides
        .iter()
        .flat_map(|(name, records)| of_side(name, records));
    let with_parts = || sides.iter().zip(&parts);
    let stages = with_parts()
        .flat_map(|((name, records), parts)| of_side(name, parts.staged.compared(records)));
    let compared =
        with_parts().flat_map(|((name, records), parts)| of_side(name, parts.compared(records)));
    audit::audit(&Subject {
        runs: runs.collect(),
        stages: if parts.iter().all(|it| it.staged.is_empty()) {
            Vec::new()
        } else {
            stages.collect()
        },
        batches: if parts.iter().all(|it| it.batches.is_empty()) {
            Vec::new()
        } else {
            compared.collect()
        },
        declared: Preregistration {
            factors: factors.to_vec(),
            ..Preregistration::default()
        },
        ..Subject::default()
    })
}

fn of_side<'r>(name: &str, records: &'r [Record]) -> Vec<AuditedRun<'r>> {
    let records = records.iter();
    records
        .map(|record| measured(record, Some(name.to_owned())))
        .collect()
}

/// The stages or the batches for the audit; none if no run has any.
fn parts_of(records: &[Record]) -> Vec<AuditedRun<'_>> {
    let parts = records.iter();
    parts.map(|record| measured(record, None)).collect()
}

fn measured(record: &Record, side: Option<String>) -> AuditedRun<'_> {
    AuditedRun {
        record,
        limit: report::limit_of(record),
        side,
    }
}

/// The declarations of an experiment, of which this number of runs was begun.
fn declared(experiment: &Experiment, begun: usize) -> Preregistration {
    let factors = experiment.factors().iter().map(|it| it.name.clone());
    let is_search = is_search(experiment);
    let comparison = experiment.verdict().map(|verdict| Comparison {
        factors: verdict
            .baseline
            .iter()
            .map(|(factor, _)| factor.clone())
            .collect(),
        metric: verdict.metric.clone(),
        min_effect: Some(verdict.min_effect).filter(|it| *it != experiment::MIN_EFFECT),
    });
    let mut variables = BTreeSet::new();
    for run in &experiment.plan().runs {
        if let ServerSpec::Private { set, .. } | ServerSpec::Given { set, .. } = &run.server {
            variables.extend(set.keys().map(|name| as_variable(name)));
        }
        variables.extend(run.before.iter().filter_map(|sql| set_globally(sql)));
        for load in run.loads.iter().map(|load| &load.spec.source) {
            let set = load.kind.sets_variables(&load.values).iter();
            variables.extend(set.map(|name| (*name).to_owned()));
        }
    }
    Preregistration {
        is_experiment: true,
        is_search,
        search_limits: search_limits(experiment),
        factors: factors.chain(is_search.then(|| RATE.to_owned())).collect(),
        planned_runs: Some(planned_runs(experiment, begun) as u32),
        comparison,
        variables,
        database_share: experiment
            .verdict()
            .and_then(|verdict| verdict.database_share),
    }
}

/// What these runs answer about each comparison of a question.
fn comparisons(question: &Question, compared: &[Record]) -> Vec<AskedComparison> {
    let executions: Vec<Execution<'_>> = compared.iter().map(|it| Execution::of(it, 1)).collect();
    let answers = verdict::answers(question, &executions);
    let comparisons = answers.iter().map(|answer| AskedComparison {
        words: verdict::subject(question, answer),
        is_decided: answer.decision != Decision::Inconclusive,
        smallest_effect: answer.smallest_effect,
        // With interim analyses, the number is of those that might decide, whatever the difference.
        needed: answer
            .executions_needed
            .filter(|_| answer.looks.is_none())
            .map(|needed| (needed, answer.effect)),
    });
    comparisons.collect()
}

/// Number of planned runs; for an experiment that runs until decided, those of the blocks begun, and for searches, which
/// end one by one, those begun.
fn planned_runs(experiment: &Experiment, begun: usize) -> usize {
    let plan = experiment.plan();
    match plan.repeats {
        Repeats::Times(_) => plan.runs.len(),
        Repeats::UntilDecided { .. } if is_search(experiment) => begun,
        Repeats::UntilDecided { at_most, .. } => {
            let of_block = plan.runs.len() / at_most.max(1) as usize;
            begun.next_multiple_of(of_block.max(1))
        }
    }
}

/// The variable of a statement that sets it for the whole server: `SET GLOBAL x = 1`.
fn set_globally(sql: &str) -> Option<String> {
    let mut words = sql
        .split([' ', '=', '\t', '\n'])
        .filter(|word| !word.is_empty());
    let is_set = words.next()?.eq_ignore_ascii_case("set");
    let is_global = words.next()?.eq_ignore_ascii_case("global");
    (is_set && is_global).then(|| words.next().map(as_variable))?
}

/// The name of the server's variable for an option.
fn as_variable(option: &str) -> String {
    let name = option.replace('-', "_").to_lowercase();
    name.strip_prefix("loose_").unwrap_or(&name).to_owned()
}

/// The files beside the records of an experiment.
fn kept(
    directory: &Path,
    experiment: Option<&Experiment>,
    records: &[Record],
) -> Result<BesideRecords, Blamed> {
    let files = RecordFiles::of(directory)?;
    Ok(BesideRecords {
        experiment_is_unchanged: experiment.map(|experiment| {
            let sha256 = experiment.sha256();
            let mut hashes = records
                .iter()
                .map(|record| &record.header.experiment_sha256);
            hashes.all(|hash| *hash == sha256)
        }),
        disturbed: files.disturbed_runs().count() as u32,
        replaced: files.incomplete_runs().count() as u32,
    })
}

#[cfg(test)]
mod tests {
    use benchmarks::oltp::{OltpData, OltpLoad};
    use experiment::Overrides;

    use super::*;

    #[test]
    fn variables_that_statements_set_are_declared() {
        let set = set_globally("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
        assert_eq!(set.as_deref(), Some("innodb_flush_log_at_trx_commit"));
        let set = set_globally("set global sync-binlog=1");
        assert_eq!(set.as_deref(), Some("sync_binlog"));
        for other in ["SET sql_log_bin = 0", "FLUSH TABLES", "SET", ""] {
            assert_eq!(set_globally(other), None, "{other}");
        }
    }

    /// A run of a second with this number of operations.
    fn run(number: u32, block: u32, flush: &str, count: u64) -> Record {
        let mut histogram = samples::Histogram::new();
        (0..count).for_each(|_| histogram.record(1_000_000));
        let histogram = serde_json::to_string(&histogram).unwrap();
        let sum_ns = count * 1_000_000;
        let lines = [
            format!(
                r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{number},"block":{block},"combination":{{"flush":"{flush}"}},"started_at":"","connections":8,"loops":1,"io":"epoll","transport":"unix socket"}}"#
            ),
            format!(
                r#"{{"line":"interval","t_s":0.0,"length_s":1.0,"phase":"measurement","operations":[{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{sum_ns},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#
            ),
            r#"{"line":"end","t_s":1.0,"complete":true,"why":"as planned"}"#.to_owned(),
        ];
        Record::read(lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn comparisons_are_those_of_the_answers() {
        let question = Question {
            metric: verdict::Metric::Throughput,
            baseline: vec![("flush".to_owned(), "1".to_owned())],
            min_effect: 0.02,
            until_decided: None,
        };
        // The second level is twice as fast; the third one is now faster and now slower.
        let noisy = [500, 2000, 500, 2000, 1000];
        let runs: Vec<Record> = (0..5_u32)
            .flat_map(|block| {
                let count = 1000 + 3 * u64::from(block % 3);
                [
                    run(3 * block + 1, block + 1, "1", count),
                    run(3 * block + 2, block + 1, "2", 2000),
                    run(3 * block + 3, block + 1, "3", noisy[block as usize]),
                ]
            })
            .collect();
        let found = comparisons(&question, &runs);
        let words: Vec<&str> = found.iter().map(|it| it.words.as_str()).collect();
        assert_eq!(words, ["flush 2 against 1", "flush 3 against 1"]);
        let [steady, noisy] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(steady.is_decided && steady.needed.is_none(), "{steady:?}");
        assert!(steady.smallest_effect.unwrap() < 0.02, "{steady:?}");
        assert!(!noisy.is_decided && noisy.needed.is_some(), "{noisy:?}");
        assert!(noisy.smallest_effect.unwrap() > 1.0, "{noisy:?}");
    }

    #[test]
    fn variables_that_take_turns_on_one_server_are_declared() {
        let text = "format = 1\nquestion = \"?\"\nseed = 1\ndesign = \"side by side\"\n[matrix]\nflush = [1, 2]\n\
                    [server]\naddress = \"db1\"\non_this_server = true\n\
                    set = { innodb-flush-log-at-trx-commit = \"{flush}\" }\n\
                    [data]\noltp = { tables = 1, table_size = 10 }\n\
                    [load]\noltp = { script = \"point_select\" }\nconnections = 1\nduration = \"30s\"\n";
        let vocabulary = Vocabulary {
            data: vec![&OltpData],
            loads: vec![&OltpLoad],
        };
        let path = Path::new("trial.toml");
        let experiment = Experiment::parse(path, text, &Overrides::default(), &vocabulary).unwrap();
        let variables = declared(&experiment, 0).variables;
        assert!(variables.contains("innodb_flush_log_at_trx_commit"));
    }
}
