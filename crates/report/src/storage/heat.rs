//! The heat table: block size and share of reads down, depth across, requests per second in the cells.

use std::collections::BTreeSet;

use maud::{Markup, html};
use samples::{Access, PatternResult, StorageRecord};
use units::{bytes, bytes_per_s, per_s, percent, si};

use super::{
    readings::is_of_crystal_disk_mark,
    repeats::{margin, p99, spread},
};
use crate::page::{scrolling, unbroken};

/// Columns of a cell of the table as text, without and with a margin.
const CELL: usize = 8;
const CELL_WITH_MARGIN: usize = 13;
/// Behind a cell that CrystalDiskMark measures, too, and behind one whose rate varied too much.
const DISK_MARK: char = '*';
const NOISY: char = '~';

/// Random patterns by block size and share of reads, over their depths.
pub(crate) struct HeatTable<'a> {
    pub(crate) depths: Vec<u32>,
    /// Block size in bytes, reads in percent, and a result for each depth.
    pub(crate) rows: Vec<(u64, u32, Vec<Option<&'a PatternResult>>)>,
    sequential: Vec<&'a PatternResult>,
    highest: f64,
}

impl<'a> HeatTable<'a> {
    /// What the marks mean.
    pub(crate) const LEGEND: &'static str = "Darker is faster. *: also measured by CrystalDiskMark. ~: too noisy to rely on. ±: half of the 95 % interval of the mean.";

