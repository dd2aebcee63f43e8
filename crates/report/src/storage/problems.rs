//! Problems found: what the rules of the audit say of a measurement, and patterns whose rate varied too much.

use audit::{Audit, Level};
use samples::StorageRecord;
use units::{counted, percent};

/// Rules whose answer has a line of its own: the steady state, and the end of a burst.
const TOLD_ELSEWHERE: [&str; 2] = ["M03", "M04"];

/// What the rules found, the worst first, each as one clause with the rule's name: `dbdyno audit --explain W01` tells it.
pub(super) fn problems(audit: &Audit) -> Vec<String> {
    let found = audit.by_level().into_iter();
    let found = found.filter(|it| !TOLD_ELSEWHERE.contains(&it.rule.id));
    let found = found.filter_map(|it| Some((it.rule.id, it.outcome.as_ref().ok()?)));
    let found = found.filter(|(_, finding)| finding.level > Level::Note);
    found
        .map(|(id, finding)| format!("{} ({id})", finding.evidence))
        .collect()
}

/// Patterns whose rate varied too much; `None` where there is none.
pub(super) fn noise(record: &StorageRecord) -> Option<String> {
    let noisy: Vec<_> = record.patterns.iter().filter(|it| it.is_noisy()).collect();
    let variation = |it: &&samples::PatternResult| it.variation().unwrap_or(0.0);
    let worst = noisy
        .iter()
        .copied()
        .max_by(|a, b| variation(a).total_cmp(&variation(b)))?;
    Some(format!(
        "{} of {}: the rate varied by {}{} in {}; other users of the disk, or throttling",
        noisy.len(),
        counted(record.patterns.len(), "pattern"),
        percent(variation(&worst)),
        if worst.between() == worst.variation() {
            " between repeats"
        } else {
            ""
        },
        worst.pattern.name
    ))
}

#[cfg(test)]
mod tests {
    use audit::{Subject, audit};

    use super::{super::readings::testing::*, *};

    #[test]
    fn problems_are_those_of_the_rules() {
        let mut record = record();
        let found = |record: &StorageRecord| problems(&audit(&Subject::of_storage(record)));
        let rotational = found(&record);
        let calls = |it: &String| it.contains("claims to be rotational") && it.ends_with("(H05)");
        assert!(rotational.iter().any(calls), "{rotational:?}");
        record.header.storage.places[0].mount_options = "nobarrier,rw".to_owned();
        record.header.storage.devices[0].rotational = Some(false);
        record.header.file_bytes = 16 << 30;
        record.commits[0].redo.p50_ns = 2_000;
        record.header.direct = false;
        let all = found(&record);
        let ids = all.iter().map(|it| &it[it.len() - 4..it.len() - 1]);
        assert_eq!(
            ids.collect::<Vec<_>>(),
            ["H04", "H03", "H06", "W01"],
            "{all:?}"
        );
        record.header.mode = samples::StorageMode::Burst;
        record.bursts = vec![samples::BurstCell {
            size_bytes: Some(8 << 30),
            pattern: record.patterns[2].pattern.clone(),
            pause_s: 0.0,
            is_recovery: false,
            iops: [vec![14_000.0; 20], vec![400.0; 40]].concat(),
            machine_cpu: None,
        }];
        assert_eq!(found(&record).len(), all.len(), "a burst has its own line");
    }

    #[test]
    fn noise_names_the_worst() {
        let mut record = record();
        assert_eq!(noise(&record), None);
        if let Some(read) = &mut record.patterns[4].read {
            read.iops_deviation = read.iops * 0.52;
        }
        let words = noise(&record).unwrap();
        assert!(
            words.starts_with("1 of 8 patterns: the rate varied by 52 % in 005_"),
            "{words}"
        );
    }
}
