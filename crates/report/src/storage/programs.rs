//! A storage record for programs: JSON and CSV.

use audit::Audit;
use samples::{CommitResult, Latency, PatternResult, StorageRecord};
use serde::Serialize;

use super::{
    my_cnf::{self, CnfLines},
    problems::problems,
    readings::{bursts, is_of_crystal_disk_mark, name, steady},
    repeats::bounds,
    steadiness::DiskSteadiness,
    uses::uses,
};
use crate::findings::{AuditDocument, AuditFilter, audit_document};

const INFALLIBLE: &str = "writing to memory does not fail";

#[derive(Serialize)]
struct StorageDocument<'a> {
    header: &'a samples::StorageHeader,
    complete: bool,
    patterns: Vec<PatternRow<'a>>,
    commits: Vec<CommitRow<'a>>,
    bursts: &'a [samples::BurstCell],
    burst_ends: Vec<BurstEnd>,
    rounds: &'a [samples::SteadyRound],
    steady: Option<SteadyRow>,
    uses: Vec<UseRow>,
    my_cnf: Vec<CnfRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    my_cnf_left_out: Vec<LeftOutRow>,
    suspect: Vec<String>,
    audit: AuditDocument<'a>,
}

#[derive(Serialize)]
struct PatternRow<'a> {
    #[serde(flatten)]
    result: &'a PatternResult,
    iops: f64,
    bytes_per_s: f64,
    iops_interval: Option<(f64, f64)>,
    between: Option<f64>,
    inside: Option<f64>,
    variation: Option<f64>,
    noisy: bool,
    crystal_disk_mark: bool,
}

#[derive(Serialize)]
struct CommitRow<'a> {
    #[serde(flatten)]
    result: &'a CommitResult,
    commits_per_s: f64,
}

#[derive(Serialize)]
struct BurstEnd {
    cell: usize,
    end_s: usize,
    before_per_s: f64,
    after_per_s: f64,
    credit_requests: f64,
}

#[derive(Serialize)]
struct SteadyRow {
    /// `null` if it is undecided.
    reached: Option<bool>,
    mean_per_s: f64,
    range: f64,
    slope: f64,
}

#[derive(Serialize)]
struct UseRow {
    name: &'static str,
    fitness: Option<&'static str>,
    /// What must hold for a disk that is fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<&'static str>,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    evidence: String,
    threshold: String,
}

#[derive(Serialize)]
struct CnfRow {
    name: &'static str,
    value: String,
    reason: String,
}

#[derive(Serialize)]
struct LeftOutRow {
    names: &'static [&'static str],
    reason: String,
}

/// Everything as one JSON object, ending with a line feed; `audit` is that of the record.
pub fn storage_json(record: &StorageRecord, audit: &Audit) -> String {
    let patterns = record.patterns.iter().map(|result| PatternRow {
        iops: result.iops(),
        bytes_per_s: result.bytes_per_s(),
        iops_interval: bounds(&result.repeat_iops()),
        between: result.between(),
        inside: result.inside(),
        variation: result.variation(),
        noisy: result.is_noisy(),
        crystal_disk_mark: is_of_crystal_disk_mark(&result.pattern),
        result,
    });
    let commits = record.commits.iter().map(|result| CommitRow {
        commits_per_s: result.commits_per_s(),
        result,
    });
    let burst_ends = bursts(record).into_iter().map(|(cell, burst)| BurstEnd {
        cell,
        end_s: burst.end,
        before_per_s: burst.before,
        after_per_s: burst.after,
        credit_requests: burst.credit(),
    });
    let uses = uses(record).into_iter().map(|it| UseRow {
        name: it.name,
        fitness: it.fitness.as_ref().map(|it| it.name()),
        condition: it.condition,
        reason: it.reason(),
        evidence: it.evidence,
        threshold: it.threshold,
    });
    let CnfLines { lines, left_out } = my_cnf::lines(record);
    let my_cnf = lines.into_iter().map(|it| CnfRow {
        name: it.name,
        value: it.value,
        reason: it.reason,
    });
    let left_out = left_out.into_iter().map(|it| LeftOutRow {
        names: it.names,
        reason: it.reason,
    });
    let name = name(record);
    let whole = StorageDocument {
        header: &record.header,
        complete: record.is_complete,
        patterns: patterns.collect(),
        commits: commits.collect(),
        bursts: &record.bursts,
        burst_ends: burst_ends.collect(),
        rounds: &record.rounds,
        steady: steady(record).map(|it| SteadyRow {
            reached: match DiskSteadiness::of(record) {
                DiskSteadiness::Reached => Some(true),
                DiskSteadiness::NotReached => Some(false),
                DiskSteadiness::Undecided(_) => None,
            },
            mean_per_s: it.mean,
            range: it.range,
            slope: it.slope,
        }),
        uses: uses.collect(),
        my_cnf: my_cnf.collect(),
        my_cnf_left_out: left_out.collect(),
        suspect: problems(audit),
        audit: audit_document(&name, audit, &AuditFilter::default()),
    };
    serde_json::to_string_pretty(&whole).expect("plain fields always serialise") + "\n"
}

