//! The question clause by clause: a line for each part of it that the author named.
//!
//! ```text
//! Durable updates: 16.2k against 21.6k operations/s at 32 connections: slower, -25 % (-28.1 % to -21.4 %)
//! Reads: 15.3k (13.5k to 17.3k) operations/s at 8 connections, mix 1:0; p50 544 µs, p95 1.54 ms, p99 2.24 ms
//! ```

use std::collections::BTreeMap;

use units::{change, duration, seconds, si};
use verdict::{Answer, Decision, Execution, Metric, Question};

use super::{
    answer,
    doubt::{appended, doubt},
    figures,
    nouns::nouns,
};
use crate::{
    grid::{Facet, Grid, USUAL_X, cell::Cell, in_words},
    results::{Clause, Results},
};

/// What is said of each clause, behind its name; empty where the author named none.
pub(crate) fn clauses<'r>(results: &'r Results, grid: &Grid<'_>) -> Vec<(&'r str, String)> {
    let clauses = results.clauses.iter().zip(&grid.clauses);
    clauses
        .filter(|(clause, _)| is_planned(clause, results))
        .map(|(clause, answers)| {
            let said = match &clause.compared {
                Some(question) => compared(clause, question, answers, grid),
                None => highest(clause, grid),
            };
            (clause.name.as_str(), said)
        })
        .collect()
}

/// Whether the plan has what a clause is about: `--only` may have left it out.
fn is_planned(clause: &Clause, results: &Results) -> bool {
    clause.filter.iter().all(|(name, wanted)| {
        let factor = results.factors.iter().find(|factor| factor.name == *name);
        factor.is_none_or(|it| it.levels.iter().any(|level| wanted.contains(level)))
    })
}

/// The same as lines.
pub(crate) fn lines(results: &Results, grid: &Grid<'_>) -> Vec<String> {
    let clauses = clauses(results, grid).into_iter();
    clauses
        .map(|(name, said)| format!("{name}: {said}"))
        .collect()
}

/// The comparison where the baseline does most, and how the others of the clause are decided; all comparisons where they have
/// one baseline.
fn compared(clause: &Clause, question: &Question, answers: &[Answer], grid: &Grid<'_>) -> String {
    if let Some(said) = with_one_baseline(question, answers, grid) {
        return said;
    }
    let done = |answer: &Answer| throughput_of_baseline(question, answer, &grid.executions);
    let Some(chosen) = answers.iter().max_by(|a, b| done(a).total_cmp(&done(b))) else {
        return "nothing can be compared yet".to_owned();
    };
    let place = place(clause, chosen);
    let sides = sides_in_words(question, chosen);
    let values = chosen
        .means
        .map(|[baseline, other]| values(question.metric, other, baseline));
    let values = values.unwrap_or_else(|| format!("{} not measured", question.metric.in_words()));
    let decision = chosen.decision.word();
    let change = change_in_words(chosen).unwrap_or_else(|| too_few(chosen));
    let doubt = appended(doubt(question, chosen, grid).as_deref());
    format!(
        "{sides}: {values}{place}: {decision}, {change}{doubt}{}",
        all(answers)
    )
}