    /// How fast a cell is against the fastest, 0 to 1. A square root: the slow half of the table is not all of one shade.
    pub(crate) fn share(&self, result: &PatternResult) -> f64 {
        if self.highest > 0.0 {
            (result.iops() / self.highest).sqrt().clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Rate and marks of a cell.
    pub(crate) fn cell(&self, result: &PatternResult) -> String {
        mean(result) + &marks(result)
    }

    /// Half of the interval of a cell's mean, `±3%`; `None` where it has none.
    pub(crate) fn margin(&self, result: &PatternResult) -> Option<String> {
        let margin = margin(result).filter(|_| result.error.is_none())?;
        Some(format!("±{}", percent(margin).replace(' ', "")))
    }

    /// `None` where no pattern was measured.
    pub(crate) fn of(record: &'a StorageRecord) -> Option<Self> {
        let is_random = |it: &&PatternResult| it.pattern.access == Access::Random;
        let (random, sequential): (Vec<_>, Vec<_>) = record.patterns.iter().partition(is_random);
        let depths: BTreeSet<u32> = random.iter().map(|it| it.pattern.depth).collect();
        let kinds: BTreeSet<(u64, u32)> = random
            .iter()
            .map(|it| (it.pattern.block_bytes, 100 - it.pattern.reads_percent))
            .collect();
        let at = |block, reads, depth: &u32| {
            let is_at = |it: &&&PatternResult| {
                let pattern = &it.pattern;
                (pattern.block_bytes, pattern.reads_percent, pattern.depth)
                    == (block, reads, *depth)
            };
            random.iter().find(is_at).copied()
        };
        let rows = kinds.into_iter().map(|(block, writes)| {
            let reads = 100 - writes;
            let cells = depths.iter().map(|depth| at(block, reads, depth));
            (block, reads, cells.collect())
        });
        let rows = rows.collect();
        let rates = random.iter().map(|it| it.iops());
        (!record.patterns.is_empty()).then_some(Self {
            rows,
            highest: rates.fold(0.0, f64::max),
            depths: depths.into_iter().collect(),
            sequential,
        })
    }
}

/// The table as text; `None` where no pattern was measured.
pub(super) fn heat_text(record: &StorageRecord) -> Option<String> {
    let table = HeatTable::of(record)?;
    let has_margins = record.patterns.iter().any(|it| margin(it).is_some());
    let width = if has_margins { CELL_WITH_MARGIN } else { CELL };
    let mut lines = Vec::new();
    for it in &table.sequential {
        let marks = marks(it);
        lines.push(format!(
            "{}: {} ({}){marks}",
            it.pattern.name,
            bytes_per_s(it.bytes_per_s()),
            per_s(it.iops())
        ));
    }
    if !table.rows.is_empty() {
        let heads = table.depths.iter().map(|depth| format!("{depth:>width$}"));
        lines.push(format!(
            "{:<18}{}",
            "requests/s, depth",
            heads.collect::<String>()
        ));
    }
    for (block, reads, cells) in &table.rows {
        let label = format!("{} r{reads}", bytes(*block));
        let cells = cells.iter().map(|cell| {
            let shown = cell.map_or("–".to_owned(), |it| {
                mean(it) + &table.margin(it).unwrap_or_default() + &marks(it)
            });
            format!("{shown:>width$}")
        });
        lines.push(format!("{label:<18}{}", cells.collect::<String>()));
    }
    let margins = if has_margins {
        "; ±: half of the 95 % interval of the mean"
    } else {
        ""
    };
    lines.push(format!(
        "r100: reads only, r0: writes only; {DISK_MARK} CrystalDiskMark measures the same; {NOISY} too noisy to rely on{margins}"
    ));
    Some(lines.join("\n"))
}

fn mean(result: &PatternResult) -> String {
    match &result.error {
        Some(_) => "failed".to_owned(),
        None => si(result.iops()),
    }
}

fn marks(result: &PatternResult) -> String {
    let disk_mark = is_of_crystal_disk_mark(&result.pattern).then_some(DISK_MARK);
    let noisy = result.is_noisy().then_some(NOISY);
    disk_mark.into_iter().chain(noisy).collect()
}

/// The table as HTML; nothing where no pattern was measured.
pub(super) fn heat_html(record: &StorageRecord) -> Markup {
    let Some(table) = HeatTable::of(record) else {
        return html! {};
    };
    html! {
        section aria-labelledby="heat" {
            h2 id="heat" { "Requests per second by block size, share of reads and depth" }
            @if !table.sequential.is_empty() {
                (scrolling("Sequential", html! {
                    table.heat {
                        caption { "Sequential" }
                        thead { tr { @for name in ["pattern", "throughput", "requests/s", "p99"] { th scope="col" { (name) } } } }
                        tbody { @for it in &table.sequential { tr {
                            th scope="row" { (it.pattern.name) }
                            td.disk-mark[is_of_crystal_disk_mark(&it.pattern)] { (bytes_per_s(it.bytes_per_s())) (marks(it)) }
                            td { (mean(it)) (table.margin(it).unwrap_or_default()) }
                            td { (p99(it)) }
                        } } }
                    }
                }))
            }
            @if !table.rows.is_empty() {
                (scrolling("Random requests per second", html! {
                    table.heat {
                        caption { "Random requests per second; columns are requests in flight" }
                        thead { tr {
                            th scope="col" { "block" } th scope="col" { "reads" }
                            @for depth in &table.depths { th scope="col" { (depth) } }
                        } }
                        tbody { @for (block, reads, cells) in &table.rows { tr {
                            th scope="row" { (bytes(*block)) }
                            th scope="row" { (unbroken(&percent(f64::from(*reads) / 100.0))) }
                            @for cell in cells { (heat_cell(&table, *cell)) }
                        } } }
                    }
                }))
            }
            p.note {
                "Darker is faster. Outlined and " (DISK_MARK) ": also measured by CrystalDiskMark. " (NOISY)
                ": the rate varied by more than " (unbroken(&percent(samples::NOISY_FROM)))
                " within a run or between repeats; do not rely on it. "
                @if record.header.repeats > 1 {
                    "Each cell is the mean of its repeats, ± half of its 95 % interval if there are three or more repeats."
                } @else { "Each cell is one run: no interval is known." }
            }
        }
    }
}

fn heat_cell(table: &HeatTable<'_>, cell: Option<&PatternResult>) -> Markup {
    let Some(result) = cell else {
        return html! { td { "–" } };
    };
    let heat = format!("--heat:{:.2}", table.share(result));
    let told = [format!("p99 {}", p99(result)), spread(result)];
    let told = told.iter().filter(|it| !it.is_empty());
    let told: Vec<&str> = told.map(String::as_str).collect();
    let hint = format!("{}: {}", result.pattern.name, told.join(", "));
    html! {
        td.disk-mark[is_of_crystal_disk_mark(&result.pattern)] style=(heat) title=(hint) {
            (mean(result)) (table.margin(result).unwrap_or_default()) (marks(result))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn cells_stand_in_their_row_and_column() {
        let mut record = record();
        record
            .patterns
            .push(result("rand_4k_r100_q32", 4096, 100, 32, 60_000.0));
        if let Some(read) = &mut record.patterns[4].read {
            read.iops_deviation = read.iops * 0.52;
        }
        insta::assert_snapshot!(heat_text(&record).unwrap());
        let html = heat_html(&record).into_string();
        assert!(
            html.contains("class=\"disk-mark\" style=\"--heat:0.96\""),
            "{html}"
        );
        record.patterns.clear();
        assert_eq!(heat_text(&record), None);
    }
}
