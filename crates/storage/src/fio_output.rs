//! What fio 3 writes, JSON and JSON+, as plain figures.

use std::collections::BTreeMap;

use samples::{Flushes, Latency, LatencyBins, Pattern, PatternResult, Requests};
use serde::Deserialize;

use crate::error::Error;

#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    pub(crate) jobs: Vec<Job>,
}

/// One entry of `jobs`.
#[derive(Debug, Deserialize)]
pub(crate) struct Job {
    #[serde(default)]
    pub(crate) jobname: String,
    /// Jobs of one group ran at the same time.
    #[serde(default)]
    pub(crate) groupid: i64,
    #[serde(default)]
    error: i64,
    #[serde(default, rename = "job options")]
    pub(crate) options: BTreeMap<String, serde_json::Value>,
    /// Time since fio began, in whole seconds that have begun.
    #[serde(default, rename = "elapsed")]
    elapsed_s: u64,
    /// Time since the job began, milliseconds; of several threads together their sum.
    #[serde(default, rename = "job_runtime")]
    pub(crate) runtime_ms: u64,
    pub(crate) read: Side,
    pub(crate) write: Side,
    /// Both together, with `unified_rw_reporting`.
    #[serde(default)]
    mixed: Option<Side>,
    #[serde(default)]
    sync: SyncSide,
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
}

/// What fio says of one direction of a job.
#[derive(Debug, Deserialize)]
pub(crate) struct Side {
    pub(crate) total_ios: u64,
    iops: f64,
    /// Bytes per second; versions before 3.0 have kibibytes in `bw` alone.
    bw_bytes: f64,
    /// Milliseconds.
    #[serde(default)]
    pub(crate) runtime: u64,
    #[serde(default)]
    iops_stddev: f64,
    #[serde(default)]
    iops_samples: u64,
    clat_ns: FioLatency,
    /// With the submission; `lat_percentiles=1` has its percentiles here.
    #[serde(default)]
    pub(crate) lat_ns: FioLatency,
}

#[derive(Debug, Default, Deserialize)]
struct SyncSide {
    #[serde(default)]
    lat_ns: FioLatency,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct FioLatency {
    #[serde(default)]
    max: u64,
    #[serde(default)]
    mean: f64,
    #[serde(default, rename = "N")]
    count: u64,
    /// `"99.000000": 552960`.
    #[serde(default)]
    percentile: BTreeMap<String, u64>,
    /// JSON+ alone: latency to number of requests, `"24448": 1`.
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

impl FioLatency {
    /// Latencies, nanoseconds, and the number of requests of each; empty where fio was not asked for them.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let texts = self.bins.iter();
        texts.filter_map(|(latency, count)| Some((latency.parse().ok()?, *count)))
    }

    /// `None` where fio did not time the requests, or where a percentile is not in its list.
    fn latency(&self) -> Option<Latency> {
        let bins = self.bins();
        let percentile = |percent: f64| {
            let of_table = || self.percentile.get(&format!("{percent:.6}")).copied();
            bins.quantile(percent / 100.0).or_else(of_table)
        };
        Some(Latency {
            mean_ns: self.mean,
            p50_ns: percentile(50.0)?,
            p95_ns: percentile(95.0)?,
            p99_ns: percentile(99.0)?,
            p999_ns: percentile(99.9)?,
            max_ns: self.max,
        })
        .filter(|it| it.max_ns > 0)
    }

    fn bins(&self) -> LatencyBins {
        LatencyBins::of(self.counts())
    }
}

impl Job {
    /// Its name and group, which the threads of a job have in common.
    pub(crate) fn key(&self) -> (String, i64) {
        (self.jobname.clone(), self.groupid)
    }

    /// Time of its longest side, milliseconds.
    pub(crate) fn longest_ms(&self) -> u64 {
        self.read.runtime.max(self.write.runtime)
    }

