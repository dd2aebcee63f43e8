//! The short answer in words: the highest throughput, its certainty, and the CPU use.

use std::{cmp::Ordering, collections::BTreeMap};

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
        whole_place,
    },
    results::Results,
    sentences::{
        doubt::{doubt, doubts_of_decisions},
        groups::groups_in_words,
        measured_state,
        nouns::{has_batches, nouns, run_nouns},
    },
    text::capital::capitalised,
};

/// The combination with the highest throughput among some.
pub(crate) struct Peak<'a> {
    pub(crate) line: usize,
    pub(crate) x: usize,
    pub(crate) cell: &'a Cell,
    pub(crate) throughput: Figure,
}

impl<'a> Peak<'a> {
    /// A combination, if its throughput is known.
    fn at(line: usize, x: usize, cell: &'a Cell) -> Option<Self> {
        let throughput = cell.throughput?;
        Some(Self {
            line,
            x,
            cell,
            throughput,
        })
    }

    /// The combinations of these facets, in words, that cannot be told from it: their intervals overlap where each is as wide
    /// as all of them together need, because the highest of noisy values is also chosen by chance. A comparison with the
    /// baseline that is decided tells its two sides apart.
    fn rivals(&self, grid: &Grid<'_>, facets: &[&Facet]) -> Vec<String> {
        let all = facets.iter().flat_map(|facet| {
            let cells = facet.cells();
            cells.map(move |(line, x, cell)| (facet, line, x, cell))
        });
        let all = all.filter(|(.., cell)| cell.throughput.is_some());
        let all: Vec<_> = all
            .filter(|(.., cell)| grid.work(cell) == grid.work(self.cell))
            .collect();
        let bounds = |cell: &Cell| {
            let of_all = chosen_mean(&cell.throughputs_per_s, all.len(), CONFIDENCE);
            of_all.and_then(|it| it.bounds)
        };
        let Some((low, _)) = bounds(self.cell) else {
            return Vec::new();
        };
        let others = all
            .iter()
            .filter(|(.., cell)| !std::ptr::eq(*cell, self.cell))
            .filter(|(.., cell)| !grid.is_decided_between(self.cell, cell))
            .filter(|(.., cell)| bounds(cell).is_some_and(|(_, high)| high >= low));
        others
            .map(|(facet, line, x, _)| {
                let of_facet = facet.name().filter(|_| facets.len() > 1);
                whole_place(grid.place(facet, *line, *x), of_facet)
            })
            .collect()
    }

    /// The number of combinations that cannot be distinguished from it: `, not distinguishable from 4 other combinations`;
    /// empty if there are none.
    pub(crate) fn rivals_in_short(&self, grid: &Grid<'_>) -> String {
        let facets: Vec<&Facet> = grid.facets.iter().collect();
        counted_rivals(self.rivals(grid, &facets).len(), grid.combinations())
    }
}

/// This number of rivals among all combinations, the highest included.
fn counted_rivals(rivals: usize, combinations: usize) -> String {
    match rivals {
        0 => String::new(),
        1 if combinations == 2 => ", not distinguishable from the other combination".to_owned(),
        1 => ", not distinguishable from 1 other combination".to_owned(),
        others => format!(", not distinguishable from {others} other combinations"),
    }
}

/// The highest throughput of some facets, one for each kind of work, the highest first: that of one script says nothing
/// about another's.
fn peaks<'g>(
    grid: &Grid<'_>,
    facets: impl IntoIterator<Item = &'g Facet>,
) -> Vec<(&'g Facet, Peak<'g>)> {
    let mut by_work: BTreeMap<_, Vec<(&Facet, Peak<'_>)>> = BTreeMap::new();
    for facet in facets {
        for (line, x, cell) in facet.cells() {
            if let Some(peak) = Peak::at(line, x, cell) {
                let of_work = by_work.entry(grid.work(cell)).or_default();
                of_work.push((facet, peak));
            }
        }
    }
    let mut peaks: Vec<_> = by_work
        .into_values()
        .filter_map(|of_work| of_work.into_iter().max_by(|(_, a), (_, b)| by_mean(a, b)))
        .collect();
    peaks.sort_by(|(_, a), (_, b)| by_mean(b, a));
    peaks
}

/// The highest throughput of each kind of work, the highest first.
pub(crate) fn highest_of_each_work<'g>(grid: &'g Grid<'_>) -> Vec<(&'g Facet, Peak<'g>)> {
    peaks(grid, &grid.facets)
}

