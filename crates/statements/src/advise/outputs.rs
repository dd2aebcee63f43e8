//! Advice as text: the answer first, then what was tried without effect, then the rest.

mod as_json;
mod lines;

use std::time::Duration;

use units::{change_and_interval, span};
use verdict::Decision;

use self::lines::Lines;
use super::{
    diagnosis::{Advice, DiagnosedStatement, Diagnosis, TrialTime},
    proof::{Effect, HARMS, Proof},
};
use crate::compare::{IndexPrice, Verdict, WriteTimes};

const NOT_TRIED: &str = "not tried";

/// The verdicts about a remedy without harm that do not rule out an effect.
const UNDECIDED: [Verdict; 2] = [
    Verdict::OfTime(Decision::Inconclusive),
    Verdict::OfTime(Decision::Faster),
];

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
    let least = if is_any_proved(diagnosis) {
        Detail::Proved
    } else {
        Detail::Times
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
            Some(detail) => in_short(&mut lines, diagnosis, &group, layout.is_tried, detail),
            None => in_detail(&mut lines, &group, layout.is_tried),
        }
    }
    for needless in &diagnosis.needless {
        lines.cut(needless.sentence());
    }
    let measurable = diagnosis.advice.iter().any(Advice::is_measurable);
    if !layout.is_tried && measurable {
        lines.last(
            "Nothing was tried: --try measures these on copies of a private server.".to_owned(),
        );
    } else if layout.is_tried && detail.is_some() {
        let mut counts = counts(diagnosis);
        counts.retain(|it| detail == Some(Detail::Proved) || it.ends_with(NOT_TRIED));
        // The first line has them where nothing was proved.
        if !counts.is_empty() && is_any_proved(diagnosis) {
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

/// A statement with its advice.
struct Group<'a> {
    statement: &'a DiagnosedStatement,
    advice: Vec<&'a Advice>,
}

/// The statements with advice; those first whose remedies save most, by their proofs or else by the plans.
fn groups(diagnosis: &Diagnosis) -> Vec<Group<'_>> {
    let all = diagnosis.statements.iter().map(|statement| {
        let all = diagnosis.advice.iter();
        let own = all.filter(|it| place(diagnosis, it) == statement.at);
        let mut advice: Vec<&Advice> = own.collect();
        advice.sort_by(|a, b| {
            let by_rank = rank(a).cmp(&rank(b));
            by_rank.then(saved_s(diagnosis, b).total_cmp(&saved_s(diagnosis, a)))
        });
        Group { statement, advice }
    });
    let mut groups: Vec<Group<'_>> = all.filter(|it| !it.advice.is_empty()).collect();
    groups.sort_by(|a, b| {
        let most = |group: &Group<'_>, of: &dyn Fn(&Advice) -> f64| {
            group.advice.iter().map(|it| of(it)).fold(0.0, f64::max)
        };
        let proved = |it: &Advice| saved_s(diagnosis, it);
        let by_plan = |it: &Advice| it.saving_s;
        let by_proof = most(b, &proved).total_cmp(&most(a, &proved));
        by_proof.then(most(b, &by_plan).total_cmp(&most(a, &by_plan)))
    });
    groups
}

/// The statement below which advice is shown: that of its greatest proved effect, else the one that it was proposed for.
fn place(diagnosis: &Diagnosis, advice: &Advice) -> usize {
    let proved = main_effect(diagnosis, advice).and_then(|effect| {
        let mut statements = diagnosis.statements.iter();
        statements.find(|it| it.name == effect.statement)
    });
    proved.map_or(advice.at, |statement| statement.at)
}

fn rank(advice: &Advice) -> u8 {
    match advice.proof {
        Some(Proof::Kept { .. }) => 0,
        None if advice.is_measurable() => 1,
        Some(Proof::Rejected(_)) => 2,
        Some(Proof::Unused) => 3,
        Some(Proof::CannotBeMade(_)) => 4,
        Some(Proof::NotTried) => 5,
        None => 6,
    }
}

/// Seconds that a proved remedy saves of all statements, by the time of each before the trial.
fn saved_s(diagnosis: &Diagnosis, advice: &Advice) -> f64 {
    let faster = advice.proof.as_ref().map_or(&[][..], Proof::faster);
    faster.iter().map(|it| effect_s(diagnosis, it)).sum()
}

/// Seconds that an effect saves, by the time of its statement before the trial.
fn effect_s(diagnosis: &Diagnosis, effect: &Effect) -> f64 {
    let mut statements = diagnosis.statements.iter();
    let statement = statements.find(|it| it.name == effect.statement);
    statement.map_or(0.0, |it| it.time_s) * effect.saved_share()
}

