//! The answer of a storage measurement in a dozen lines for a terminal, and what it rests on below.
//!
//! ```text
//! device    vda (disk, write cache: write back, scheduler none), ext4 relatime; power-loss protection unknown
//! commit    2.42k/s durable with 1 writer, p50 370 µs, p99 2.10 ms (redo log 160 µs, binary log 190 µs); 8 writers 9.10k/s
//! read      16 KiB random: depth 1 14.6k/s p99 400 µs, depth 64 64.5k/s p99 25.6 ms; knee at depth 16
//! fit       durable commits: fit if flushed writes survive a power cut; random reads of pages: fit
//! ```

use audit::Audit;
use samples::{CommitResult, CommitSequence, PatternResult, StorageMode, StorageRecord};
use stats::{STEADY_RANGE_BELOW, STEADY_ROUNDS, STEADY_SLOPE_BELOW};
use units::{bytes, bytes_per_s, counted, duration, moment, per_s, percent};

use super::{
    heat::heat_text,
    jobs::jobs_text,
    limit::{limit_in_words, limit_notes},
    my_cnf,
    problems::{noise, problems},
    readings::{DepthCourse, PAGE, bursts, may_lose_flushed, place, sequential, steady},
    repeats::{rate, repeats_text},
    steadiness::DiskSteadiness,
    uses::{uses, uses_in_words},
};
use crate::{page::devices, text::facts::Facts};

/// Lines of the answer, with the one that names the page.
const LINES_MAX: usize = 12;
/// The narrowest terminal that is written for, columns.
const NARROWEST: usize = 60;

/// The content of a line of the answer.
enum Content {
    Text(String),
    /// The problems found, which are listed as far as they fit.
    Problems(Vec<String>),
}

/// The answer as text of at most `width` columns and twelve lines, ending with a line feed; `audit` is that of the record.
pub fn storage_summary(record: &StorageRecord, audit: &Audit, page: &str, width: u16) -> String {
    let width = usize::from(width).max(NARROWEST);
    let text = |text: Option<String>| text.map(Content::Text);
    let problems = Content::Problems(problems(audit));
    let contents = [
        ("device", text(Some(device_in_words(record)))),
        ("limit", text(limit_in_words(record))),
        ("commit", text(commits_in_words(record))),
        ("read", text(pages_in_words(record, 100))),
        ("write", text(pages_in_words(record, 0))),
        ("mixed", text(pages_in_words(record, 50))),
        ("files", text(files_in_words(record))),
        ("steady", text(steady_in_words(record))),
        ("burst", text(burst_in_words(record))),
        ("suspect", Some(problems)),
        ("noise", text(noise(record))),
        ("fit", text(uses_in_words(record))),
        ("page", text(Some(page.to_owned()))),
    ];
    let contents: Vec<_> = contents
        .into_iter()
        .filter_map(|(label, content)| Some((label, content?)))
        .collect();
    // Two lines each where they fit, or one.
    let drawn = [2, 1].into_iter().map(|lines_max| {
        let mut facts = Facts::new(width);
        for (label, content) in &contents {
            match content {
                Content::Text(text) => facts.add(label, lines_max, text),
                Content::Problems(problems) => {
                    facts.add_list(label, lines_max, problems, "in the page");
                }
            }
        }
        facts.into_lines()
    });
    let mut fitting = drawn.filter(|lines| lines.len() <= LINES_MAX);
    let lines = fitting.next().unwrap_or_default();
    lines.join("\n") + "\n"
}

