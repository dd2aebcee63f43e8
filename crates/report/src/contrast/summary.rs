//! The answer of a comparison in at most a dozen lines.
//!
//! ```text
//! A  results/before-1
//! B  results/after-1
//! connections 8: B is slower: throughput -36.6 % (95 % interval -41.5 % to -31.2 %; 3 executions a side, in pairs).
//! latency   connections 8: p50 544 µs → 857 µs, p95 1.54 ms → 2.42 ms, p99 2.24 ms → 3.53 ms
//! why       bytes written to disk per operation 429 B → 667 B: B transfers more bytes for the same operation
//! trust     A: grade B; machine quiet; B: grade C; machine busy; invalid H14 of B: other programs used 37 % of the CPU
//! differs   variable innodb_flush_log_at_trx_commit: 1 → 2
//! next      dbdyno compare results/before-1 results/after-1 -v
//! ```

use audit::SidesAudit;
use verdict::{Check, Contrast, Measure, Outcome, SharedCombination};

use super::{
    NOTHING_DIFFERS, differences, unlike,
    words::{self, SIDES},
};
use crate::{
    grid::{cell::Percentile, percentiles::mark_explained},
    summary::{LINES_MAX, NARROWEST},
    text::{
        facts::{Facts, cut},
        shell::shell_word,
    },
};

/// Maximum number of `--fail-if` limits that are listed separately.
const CHECKS_MAX: usize = 2;
/// Lines for the decisions, whatever else there is to say.
const PLACES_MIN: usize = 2;
/// Maximum number of combinations that are listed separately.
const PLACES_MAX: usize = 4;

/// The answer of a comparison as at most twelve lines of at most `width` columns, ending with a line feed.
pub fn contrast_summary(
    contrast: &Contrast,
    checks: &[Check],
    audit: &SidesAudit,
    width: u16,
) -> String {
    let width = usize::from(width).max(NARROWEST);
    let mut facts = Facts::new(width);
    let first = contrast.places.first();
    let latency = first.and_then(latency);
    let explanation = mark_explained(latency.as_slice());
    facts.add_some("latency", latency);
    // Under its line, as a part of it.
    facts.add_some("", explanation);
    facts.add_some("why", why(contrast));
    for check in fail_if(checks) {
        facts.add("fail-if", 1, &check);
    }
    facts.add("trust", 1, &trust(audit));
    let order = audit.first.map(|first| {
        let [before, after] = [SIDES[first], SIDES[1 - first]];
        format!("{before} was measured before {after}: the interval does not cover changes between the two")
    });
    facts.add_some("order", order);
    facts.add("differs", 1, &differs(contrast));
    facts.add_command("next", &next(contrast, audit));
    let facts = facts.into_lines_within(LINES_MAX - SIDES.len() - PLACES_MIN, &["why"]);
    let mut lines = Vec::new();
    for (side, name) in SIDES.iter().zip(&contrast.names) {
        lines.extend(cut(&format!("{side}  "), name, width, 1));
    }
    let room = (LINES_MAX - lines.len() - facts.len()).min(PLACES_MAX);
    let places = &contrast.places;
    let told = if places.len() > room { room - 1 } else { room };
    let each = if places.len() == 1 { room.min(2) } else { 1 };
    for place in places.iter().take(told) {
        lines.extend(cut(
            "",
            &words::headline(contrast, place, audit),
            width,
            each,
        ));
    }
    if places.len() > told {
        let more = places.len() - told;
        lines.push(format!("and {more} more combinations: -v shows them"));
    }
    [lines, facts].concat().join("\n") + "\n"
}

/// The latency in words: `p50 544 µs → 857 µs, p95 1.54 ms → 2.42 ms`; `None` if neither side has any.
fn latency(place: &SharedCombination) -> Option<String> {
    let of = |percentile: Percentile| {
        let measure = Measure::Metric(percentile.metric());
        let compared = place.metrics.iter().find(|it| it.measure == measure)?;
        let [a, b] = [0, 1].map(|side| words::value(compared, side));
        Some(format!("{} {a} → {b}", percentile.name()))
    };
    let told: Vec<String> = Percentile::ALL.into_iter().filter_map(of).collect();
    let at = if place.within.is_empty() {
        String::new()
    } else {
        format!("{}: ", words::levels(&place.within))
    };
    (!told.is_empty()).then(|| format!("{at}{}", told.join(", ")))
}

/// The first cause of the first combination that differs in the deciding metric, or else of the first of all. One of several
/// is named.
fn why(contrast: &Contrast) -> Option<String> {
    let mut places = contrast.places.iter();
    let is_different = |place: &&SharedCombination| {
        let decides = contrast.primary_of(place);
        decides.is_some_and(|it| it.decision.is_different())
    };
    let place = places.find(is_different).or(contrast.places.first())?;
    let cause = words::first_cause(place)?;
    Some(match contrast.places.as_slice() {
        [_] => cause,
        _ => format!("{}: {cause}", words::levels(&place.within)),
    })
}

/// The limits, broken ones first, and the number of further ones.
fn fail_if(checks: &[Check]) -> Vec<String> {
    let mut checks: Vec<&Check> = checks.iter().collect();
    checks.sort_by_key(|check| match check.outcome {
        Outcome::Broken => 0,
        Outcome::Undecided => 1,
        Outcome::Held => 2,
    });
    let more = checks.len().saturating_sub(CHECKS_MAX);
    let mut told: Vec<String> = checks
        .iter()
        .take(CHECKS_MAX)
        .map(|check| words::check(check))
        .collect();
    if let Some(last) = told.last_mut().filter(|_| more > 0) {
        last.push_str(&format!("; {more} more with -v"));
    }
    told
}

/// The assessment of both sides, and the worst finding.
fn trust(audit: &SidesAudit) -> String {
    let [a, b] = audit.sides.each_ref().map(|it| it.assessment.in_words());
    let mut text = if a == b {
        format!("both sides: {a}")
    } else {
        format!("A: {a}; B: {b}")
    };
    let mut findings = audit.findings();
    findings.sort_by_key(|it| std::cmp::Reverse(it.finding.level));
    if let Some(worst) = findings.first() {
        let level = worst.finding.level.name();
        let (rule, of) = (worst.rule.id, worst.of());
        text = format!("{level} {rule} of {of}: {}; {text}", worst.finding.evidence);
    }
    text
}

fn differs(contrast: &Contrast) -> String {
    if let Some(unlike) = unlike(contrast) {
        return unlike;
    }
    let all = differences(contrast);
    match all.as_slice() {
        [] => NOTHING_DIFFERS.to_owned(),
        [only] => only.clone(),
        [first, others @ ..] => format!("{first}; {} more", others.len()),
    }
}

fn next(contrast: &Contrast, audit: &SidesAudit) -> String {
    let [a, b] = contrast.names.each_ref().map(|name| shell_word(name));
    // What is refused without it was compared with it.
    let is_refused = !audit.refusals().is_empty() || unlike(contrast).is_some();
    let anyway = if is_refused { " --anyway" } else { "" };
    format!("dbdyno compare {a} {b} -v{anyway}")
}