/// One row of the CSV: a direction of a pattern or of a round, or a part of a commit probe.
#[derive(Default)]
struct Row {
    kind: &'static str,
    name: String,
    part: &'static str,
    block_bytes: Option<u64>,
    reads_percent: Option<u32>,
    depth: u32,
    per_s: Option<f64>,
    bytes_per_s: Option<f64>,
    variation: Option<f64>,
    latency: Option<Latency>,
    error: Option<String>,
    repeats: Option<usize>,
    bounds: Option<(f64, f64)>,
    between: Option<f64>,
}

const NAMES: [&str; 21] = [
    "kind",
    "name",
    "part",
    "block_bytes",
    "reads_percent",
    "depth",
    "per_s",
    "bytes_per_s",
    "variation",
    "mean_ns",
    "p50_ns",
    "p95_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "error",
    "noisy",
    "repeats",
    "per_s_low",
    "per_s_high",
    "between",
];

/// Patterns, rounds, commit probes and the seconds of bursts as CSV (RFC 4180, lines end with a line feed), with a header.
///
/// ```text
/// kind,name,part,block_bytes,reads_percent,depth,per_s,bytes_per_s,variation,mean_ns,p50_ns,...
/// pattern,012_rand_4k_r90_q1,read,4096,90,1,5591.2,22901555.2,0.089,171000,163000,...
/// ```
pub fn storage_csv(record: &StorageRecord) -> String {
    let mut rows = Vec::new();
    for result in &record.patterns {
        rows.extend(sides("pattern", result.pattern.name.clone(), result));
    }
    for round in &record.rounds {
        rows.extend(sides("round", round.round.to_string(), &round.result));
    }
    for result in &record.commits {
        let rate = Some(result.commits_per_s());
        let parts = [
            ("commit", rate, result.commit),
            ("redo log", None, result.redo),
            ("binary log", None, result.binlog),
        ];
        rows.extend(parts.map(|(part, per_s, latency)| Row {
            kind: "commit",
            name: units::counted(result.writers as usize, "writer"),
            part,
            depth: result.writers,
            per_s,
            latency: Some(latency),
            ..Row::default()
        }));
    }
    for (number, cell) in record.bursts.iter().enumerate() {
        let seconds = cell.iops.iter().enumerate();
        rows.extend(seconds.map(|(second, iops)| Row {
            kind: "burst",
            name: format!("cell {number} second {second}"),
            part: if cell.is_recovery { "recovery" } else { "grid" },
            block_bytes: Some(cell.pattern.block_bytes),
            reads_percent: Some(cell.pattern.reads_percent),
            depth: cell.pattern.depth,
            per_s: Some(*iops),
            ..Row::default()
        }));
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(NAMES).expect(INFALLIBLE);
    for row in rows {
        writer.write_record(row.cells()).expect(INFALLIBLE);
    }
    let bytes = writer.into_inner().expect(INFALLIBLE);
    String::from_utf8(bytes).expect("names and numbers are text")
}

fn sides(kind: &'static str, name: String, result: &PatternResult) -> Vec<Row> {
    let both = [("read", &result.read), ("write", &result.write)];
    let measured = both.into_iter().filter_map(|(part, side)| {
        let side = side.as_ref()?;
        let rates: Vec<f64> = side.repeats.iter().map(|it| it.iops).collect();
        Some(Row {
            kind,
            name: name.clone(),
            part,
            block_bytes: Some(result.pattern.block_bytes),
            reads_percent: Some(result.pattern.reads_percent),
            depth: result.pattern.depth,
            per_s: Some(side.iops),
            bytes_per_s: Some(side.bytes_per_s),
            variation: side
                .inside()
                .into_iter()
                .chain(side.between())
                .max_by(f64::total_cmp),
            latency: side.latency,
            error: result.error.clone(),
            repeats: Some(rates.len().max(1)),
            bounds: bounds(&rates),
            between: side.between(),
        })
    });
    measured.collect()
}

impl Row {
    fn cells(&self) -> [String; 21] {
        let number = |value: Option<f64>| value.map(|it| it.to_string()).unwrap_or_default();
        let ns = |of: fn(&Latency) -> u64| {
            let value = self.latency.as_ref().map(of);
            value.map(|it| it.to_string()).unwrap_or_default()
        };
        let noisy = self
            .variation
            .map(|it| (it > samples::NOISY_FROM).to_string());
        [
            self.kind.to_owned(),
            self.name.clone(),
            self.part.to_owned(),
            self.block_bytes
                .map(|it| it.to_string())
                .unwrap_or_default(),
            self.reads_percent
                .map(|it| it.to_string())
                .unwrap_or_default(),
            self.depth.to_string(),
            number(self.per_s),
            number(self.bytes_per_s),
            number(self.variation),
            number(self.latency.map(|it| it.mean_ns)),
            ns(|it| it.p50_ns),
            ns(|it| it.p95_ns),
            ns(|it| it.p99_ns),
            ns(|it| it.p999_ns),
            ns(|it| it.max_ns),
            self.error.clone().unwrap_or_default(),
            noisy.unwrap_or_default(),
            self.repeats.map(|it| it.to_string()).unwrap_or_default(),
            number(self.bounds.map(|it| it.0)),
            number(self.bounds.map(|it| it.1)),
            number(self.between),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn csv_has_a_row_for_each_side() {
        let text = storage_csv(&record());
        let lines: Vec<&str> = text.lines().collect();
        // Seven patterns of one side, one of two, two probes of three parts, the header.
        assert_eq!(lines.len(), 7 + 2 + 6 + 1);
        assert!(lines[1].starts_with("pattern,001_seq_read,read,1048576,100,1,2162,"));
        assert!(lines[10].starts_with("commit,1 writer,commit,,,1,2420,,,370000,370000,"));
    }

    #[test]
    fn json_has_figures_and_judgements() {
        let mut record = record();
        record.header.storage.devices[0].rotational = Some(false);
        let audit = audit::audit(&audit::Subject::of_storage(&record));
        let value: serde_json::Value =
            serde_json::from_str(&storage_json(&record, &audit)).unwrap();
        assert_eq!(value["patterns"][0]["pattern"]["name"], "001_seq_read");
        assert_eq!(value["patterns"][7]["iops"], 47_468.0);
        assert_eq!(value["commits"][1]["commits_per_s"], 9_100.0);
        assert_eq!(value["uses"][0]["fitness"], "fit");
        assert_eq!(
            value["uses"][0]["condition"],
            "if flushed writes survive a power cut"
        );
        assert!(value["uses"][1].get("condition").is_none());
        assert_eq!(value["steady"], serde_json::Value::Null);
        assert!(value["uses"][0].get("reason").is_none() && value.get("my_cnf_left_out").is_none());
    }

    #[test]
    fn json_says_what_cannot_be_told() {
        let mut record = record();
        record.commits[0].commit.p99_ns = 15_100_000;
        record.commits[0].machine_cpu = Some(machine_cpu(0.93));
        record.patterns[6].machine_cpu = Some(machine_cpu(0.93));
        let audit = audit::audit(&audit::Subject::of_storage(&record));
        let value: serde_json::Value =
            serde_json::from_str(&storage_json(&record, &audit)).unwrap();
        let reason =
            "other programs used 93 % of the CPU (rustc); measure again on an idle machine";
        assert_eq!(value["uses"][0]["fitness"], "cannot be told");
        assert_eq!(value["uses"][0]["reason"], reason);
        let left_out = &value["my_cnf_left_out"][0];
        assert_eq!(left_out["names"][1], "innodb_io_capacity_max");
        assert_eq!(left_out["reason"], reason);
        assert_eq!(value["my_cnf"][0]["name"], "innodb_flush_neighbors");
        assert_eq!(
            value["commits"][0]["machine_cpu"]["machine"]["user_s"],
            93.0
        );
    }
}
