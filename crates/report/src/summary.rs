//! The answer of an experiment in at most a dozen lines for a terminal; the page, `dbdyno audit` and `-v` have the
//! details.
//!
//! ```text
//! How many simple queries per second does this server hold, and where does it bend?
//! mix 1:0: 15.3k (13.5k to 17.3k) operations/s at 8 connections, still rising; p50 544 µs, p95 1.54 ms, p99 2.24 ms
//! mix 5:1: 9.73k (8.14k to 11.6k) operations/s at 4 connections, no gain beyond; p50 854 µs, p95 2.41 ms, p99 3.51 ms
//!
//! measured  24 of 24 runs of 20 s: 10.11.19-MariaDB, unix socket, 1 to 8 connections
//! limit     CPU: 98 % busy (server 55 %, client 38 %, rest 5 %), in 3 of 3 runs
//! trust     grade B; machine quiet; 2 warnings
//! next      dbdyno audit results/quickstart-1
//! ```

mod clause_lines;
mod event_table;
mod gain;
pub(crate) mod next_step;
mod why;

use std::path::Path;

use audit::{Audit, Level, MACHINE_RULE};
use samples::{Record, complete_runs};
use units::{counted, duration, moment};

pub(crate) use clause_lines::ANSWER_LINES_MAX;

use clause_lines::{Clauses, fitted};
use gain::Gain;
use why::why;

use crate::{
    expectations,
    grid::{
        Facet, Grid, USUAL_X,
        cell::Percentile,
        in_words,
        percentiles::{mark_explained, marked},
    },
    results::Results,
    sentences::{
        answer, clauses,
        doubt::{broken_rule, conditions},
        events::{self, answer::EventAnswer, overview::overviews},
        figures::{latency, unit},
        limit::PeakLimit,
        max_rates, measured_state, set_limit,
    },
    text::facts::{Facts, cut},
};

/// Maximum number of lines of the whole summary, including the line that names the page.
pub(crate) const LINES_MAX: usize = 12;
/// Lines that the answer may have, whatever else there is to say; several comparisons may have all.
const ANSWER_LINES_MIN: usize = 3;
/// Facts that make room for the answer.
const LESS_IMPORTANT: [&str; 2] = ["throttled", "limit"];
/// Maximum number of comparisons that are listed separately.
const COMPARISONS_MAX: usize = 3;
/// Maximum number of levels of a factor that are listed separately.
const LEVELS_MAX: usize = 6;
/// Minimum width of a terminal, columns.
pub(crate) const NARROWEST: usize = 60;

/// The answer of the results in `dir` as text of at most `width` columns and eleven lines, ending with a line feed; the
/// caller's line that names the page is the twelfth. `again` gives the command line of the next step, which may be wider;
/// where it has none, the next step is the audit.
pub fn summary(
    results: &Results,
    dir: &Path,
    width: u16,
    again: &dyn Fn(next_step::NextStep) -> Option<String>,
) -> String {
    let width = usize::from(width).max(NARROWEST);
    let grid = Grid::of(results);
    let mut facts = Facts::new(width);
    facts.add("measured", 1, &measured(results, &grid));
    facts.add_some("errors", failed(&grid));
    facts.add_some("missing", incomplete(results));
    let expected = expectations::in_short(&expectations::of_grid(results, &grid));
    if let Some(expected) = expected {
        facts.add("expect", 2, &expected);
    }
    if let Some(why) = why(results, &grid) {
        facts.add("why", 2, &why);
    }
    let planned = overviews(results, &grid);
    let events = EventAnswer::of(results, &planned);
    // The limit is that of the highest throughput, which is no part of the answer about rates that keep a limit, or about
    // events of several combinations.
    let has_peak = results.searches.is_empty() && events.is_none();
    if has_peak || grid.combinations() == 1 {
        facts.add_some("limit", limit(results, &grid));
    }
    facts.add_some("throttled", set_limit::in_short(results));
    if let Some(audit) = &results.audit {
        facts.add("trust", 2, &trust(audit));
    }
    facts.add_command("next", &next_step::command(results, &grid, dir, again));
    let question = cut("", results.title(), width, 1);
    // A blank line separates answer and facts, and the caller adds the line of the page.
    let all = LINES_MAX - question.len() - 2;
    let clauses = match &events {
        Some(events) => clauses_of(results, &grid).behind(events.clauses()),
        None => clauses_of(results, &grid).before(events::sentences(&planned)),
    };
    let answer = |left: usize| match &events {
        Some(events) if grid.combinations() > 1 => costs(events, &grid, width, left),
        _ => fitted(&clauses, width, left),
    };
    // The mark is explained wherever it is printed. Whether it is depends on the room.
    let has_mark = |lines: usize| mark_explained(&answer(lines)).is_some();
    let kept = usize::from((ANSWER_LINES_MIN..=all).any(has_mark));
    let has_several = (2..=COMPARISONS_MAX).contains(&grid.answers.len());
    let least = if has_several {
        ANSWER_LINES_MAX
    } else {
        ANSWER_LINES_MIN
    };
    let needed = answer(least).len();
    let facts = facts.into_lines_within(all - kept - needed, &LESS_IMPORTANT);
    let room = (all - kept).saturating_sub(facts.len());
    let mut said = answer(room);
    match mark_explained(&said) {
        Some(explanation) => said.push(explanation),
        None if kept > 0 && !has_mark(room + 1) => said = answer(room + 1),
        None => {}
    }
    let parts = [question, said, vec![String::new()], facts];
    parts.concat().join("\n") + "\n"
}

