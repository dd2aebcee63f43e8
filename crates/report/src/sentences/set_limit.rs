//! Limits that an experiment set on its servers, in words.

use std::collections::{BTreeMap, BTreeSet};

use samples::{DiskLimit, Record, ServerLimit, run_count};
use units::{bytes, bytes_per_s, counted, counted_amount, per_s};

use crate::results::Results;

/// What every reader of latencies under a limit of a disk has to know.
pub(crate) const OF_THE_THROTTLE: &str =
    "latencies, especially high percentiles, describe the throttle, not a slower disk";

/// `reads 1.00k/s, writes 1.00k/s on disk 7:0 (cgroup v1)`.
pub(crate) fn of_disk(limit: &DiskLimit) -> String {
    let values = [
        ("reads", limit.read_iops.map(|it| per_s(it as f64))),
        ("writes", limit.write_iops.map(|it| per_s(it as f64))),
        (
            "reads",
            limit.read_bytes_per_s.map(|it| bytes_per_s(it as f64)),
        ),
        (
            "writes",
            limit.write_bytes_per_s.map(|it| bytes_per_s(it as f64)),
        ),
    ];
    let values = values
        .into_iter()
        .filter_map(|(side, value)| Some(format!("{side} {}", value?)));
    format!(
        "{} on disk {} (cgroup v{})",
        values.collect::<Vec<_>>().join(", "),
        limit.device,
        limit.cgroup_version,
    )
}

/// The limit of a run; `None` without one.
pub(crate) fn in_words(record: &Record) -> Option<String> {
    let ServerLimit {
        disk,
        cpus,
        memory_bytes,
        cgroup_version,
    } = record.limit.as_ref()?;
    let version = cgroup_version.map_or_else(String::new, |it| format!(" (cgroup v{it})"));
    let parts = [
        disk.as_ref().map(of_disk),
        cpus.map(|it| format!("{}{version}", counted_amount(it, "CPU"))),
        memory_bytes.map(|it| format!("{} of memory{version}", bytes(it))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(parts.join(", "))
}

/// The limits, each with the number of its runs; then what they do to latencies, and what they leave out. Empty where no
/// run had a limit.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let mut limits: BTreeMap<String, usize> = BTreeMap::new();
    for limit in results.first_loads().filter_map(in_words) {
        *limits.entry(limit).or_default() += 1;
    }
    let mut sentences: Vec<String> = limits
        .into_iter()
        .map(|(limit, runs)| format!("Limit in {}: {limit}.", counted(runs, "run")))
        .collect();
    let set = results.runs.iter().filter_map(|run| run.limit.as_ref());
    let disks: Vec<&DiskLimit> = set.filter_map(|limit| limit.disk.as_ref()).collect();
    if !disks.is_empty() {
        sentences.push(format!("Where the disk was limited, {OF_THE_THROTTLE}."));
    }
    let left_out = disks.iter().flat_map(|disk| &disk.not_limited);
    let left_out: BTreeSet<&String> = left_out.collect();
    sentences.extend(left_out.into_iter().map(|it| format!("{it}.")));
    sentences
}

/// The same for a line of the summary: `3 of 6 runs had a limited disk; their latencies are those of the throttle`.
pub(crate) fn in_short(results: &Results) -> Option<String> {
    let has_disk = |run: &&Record| run.limit.as_ref().is_some_and(|it| it.disk.is_some());
    let limited = results.first_loads().filter(has_disk).count();
    (limited > 0).then(|| {
        format!(
            "{limited} of {} had a limited disk; their high percentiles describe the throttle",
            counted(run_count(&results.runs), "run")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(limits: &[Option<ServerLimit>]) -> Results {
        let runs = limits.iter().map(|limit| {
            let text = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
            let mut record = Record::read(text.as_bytes()).unwrap();
            record.limit = limit.clone();
            record
        });
        Results::of_runs(runs.collect())
    }

    #[test]
    fn limits_are_named_with_what_they_do() {
        let limit = ServerLimit {
            disk: Some(DiskLimit {
                read_iops: Some(1000),
                write_bytes_per_s: Some(50 << 20),
                cgroup_version: 1,
                device: "7:0".to_owned(),
                not_limited: vec!["Write-back is not limited".to_owned()],
                ..DiskLimit::default()
            }),
            cpus: Some(1.5),
            memory_bytes: Some(1 << 30),
            cgroup_version: Some(2),
        };
        let results = results(&[Some(limit.clone()), Some(limit), None]);
        assert_eq!(
            sentences(&results),
            [
                "Limit in 2 runs: reads 1.00k/s, writes 50.0 MiB/s on disk 7:0 (cgroup v1), 1.50 CPUs (cgroup \
                 v2), 1.00 GiB of memory (cgroup v2).",
                "Where the disk was limited, latencies, especially high percentiles, describe the throttle, not a slower disk.",
                "Write-back is not limited.",
            ]
        );
        assert_eq!(
            in_short(&results).unwrap(),
            "2 of 3 runs had a limited disk; their high percentiles describe the throttle"
        );
    }

    #[test]
    fn one_cpu_is_singular() {
        let limit = ServerLimit {
            cpus: Some(1.0),
            cgroup_version: Some(2),
            ..ServerLimit::default()
        };
        let found = sentences(&results(&[Some(limit)]));
        assert_eq!(found, ["Limit in 1 run: 1 CPU (cgroup v2)."]);
    }

    #[test]
    fn without_a_limit_nothing_is_said() {
        let results = results(&[None]);
        assert!(sentences(&results).is_empty());
        assert_eq!(in_short(&results), None);
    }
}