/// The answer in a line.
fn headline(diagnosis: &Diagnosis, is_tried: bool) -> String {
    let all = &diagnosis.advice;
    if all.is_empty() {
        return "No candidates: nothing in the plans and costs suggests a remedy.".to_owned();
    }
    let measurable = all.iter().filter(|it| it.is_measurable()).count();
    if !is_tried || measurable == 0 {
        let first = &all[0];
        let which = match all.len() {
            _ if measurable == 0 => ", for the author of the statement: ",
            1 => ": ",
            // By saving, another one may come first; but an index is derived from the statistics, too.
            _ if first.is_statistics() => {
                "; first refresh the statistics, which the indexes depend on: "
            }
            _ => "; according to the plans, this one saves most: ",
        };
        let number = units::counted(all.len(), "candidate");
        return format!("{number}{which}{}", first.candidate.remedy.title());
    }
    let mut proved: Vec<&Advice> = all
        .iter()
        .filter(|it| it.proof.as_ref().is_some_and(Proof::is_kept))
        .collect();
    proved.sort_by(|a, b| saved_s(diagnosis, b).total_cmp(&saved_s(diagnosis, a)));
    let Some(best) = proved.first() else {
        let counts = counts(diagnosis);
        return format!("No remedy proved: {}", counts.join(", "));
    };
    let which = if proved.len() > 1 { "the best: " } else { "" };
    let number = match proved.len() {
        1 => "1 remedy".to_owned(),
        number => format!("{number} remedies"),
    };
    let times = main_effect(diagnosis, best).and_then(Effect::times);
    let times = times.map_or_else(String::new, |times| format!(": {times}"));
    format!(
        "{number} proved: {which}{}{times}",
        best.candidate.remedy.title()
    )
}

fn is_any_proved(diagnosis: &Diagnosis) -> bool {
    let mut proofs = diagnosis.advice.iter().filter_map(|it| it.proof.as_ref());
    proofs.any(Proof::is_kept)
}

/// The effect of a proved remedy that saves most time. It was not always proposed for this statement.
fn main_effect<'a>(diagnosis: &Diagnosis, advice: &'a Advice) -> Option<&'a Effect> {
    let faster = advice.proof.as_ref().map_or(&[][..], Proof::faster);
    let saved_s = |it: &Effect| effect_s(diagnosis, it);
    faster
        .iter()
        .max_by(|a, b| saved_s(a).total_cmp(&saved_s(b)))
}

/// `3 tried without effect, 1 cannot be made, 2 not tried`.
fn counts(diagnosis: &Diagnosis) -> Vec<String> {
    let number = |is_meant: fn(&Advice) -> bool| {
        let all = diagnosis.advice.iter();
        all.filter(|it| is_meant(it)).count()
    };
    let kinds = [
        (
            number(|it| {
                it.proof == Some(Proof::Unused) || rejection(it) == Some(Rejection::NoEffect)
            }),
            "tried without effect",
        ),
        (
            number(|it| rejection(it) == Some(Rejection::Undecided)),
            "tried and undecided",
        ),
        (
            number(|it| matches!(rejection(it), Some(Rejection::Harm(_)))),
            "slower or with another result",
        ),
        (
            number(|it| matches!(it.proof, Some(Proof::CannotBeMade(_)))),
            "cannot be made",
        ),
        (not_tried(diagnosis), NOT_TRIED),
        (number(|it| !it.is_measurable()), "for the author"),
    ];
    let kinds = kinds.into_iter().filter(|(number, _)| *number > 0);
    kinds
        .map(|(number, what)| format!("{number} {what}"))
        .collect()
}

/// Number of the candidates that could be measured and were not.
fn not_tried(diagnosis: &Diagnosis) -> usize {
    let is_open =
        |it: &&Advice| it.is_measurable() && matches!(it.proof, None | Some(Proof::NotTried));
    diagnosis.advice.iter().filter(is_open).count()
}

fn title(statement: &DiagnosedStatement) -> String {
    format!(
        "statement {} ({}): {}",
        statement.name,
        units::seconds(statement.time_s),
        statement.text
    )
}

/// Why a measured remedy is not proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rejection {
    /// It does harm: its worst verdict.
    Harm(Verdict),
    /// The measurement did not decide whether a statement is faster.
    Undecided,
    /// Any effect is smaller than what matters.
    NoEffect,
}

impl Rejection {
    fn of(effects: &[Effect]) -> Self {
        let has = |verdict: &Verdict| effects.iter().any(|it| it.verdict == *verdict);
        match HARMS.into_iter().find(has) {
            Some(worst) => Self::Harm(worst),
            // What is faster with a result that cannot be compared is not proved either.
            None if UNDECIDED.iter().any(has) => Self::Undecided,
            None => Self::NoEffect,
        }
    }
}

fn rejection(advice: &Advice) -> Option<Rejection> {
    match &advice.proof {
        Some(Proof::Rejected(effects)) => Some(Rejection::of(effects)),
        _ => None,
    }
}

