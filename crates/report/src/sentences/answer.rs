//! The short answer in words: the highest throughput, its certainty, and the CPU use.

use samples::{CpuUse, complete_runs, run_count};
use stats::chosen_mean;
use units::{counted, per_s, percent, si, si_with_interval};
use verdict::Decision;

use crate::{
    grid::{
        Facet, Grid,
        cell::{CONFIDENCE, Cell, Figure},
        in_words,
        percentiles::MARKED,
        scaling::Scaling,
    },
    results::Results,
    sentences::groups::groups_in_words,
};

/// The combination with the highest throughput among some.
pub(crate) struct Peak<'a> {
    pub(crate) line: usize,
    pub(crate) x: usize,
    pub(crate) cell: &'a Cell,
    pub(crate) throughput: Figure,
}

impl Peak<'_> {
    /// Its throughput with an interval that is corrected for the choice among this number of combinations.
    pub(crate) fn chosen_among(&self, combinations: usize) -> Figure {
        let chosen = chosen_mean(&self.cell.throughputs_per_s, combinations, CONFIDENCE);
        Figure {
            interval: chosen.and_then(|it| it.bounds),
            ..self.throughput
        }
    }
}

/// The highest throughput of a facet; `None` when it has no complete run.
pub(crate) fn peak(facet: &Facet) -> Option<Peak<'_>> {
    highest(facet.cells())
}

/// The highest throughput of one line of a facet.
pub(crate) fn peak_of_line(facet: &Facet, line: usize) -> Option<Peak<'_>> {
    highest(facet.cells().filter(|(at, _, _)| *at == line))
}

/// The highest throughput of some combinations, given with their line and their x.
pub(crate) fn highest<'a>(
    cells: impl Iterator<Item = (usize, usize, &'a Cell)>,
) -> Option<Peak<'a>> {
    let measured = cells.filter_map(|(line, x, cell)| {
        let throughput = cell.throughput?;
        Some(Peak {
            line,
            x,
            cell,
            throughput,
        })
    });
    measured.max_by(|a, b| a.throughput.mean.total_cmp(&b.throughput.mean))
}

/// A throughput with its interval: `12.3k ± 0.4k`.
pub(crate) fn throughput_in_words(figure: &Figure) -> String {
    match figure.interval {
        Some(bounds) => si_with_interval(figure.mean, bounds),
        None => si(figure.mean),
    }
}

/// One sentence on the highest throughput of a facet, with its caveats.
pub(crate) fn sentence(grid: &Grid, facet: &Facet) -> String {
    let subject = match facet.name() {
        Some(name) => format!("{name}: highest throughput "),
        None => subject(grid).to_owned(),
    };
    let Some(peak) = peak(facet) else {
        return format!("{subject}unknown, no run is complete.");
    };
    let among = measured(facet);
    let value = throughput_in_words(&peak.chosen_among(among));
    let place = match grid.place(facet, peak.line, peak.x) {
        place if place.is_empty() => String::new(),
        place => format!(" at {place}"),
    };
    let sure = sureness(&peak, among);
    let cpu = match &peak.cell.cpu {
        Some(cpu) => format!("; {}", cpu_in_words(cpu)),
        None => format!("; {}", grid.cpu_missing),
    };
    let doubts: Vec<String> = doubts(grid, facet, &peak)
        .into_iter()
        .map(|doubt| format!(" {doubt}"))
        .collect();
    format!(
        "{subject}{value} operations/s{place} ({sure}){cpu}.{}",
        doubts.concat()
    )
}

fn subject(grid: &Grid) -> &'static str {
    match grid.combinations() {
        1 => "Throughput: ",
        _ => "Highest throughput: ",
    }
}

fn sureness(peak: &Peak, among: usize) -> String {
    let runs = counted(peak.cell.complete, "run");
    match (peak.throughput.interval, among) {
        (None, _) => "1 run: no interval".to_owned(),
        (Some(_), 0 | 1) => format!("95 % interval over {runs}"),
        (Some(_), among) => {
            format!("95 % interval over {runs}, for the highest of {among}")
        }
    }
}

/// Number of combinations of a facet whose throughput is known.
fn measured(facet: &Facet) -> usize {
    facet
        .cells()
        .filter(|(_, _, cell)| cell.throughput.is_some())
        .count()
}

fn doubts(grid: &Grid, facet: &Facet, peak: &Peak) -> Vec<String> {
    let overlap = overlap_in_words(grid, facet, peak);
    overlap
        .into_iter()
        .chain(groups_in_words(&peak.cell.throughputs_per_s, per_s))
        .chain(edge_in_words(grid, peak))
        .collect()
}