/// Several comparisons with one baseline, by what was decided, the largest ratio first:
/// `against 20.2k operations/s of version mysql-8.0.33: faster mysql-5.6 +12.1 % (+9 % to +15.3 %), inconclusive
/// mysql-9.7 -0.4 % (-4 % to +3.3 %)`. `None` of one comparison, and of several baselines.
fn with_one_baseline(question: &Question, answers: &[Answer], grid: &Grid<'_>) -> Option<String> {
    let (first, others) = answers.split_first()?;
    if others.is_empty() || others.iter().any(|it| it.within != first.within) {
        return None;
    }
    let baseline = answers.iter().find_map(|it| it.means)?[0];
    let ratio = |answer: &Answer| answer.comparison.map_or(1.0, |it| it.ratio.estimate);
    let decided = Decision::ALL.into_iter().filter_map(|decision| {
        let of_decision = answers.iter().filter(|it| it.decision == decision);
        let mut of_decision: Vec<&Answer> = of_decision.collect();
        of_decision.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        let named = of_decision.iter().map(|it| {
            let doubt = doubt(question, it, grid);
            other_side(question, it) + &appended(doubt.as_deref())
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| format!("{} {}", decision.word(), named.join(", ")))
    });
    let decided: Vec<String> = decided.collect();
    let value = value_in_words(question.metric, baseline);
    let of = in_words(&question.baseline);
    Some(format!("against {value} of {of}: {}", decided.join("; ")))
}

/// The side that is compared with the baseline, and the difference: `mysql-5.6 +12.1 % (+9 % to +15.3 %)`.
fn other_side(question: &Question, answer: &Answer) -> String {
    let levels = answer.levels.iter().zip(&question.baseline);
    let other = levels.filter(|((_, level), (_, base))| level != base);
    let other: Vec<&str> = other.map(|((_, level), _)| level.as_str()).collect();
    let other = other.join(" ");
    match change_in_words(answer) {
        Some(change) => format!("{other} {change}"),
        None => format!("{other}, {}", too_few(answer)),
    }
}

/// In place of a difference that nothing can be said of.
fn too_few(answer: &Answer) -> String {
    let [_, nouns] = nouns(answer.of_batches);
    format!("too few {nouns} to compare")
}

/// The difference with its interval: `+12.1 % (+9 % to +15.3 %)`; `None` of too few executions.
fn change_in_words(answer: &Answer) -> Option<String> {
    let ratio = answer.comparison.as_ref()?.ratio;
    let [estimate, low, high] = [ratio.estimate, ratio.low, ratio.high].map(change);
    Some(format!("{estimate} ({low} to {high})"))
}

/// `version mysql-9.7 against mariadb-10.11`: what is compared with what.
fn sides_in_words(question: &Question, answer: &Answer) -> String {
    let both = answer.levels.iter().zip(&question.baseline);
    let differ = both.filter(|((_, level), (_, base))| level != base);
    let words: Vec<String> = differ
        .map(|((factor, level), (_, base))| format!("{factor} {level} against {base}"))
        .collect();
    words.join(", ")
}

/// `20.2k operations/s`, `p95 1.20 ms`.
fn value_in_words(metric: Metric, value: f64) -> String {
    with_unit(metric, &number(metric, value))
}

/// Numbers of a metric with its unit or its name.
fn with_unit(metric: Metric, numbers: &str) -> String {
    match metric {
        Metric::Throughput => format!("{numbers} operations/s"),
        Metric::NewOrders => format!("{numbers} New-Orders/min"),
        _ => format!("{} {numbers}", metric.in_words()),
    }
}

/// `20.2k`, `1.20 ms`
fn number(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput | Metric::NewOrders => si(value),
        Metric::P50 | Metric::P95 | Metric::P99 => duration(value),
        Metric::Elapsed => seconds(value),
    }
}

/// `; of 4 comparisons 3 slower, 1 inconclusive`; empty of one.
fn all(answers: &[Answer]) -> String {
    if answers.len() < 2 {
        return String::new();
    }
    let counts = Decision::ALL.into_iter().filter_map(|decision| {
        let count = answers.iter().filter(|it| it.decision == decision).count();
        (count > 0).then(|| format!("{count} {}", decision.word()))
    });
    let counts: Vec<String> = counts.collect();
    format!("; of {} comparisons {}", answers.len(), counts.join(", "))
}

/// `16.2k against 21.6k operations/s`, `p95 1.20 ms against 1.10 ms`.
fn values(metric: Metric, other: f64, baseline: f64) -> String {
    let [other, baseline] = [other, baseline].map(|value| number(metric, value));
    with_unit(metric, &format!("{other} against {baseline}"))
}

/// What the throughput of a comparison's baseline was in the mean; 0 where it is not known.
fn throughput_of_baseline(
    question: &Question,
    answer: &Answer,
    executions: &[Execution<'_>],
) -> f64 {
    let is_baseline = |execution: &&Execution<'_>| {
        let combination = &execution.record.header.combination;
        let mut levels = question.baseline.iter().chain(&answer.within);
        execution.record.is_complete()
            && levels.all(|(factor, level)| combination.get(factor) == Some(level))
    };
    let runs = executions.iter().filter(is_baseline);
    let values: Vec<f64> = runs
        .filter_map(|it| Metric::Throughput.of(it.figures()))
        .collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// ` at 32 connections, rows 1x`: what the clause leaves open.
fn place(clause: &Clause, answer: &Answer) -> String {
    let is_open = |factor: &str| {
        let mut filter = clause.filter.iter();
        let named = filter.find(|(name, _)| name == factor);
        named.is_none_or(|(_, levels)| levels.len() > 1)
    };
    let levels = answer.within.iter();
    let words: Vec<String> = levels
        .filter(|(factor, _)| is_open(factor))
        .map(|(factor, level)| level_in_words(factor, level))
        .collect();
    at(&words)
}

fn at(words: &[String]) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(" at {}", words.join(", "))
    }
}