/// The costs of events in several combinations: a table of one event where it fits, else the highest and the lowest.
fn costs(answer: &EventAnswer, grid: &Grid<'_>, width: usize, lines_max: usize) -> Vec<String> {
    let table = match answer.events {
        [event] => event_table::lines(event, grid, width, lines_max),
        _ => None,
    };
    table.unwrap_or_else(|| fitted(&Clauses::from(answer.clauses()), width, lines_max))
}

/// The highest rates that keep a limit; else the clauses that the author named; else the comparisons that were asked for;
/// else the highest throughput of each line of the chart.
fn clauses_of(results: &Results, grid: &Grid<'_>) -> Clauses {
    let rates = max_rates::short_search_sentences(&results.factors, &results.searches);
    let named = if rates.is_empty() {
        clauses::lines(results, grid)
    } else {
        rates
    };
    if !named.is_empty() && grid.combinations() > 0 {
        return Clauses::from(named);
    }
    let mut clauses = comparisons(results, grid);
    let comparisons = clauses.len();
    // The highest of the throughputs of different loads says nothing.
    if clauses.is_empty() || results.has_several_loads() {
        let facets = grid.facets.iter();
        clauses.extend(facets.flat_map(|facet| lines_of(grid, facet)));
    } else {
        clauses.extend(highest(grid));
    }
    if clauses.is_empty() {
        clauses.push("No results: no run is complete.".to_owned());
    }
    Clauses {
        all: clauses,
        comparisons,
    }
}

fn comparisons(results: &Results, grid: &Grid<'_>) -> Vec<String> {
    let Some(question) = &results.verdict else {
        return Vec::new();
    };
    if grid.answers.len() <= COMPARISONS_MAX {
        // The state is that of all servers, and is named once.
        let mut state = measured_state::in_words(&results.runs);
        let short = grid.answers.iter().map(|it| {
            let said = verdict::short_sentence(question, it);
            said + &conditions(state.take(), broken_rule(question, it, grid))
        });
        return short.collect();
    }
    answer::verdict_in_short(results, grid)
        .into_iter()
        .collect()
}

/// The highest throughput of each kind of work.
fn highest(grid: &Grid<'_>) -> Vec<String> {
    let peaks = answer::highest_of_each_work(grid).into_iter();
    let said = peaks.map(|(facet, peak)| {
        let at = answer::place_of_highest(grid, facet, &peak);
        let value = answer::throughput_in_words(&peak.throughput);
        let rivals = peak.rivals_in_short(grid);
        let (unit, latency) = (unit(peak.cell), latency(peak.cell));
        format!("Highest: {value} {unit}{at}{rivals}{latency}")
    });
    said.collect()
}