/// The highest throughput of all, a sentence with its interval; `None` before any run is complete.
///
/// ```text
/// Highest throughput: 12.3k ± 0.4k operations/s at 16 connections, mix 1:0, rows 0.5x (95 % interval over 5 runs).
/// ```
pub(crate) fn headline(grid: &Grid) -> Option<String> {
    let (facet, peak) = highest_of_all(grid)?;
    let place = place_of_highest(grid, facet, &peak);
    let subject = subject(grid);
    let among = grid.facets.iter().map(measured).sum();
    let value = throughput_in_words(&peak.chosen_among(among));
    Some(format!(
        "{subject}{value} operations/s{place} ({}).",
        sureness(&peak, among)
    ))
}

/// The combination in words, ` at 16 connections, mix 1:0, rows 0.5x`; empty if there is only one.
pub(crate) fn place_of_highest(grid: &Grid, facet: &Facet, peak: &Peak) -> String {
    let place = grid.place(facet, peak.line, peak.x);
    let places = [Some(place).filter(|it| !it.is_empty()), facet.name()];
    let places: Vec<String> = places.into_iter().flatten().collect();
    if places.is_empty() {
        String::new()
    } else {
        format!(" at {}", places.join(", "))
    }
}

/// The caveats of the highest throughput.
pub(crate) fn doubts_of_headline(grid: &Grid) -> Vec<String> {
    let doubts = |(facet, peak): (&Facet, Peak)| doubts(grid, facet, &peak);
    highest_of_all(grid).map(doubts).unwrap_or_default()
}

/// The peak of the line with the highest throughput, by its scaling model; `None` without a model.
pub(crate) fn bend(grid: &Grid) -> Option<String> {
    let (facet, peak) = highest_of_all(grid)?;
    let words = Scaling::of(grid, &facet.lines[peak.line])?.in_words();
    let levels = grid.line.iter().zip(&facet.lines[peak.line].level);
    let line = levels
        .map(|(factor, level)| format!("{} {level}", factor.name))
        .next();
    let place: Vec<String> = line.into_iter().chain(facet.name()).collect();
    Some(if place.is_empty() {
        format!("{words}.")
    } else {
        format!("{}: {words}.", place.join(", "))
    })
}

/// The highest throughput of all facets; `None` before any run is complete.
pub(crate) fn highest_of_all<'g>(grid: &'g Grid<'_>) -> Option<(&'g Facet, Peak<'g>)> {
    let peaks = grid
        .facets
        .iter()
        .filter_map(|facet| Some((facet, peak(facet)?)));
    peaks.max_by(|(_, a), (_, b)| a.throughput.mean.total_cmp(&b.throughput.mean))
}

/// The verdict in one sentence, even for several combinations; `None` without a question.
///
/// ```text
/// Against query_cache 64M, by throughput: of 14 comparisons 9 faster (+12.1 % to +340 %), 5 equivalent, at 95 % for all of
/// them together.
/// ```
pub(crate) fn verdict_in_short(results: &Results, grid: &Grid) -> Option<String> {
    let question = results.verdict.as_ref()?;
    let answers = &grid.answers;
    if let [] | [_] = answers.as_slice() {
        return verdict(results, grid).pop();
    }
    let said = [
        Decision::Faster,
        Decision::Slower,
        Decision::Equivalent,
        Decision::Inconclusive,
    ]
    .into_iter()
    .filter_map(|decision| {
        let mut ratios: Vec<f64> = answers
            .iter()
            .filter(|answer| answer.decision == decision)
            .map(|answer| answer.comparison.map_or(1.0, |it| it.ratio.estimate))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (first, last) = (ratios.first()?, ratios.last()?);
        let (first, last) = (units::change(*first), units::change(*last));
        let range = match (decision.is_different(), first == last) {
            (false, _) => String::new(),
            (true, true) => format!(" ({first})"),
            (true, false) => format!(" ({first} to {last})"),
        };
        Some(format!("{} {}{range}", ratios.len(), decision.word()))
    });
    let said: Vec<String> = said.collect();
    let said = match said.as_slice() {
        [only] => format!("all {only}"),
        several => format!("of {} comparisons {}", answers.len(), several.join(", ")),
    };
    Some(format!(
        "Against {}, by {}: {said}, at 95 % for all of them together.",
        in_words(&question.baseline),
        question.metric.in_words(),
    ))
}

/// The verdict in sentences, one per comparison; empty without a question.
pub(crate) fn verdict(results: &Results, grid: &Grid) -> Vec<String> {
    let Some(question) = &results.verdict else {
        return Vec::new();
    };
    if grid.answers.is_empty() {
        return vec!["Verdict: nothing can be compared yet.".to_owned()];
    }
    let answers = grid.answers.iter();
    answers
        .map(|answer| verdict::sentence(question, answer))
        .collect()
}