/// What the answer rests on: the heat table, each use with its threshold, the lines for a my.cnf, and what was left out.
pub fn storage_details(record: &StorageRecord) -> String {
    let mut parts = Vec::new();
    parts.extend(heat_text(record));
    parts.extend(repeats_text(record));
    parts.extend(jobs_text(record));
    if judges_uses(record) {
        let uses = uses(record).into_iter().map(|it| {
            let mut words = format!("{}: {} ({})", it.name, it.verdict(), it.evidence);
            for line in it.reason().into_iter().chain([it.threshold]) {
                words.push_str(&format!("\n  {line}"));
            }
            words
        });
        parts.push(uses.collect::<Vec<_>>().join("\n"));
    }
    let lines = my_cnf::lines(record).text();
    parts.extend(lines.filter(|_| judges_uses(record)));
    let notes = limit_notes(record);
    if !notes.is_empty() {
        let notes = notes.iter().map(|note| format!("limit: {note}."));
        parts.push(notes.collect::<Vec<_>>().join("\n"));
    }
    if !record.header.left_out.is_empty() {
        parts.push(format!("left out: {}", record.header.left_out.join("; ")));
    }
    parts
        .iter()
        .map(|part| format!("{part}\n"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether what was measured says something of uses: courses over time do not.
fn judges_uses(record: &StorageRecord) -> bool {
    !record.patterns.is_empty() || !record.commits.is_empty()
}

/// `vda (disk, ...), ext4 relatime,rw; power-loss protection unknown`.
pub(super) fn device_in_words(record: &StorageRecord) -> String {
    let storage = &record.header.storage;
    let Some(place) = place(record) else {
        return match record.header.mode {
            StorageMode::Import => format!(
                "unknown, not in the files of {}: device, scheduler, write cache, file system",
                record.header.fio_version.as_deref().unwrap_or("the tool")
            ),
            _ => "not observed".to_owned(),
        };
    };
    let devices = devices(place, storage);
    let behind = if devices.is_empty() {
        "no block device"
    } else {
        &devices
    };
    let mut words = format!("{behind}; {} {}", place.filesystem, place.mount_options);
    words.truncate(words.trim_end().len());
    if !record.header.direct {
        words.push_str(", through the page cache");
    }
    if may_lose_flushed(record) {
        words.push_str("; power-loss protection unknown");
    }
    words
}

fn commits_in_words(record: &StorageRecord) -> Option<String> {
    let (first, rest) = record.commits.split_first()?;
    let rate = |it: &CommitResult| per_s(it.commits_per_s());
    let time = |ns: u64| duration(ns as f64);
    let mut words = format!(
        "{} durable with {}{}, p50 {}, p99 {} (redo log {}, binary log {})",
        rate(first),
        counted(first.writers as usize, "writer"),
        match first.sequence {
            CommitSequence::Mariadb => "",
            CommitSequence::Mysql => " by MySQL's calls",
        },
        time(first.commit.p50_ns),
        time(first.commit.p99_ns),
        time(first.redo.p50_ns),
        time(first.binlog.p50_ns),
    );
    for it in rest {
        let writers = counted(it.writers as usize, "writer");
        words.push_str(&format!("; {writers} {}", rate(it)));
    }
    Some(words)
}

/// Random requests of pages: the smallest and the best depth, and the knee.
fn pages_in_words(record: &StorageRecord, reads_percent: u32) -> Option<String> {
    let course = DepthCourse::of(record, PAGE, reads_percent)?;
    let (first, highest) = (course.results[0], course.highest());
    let mut words = format!("{} random: {}", bytes(PAGE), at_depth(first));
    if highest.pattern.depth != first.pattern.depth {
        words.push_str(&format!(", {}", at_depth(highest)));
    }
    if let Some(knee) = course.knee() {
        words.push_str(&format!("; knee at depth {}", knee.pattern.depth));
    }
    Some(words)
}

/// `depth 16 59.6k/s p99 1.32 ms`; of a mixed pattern the percentile of each side, for they are no common one.
fn at_depth(result: &PatternResult) -> String {
    let is_mixed = result.read.is_some() && result.write.is_some();
    let names = if is_mixed {
        ["reads ", "writes "]
    } else {
        ["", ""]
    };
    let sides = [&result.read, &result.write].into_iter().zip(names);
    let p99 = sides.filter_map(|(side, name)| {
        let latency = side.as_ref()?.latency?;
        Some(format!("{name}{}", duration(latency.p99_ns as f64)))
    });
    let p99: Vec<_> = p99.collect();
    let p99 = if p99.is_empty() {
        "unknown".to_owned()
    } else {
        p99.join(", ")
    };
    let (depth, rate) = (result.pattern.depth, rate(result));
    format!("depth {depth} {rate}/s p99 {p99}")
}

fn files_in_words(record: &StorageRecord) -> Option<String> {
    let side = |verb: &str, reads_percent| {
        let result = sequential(record, reads_percent)?;
        let block = bytes(result.pattern.block_bytes);
        let rate = bytes_per_s(result.bytes_per_s());
        Some(format!("sequential {verb} of {block} {rate}"))
    };
    let sides: Vec<_> = [side("reads", 100), side("writes", 0)]
        .into_iter()
        .flatten()
        .collect();
    (!sides.is_empty()).then(|| sides.join(", "))
}

pub(super) fn steady_in_words(record: &StorageRecord) -> Option<String> {
    if record.header.mode != StorageMode::Steady {
        return None;
    }
    let rounds = counted(record.rounds.len(), "round");
    let figures = steady(record).map(|window| {
        format!(
            "{} in the last {STEADY_ROUNDS}, range {} (limit {}), slope {} (limit {})",
            per_s(window.mean),
            percent(window.range),
            percent(STEADY_RANGE_BELOW),
            percent(window.slope),
            percent(STEADY_SLOPE_BELOW),
        )
    });
    let figures = figures.unwrap_or_default();
    Some(match DiskSteadiness::of(record) {
        DiskSteadiness::Reached => format!("reached after {rounds}: {figures}"),
        DiskSteadiness::NotReached => format!("NOT REACHED after {rounds}: {figures}"),
        DiskSteadiness::Undecided(why) if figures.is_empty() => format!("undecided: {why}"),
        DiskSteadiness::Undecided(why) => {
            format!("undecided after {rounds}: {why}; {figures}")
        }
    })
}

pub(super) fn burst_in_words(record: &StorageRecord) -> Option<String> {
    let has_courses = matches!(record.header.mode, StorageMode::Burst | StorageMode::Import);
    if !has_courses || record.bursts.is_empty() {
        return None;
    }
    let found = bursts(record);
    let Some((index, burst)) = found.first() else {
        let longest = record
            .bursts
            .iter()
            .map(|it| it.iops.len())
            .max()
            .unwrap_or(0);
        return Some(format!(
            "none found in {} of up to {}",
            counted(record.bursts.len(), "cell"),
            moment(longest as f64)
        ));
    };
    let cell = &record.bursts[*index];
    let mut words = format!(
        "ends after {} ({}, depth {}): {} before, {} after; credit of about {} requests",
        moment(burst.end as f64),
        cell.size_bytes.map_or("size unknown".to_owned(), bytes),
        cell.pattern.depth,
        per_s(burst.before),
        per_s(burst.after),
        units::si(burst.credit()),
    );
    let recovery = record.bursts.get(index + 1).filter(|it| it.is_recovery);
    if let Some(recovery) = recovery {
        let count = recovery.iops.len().clamp(1, 5);
        let first = recovery.iops.iter().take(count).sum::<f64>() / count as f64;
        let pause = moment(recovery.pause_s);
        words.push_str(&format!("; {} after a pause of {pause}", per_s(first)));
    }
    if found.len() > 1 {
        words.push_str(&format!(
            "; {} of {} end",
            found.len(),
            counted(record.bursts.len(), "cell")
        ));
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};
    use samples::{BurstCell, SteadyRound};

    #[test]
    fn the_answer_has_at_most_twelve_lines() {
        let record = record();
        let audit = audit::audit(&audit::Subject::of_storage(&record));
        let page = "results/storage-1/storage.html";
        let wide = storage_summary(&record, &audit, page, 160);
        insta::assert_snapshot!(wide);
        for width in [60, 80, 120] {
            let text = storage_summary(&record, &audit, page, width);
            assert!(text.lines().count() <= LINES_MAX, "{text}");
            assert!(
                text.lines()
                    .all(|line| line.chars().count() <= width.into())
            );
        }
        insta::assert_snapshot!(storage_details(&record));
    }

    #[test]
    fn a_busy_machine_is_named_with_what_to_do() {
        let mut record = record();
        record.commits[0].commit.p99_ns = 15_100_000;
        record.commits[0].machine_cpu = Some(machine_cpu(0.93));
        record.patterns[6].machine_cpu = Some(machine_cpu(0.93));
        let audit = audit::audit(&audit::Subject::of_storage(&record));
        let summary = storage_summary(&record, &audit, "storage.html", 160);
        for line in [
            "suspect   other programs used up to 93 % of the CPU (rustc) (H14); ",
            "fit       durable commits: cannot be told, other programs used 93 % of the CPU (rustc); random reads of pages: fit;",
        ] {
            assert!(summary.contains(&format!("\n{line}")), "{summary}");
        }
        let why = "other programs used 93 % of the CPU (rustc); measure again on an idle machine";
        let details = storage_details(&record);
        for part in [
            format!(
                "durable commits: cannot be told (2.42k/s with one writer, p99 15.1 ms)\n  {why}\n  fit: 500/s"
            ),
            format!(
                "[mysqld]\n# innodb_io_capacity, innodb_io_capacity_max: left out, because {why}\n# a page is"
            ),
        ] {
            assert!(details.contains(&part), "{details}");
        }
        assert!(!details.contains("innodb_io_capacity = "), "{details}");
    }

    #[test]
    fn the_steady_state_is_told_with_both_criteria() {
        let mut record = record();
        record.header.mode = StorageMode::Steady;
        let round = |(round, iops)| SteadyRound {
            round,
            result: result("rand_16k_r0_q16", PAGE, 0, 16, iops),
        };
        let rates = [42_189.0, 32_539.0, 37_877.0, 35_213.0, 42_643.0];
        record.rounds = (1..).zip(rates).map(round).collect();
        assert_eq!(
            steady_in_words(&record).unwrap(),
            "NOT REACHED after 5 rounds: 38.1k/s in the last 5, range 27 % (limit 20 %), slope 3.8 % (limit 10 %)"
        );
        record.rounds[4].result.machine_cpu = Some(machine_cpu(0.93));
        assert_eq!(
            steady_in_words(&record).unwrap(),
            "undecided after 5 rounds: other programs used 93 % of the CPU (rustc); 38.1k/s in the last 5, \
             range 27 % (limit 20 %), slope 3.8 % (limit 10 %)"
        );
        record.rounds.truncate(3);
        assert_eq!(
            steady_in_words(&record).unwrap(),
            "undecided: 3 rounds, but 5 are needed"
        );
    }

    #[test]
    fn a_burst_is_told_with_both_levels() {
        let mut record = record();
        record.header.mode = StorageMode::Burst;
        let cell = |iops: Vec<f64>, is_recovery| BurstCell {
            size_bytes: Some(8 << 30),
            pattern: result("burst", 4096, 100, 8, 1.0).pattern,
            pause_s: 30.0,
            is_recovery,
            iops,
            machine_cpu: None,
        };
        record.bursts = vec![cell(vec![1_000.0; 60], false)];
        assert_eq!(
            burst_in_words(&record).unwrap(),
            "none found in 1 cell of up to 60 s"
        );
        let fall = [vec![14_000.0; 20], vec![400.0; 40]].concat();
        record.bursts = vec![cell(fall, false), cell(vec![13_000.0; 10], true)];
        assert_eq!(
            burst_in_words(&record).unwrap(),
            "ends after 20 s (8.00 GiB, depth 8): 14.0k/s before, 400/s after; credit of about 272k requests; \
             13.0k/s after a pause of 30 s"
        );
    }
}
