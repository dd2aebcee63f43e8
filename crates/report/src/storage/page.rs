//! A storage record as one self-contained page: the answer, the heat table, curves over the depth, courses over time.

use std::collections::BTreeSet;

use audit::Audit;
use maud::{Markup, html};
use samples::{Access, BurstCell, CommitResult, CommitSequence, StorageMode, StorageRecord};
use stats::{Burst, burst};
use units::{bytes, counted, duration, moment, per_s, percent, si, si_tick};

use super::{
    heat::heat_html,
    jobs::jobs,
    limit::{limit_in_words, limit_notes},
    my_cnf,
    problems::{noise, problems},
    readings::{DepthCourse, KNEE_AT, name},
    repeats::{bounds, repeats_html, repeats_in_words},
    summary::{burst_in_words, device_in_words, steady_in_words},
    uses::uses,
};
use crate::{
    chart::{
        frame::{Description, Size},
        line::{ChartLine, LineChart, Point},
        scale::{Axis, Levels},
        timeline::Timeline,
    },
    page::{audit_section, document_with_style, scrolling, unbroken},
};

const STYLE: &str = include_str!("page.css");

/// The record as a page; `audit` is that of the record, `job_file` is what fio was given, so that anyone can run it again.
pub fn storage_html(record: &StorageRecord, audit: &Audit, job_file: Option<&str>) -> String {
    let header = &record.header;
    let kind = match header.mode {
        StorageMode::Import => "dbdyno import".to_owned(),
        mode => format!("dbdyno storage {}", mode.name()),
    };
    let content = html! {
        (facts(record, audit))
        (judged(record))
        (commits(&record.commits))
        (heat_html(record))
        (repeats_html(record))
        (jobs(record))
        (curves(record))
        (courses(record))
        (rounds(record))
        (audit_section(audit))
        @if let Some(text) = job_file {
            details.part {
                summary { "How to reproduce" }
                p { "Save it as a file; " code { "fio FILE" } " runs all of it, "
                    code { "fio --section=NAME FILE" } " one pattern. fio creates the test file itself." }
                pre { (text) }
            }
        }
    };
    document_with_style(&kind, &name(record), Some(STYLE), &content)
}

fn facts(record: &StorageRecord, audit: &Audit) -> Markup {
    let header = &record.header;
    let fio = header.fio_version.as_deref().unwrap_or("without fio");
    let (each, engine) = (moment(header.each_s), &header.engine);
    let file = match header.file_bytes {
        0 => "no test file".to_owned(),
        size => format!("test file {}", bytes(size)),
    };
    let how = match header.mode {
        StorageMode::Import => format!("{fio}, engine {engine}, up to {each} each"),
        _ => format!("{fio}, engine {engine}, {each} each, {file}"),
    };
    let way_on = match header.mode {
        StorageMode::Suite | StorageMode::Burst => ": the same command with --resume continues",
        _ => "",
    };
    let ending = (!record.is_complete).then(|| format!("not complete{way_on}"));
    let told = [
        ("begun", Some(header.at.clone()).filter(|it| !it.is_empty())),
        ("device", Some(device_in_words(record))),
        ("limit", limit_in_words(record)),
        ("measured", Some(how)),
        ("repeats", repeats_in_words(record)),
        ("memory", header.memory_bytes.map(bytes)),
        ("steady state", steady_in_words(record)),
        ("burst", burst_in_words(record)),
        ("noise", noise(record)),
        (
            "left out",
            Some(header.left_out.join("; ")).filter(|it| !it.is_empty()),
        ),
        ("ending", ending),
        ("dbdyno", Some(header.dbdyno_version.clone())),
    ];
    let limits = limit_notes(record);
    let problems = problems(audit);
    html! {
        dl.facts { @for (name, text) in told { @if let Some(text) = text { dt { (name) } dd { (unbroken(&text)) } } } }
        @if !limits.is_empty() {
            p { strong { "Limit:" } }
            ul { @for note in &limits { li { (unbroken(note)) "." } } }
        }
        @if !problems.is_empty() {
            p { strong { "Problems found:" } }
            ul { @for problem in &problems { li { (unbroken(problem)) "." } } }
        }
    }
}

/// Uses with their thresholds, and the lines that follow.
fn judged(record: &StorageRecord) -> Markup {
    if record.patterns.is_empty() && record.commits.is_empty() {
        return html! {};
    }
    let lines = my_cnf::lines(record).text();
    html! {
        section aria-labelledby="uses" {
            h2 id="uses" { "Fit for" }
            (scrolling("Fit for", html! { table.uses {
                thead { tr { @for name in ["use", "", "measured", "threshold"] { th scope="col" { (name) } } } }
                tbody { @for it in uses(record) { tr {
                    th scope="row" { (it.name) }
                    td { (it.verdict()) }
                    td.text { (it.evidence) @if let Some(reason) = it.reason() { "; " (reason) } }
                    td.text { (it.threshold) }
                } } }
            } }))
            @if let Some(lines) = &lines {
                p { "Lines for my.cnf that follow from the results, each with its reason:" }
                pre { (lines) "\n" }
            }
        }
    }
}