fn by_mean(a: &Peak<'_>, b: &Peak<'_>) -> Ordering {
    a.throughput.mean.total_cmp(&b.throughput.mean)
}

pub(crate) fn peak_of_line(facet: &Facet, line: usize) -> Option<Peak<'_>> {
    highest(facet.cells().filter(|(at, _, _)| *at == line))
}

/// The highest throughput of some combinations, given with their line and their x.
pub(crate) fn highest<'a>(
    cells: impl Iterator<Item = (usize, usize, &'a Cell)>,
) -> Option<Peak<'a>> {
    let measured = cells.filter_map(|(line, x, cell)| Peak::at(line, x, cell));
    measured.max_by(by_mean)
}

/// A throughput with its interval: `12.3k (11.9k to 12.7k)`.
pub(crate) fn throughput_in_words(figure: &Figure) -> String {
    match figure.interval {
        Some(bounds) => si_with_interval(figure.mean, bounds),
        None => si(figure.mean),
    }
}

/// A sentence on the highest throughput of a facet for each kind of work, with its caveats.
pub(crate) fn sentence(grid: &Grid, facet: &Facet) -> String {
    let subject = match facet.name() {
        Some(name) => format!("{name}: highest throughput "),
        None => subject(grid).to_owned(),
    };
    let peaks = peaks(grid, [facet]);
    if peaks.is_empty() {
        return format!("{subject}unknown, because no run is complete.");
    }
    let said = peaks.into_iter();
    let said: Vec<String> = said
        .map(|(_, peak)| sentence_on(grid, facet, &subject, &peak))
        .collect();
    said.join(" ")
}