/// The CPU use in words: `CPU 96 % busy (server 55 %, client 38 %, rest 3 %)`.
pub(crate) fn cpu_in_words(cpu: &CpuUse) -> String {
    let mut parts = Vec::new();
    if let Some(server) = cpu.server {
        parts.push(format!("server {}", percent(server)));
    }
    if let Some(client) = cpu.client {
        parts.push(format!("client {}", percent(client)));
    }
    if let Some(proxy) = cpu.proxy {
        parts.push(format!("proxy {}", percent(proxy)));
    }
    parts.push(format!("rest {}", percent(cpu.rest)));
    format!("CPU {} busy ({})", percent(cpu.busy()), parts.join(", "))
}

/// The busy share in words: `96 % busy`.
pub(crate) fn busy_in_words(cpu: &CpuUse) -> String {
    format!("{} busy", percent(cpu.busy()))
}

/// Minimum share of the CPU used by other work that is reported.
const OTHER_WORK_NOTABLE: f64 = 0.2;

/// A warning if other work used much of the CPU in any combination; `None` on a quiet machine.
pub(crate) fn other_work(grid: &Grid) -> Option<String> {
    let cells = grid.facets.iter().flat_map(Facet::cells);
    let cpus = cells.filter_map(|(_, _, cell)| cell.cpu);
    // If the server's process was not observed separately, the rest is mostly the server.
    let shares = cpus.filter(|cpu| cpu.server.is_some()).map(|cpu| cpu.rest);
    let notable: Vec<f64> = shares.filter(|share| *share > OTHER_WORK_NOTABLE).collect();
    let most = notable.iter().copied().reduce(f64::max)?;
    Some(format!(
        "Other work took up to {} of the CPU of the server's machine, and more than {} in {} of {}: these are not \
         the figures of a quiet machine.",
        percent(most),
        percent(OTHER_WORK_NOTABLE),
        notable.len(),
        counted(grid.combinations(), "combination"),
    ))
}

/// A note that a peak at the edge of the tested range may not be the true peak.
fn edge_in_words(grid: &Grid, peak: &Peak) -> Option<String> {
    match &grid.x {
        Some(factor) if grid.x_counts_clients() && peak.x + 1 == factor.levels.len() => Some(
            format!("Tested up to {} {}.", factor.levels[peak.x], factor.name),
        ),
        _ => None,
    }
}

/// The combinations from which the peak cannot be distinguished, because a maximum of noisy values is not a ranking.
fn overlap_in_words(grid: &Grid, facet: &Facet, peak: &Peak) -> Option<String> {
    let (low, _) = peak.throughput.interval?;
    let others: Vec<String> = facet
        .cells()
        .filter(|(line, x, _)| (*line, *x) != (peak.line, peak.x))
        .filter(|(_, _, cell)| {
            let interval = cell.throughput.and_then(|figure| figure.interval);
            interval.is_some_and(|(_, high)| high >= low)
        })
        .map(|(line, x, _)| grid.place(facet, line, x))
        .collect();
    match others.len() {
        0 => None,
        1..=3 => Some(format!(
            "Its interval overlaps that of {}.",
            others.join("; ")
        )),
        n => Some(format!(
            "Its interval overlaps those of {n} other combinations."
        )),
    }
}

/// The completed part of the plan, in words.
pub(crate) fn coverage(results: &Results) -> String {
    let complete = complete_runs(&results.runs);
    let incomplete = run_count(&results.runs) - complete;
    let planned = counted(results.planned_runs as usize, "planned run");
    let mut text = if complete == results.planned_runs as usize {
        match complete {
            1 => "The planned run is complete.".to_owned(),
            _ => format!("All {planned} are complete."),
        }
    } else {
        format!("{complete} of {planned} are complete.")
    };
    if incomplete > 0 {
        let verb = if incomplete == 1 { "is" } else { "are" };
        text.push_str(&format!(
            " {} {verb} incomplete and left out of the figures.",
            counted(incomplete, "run")
        ));
    }
    text
}

/// How the figures are calculated, in words.
pub(crate) fn method(grid: &Grid) -> String {
    let intervals = if grid.has_intervals() {
        "± is the 95 % interval of the geometric mean over executions (Student's t on logarithms). Percentiles are such \
         means, too; CPU shares are arithmetic means. Warm-up is excluded."
    } else {
        "1 run per combination: no interval. Warm-up is excluded."
    };
    let mut cells = grid.facets.iter().flat_map(|facet| facet.cells());
    if cells.any(|(_, _, cell)| cell.has_thin_percentiles()) {
        format!("{intervals} {MARKED}")
    } else {
        intervals.to_owned()
    }
}
