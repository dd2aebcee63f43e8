//! The rules about the general log, the slow log and the binary log.

use super::{
    evidence::{CostChange, Evidence},
    finding::{Finding, SIDES},
    price,
};
use crate::costs::Cost;

/// The default size of an InnoDB page, bytes.
const PAGE_BYTES: f64 = 16_384.0;

/// The first of the two logs that is a cause: one that is not written does not hide the other.
pub(super) fn statement_log(it: &Evidence<'_>) -> Option<Finding> {
    let mut logs = ["general_log", "slow_query_log"].into_iter();
    logs.find_map(|log| written_log(it, log))
}

fn written_log(it: &Evidence<'_>, log: &str) -> Option<Finding> {
    let [_, of_b] = it.variable(log)?;
    let logging = usize::from(of_b == "ON");
    let is_written = log != "slow_query_log" || it.reaches_slow_log(logging);
    // `FILE,NONE` writes nothing either.
    let mut outputs = it.value(logging, "log_output").unwrap_or("").split(',');
    if !is_written || outputs.any(|output| output.trim() == "NONE") {
        return None;
    }
    let settings = it.settings(&[log]);
    let meaning = format!("{} writes statements to a log{settings}", SIDES[logging]);
    let of_log = |moved: &CostChange| moved.higher() == logging;
    let bytes = it.moved(Cost::WrittenBytes).filter(of_log);
    let bytes = bytes.filter(|moved| moved.by().abs() > 2.0 * elsewhere_bytes(it, logging));
    let cpu = it.moved(Cost::ServerCpu).filter(of_log);
    match (bytes, cpu) {
        (Some(moved), cpu) => Some(Finding {
            explains_us: cpu.map_or(0.0, |cpu| cpu.by().abs())
                + moved.by().abs() * price::WRITTEN_BYTE_US,
            ..Finding::of(moved, 0.0, meaning)
        }),
        (None, Some(cpu)) => Some(Finding::of(cpu, 1.0, meaning)),
        (None, None) => unobserved(it, &[Cost::WrittenBytes, Cost::ServerCpu], logging, meaning),
    }
}

/// Bytes that a side writes in excess of the other into redo log, binary log and InnoDB pages.
fn elsewhere_bytes(it: &Evidence<'_>, side: usize) -> f64 {
    let sizes = [
        (Cost::RedoBytes, 1.0),
        (Cost::BinlogBytes, 1.0),
        (Cost::InnodbWrites, PAGE_BYTES),
    ];
    let moved = sizes
        .into_iter()
        .filter_map(|(cost, bytes)| Some((it.moved(cost)?, bytes)));
    moved
        .filter(|(moved, _)| moved.higher() == side)
        .map(|(moved, bytes)| moved.by().abs() * bytes)
        .sum()
}

/// A setting that differs and whose costs were not observed: the finding is a guess and says so.
fn unobserved(it: &Evidence<'_>, costs: &[Cost], side: usize, meaning: String) -> Option<Finding> {
    let is_unseen = !costs.iter().any(|cost| it.is_observed(*cost));
    (is_unseen && it.is_decided()).then(|| Finding {
        cost: None,
        sentence: format!("{meaning}; the cost of this setting was not observed"),
        explains_us: 0.0,
        side: Some(side),
        rank: None,
    })
}

pub(super) fn binary_log(it: &Evidence<'_>) -> Option<Finding> {
    const SETTINGS: [&str; 2] = ["log_bin", "sync_binlog"];
    let settings = it.settings(&SETTINGS);
    if settings.is_empty() {
        return None;
    }
    let (side, what) = match (it.variable("log_bin"), it.variable("sync_binlog")) {
        (Some([_, b]), _) => (usize::from(b == "ON"), "writes a binary log"),
        (None, Some([a, b])) => (
            usize::from(syncs_more(a, b)),
            "syncs its binary log more often",
        ),
        (None, None) => return None,
    };
    // Without a binary log, sync_binlog has no effect.
    if it.value(side, "log_bin") == Some("OFF") {
        return None;
    }
    let meaning = format!("{} {what}{settings}", SIDES[side]);
    let of_it = |moved: &CostChange| moved.higher() == side;
    // InnoDB's own syncs do not belong to the binary log.
    let own = it.moved(Cost::Fsyncs).filter(of_it);
    let own = own.map_or(0.0, |moved| moved.by().abs());
    if let Some(flushes) = it.moved(Cost::DiskFlushes).filter(of_it)
        && flushes.by().abs() > own
    {
        return Some(Finding {
            explains_us: (flushes.by().abs() - own) * price::FLUSH_US,
            ..Finding::of(flushes, 0.0, meaning)
        });
    }
    if let Some(bytes) = it.moved(Cost::BinlogBytes).filter(of_it) {
        return Some(Finding::of(bytes, price::WRITTEN_BYTE_US, meaning));
    }
    unobserved(it, &[Cost::DiskFlushes, Cost::BinlogBytes], side, meaning)
}

/// With 0, the operating system decides; with n, the server syncs at every nth group of commits.
fn syncs_more(a: &str, b: &str) -> bool {
    let every = |text: &str| match text.parse::<u64>() {
        Ok(0) | Err(_) => u64::MAX,
        Ok(every) => every,
    };
    every(b) < every(a)
}
