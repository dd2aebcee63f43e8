//! Advice as text: the answer first, then what was tried without effect, then the rest.

mod as_json;
mod headline;
mod lines;

use std::time::Duration;

use units::{change_and_interval, span};
use verdict::Decision;

use self::{
    headline::{counts, headline, is_of_not_tried, name_and_time, untried},
    lines::Lines,
};
use super::{
    diagnosis::{Advice, DiagnosedStatement, Diagnosis, TrialTime},
    index_set::IndexSet,
    proof::{Effect, Measured, Outcome, Proof},
    ranking::{Group, groups, main_effect, proved},
};
use crate::compare::{IndexPrice, WriteTimes};

/// How an answer is shown.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Whether the candidates were to be measured.
    pub is_tried: bool,
    /// Whether everything is shown.
    pub is_verbose: bool,
    /// Columns of the terminal.
    pub width: usize,
}

/// How much of a short answer is shown: the first one whose lines suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Effects and prices of what was proved, and what had no effect.
    Prices,
    /// Times of what was proved, and what had no effect.
    Times,
    /// Times of what was proved.
    Proved,
}

/// The answer with its reasons, grouped by statement; those first whose remedies save most.
pub fn text(diagnosis: &Diagnosis, layout: Layout, incomplete: Option<&str>) -> String {
    if layout.is_verbose {
        return lines(diagnosis, layout, incomplete, None).all();
    }
    for detail in [Detail::Prices, Detail::Times] {
        let lines = lines(diagnosis, layout, incomplete, Some(detail));
        if lines.are_few() {
            return lines.all();
        }
    }
    let least = if proved(diagnosis).is_empty() {
        Detail::Times
    } else {
        Detail::Proved
    };
    lines(diagnosis, layout, incomplete, Some(least)).first()
}

/// The lines of an answer; all of them without a detail.
fn lines(
    diagnosis: &Diagnosis,
    layout: Layout,
    incomplete: Option<&str>,
    detail: Option<Detail>,
) -> Lines {
    let mut lines = Lines::of(layout.width);
    lines.whole(headline(diagnosis, layout.is_tried));
    if let Some(untried) = untried(diagnosis).filter(|_| layout.is_tried) {
        let hint = match incomplete {
            None => " (--at-most tries more)",
            Some(_) => "",
        };
        lines.whole(format!("{untried}{hint}"));
    }
    let indexes = IndexSet::of(diagnosis);
    let enough = indexes.enough();
    if !enough.is_empty() {
        lines.whole(format!(
            "enough: {}; each index was measured alone",
            enough.join(", ")
        ));
    }
    if let Some(why) = incomplete {
        lines.whole(format!("incomplete: {why}"));
    }
    match (detail, diagnosis.failed.as_slice()) {
        (Some(_), [first, more @ ..]) if !more.is_empty() => lines.whole(format!(
            "failed: {} (and {} more, --verbose)",
            first.error.message,
            more.len()
        )),
        (_, failed) => {
            for it in failed {
                lines.whole(format!("failed: {}", it.error.message));
            }
        }
    }
    if let Some(sentence) = beyond_budget(diagnosis) {
        lines.whole(sentence);
    }
    for group in groups(diagnosis) {
        match detail {
            Some(detail) => in_short(
                &mut lines,
                diagnosis,
                &group,
                &indexes,
                layout.is_tried,
                detail,
            ),
            None => in_detail(&mut lines, &group, &indexes, layout.is_tried),
        }
    }
    for needless in &diagnosis.needless {
        // Without its end, a line would hide the condition of a drop.
        lines.whole(needless.sentence());
    }
    let measurable = diagnosis.advice.iter().any(Advice::is_measurable);
    if !layout.is_tried && measurable {
        lines.last(
            "Nothing was tried: --try measures these on copies of a private server.".to_owned(),
        );
    } else if layout.is_tried && detail.is_some() {
        let mut counts = counts(diagnosis);
        counts.retain(|it| detail == Some(Detail::Proved) || is_of_not_tried(it));
        // The first line has them where nothing was proved.
        if !counts.is_empty() && !proved(diagnosis).is_empty() {
            lines.last(format!("{} (--verbose)", counts.join(", ")));
        }
    }
    lines
}

