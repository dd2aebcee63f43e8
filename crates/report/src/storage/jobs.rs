//! Imported jobs, each with what the other tool's file says of it.

use maud::{Markup, html};
use samples::{ImportedJob, PatternResult, Requests, StorageRecord};
use units::{bytes, duration, moment, percent, si};

use crate::page::{scrolling, unbroken};

const UNKNOWN: &str = "unknown";

/// A table with a row for each imported job; nothing for dbdyno's own measurements.
pub(super) fn jobs(record: &StorageRecord) -> Markup {
    let imported = record.patterns.iter();
    let imported = imported.filter_map(|it| Some((it, it.imported.as_ref()?)));
    let rows: Vec<(&PatternResult, [String; 10])> = imported
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

fn cells(result: &PatternResult, job: &ImportedJob) -> [String; 10] {
    let pattern = &result.pattern;
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
        times.into_iter().flatten().collect::<Vec<_>>().join(", "),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn an_imported_job_says_what_is_unknown() {
        let mut record = record();
        assert_eq!(jobs(&record).into_string(), "");
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
}