/// `32 connections`, `rows 1x`.
fn level_in_words(factor: &str, level: &str) -> String {
    match (USUAL_X.contains(&factor), level) {
        (true, "1") => format!("1 {}", factor.trim_end_matches('s')),
        (true, _) => format!("{level} {factor}"),
        (false, _) => format!("{factor} {level}"),
    }
}

/// A combination that a clause is about.
struct Candidate<'g> {
    levels: Vec<(&'g str, &'g str)>,
    line: usize,
    x: usize,
    cell: &'g Cell,
}

impl<'g> Candidate<'g> {
    fn level(&self, factor: &str) -> Option<&'g str> {
        let level = self.levels.iter().find(|(name, _)| *name == factor);
        level.map(|(_, level)| *level)
    }
}

/// The highest throughput of the combinations that the clause is about, for each kind of work.
fn highest(clause: &Clause, grid: &Grid<'_>) -> String {
    let all = grid.facets.iter().flat_map(|facet| {
        facet.cells().map(move |(line, x, cell)| Candidate {
            levels: levels_of(grid, facet, line, x),
            line,
            x,
            cell,
        })
    });
    let candidates: Vec<Candidate<'_>> = all
        .filter(|it| it.cell.throughput.is_some() && is_about(clause, grid, &it.levels))
        .collect();
    if candidates.is_empty() {
        return "not measured yet".to_owned();
    }
    let mut by_work: BTreeMap<_, Vec<&Candidate<'_>>> = BTreeMap::new();
    for candidate in &candidates {
        let of_work = by_work.entry(grid.work(candidate.cell)).or_default();
        of_work.push(candidate);
    }
    let differs = |factor: &str| {
        let first = candidates.first().and_then(|it| it.level(factor));
        candidates.iter().any(|it| it.level(factor) != first)
    };
    let said = by_work.values().filter_map(|of_work| {
        let cells = of_work.iter().map(|it| (it.line, it.x, it.cell));
        let peak = answer::highest(cells)?;
        let mut chosen = of_work.iter();
        let chosen = chosen.find(|it| std::ptr::eq(it.cell, peak.cell))?;
        let levels = chosen.levels.iter();
        let words: Vec<String> = levels
            .filter(|(factor, _)| differs(factor))
            .map(|(factor, level)| level_in_words(factor, level))
            .collect();
        let value = answer::throughput_in_words(&peak.throughput);
        let (unit, latency) = (figures::unit(peak.cell), figures::latency(peak.cell));
        Some(format!("{value} {unit}{}{latency}", at(&words)))
    });
    let said: Vec<String> = said.collect();
    said.join("; ")
}

/// The levels of a combination: x first, as readers look for it.
fn levels_of<'g>(
    grid: &'g Grid<'_>,
    facet: &'g Facet,
    line: usize,
    x: usize,
) -> Vec<(&'g str, &'g str)> {
    let of_x = grid.x.iter();
    let of_x = of_x.map(|factor| (factor.name.as_str(), factor.levels[x].as_str()));
    let of_line = grid.line.iter().filter_map(|factor| {
        let level = facet.lines[line].level.as_ref()?;
        Some((factor.name.as_str(), level.as_str()))
    });
    let of_facet = facet.levels.iter();
    let of_facet = of_facet.map(|(factor, level)| (factor.as_str(), level.as_str()));
    of_x.chain(of_line).chain(of_facet).collect()
}

/// True where a combination has a level of each factor that the clause names.
fn is_about(clause: &Clause, grid: &Grid<'_>, levels: &[(&str, &str)]) -> bool {
    let constants = grid.constants.iter();
    let constants = constants.map(|(factor, level)| (factor.as_str(), level.as_str()));
    let all: Vec<(&str, &str)> = levels.iter().copied().chain(constants).collect();
    clause.filter.iter().all(|(factor, wanted)| {
        let level = all.iter().find(|(name, _)| name == factor);
        level.is_some_and(|(_, level)| wanted.iter().any(|it| it == level))
    })
}