fn commits(all: &[CommitResult]) -> Markup {
    if all.is_empty() {
        return html! {};
    }
    let time = |ns: u64| duration(ns as f64);
    let names = [
        "writers",
        "commits/s",
        "commits per flush",
        "p50",
        "p99",
        "p99.9",
        "redo log p50",
        "redo log p99",
        "binary log p50",
        "binary log p99",
    ];
    html! {
        section aria-labelledby="commits" {
            h2 id="commits" { "Durable commits" }
            p.note { (calls(all[0].sequence)) " and fdatasync, as " (all[0].sequence.server())
                " does for a commit; waiting writers share one pair. A server does more than this, so the rate is an upper bound." }
            (scrolling("Durable commits", html! { table {
                thead { tr { @for name in names { th scope="col" { (name) } } } }
                tbody { @for it in all { tr {
                    th scope="row" { (it.writers) }
                    td { (si(it.commits_per_s())) }
                    td { (si(it.commits as f64 / it.groups.max(1) as f64)) }
                    @for ns in [it.commit.p50_ns, it.commit.p99_ns, it.commit.p999_ns, it.redo.p50_ns, it.redo.p99_ns,
                        it.binlog.p50_ns, it.binlog.p99_ns] { td { (time(ns)) } }
                } } }
            } }))
        }
    }
}

fn calls(sequence: CommitSequence) -> &'static str {
    match sequence {
        CommitSequence::Mariadb => {
            "A 4 KiB block of the redo log and fdatasync, then 210 bytes of the binary log"
        }
        CommitSequence::Mysql => {
            "Blocks of 512 bytes of the redo log and fdatasync, then 380 bytes of the binary log"
        }
    }
}

/// Requests per second over the depth, a chart for each block size, a line for each share of reads.
fn curves(record: &StorageRecord) -> Markup {
    let random = record.patterns.iter().map(|it| &it.pattern);
    let random = random.filter(|it| it.access == Access::Random);
    let blocks: BTreeSet<u64> = random.clone().map(|it| it.block_bytes).collect();
    let drawn: Vec<Markup> = blocks
        .iter()
        .filter_map(|block| curve(record, *block))
        .collect();
    html! {
        @if !drawn.is_empty() {
            section aria-labelledby="curves" {
                h2 id="curves" { "Over the depth" }
                div.charts { @for chart in &drawn { (chart) } }
            }
        }
    }
}