fn sentence_on(grid: &Grid, facet: &Facet, subject: &str, peak: &Peak<'_>) -> String {
    let value = throughput_in_words(&peak.throughput);
    let place = match grid.place(facet, peak.line, peak.x) {
        place if place.is_empty() => String::new(),
        place => format!(" at {place}"),
    };
    let sure = confidence(peak);
    let cpu = match &peak.cell.cpu {
        Some(cpu) => format!("; {}", cpu_in_words(cpu)),
        None => format!("; {}", grid.cpu_missing),
    };
    let doubts: Vec<String> = doubts(grid, &[facet], peak)
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

fn confidence(peak: &Peak) -> String {
    let (complete, noun) = (peak.cell.complete, peak.cell.noun);
    match peak.throughput.interval {
        None => format!("1 {noun}: no interval"),
        Some(_) => format!("95 % interval over {}", counted(complete, noun)),
    }
}

fn doubts(grid: &Grid, facets: &[&Facet], peak: &Peak) -> Vec<String> {
    let rivals = rivals_in_words(grid, facets, peak);
    let nouns = nouns(peak.cell.noun == "batch");
    rivals
        .into_iter()
        .chain(groups_in_words(&peak.cell.throughputs_per_s, per_s, nouns))
        .chain(edge_in_words(grid, peak))
        .collect()
}

/// The highest throughput of each kind of work, a sentence with its interval; `None` before any run is complete.
///
/// ```text
/// Highest throughput: 12.3k (11.9k to 12.7k) operations/s at 16 connections, mix 1:0, rows 0.5x (95 % interval over 5 runs).
/// ```
pub(crate) fn headline(grid: &Grid) -> Option<String> {
    let peaks = highest_of_each_work(grid);
    let subject = match peaks.len() {
        0 => return None,
        1 => subject(grid),
        _ => "Highest throughput of each kind of work: ",
    };
    let said = peaks.iter().map(|(facet, peak)| {
        let place = place_of_highest(grid, facet, peak);
        let value = throughput_in_words(&peak.throughput);
        let sure = confidence(peak);
        format!("{value} operations/s{place} ({sure})")
    });
    let said: Vec<String> = said.collect();
    Some(format!("{subject}{}.", said.join("; ")))
}

/// The combination in words, ` at 16 connections, mix 1:0, rows 0.5x`; empty if there is only one.
pub(crate) fn place_of_highest(grid: &Grid, facet: &Facet, peak: &Peak) -> String {
    match whole_place(grid.place(facet, peak.line, peak.x), facet.name()) {
        place if place.is_empty() => place,
        place => format!(" at {place}"),
    }
}

/// The caveats of the highest throughput; none where different work has one each, of which a caveat would not say whose it
/// is.
pub(crate) fn doubts_of_headline(grid: &Grid) -> Vec<String> {
    let facets: Vec<&Facet> = grid.facets.iter().collect();
    match highest_of_each_work(grid).as_slice() {
        [(_, peak)] => doubts(grid, &facets, peak),
        _ => Vec::new(),
    }
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

/// The highest throughput of all facets, whatever the work; `None` before any run is complete.
pub(crate) fn highest_of_all<'g>(grid: &'g Grid<'_>) -> Option<(&'g Facet, Peak<'g>)> {
    highest_of_each_work(grid).into_iter().next()
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
    let said = Decision::ALL.into_iter().filter_map(|decision| {
        let mut ratios: Vec<f64> = answers
            .iter()
            .filter(|answer| answer.decision == decision)
            .map(|answer| answer.comparison.map_or(1.0, |it| it.ratio.estimate))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (first, last) = (ratios.first()?, ratios.last()?);
        let [first, last] = units::changes([*first, *last]);
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
        "Compared with {} by {}: {said}, at 95 % confidence over all comparisons.{}{}",
        in_words(&question.baseline),
        question.metric.in_words(),
        state_of_servers(results),
        doubts_of_decisions(question, grid),
    ))
}

/// The state in which servers were measured side by side: ` Measured on steady servers.`; empty for other runs.
fn state_of_servers(results: &Results) -> String {
    let state = measured_state::in_words(&results.runs);
    state.map_or_else(String::new, |state| format!(" {}.", capitalised(state)))
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
    let said = answers.map(|answer| {
        let sentence = verdict::sentence(question, answer);
        match doubt(question, answer, grid) {
            Some(why) => format!("{sentence} This is doubtful, because {why}."),
            None => sentence,
        }
    });
    let mut said: Vec<String> = said.collect();
    // The state is that of all servers, and is named once.
    if let Some(first) = said.first_mut() {
        first.push_str(&state_of_servers(results));
    }
    said
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
        "Other programs used on average up to {} of the CPU of the server's machine during a combination's runs, and more \
         than {} in {} of {}: the machine was not quiet.",
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

/// The combinations that cannot be told from the highest.
fn rivals_in_words(grid: &Grid, facets: &[&Facet], peak: &Peak) -> Option<String> {
    let rivals = peak.rivals(grid, facets);
    let others = match rivals.len() {
        0 => return None,
        1..=3 => rivals.join("; "),
        n => format!("{n} other combinations"),
    };
    Some(format!(
        "It is the highest, but not distinguishable from {others}."
    ))
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
            " {} {verb} incomplete and excluded from the figures.",
            counted(incomplete, "run")
        ));
    }
    text
}

/// How the figures are calculated, in words.
pub(crate) fn method(grid: &Grid) -> String {
    let of_batches = has_batches(grid);
    let intervals = if grid.has_intervals() {
        let [_, nouns] = nouns(of_batches);
        format!(
            "In brackets: the 95 % interval of the geometric mean over {nouns} (Student's t on logarithms). Percentiles are also geometric means; CPU shares are arithmetic means. Warm-up is excluded."
        )
    } else {
        let [noun, _] = run_nouns(of_batches);
        format!("1 {noun} per combination: no interval. Warm-up is excluded.")
    };
    let mut cells = grid.facets.iter().flat_map(|facet| facet.cells());
    if cells.any(|(_, _, cell)| cell.has_thin_percentiles()) {
        format!("{intervals} {MARKED}")
    } else {
        intervals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_rival_of_two_combinations_is_the_other_one() {
        for (rivals, combinations, from) in [
            (1, 2, "the other combination"),
            (1, 3, "1 other combination"),
            (2, 3, "2 other combinations"),
        ] {
            let said = counted_rivals(rivals, combinations);
            assert_eq!(said, format!(", not distinguishable from {from}"));
        }
        assert_eq!(counted_rivals(0, 2), "");
    }
}