/// How much longer than its budget a trial took. The budget limits its timed blocks only.
fn beyond_budget(diagnosis: &Diagnosis) -> Option<String> {
    let TrialTime { budget, whole } = diagnosis.trial?;
    let is_beyond = |time: Duration| time.saturating_sub(budget) >= Duration::from_secs(1);
    let blocks = diagnosis.blocks_took;
    is_beyond(whole).then(|| {
        let begun = if is_beyond(blocks) {
            ", and a block that has begun is completed"
        } else {
            ""
        };
        format!(
            "time: {}, {} of it timed blocks; --budget ({}) limits only these{begun}",
            span(whole),
            span(blocks),
            span(budget)
        )
    })
}

/// One object for programs.
pub fn json(diagnosis: &Diagnosis, is_tried: bool, incomplete: Option<&str>) -> String {
    as_json::json(diagnosis, &headline(diagnosis, is_tried), incomplete)
}

/// `statement 4 (3.00 ms, executed 1.20k times): select ...`.
fn title(statement: &DiagnosedStatement) -> String {
    format!("statement {}: {}", name_and_time(statement), statement.text)
}

/// What came of a candidate, before its words: `proved: `, or `proved, alternative to index_t_a: `.
fn verdict(advice: &Advice, indexes: &IndexSet<'_>, is_tried: bool) -> String {
    let words = match &advice.proof {
        Some(Proof::Measured(measured)) => measured.outcome.words(),
        Some(Proof::Unused) => "not used",
        Some(Proof::CannotBeMade(_)) => "cannot be made",
        Some(Proof::NotTried) => "not tried",
        None if !advice.is_measurable() => "for the author",
        None if is_tried => "not tried",
        None => return String::new(),
    };
    let alternative = match indexes.alternative_to(advice).as_slice() {
        [] => String::new(),
        [one] => format!(", alternative to {one}"),
        several => format!(", alternative to {} together", several.join(" and ")),
    };
    format!("{words}{alternative}: ")
}

/// The remedies that were proved with their effects; the others in a line each.
fn in_short(
    lines: &mut Lines,
    diagnosis: &Diagnosis,
    group: &Group<'_>,
    indexes: &IndexSet<'_>,
    is_tried: bool,
    detail: Detail,
) {
    let is_shown = |it: &&&Advice| match &it.proof {
        Some(proof) if proof.is_proved() => true,
        Some(Proof::NotTried) => false,
        _ => !is_tried || detail != Detail::Proved,
    };
    let shown: Vec<&&Advice> = group.advice.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return;
    }
    lines.cut(title(group.statement));
    for advice in shown {
        let words = advice.candidate.remedy.words();
        let start = format!("  {}{words}", verdict(advice, indexes, is_tried));
        match &advice.proof {
            Some(Proof::Measured(it)) if it.outcome.is_proved() && detail == Detail::Prices => {
                lines.whole(start);
                effects_in_detail(lines, it, Lines::cut);
            }
            // Without its end, a line would hide the cost.
            Some(Proof::Measured(it)) if it.outcome.is_proved() || it.together.is_some() => {
                lines.whole(format!("{start}{}", times_in_short(diagnosis, it)));
            }
            Some(Proof::Measured(it)) => {
                lines.cut(format!("{start}{}", times_in_short(diagnosis, it)));
            }
            Some(Proof::CannotBeMade(why)) => lines.whole(format!("{start}: {why}")),
            Some(_) => lines.cut(start),
            None => lines.whole(format!("{start}: {}", advice.candidate.reason)),
        }
    }
}

