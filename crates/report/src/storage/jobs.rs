//! Imported jobs, each with what the other tool's file says of it.

use maud::{Markup, html};
use samples::{Access, ImportedJob, PatternResult, Requests, StorageRecord};
use units::{bytes, duration, moment, per_s, percent, si};

use crate::page::{scrolling, unbroken};

const UNKNOWN: &str = "unknown";
const JOBS_MAX: usize = 20;

/// The imported jobs with their results; none of dbdyno's own measurements.
fn imported(record: &StorageRecord) -> impl Iterator<Item = (&PatternResult, &ImportedJob)> {
    let results = record.patterns.iter();
    results.filter_map(|it| Some((it, it.imported.as_ref()?)))
}

/// A line for each imported job: in the table over depths several may share a cell.
///
/// ```text
/// imported jobs:
/// a (disk.json): random reads of 4.00 KiB, depth 16, libaio, direct: 84.1k/s, p99 reads 317 µs
/// ```
pub(super) fn jobs_text(record: &StorageRecord) -> Option<String> {
    let mut lines: Vec<String> = imported(record)
        .map(|(result, job)| sentence(result, job))
        .collect();
    let more = lines.len().saturating_sub(JOBS_MAX);
    lines.truncate(JOBS_MAX);
    if more > 0 {
        lines.push(format!("and {more} more, in the page"));
    }
    (!lines.is_empty()).then(|| format!("imported jobs:\n{}", lines.join("\n")))
}

fn sentence(result: &PatternResult, job: &ImportedJob) -> String {
    let pattern = &result.pattern;
    let access = match pattern.access {
        Access::Random => "random",
        Access::Sequential => "sequential",
    };
    let requests = match pattern.reads_percent {
        100 => "reads".to_owned(),
        0 => "writes".to_owned(),
        share => format!("requests, {} reads,", percent(f64::from(share) / 100.0)),
    };
    let engine = job.engine.as_deref().unwrap_or("engine unknown");
    let cache = if job.direct {
        "direct"
    } else {
        "through the page cache"
    };
    let figures = match (&result.error, p99s(result, job)) {
        (Some(error), _) => format!("failed: {error}"),
        (None, times) if times.is_empty() => per_s(result.iops()),
        (None, times) => format!("{}, p99 {times}", per_s(result.iops())),
    };
    format!(
        "{} ({}): {access} {requests} of {}, depth {}, {engine}, {cache}: {figures}",
        pattern.name,
        job.file,
        bytes(pattern.block_bytes),
        pattern.depth,
    )
}

/// A table with a row for each imported job; nothing for dbdyno's own measurements.
pub(super) fn jobs(record: &StorageRecord) -> Markup {
    let rows: Vec<(&PatternResult, [String; 10])> = imported(record)
        .map(|(result, job)| (result, cells(result, job)))
        .collect();
    let names = [
        "job",
        "file",
        "block",
        "reads",
        "depth",
        "engine",
        "page cache",
        "size",
        "time",
        "requests/s",
        "p99, flush p50",
    ];
    html! {
        @if !rows.is_empty() {
            section aria-labelledby="jobs" {
                h2 id="jobs" { "Imported jobs" }
                (scrolling("Imported jobs", html! { table {
                    thead { tr { @for name in names { th scope="col" { (name) } } } }
                    tbody { @for (result, cells) in &rows { tr {
                        th.text scope="row" { (result.pattern.name) }
                        @for cell in cells { td { (unbroken(cell)) } }
                    } } }
                } }))
            }
        }
    }
}

/// `reads 317 µs, flushes 2.00 ms`: the percentile of each side, and the median of the flushes.
fn p99s(result: &PatternResult, job: &ImportedJob) -> String {
    let p99 = |name: &str, side: &Option<Requests>| {
        let side = side.as_ref()?;
        let p99 = side.latency.map(|it| duration(it.p99_ns as f64));
        Some(format!("{name} {}", p99.as_deref().unwrap_or(UNKNOWN)))
    };
    let flushes = job.flushes.as_ref();
    let flushes = flushes.map(|it| format!("flushes {}", duration(it.latency.p50_ns as f64)));
    let times = [
        p99("reads", &result.read),
        p99("writes", &result.write),
        flushes,
    ];
    times.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn cells(result: &PatternResult, job: &ImportedJob) -> [String; 10] {
    let pattern = &result.pattern;
    let rate = match &result.error {
        Some(error) => format!("failed: {error}"),
        None => si(result.iops()),
    };
    [
        job.file.clone(),
        bytes(pattern.block_bytes),
        percent(f64::from(pattern.reads_percent) / 100.0),
        pattern.depth.to_string(),
        job.engine.as_deref().unwrap_or(UNKNOWN).to_owned(),
        if job.direct { "no" } else { "yes" }.to_owned(),
        job.size_bytes.map_or(UNKNOWN.to_owned(), bytes),
        moment(job.elapsed_s),
        rate,
        p99s(result, job),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn an_imported_job_says_what_is_unknown() {
        let mut record = record();
        assert_eq!(jobs(&record).into_string(), "");
        assert_eq!(jobs_text(&record), None);
        record.patterns[2].imported = Some(ImportedJob {
            file: "a.json".to_owned(),
            engine: None,
            direct: false,
            size_bytes: None,
            elapsed_s: 2.0,
            flushes: None,
        });
        let html = jobs(&record).into_string();
        assert_eq!(html.matches("<td>unknown</td>").count(), 2, "{html}");
        assert!(html.contains("<td>reads"), "{html}");
    }

    #[test]
    fn every_imported_job_has_a_line_in_the_text() {
        let mut record = record();
        let job = |engine: &str| ImportedJob {
            file: "a.json".to_owned(),
            engine: Some(engine.to_owned()),
            direct: engine == "libaio",
            size_bytes: None,
            elapsed_s: 2.0,
            flushes: None,
        };
        record.patterns[2].imported = Some(job("libaio"));
        record.patterns[7].imported = Some(job("psync"));
        record.patterns[7].read.as_mut().unwrap().latency = None;
        let expected = "imported jobs:\n\
            003_rand_16k_r100_q1 (a.json): random reads of 16.0 KiB, depth 1, libaio, direct: 14.6k/s, p99 reads 400 µs\n\
            008_rand_16k_r50_q16 (a.json): random requests, 50 % reads, of 16.0 KiB, depth 16, psync, through the page cache: \
            47.5k/s, p99 reads unknown, writes 6.40 ms";
        assert_eq!(jobs_text(&record).unwrap(), expected);
        record.patterns = vec![record.patterns[2].clone(); JOBS_MAX + 2];
        let text = jobs_text(&record).unwrap();
        assert_eq!(text.lines().count(), JOBS_MAX + 2);
        assert!(text.ends_with("\nand 2 more, in the page"), "{text}");
    }
}