fn verdict(advice: &Advice, is_tried: bool) -> &'static str {
    match &advice.proof {
        Some(Proof::Kept { .. }) => "proved: ",
        Some(Proof::Rejected(effects)) => match Rejection::of(effects) {
            Rejection::Harm(Verdict::OtherResult) => "another result: ",
            Rejection::Harm(Verdict::OfTime(_)) => "slower: ",
            Rejection::Undecided => "undecided: ",
            Rejection::NoEffect => "without effect: ",
        },
        Some(Proof::Unused) => "not used: ",
        Some(Proof::CannotBeMade(_)) => "cannot be made: ",
        Some(Proof::NotTried) => "not tried: ",
        None if !advice.is_measurable() => "for the author: ",
        None if is_tried => "not tried: ",
        None => "",
    }
}

/// The remedies that were proved with their effects; the others in a line each.
fn in_short(
    lines: &mut Lines,
    diagnosis: &Diagnosis,
    group: &Group<'_>,
    is_tried: bool,
    detail: Detail,
) {
    let is_shown = |it: &&&Advice| match it.proof {
        Some(Proof::Kept { .. }) => true,
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
        let start = format!("  {}{words}", verdict(advice, is_tried));
        match &advice.proof {
            Some(Proof::Kept {
                faster,
                slower,
                price,
            }) if detail == Detail::Prices => {
                lines.whole(start);
                for effect in faster.iter().chain(slower) {
                    lines.cut(format!("    {}", effect.sentence()));
                }
                for sentence in price.iter().flat_map(price_sentences) {
                    lines.cut(format!("    {sentence}"));
                }
            }
            Some(Proof::Kept { slower, .. }) => {
                let times = main_effect(diagnosis, advice).and_then(Effect::times);
                let slower = slower.iter().map(|it| {
                    let times = it.times().unwrap_or_default();
                    format!("; slower: {} {times}", it.statement)
                });
                let slower: String = slower.collect();
                lines.whole(format!("{start}: {}{slower}", times.unwrap_or_default()));
            }
            Some(Proof::Rejected(effects)) => {
                let main = match Rejection::of(effects) {
                    Rejection::Harm(worst) => effects.iter().find(|it| it.verdict == worst),
                    Rejection::Undecided | Rejection::NoEffect => effects.first(),
                };
                let times = main.and_then(Effect::times);
                let times = times.map_or_else(String::new, |times| format!(": {times}"));
                lines.cut(format!("{start}{times}"));
            }
            Some(Proof::CannotBeMade(why)) => lines.whole(format!("{start}: {why}")),
            Some(_) => lines.cut(start),
            None => lines.whole(format!("{start}: {}", advice.candidate.reason)),
        }
    }
}

/// Everything about the candidates of a statement.
fn in_detail(lines: &mut Lines, group: &Group<'_>, is_tried: bool) {
    lines.whole(title(group.statement));
    for advice in &group.advice {
        let words = advice.candidate.remedy.words();
        lines.whole(format!("  {}{words}", verdict(advice, is_tried)));
        lines.whole(format!("    {}", advice.candidate.reason));
        if !advice.also_for.is_empty() {
            lines.whole(format!("    also for: {}", advice.also_for.join(", ")));
        }
        let (effects, price): (Vec<&Effect>, Option<&IndexPrice>) = match &advice.proof {
            Some(Proof::Kept {
                faster,
                slower,
                price,
            }) => (faster.iter().chain(slower).collect(), price.as_ref()),
            Some(Proof::Rejected(effects)) => (effects.iter().collect(), None),
            _ => (Vec::new(), None),
        };
        for effect in effects {
            lines.whole(format!("    {}", effect.sentence()));
        }
        for sentence in price.iter().flat_map(|it| price_sentences(it)) {
            lines.whole(format!("    {sentence}"));
        }
        match &advice.proof {
            Some(Proof::CannotBeMade(why)) => lines.whole(format!("    {why}")),
            Some(Proof::Unused) => {
                lines.whole("    the optimizer does not choose it for any statement".to_owned());
            }
            Some(Proof::Kept { .. } | Proof::Rejected(_)) if advice.unaffected > 0 => {
                let statements = units::counted(advice.unaffected, "statement");
                lines.whole(format!(
                    "    not executed, because unaffected: {statements}"
                ));
            }
            _ => {}
        }
    }
}

/// The size of an index, and what it adds to writes.
fn price_sentences(price: &IndexPrice) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(bytes) = price.bytes {
        sentences.push(format!("size of the index: {}", units::bytes(bytes as u64)));
    }
    let times = |times: &WriteTimes| {
        let ratio = times.ratio;
        let [change, interval] = change_and_interval(ratio.estimate, (ratio.low, ratio.high));
        let [before, after] = times.means_s.map(units::seconds);
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