/// The times of a remedy behind its words: of the statement that it saves most of, of those that it makes slower, and of
/// those that are undecided.
fn times_in_short(diagnosis: &Diagnosis, measured: &Measured) -> String {
    // Whatever it does to others, it is not the remedy.
    if measured.outcome == Outcome::AnotherResult {
        return String::new();
    }
    let mut slower = measured.effects_of(Decision::Slower);
    let Some(main) = main_effect(diagnosis, measured) else {
        let main = slower.next().or(measured.effects.first());
        let times = main.and_then(Effect::times);
        return times.map_or_else(String::new, |times| format!(": {times}"));
    };
    let slower = slower.map(|it| {
        let times = it.times().unwrap_or_default();
        format!("; slower: {} {times}", it.statement)
    });
    let slower: String = slower.collect();
    let undecided = measured.undecided.iter();
    let undecided: Vec<&str> = undecided.map(|it| it.statement.as_str()).collect();
    let undecided = match undecided.as_slice() {
        [] => String::new(),
        names => format!("; undecided: {}", names.join(", ")),
    };
    format!(": {}{slower}{undecided}", main.times().unwrap_or_default())
}

/// Everything about the candidates of a statement.
fn in_detail(lines: &mut Lines, group: &Group<'_>, indexes: &IndexSet<'_>, is_tried: bool) {
    lines.whole(title(group.statement));
    for advice in &group.advice {
        let words = advice.candidate.remedy.words();
        lines.whole(format!("  {}{words}", verdict(advice, indexes, is_tried)));
        // What is true of its statement, such as that an index has every column, need not be of this one.
        let of_other = if advice.statement == group.statement.name {
            String::new()
        } else {
            format!("proposed for statement {}: ", advice.statement)
        };
        lines.whole(format!("    {of_other}{}", advice.candidate.reason));
        if !advice.also_for.is_empty() {
            lines.whole(format!("    also for: {}", advice.also_for.join(", ")));
        }
        match &advice.proof {
            Some(Proof::Measured(measured)) => {
                effects_in_detail(lines, measured, Lines::whole);
                if advice.unaffected > 0 {
                    let statements = units::counted(advice.unaffected, "statement");
                    lines.whole(format!(
                        "    not executed, because unaffected: {statements}"
                    ));
                }
            }
            Some(Proof::CannotBeMade(why)) => lines.whole(format!("    {why}")),
            Some(Proof::Unused) => {
                lines.whole(format!("    {}", advice.candidate.remedy.why_unused()));
            }
            Some(Proof::NotTried) | None => {}
        }
    }
}

/// The effects of a remedy and its price, a line each, which `add` puts behind the others.
fn effects_in_detail(lines: &mut Lines, measured: &Measured, add: fn(&mut Lines, String)) {
    let effects = measured.effects.iter().chain(&measured.undecided);
    for effect in effects.chain(measured.together.as_deref()) {
        add(lines, format!("    {}", effect.sentence()));
    }
    for sentence in measured.price.iter().flat_map(price_sentences) {
        add(lines, format!("    {sentence}"));
    }
}

/// The size of an index, and what it adds to writes.
fn price_sentences(price: &IndexPrice) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(bytes) = price.bytes {
        sentences.push(format!("size of the index: {}", units::bytes(bytes as u64)));
    }
    let times = |times: &WriteTimes| {
        let [before, after] = times.means_s.map(units::seconds);
        let Some(ratio) = times.ratio else {
            return format!(
                "{before} to {after}, not measurable: the copies differ by more than the index costs"
            );
        };
        let [change, interval] = change_and_interval(ratio.estimate, (ratio.low, ratio.high));
        format!("{before} to {after}, {change} ({interval})")
    };
    sentences.push(match &price.writes {
        Ok(writes) => {
            let update = writes.update.as_ref();
            let update = update.map(|it| format!("; of an update of its columns {}", times(it)));
            format!(
                "time of an insert, without its commit: {}{}",
                times(&writes.insert),
                update.unwrap_or_default()
            )
        }
        Err(why) => format!("its share of write time was not measured: {why}"),
    });
    sentences
}

#[cfg(test)]
mod tests;