/// A clause for each line of a facet.
fn lines_of<'g>(grid: &'g Grid<'_>, facet: &'g Facet) -> impl Iterator<Item = String> + 'g {
    (0..facet.lines.len()).filter_map(|line| {
        let factor = grid.line.as_ref().map(|factor| factor.name.as_str());
        let level = facet.lines[line].level.as_ref();
        let own = factor
            .zip(level)
            .map(|(factor, level)| format!("{factor} {level}"));
        let name: Vec<String> = facet.name().into_iter().chain(own).collect();
        let subject = match name.join(", ") {
            name if name.is_empty() => String::new(),
            name => format!("{name}: "),
        };
        let is_category = grid.x.is_some() && !grid.x_counts_clients();
        let said = if is_category {
            levels_in_words(grid, facet, line)
        } else {
            peak_in_words(grid, facet, line)
        };
        Some(format!("{subject}{}", said?))
    })
}

/// The peak of a line in words:
/// `15.3k (13.5k to 17.3k) operations/s at 8 connections, still rising; p50 544 µs, p95 1.54 ms, p99 2.24 ms`.
fn peak_in_words(grid: &Grid<'_>, facet: &Facet, line: usize) -> Option<String> {
    let peak = answer::peak_of_line(facet, line)?;
    let value = answer::throughput_in_words(&peak.throughput);
    let at = grid.place_on_x(peak.x);
    let at = at.map_or_else(String::new, |place| format!(" at {place}"));
    let scaling = Gain::of(facet, line, &peak).map_or("", Gain::in_words);
    let (unit, latency) = (unit(peak.cell), latency(peak.cell));
    Some(format!("{value} {unit}{at}{scaling}{latency}"))
}

/// The levels of a line in words:
/// `pool 24M: 15.2k (15.0k to 15.4k) operations/s (p95 1.20 ms); pool 48M: 17.0k (16.9k to 17.1k) operations/s (p95 1.10 ms)`.
fn levels_in_words(grid: &Grid<'_>, facet: &Facet, line: usize) -> Option<String> {
    let factor = grid.x.as_ref()?;
    let cells = facet.lines[line].cells.iter().zip(&factor.levels);
    let told = cells.filter_map(|(cell, level)| {
        let cell = cell.as_ref()?;
        let value = answer::throughput_in_words(&cell.throughput?);
        let (name, unit) = (&factor.name, unit(cell));
        let p95 = cell.percentile_ns(Percentile::P95).map(|figure| {
            let in_words = marked(duration(figure.mean), figure.is_thin);
            format!(" (p95 {in_words})")
        });
        Some(format!(
            "{name} {level}: {value} {unit}{}",
            p95.unwrap_or_default()
        ))
    });
    let mut told: Vec<String> = told.collect();
    let more = told.len().saturating_sub(LEVELS_MAX);
    told.truncate(LEVELS_MAX);
    let all = match (told.is_empty(), more) {
        (true, _) => return None,
        (false, 0) => told.join("; "),
        (false, more) => format!("{}; and {more} more", told.join("; ")),
    };
    Some(all)
}

/// `24 of 24 runs of 20 s: 10.11.19-MariaDB, unix socket, 1 to 8 connections`.
pub(crate) fn measured(results: &Results, grid: &Grid<'_>) -> String {
    let complete: Vec<&Record> = results.runs.iter().filter(|it| it.is_complete()).collect();
    let planned = counted(results.planned_runs as usize, "run");
    let lengths = complete.iter().map(|it| it.totals().measured_s);
    let length = lengths
        .reduce(f64::max)
        .map(|longest| format!(" of {}", moment(longest)));
    let versions = distinct(&complete, |it| {
        it.servers.first().map(|server| server.version.clone())
    });
    let is_of_disk = complete.iter().any(|it| it.disk_load.is_some());
    let ways = distinct(&complete, |it| {
        Some(match &it.disk_load {
            Some(load) => load.in_words(),
            None => it.header.transport.clone(),
        })
    });
    let connections = complete.iter().flat_map(|it| connections_of(it));
    let least = connections.clone().min();
    let connections = match (least, connections.max()) {
        (Some(least), Some(most)) if is_of_disk && least == most => {
            Some(format!("{most} in flight"))
        }
        (Some(least), Some(most)) if is_of_disk => Some(format!("{least} to {most} in flight")),
        (Some(least), Some(most)) if least == most => Some(counted(most as usize, "connection")),
        (Some(least), Some(most)) => Some(format!("{least} to {most} connections")),
        _ => None,
    };
    let mut constants = grid.constants.clone();
    constants.retain(|(name, _)| !USUAL_X.contains(&name.as_str()));
    let constants = (!constants.is_empty()).then(|| in_words(&constants));
    let told = [versions, ways, connections, constants];
    let told: Vec<String> = told.into_iter().flatten().collect();
    let told = match told.join(", ") {
        none if none.is_empty() => none,
        told => format!(": {told}"),
    };
    // The machine was not always quiet, even if it was in the runs that count.
    let repeated = match results.disturbances.set_aside.len() {
        0 => String::new(),
        runs => format!(" ({} repeated)", counted(runs, "disturbed run")),
    };
    format!(
        "{} of {planned}{}{repeated}{told}",
        complete_runs(&results.runs),
        length.unwrap_or_default()
    )
}