    /// Threads whose figures these are, where they are surely more than `known`: fio adds up their times as it adds up their
    /// requests, and no thread runs longer than fio itself.
    pub(crate) fn more_threads_than(&self, known: u64) -> Option<u64> {
        let at_most_ms = self.elapsed_s.saturating_mul(1000).saturating_mul(known);
        if self.elapsed_s == 0 || self.longest_ms() == 0 || self.runtime_ms <= at_most_ms {
            return None;
        }
        let threads = self.runtime_ms as f64 / self.longest_ms() as f64;
        Some(threads.round() as u64).filter(|threads| *threads > known)
    }

    /// Gives what fio reports of both sides together to the one that has requests, by the share of reads in the options; false
    /// if both have.
    pub(crate) fn take_apart(&mut self, reads_percent: u32) -> bool {
        if self.read.total_ios > 0 || self.write.total_ios > 0 {
            return true;
        }
        match (self.mixed.take(), reads_percent) {
            (None, _) => {}
            (Some(mixed), 100) => self.read = mixed,
            (Some(mixed), 0) => self.write = mixed,
            (Some(mixed), _) => return mixed.total_ios == 0,
        }
        true
    }

    /// The side that has requests although the options name the other alone.
    pub(crate) fn foreign_side(&self, reads_percent: u32) -> Option<&'static str> {
        match reads_percent {
            100 if self.write.total_ios > 0 => Some("writes"),
            0 if self.read.total_ios > 0 => Some("reads"),
            _ => None,
        }
    }

    /// What ended the job; `None` where nothing did.
    pub(crate) fn failure(&self) -> Option<String> {
        (self.error != 0).then(|| {
            let errno = i32::try_from(self.error).unwrap_or_default();
            std::io::Error::from_raw_os_error(errno).to_string()
        })
    }

    /// The result of this job as that of a pattern.
    pub(crate) fn result(&self, pattern: &Pattern) -> PatternResult {
        let has = |share: u32, side: &Side| share > 0 || side.total_ios > 0;
        let reads = pattern.reads_percent;
        let read = has(reads, &self.read).then(|| requests(&self.read));
        let write = has(100 - reads, &self.write).then(|| requests(&self.write));
        let error = self.failure();
        PatternResult {
            pattern: pattern.clone(),
            repeat: 1,
            read,
            write,
            cpu: Some((self.usr_cpu + self.sys_cpu) / 100.0),
            machine_cpu: None,
            error,
            imported: None,
        }
    }

    /// The flushes between its writes; with `fdatasync=1` fio counts them here alone.
    pub(crate) fn flushes(&self) -> Option<Flushes> {
        let timed = &self.sync.lat_ns;
        let latency = timed.latency().filter(|_| timed.count > 0)?;
        Some(Flushes {
            count: timed.count,
            latency,
        })
    }
}

/// The result of a pattern from the JSON or JSON+ of its fio; lines before it are fio's notes.
pub fn pattern_result(pattern: &Pattern, text: &str) -> Result<PatternResult, Error> {
    let begin = text.find("{\n").or_else(|| text.find('{'));
    let json = begin.map(|at| &text[at..]).unwrap_or_default();
    let output: Output =
        serde_json::from_str(json).map_err(|error| Error::Output(error.to_string()))?;
    let jobs = output.jobs.iter();
    let mut named = jobs.filter(|job| job.jobname == pattern.name || output.jobs.len() == 1);
    let job = named
        .next()
        .ok_or_else(|| Error::Output(format!("no job {}", pattern.name)))?;
    Ok(job.result(pattern))
}

fn requests(side: &Side) -> Requests {
    let timed = [&side.clat_ns, &side.lat_ns];
    let timed = timed.into_iter().find(|it| it.latency().is_some());
    Requests {
        count: side.total_ios,
        iops: side.iops,
        iops_deviation: side.iops_stddev,
        rate_samples: side.iops_samples,
        bytes_per_s: side.bw_bytes,
        latency: timed.and_then(FioLatency::latency),
        latency_bins: timed.map(FioLatency::bins).unwrap_or_default(),
        repeats: Vec::new(),
    }
}

