//! Runs that use a disk and no server: what they measured as a record of storage, for the rules about storage, and the
//! rules that only a server can answer.

use samples::{
    DiskLoad, Durations, Latency, Pattern, PatternResult, Record, Requests, STORAGE_FORMAT,
    StorageHeader, StorageMode, StorageRecord,
};

use crate::{
    finding::{Finding, Outcome, SkipReason, missing, no_subject},
    rule::{Judge, OfStorage, Rule},
    run::Run,
};

/// Rules about a server, its data, its statements and its connections.
const OF_A_SERVER: [&str; 31] = [
    "H10", "H11", "H12", "H13", "W02", "W03", "W04", "W05", "W06", "W07", "W08", "W09", "W11",
    "W12", "W13", "W14", "W15", "W16", "C01", "C05", "C06", "C07", "C08", "C09", "C10", "C12",
    "T03", "T04", "M02", "M10", "M11",
];

/// The outcome of a rule over runs without a server.
pub(crate) fn outcome(rule: &Rule, runs: &[Run<'_>], of_runs: impl FnOnce() -> Outcome) -> Outcome {
    if OF_A_SERVER.contains(&rule.id) {
        return Err(no_subject("this load uses no server"));
    }
    let of_storage = match rule.judge {
        Judge::Run(_) | Judge::Set(_) => return of_runs(),
        Judge::Storage(judge) => judge,
        Judge::RunOrStorage(_, judge) | Judge::SetOrStorage(_, judge) => match of_runs() {
            Err(SkipReason::NotEvaluated(_)) => judge,
            judged => return judged,
        },
    };
    worst(runs, of_storage)
}

/// The worst finding over the runs' measurements of storage.
fn worst(runs: &[Run<'_>], judge: OfStorage) -> Outcome {
    let outcomes = runs.iter().map(|run| {
        let record = storage_record(run).ok_or_else(|| missing("operations in the measured phase"));
        (run, record.and_then(|record| judge(&record)))
    });
    let (mut found, mut unjudged): (Option<Finding>, Option<SkipReason>) = (None, None);
    for (run, outcome) in outcomes {
        match outcome {
            Ok(finding) => match &mut found {
                Some(worst) if finding.level < worst.level => {}
                Some(worst) if finding.level == worst.level => {
                    worst.runs.push(run.record.header.run);
                }
                _ => {
                    let runs = vec![run.record.header.run];
                    found = Some(Finding { runs, ..finding });
                }
            },
            Err(why) => unjudged = Some(why),
        }
    }
    match (found, unjudged) {
        (Some(found), _) => Ok(found),
        (None, Some(why)) => Err(why),
        (None, None) => Err(missing("runs")),
    }
}

/// What a run measured, as a record of storage; `None` where nothing was measured.
pub(crate) fn storage_record(run: &Run<'_>) -> Option<StorageRecord> {
    let (record, load) = (run.record, run.record.disk_load.as_ref()?);
    let measured_s = run.measured_s().ok()?;
    let results = load.jobs.iter();
    let results = results.map(|job| result(record, load, job, measured_s));
    let results: Vec<PatternResult> = results.collect();
    let header = StorageHeader {
        format: STORAGE_FORMAT,
        dbdyno_version: record.header.dbdyno_version.clone(),
        mode: StorageMode::Suite,
        at: record.header.started_at.clone(),
        directory: load.directory.clone(),
        storage: record.storage.first().cloned().unwrap_or_default(),
        direct: load.direct,
        file_bytes: load.file_bytes.unwrap_or(0),
        memory_bytes: load.memory_bytes,
        each_s: measured_s,
        engine: load.engine.clone(),
        fio_version: Some(load.fio_version.clone()),
        patterns: load.jobs.clone(),
        writers: Vec::new(),
        left_out: Vec::new(),
        repeats: 1,
        order_seed: None,
        limit: record.limit.as_ref().and_then(|it| it.disk.clone()),
        imported_from: Vec::new(),
    };
    let mut measured = StorageRecord::new(header);
    measured.patterns = results;
    measured.is_complete = record.is_complete();
    Some(measured)
}

fn result(record: &Record, load: &DiskLoad, job: &Pattern, measured_s: f64) -> PatternResult {
    let side = |verb: &str| {
        let is_only = load.jobs.len() == 1;
        let named = format!("{} {verb}", job.name);
        let totals = record.totals();
        let mut all = totals.operations.iter();
        let (_, total) =
            all.find(|((_, name), _)| *name == named || is_only && name.as_str() == verb)?;
        let count = total.back;
        let iops = count as f64 / measured_s;
        Some(Requests {
            count,
            iops,
            iops_deviation: 0.0,
            rate_samples: 0,
            bytes_per_s: iops * job.block_bytes as f64,
            latency: latency(&total.response),
            latency_bins: samples::LatencyBins::default(),
            repeats: Vec::new(),
        })
    };
    PatternResult {
        pattern: job.clone(),
        read: side("read"),
        write: side("write"),
        cpu: None,
        machine_cpu: None,
        error: None,
        imported: None,
        repeat: 1,
    }
}

fn latency(times: &Durations) -> Option<Latency> {
    let at = |quantile: f64| times.histogram.quantile_ns(quantile);
    Some(Latency {
        mean_ns: times.mean_ns()?,
        p50_ns: at(0.5)?,
        p95_ns: at(0.95)?,
        p99_ns: at(0.99)?,
        p999_ns: at(0.999)?,
        max_ns: times.max_ns,
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        fixture::{judged, level, on_a_disk},
        rule, {Finding, Level, SkipReason},
    };

    fn outcome_of(id: &str, direct: bool, file_bytes: u64) -> Result<Finding, SkipReason> {
        let rule = rule(id).expect("the rule exists");
        judged(rule, |record| on_a_disk(record, direct, file_bytes))
    }

    #[test]
    fn the_rules_about_storage_judge_runs_without_a_server() {
        let small = outcome_of("W01", true, 1 << 30);
        assert_eq!(level(&small), Level::Warn);
        assert_eq!(level(&outcome_of("W01", true, 16 << 30)), Level::Pass);
        let cached = outcome_of("H06", false, 1 << 30);
        assert_eq!(level(&cached), Level::Fail);
        assert_eq!(level(&outcome_of("H06", true, 1 << 30)), Level::Pass);
    }

    #[test]
    fn rules_about_a_server_do_not_apply() {
        for id in super::OF_A_SERVER {
            let outcome = outcome_of(id, true, 1 << 30);
            let why = outcome.err();
            let why = match &why {
                Some(SkipReason::DoesNotApply(why)) => why,
                other => panic!("{id}: {other:?}"),
            };
            assert_eq!(why, "this load uses no server", "{id}");
        }
    }
}