/// `None` for fewer than three depths.
fn curve(record: &StorageRecord, block_bytes: u64) -> Option<Markup> {
    let of_block = record.patterns.iter().map(|it| &it.pattern);
    let of_block =
        of_block.filter(|it| it.access == Access::Random && it.block_bytes == block_bytes);
    let depths: BTreeSet<u32> = of_block.clone().map(|it| it.depth).collect();
    let shares: BTreeSet<u32> = of_block.map(|it| it.reads_percent).collect();
    if depths.len() < 3 {
        return None;
    }
    let courses = shares.iter().rev();
    let courses: Vec<(u32, DepthCourse<'_>)> = courses
        .filter_map(|share| Some((*share, DepthCourse::of(record, block_bytes, *share)?)))
        .collect();
    let labels: Vec<String> = depths.iter().map(u32::to_string).collect();
    let lines = courses.iter().enumerate().map(|(style, (share, course))| {
        let point = |depth: &u32| {
            let result = course
                .results
                .iter()
                .find(|it| it.pattern.depth == *depth)?;
            Some(Point {
                value: result.iops(),
                interval: bounds(&result.repeat_iops()),
            })
        };
        ChartLine {
            label: format!("r{share}"),
            style,
            points: depths.iter().map(point).collect(),
            course: None,
        }
    });
    let highest = courses.iter().map(|(_, it)| it.highest().iops());
    let (levels, y) = (
        Levels::of(&labels),
        Axis::from_zero(highest.fold(0.0, f64::max), 4),
    );
    let knees = courses.iter().filter_map(|(share, course)| {
        Some(format!("r{share}: depth {}", course.knee()?.pattern.depth))
    });
    let knees = knees.collect::<Vec<_>>().join(", ");
    let title = format!("Random requests of {}", bytes(block_bytes));
    let chart = LineChart {
        size: Size::LARGE,
        description: Description {
            id: &format!("depth-{block_bytes}"),
            title: &title,
            text: &format!("Requests per second by depth. Knees: {knees}."),
        },
        x_name: "depth",
        levels: &levels,
        y_name: "requests/s",
        y: &y,
        tick: si_tick,
        hint: si,
        lines: lines.collect(),
        labelled: true,
    };
    Some(html! {
        figure {
            figcaption { (title) }
            (chart.draw())
            p.note { "r100: reads only. Knee, the smallest depth with " (unbroken(&percent(KNEE_AT))) " of the highest rate: " (knees) "." }
        }
    })
}

/// The courses of a burst grid.
fn courses(record: &StorageRecord) -> Markup {
    html! {
        @if !record.bursts.is_empty() {
            section aria-labelledby="courses" {
                h2 id="courses" { "Over time" }
                @for (index, cell) in record.bursts.iter().enumerate() { (course(index, cell)) }
            }
        }
    }
}

fn course(index: usize, cell: &BurstCell) -> Markup {
    let end = burst(&cell.iops).filter(|_| !cell.is_recovery);
    let points: Vec<(f64, f64)> = (0..)
        .map(f64::from)
        .zip(cell.iops.iter().copied())
        .collect();
    let again = if cell.is_recovery {
        "again after a pause: "
    } else {
        ""
    };
    let depth = cell.pattern.depth;
    let size = cell.size_bytes.map_or("size unknown".to_owned(), bytes);
    let title = format!("{again}{size}, depth {depth}");
    let in_words = |it: &Burst| {
        format!(
            "the burst ends after {}: {} before, {} after",
            moment(it.end as f64),
            per_s(it.before),
            per_s(it.after)
        )
    };
    let said = match &end {
        Some(end) => in_words(end),
        None => format!(
            "no end of a burst in {}",
            counted(cell.iops.len(), "second")
        ),
    };
    let chart = Timeline {
        description: Description {
            id: &format!("burst-{index}"),
            title: &title,
            text: &said,
        },
        points: &points,
        measured_from_s: 0.0,
        y_name: "requests/s",
        mark: end.map(|it| (it.end as f64, in_words(&it))),
    };
    html! { figure { figcaption { (title) ": " (said) } (chart.draw()) } }
}

/// The rounds of a steady state.
fn rounds(record: &StorageRecord) -> Markup {
    html! {
        @if !record.rounds.is_empty() {
            section aria-labelledby="rounds" {
                h2 id="rounds" { "Rounds" }
                (scrolling("Rounds", html! { table {
                    thead { tr { @for name in ["round", "requests/s", "varied by"] { th scope="col" { (name) } } } }
                    tbody { @for it in &record.rounds { tr {
                        th scope="row" { (it.round) }
                        td { (si(it.result.iops())) }
                        td { (it.result.variation().map_or("–".to_owned(), |it| unbroken(&percent(it)))) }
                    } } }
                } }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    fn page(record: &StorageRecord, job_file: Option<&str>) -> String {
        let audit = audit::audit(&audit::Subject::of_storage(record));
        storage_html(record, &audit, job_file)
    }

    #[test]
    fn the_page_is_whole_and_fetches_nothing() {
        let mut record = record();
        record.header.directory = "/data/<b>".to_owned();
        let page = page(&record, Some("[global]\nioengine=libaio\n"));
        for part in [
            "Fit for",
            "Durable commits",
            "Over the depth",
            "The audit",
            "W01 the storage was measured",
            "ioengine=libaio",
            "/data/&lt;b&gt;",
        ] {
            assert!(page.contains(part), "{part}");
        }
        for foreign in ["http://", "https://", "src=", "<b>"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_use_that_cannot_be_told_has_its_reason() {
        let mut record = record();
        record.commits[0].commit.p99_ns = 15_100_000;
        record.commits[0].machine_cpu = Some(machine_cpu(0.93));
        let page = page(&record, None);
        assert!(page.contains("<td>cannot be told</td>"), "{page}");
        assert!(page.contains("p99 15.1 ms; other programs used 93 % of the CPU (rustc); measure"));
    }

    #[test]
    fn a_burst_is_marked_in_its_course() {
        let mut record = record();
        record.header.mode = StorageMode::Burst;
        record.bursts = vec![BurstCell {
            size_bytes: Some(8 << 30),
            pattern: record.patterns[2].pattern.clone(),
            pause_s: 0.0,
            is_recovery: false,
            iops: [vec![14_000.0; 20], vec![400.0; 40]].concat(),
            machine_cpu: None,
        }];
        let page = page(&record, None);
        assert!(page.contains("the burst ends after 20 s: 14.0k/s before, 400/s after"));
        assert!(page.contains("stroke-dasharray=\"4 3\""));
    }
}