/// The requests of each second, of both directions together, from fio's log of IOPS
/// (`1000, 7986, 0, 0, 0`: milliseconds, requests per second, direction, block size, offset). A second without a line is 0.
pub fn iops_per_second(log: &str) -> Vec<f64> {
    let mut seconds: BTreeMap<usize, f64> = BTreeMap::new();
    for line in log.lines() {
        let mut fields = line.split(',').map(str::trim);
        let time_ms: Option<f64> = fields.next().and_then(|it| it.parse().ok());
        let iops: Option<f64> = fields.next().and_then(|it| it.parse().ok());
        if let (Some(time_ms), Some(iops)) = (time_ms, iops) {
            let second = (time_ms / 1000.0).round().max(1.0) as usize - 1;
            *seconds.entry(second).or_default() += iops;
        }
    }
    // A day of seconds: more is no course of a burst.
    let last = seconds
        .keys()
        .next_back()
        .copied()
        .filter(|last| *last < 86_400);
    let all = last.map_or(0..0, |last| 0..last + 1);
    all.map(|second| seconds.get(&second).copied().unwrap_or(0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_set::mysql_30;

    /// fio 3.33 on a virtio disk, 16 KiB, half reads, depth 4; shortened.
    const JSON_PLUS: &str = include_str!("../fixtures/fio-3.33-randrw.json");

    fn pattern() -> Pattern {
        let mut pattern = mysql_30()[21].clone();
        "a".clone_into(&mut pattern.name);
        pattern
    }

    #[test]
    fn bins_give_the_percentiles_of_fios_own_table() {
        let result = pattern_result(&pattern(), JSON_PLUS).unwrap();
        let output: Output = serde_json::from_str(JSON_PLUS).unwrap();
        for (side, raw) in [
            (&result.read, &output.jobs[0].read),
            (&result.write, &output.jobs[0].write),
        ] {
            let side = side.as_ref().unwrap();
            assert_eq!(side.iops, raw.iops);
            assert_eq!(side.count, raw.total_ios);
            let table = &raw.clat_ns.percentile;
            let latency = side.latency.unwrap();
            for (ours, key) in [
                (latency.p50_ns, "50.000000"),
                (latency.p95_ns, "95.000000"),
                (latency.p99_ns, "99.000000"),
                (latency.p999_ns, "99.900000"),
            ] {
                assert_eq!(ours, table[key], "{key}");
            }
        }
        assert!(result.error.is_none() && !result.is_noisy());
    }

    #[test]
    fn plain_json_has_the_percentiles_of_the_table() {
        let mut value: serde_json::Value = serde_json::from_str(JSON_PLUS).unwrap();
        value["jobs"][0]["read"]["clat_ns"]["bins"].take();
        value["jobs"][0]["read"]["clat_ns"]
            .as_object_mut()
            .unwrap()
            .remove("bins");
        let text = format!("fio: a note before it\n{value:#}");
        let plain = pattern_result(&pattern(), &text).unwrap();
        let mut plus = pattern_result(&pattern(), JSON_PLUS).unwrap().read.unwrap();
        assert!(!plus.latency_bins.is_empty());
        plus.latency_bins = samples::LatencyBins::default();
        assert_eq!(plain.read, Some(plus));
    }

    #[test]
    fn what_fio_did_not_write_is_an_error() {
        for text in ["", "{}", "fio: bad", "{\"jobs\":[]}", "{\"jobs\":[{}]}"] {
            assert!(pattern_result(&pattern(), text).is_err(), "{text}");
        }
        let failed = JSON_PLUS.replacen("\"error\" : 0", "\"error\" : 28", 1);
        let error = pattern_result(&pattern(), &failed).unwrap().error.unwrap();
        assert!(error.contains("No space left"), "{error}");
    }

    #[test]
    fn a_log_becomes_a_course() {
        let log =
            "1000, 14000, 0, 0, 0\n2001, 300, 0, 0, 0\n2001, 100, 1, 0, 0\n4000, 7, 0, 4096\n";
        assert_eq!(iops_per_second(log), [14000.0, 400.0, 0.0, 7.0]);
        assert_eq!(iops_per_second("").len(), 0);
        assert_eq!(iops_per_second("99999999999999, 1\n").len(), 0);
    }
}
