//! The answer about several systems for people: at most twelve lines on a wide terminal.

use crate::{
    answer_line::AnswerLine,
    consolidation::{Consolidation, GroupLoad, ResourceSum, saving},
    moment::span,
    partition::Search,
    resource::SHARE_WITH_RESERVE,
};

/// A saving below it is none: the peaks are at the same time.
const SAVING_AT_LEAST: f64 = 0.005;

/// The answer, without its remarks.
pub fn consolidation_lines(answer: &Consolidation) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::new("", head(answer))];
    for sum in &answer.resources {
        lines.push(AnswerLine::new(sum.resource.name(), sum_in_words(sum)));
    }
    lines.push(AnswerLine::new("together", groups_in_words(answer)));
    if let Some(pair) = &answer.worst_pair {
        let share = share_in_words(answer, pair);
        let names = answer.names(&pair.systems);
        lines.push(AnswerLine::new("apart", format!("{names}: {share}")));
    }
    lines.push(AnswerLine::new("interval", answer.intervals.clone()));
    if !answer.left_out.is_empty() {
        let left_out = answer.left_out.iter();
        let left_out: Vec<String> = left_out
            .map(|(resource, why)| format!("{} ({why})", resource.name()))
            .collect();
        lines.push(AnswerLine::new("left out", left_out.join("; ")));
    }
    lines
}

/// `3 systems aligned by date, in steps of 10 min 0 s`
fn head(answer: &Consolidation) -> String {
    let step = span(answer.step_s.into());
    let mut text = format!(
        "{} aligned by {}, in steps of {step} (rates: mean of a step; memory: highest value)",
        units::counted(answer.systems.len(), "system"),
        answer.alignment.name(),
    );
    if answer.compared_share < 0.995 {
        let share = units::percent(answer.compared_share);
        text.push_str(&format!("; all have values {share} of the time"));
    }
    text
}

/// `together: 3.10k writes/s at 02:15, 41 % less than the sum of the peaks (5.25k)`
fn sum_in_words(sum: &ResourceSum) -> String {
    let resource = sum.resource;
    let interval = sum.interval.map(|interval| {
        let (low, high) = (
            resource.number(interval.low),
            resource.number(interval.high),
        );
        format!(" ({low} to {high})")
    });
    let total = resource.number(sum.sum_of_peaks());
    let against = match sum.saving() {
        None => "not used".to_owned(),
        Some(saving) if saving < SAVING_AT_LEAST => format!("the sum of the peaks ({total})"),
        Some(saving) => {
            let saving = units::percent(saving);
            format!("{saving} less than the sum of the peaks ({total})")
        }
    };
    format!(
        "together: {}{} at {}, {against}",
        resource.amount(sum.peak),
        interval.unwrap_or_default(),
        sum.at
    )
}

/// `a + c (1.20k writes/s at 02:10, 40 % of the capacity); b (...); best of 3 partitions into pairs`
fn groups_in_words(answer: &Consolidation) -> String {
    let groups = answer.groups.iter().map(|group| {
        let names = answer.names(&group.systems);
        format!("{names} ({})", share_in_words(answer, group))
    });
    let groups: Vec<String> = groups.collect();
    let shape = match answer.groups_wanted {
        None => "pairs".to_owned(),
        Some(groups) => units::counted(groups, "group"),
    };
    let search = match answer.search {
        Search::Exhaustive(1) => format!("the only partition into {shape}"),
        Search::Exhaustive(tried) => {
            let partitions = units::counted(tried, "partition");
            format!("best of {partitions} into {shape}")
        }
        Search::Greedy => format!("a good partition into {shape} (greedy: not all were tried)"),
    };
    format!("{}; {search}", groups.join("; "))
}

/// `3.10k writes/s at 02:15, 62 % of the capacity, 3 % less than their peaks`
fn share_in_words(answer: &Consolidation, group: &GroupLoad) -> String {
    let share = units::percent(group.share);
    let of = if answer.capacity.is_empty() {
        format!("{share} of the peaks of all systems")
    } else {
        let reserve = reserve_in_words(group.share);
        format!("{share} of the capacity{reserve}")
    };
    let peak = group.resource.amount(group.peak);
    let text = format!("{peak} at {}, {of}", group.at);
    match saving(group.peak, group.sum_of_peaks) {
        _ if group.systems.len() < 2 => text,
        Some(saving) if saving < SAVING_AT_LEAST => format!("{text}, at the same time"),
        Some(saving) => {
            format!("{text}, {} less than their peaks", units::percent(saving))
        }
        None => text,
    }
}

/// `, only 5.5 % in reserve`: what a share of a capacity leaves of it; empty if that is enough.
fn reserve_in_words(share: f64) -> String {
    if share > 1.0 {
        ": does not fit".to_owned()
    } else if share >= 1.0 {
        ", nothing in reserve".to_owned()
    } else if share > SHARE_WITH_RESERVE {
        format!(", only {} in reserve", units::percent(1.0 - share))
    } else {
        String::new()
    }
}