/// The number of connections of a run, or those of its stages.
fn connections_of(record: &Record) -> Vec<u32> {
    match record.stages.as_slice() {
        [] => vec![record.connections()],
        stages => {
            let levels = stages.iter();
            levels
                .flat_map(|it| [it.connections_from, it.connections_to])
                .collect()
        }
    }
}

/// The values of the runs, each once, or their number.
fn distinct(runs: &[&Record], of: impl Fn(&Record) -> Option<String>) -> Option<String> {
    let mut all: Vec<String> = runs.iter().filter_map(|it| of(it)).collect();
    all.retain(|it| !it.is_empty());
    all.sort();
    all.dedup();
    match all.len() {
        0 => None,
        1..=3 => Some(all.join(" and ")),
        many => Some(format!("{} and {} more", all[0], many - 1)),
    }
}

fn failed(grid: &Grid<'_>) -> Option<String> {
    let cells = grid.facets.iter().flat_map(Facet::cells);
    let errors: u64 = cells.map(|(_, _, cell)| cell.errors).sum();
    (errors > 0).then(|| format!("{} failed", counted(errors as usize, "operation")))
}

/// The reason of the first incomplete run.
fn incomplete(results: &Results) -> Option<String> {
    let mut all = results
        .first_loads()
        .filter_map(|record| Some((record.header.run, record.incomplete_why()?)));
    let (run, why) = all.next()?;
    let others = match all.count() {
        0 => String::new(),
        others => format!("; {} more", counted(others, "run")),
    };
    Some(format!("run {run} is incomplete: {why}{others}"))
}

/// The limit at the highest throughput.
fn limit(results: &Results, grid: &Grid<'_>) -> Option<String> {
    let limit = PeakLimit::of(results, grid)?;
    Some(format!(
        "{}{}",
        limit.bottleneck.in_words(),
        limit.agreed_in_words()
    ))
}

/// The assessment, the rules that found a problem, and the evidence of the worst one:
/// `grade C: interpret with care; 9 warnings; fail M04; invalid H14: in all 6 runs; run 1: ...`.
pub(crate) fn trust(audit: &Audit) -> String {
    let worst_first = audit.by_level().into_iter();
    let found: Vec<_> = worst_first
        .filter_map(|it| Some((it, it.outcome.as_ref().ok()?)))
        .collect();
    let worst = found
        .first()
        .filter(|(_, finding)| finding.level > Level::Warn);
    // The rule that says that the machine is busy tells by what.
    let mut text = match worst {
        Some((it, _)) if it.rule.is(MACHINE_RULE) => audit.assessment.method_in_words(),
        _ => audit.assessment.in_words(),
    };
    let warnings = audit.count(Level::Warn);
    if warnings > 0 {
        text.push_str(&format!("; {}", counted(warnings, "warning")));
    }
    let others = &found[usize::from(worst.is_some())..];
    for level in [Level::Invalid, Level::Fail] {
        let of_level = others.iter().filter(|(_, finding)| finding.level == level);
        let rules: Vec<&str> = of_level.map(|(it, _)| it.rule.id).collect();
        if !rules.is_empty() {
            text.push_str(&format!("; {} {}", level.name(), rules.join(", ")));
        }
    }
    if let Some((it, finding)) = worst {
        text.push_str(&format!("; {} {}: ", finding.level.name(), it.rule.id));
        // The evidence of the rule about the machine has the words of its title.
        if !it.rule.is(MACHINE_RULE) {
            text.push_str(&format!("{}: ", it.title()));
        }
        text.push_str(&finding.evidence);
    }
    text
}
