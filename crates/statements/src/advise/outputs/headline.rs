//! The answer in a line.

use units::counted;

use crate::advise::{
    diagnosis::{Advice, DiagnosedStatement, Diagnosis},
    index_set::IndexSet,
    proof::{Measured, Outcome, Proof},
    ranking::{costs, main_effect, outcome, proof_of, proved},
    untried::UntriedStatement,
};

const NOT_TRIED: &str = "not tried";

/// The number of remedies, and the best one with its times and with the statements that it makes slower.
pub(super) fn headline(diagnosis: &Diagnosis, is_tried: bool) -> String {
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
        let number = counted(all.len(), "candidate");
        return format!(
            "{number}{which}{}",
            first.candidate.remedy.title(&first.statement)
        );
    }
    let proved = proved(diagnosis);
    let Some(best) = proved.first() else {
        let counts = counts(diagnosis);
        return format!("No remedy proved: {}", counts.join(", "));
    };
    let which = match not_tried(diagnosis) {
        _ if proved.len() == 1 => "",
        0 => "the best: ",
        _ => "the best of those tried: ",
    };
    let number = match proved.len() {
        1 => "1 remedy".to_owned(),
        number => format!("{number} remedies"),
    };
    let enough = enough(&IndexSet::of(diagnosis));
    let measured = proof_of(best);
    let times = measured.and_then(|it| main_effect(diagnosis, it)?.times());
    let times = times.map_or_else(String::new, |times| format!(": {times}"));
    let cost = measured.and_then(|it| cost(diagnosis, it));
    format!(
        "{number} proved{enough}: {which}{}{times}{}",
        best.candidate.remedy.title(&best.statement),
        cost.unwrap_or_default()
    )
}

/// `; 2 of the 5 indexes are enough`; empty if each index is needed.
fn enough(indexes: &IndexSet<'_>) -> String {
    let all = indexes.number();
    match indexes.enough().len() {
        0 => String::new(),
        1 => format!("; 1 of the {all} indexes is enough"),
        number => format!("; {number} of the {all} indexes are enough"),
    }
}

/// `, but statement 4 takes 3.63 times as long`; `None` if no statement is slower.
fn cost(diagnosis: &Diagnosis, measured: &Measured) -> Option<String> {
    let slower = costs(diagnosis, measured);
    let (worst, others) = slower.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => ", and 1 more statement is slower".to_owned(),
        number => format!(", and {number} more statements are slower"),
    };
    let longer = worst.longer()?;
    Some(format!(
        ", but statement {} {longer}{others}",
        worst.statement
    ))
}

/// `3 tried without effect, 1 cannot be made, 2 not tried`.
pub(super) fn counts(diagnosis: &Diagnosis) -> Vec<String> {
    let number = |is_meant: fn(&Advice) -> bool| {
        let all = diagnosis.advice.iter();
        all.filter(|it| is_meant(it)).count()
    };
    let kinds = [
        (
            number(|it| it.proof == Some(Proof::Unused) || outcome(it) == Some(Outcome::NoEffect)),
            "tried without effect",
        ),
        (
            number(|it| outcome(it) == Some(Outcome::Undecided)),
            "tried and undecided",
        ),
        (
            number(|it| outcome(it) == Some(Outcome::NotProved)),
            "faster and slower without a certain saving",
        ),
        (
            number(|it| {
                let outcome = outcome(it);
                outcome == Some(Outcome::Slower) || outcome == Some(Outcome::AnotherResult)
            }),
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
    let all = diagnosis.advice.iter();
    all.filter(|it| it.is_untried()).count()
}

/// `not tried for statement Q2 (175 ms), the most expensive one without a proved remedy: create index ... and 1 more`; `None`
/// if no such statement has candidates without a trial.
pub(super) fn untried(diagnosis: &Diagnosis) -> Option<String> {
    let UntriedStatement { statement, advice } = UntriedStatement::of(diagnosis)?;
    let (first, others) = advice.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        number => format!(" and {number} more"),
    };
    Some(format!(
        "not tried for statement {}, the most expensive one without a proved remedy: {}{others}",
        name_and_time(statement),
        first.candidate.remedy.title(&first.statement)
    ))
}

/// `4 (3.00 ms, executed 1.20k times)`.
pub(super) fn name_and_time(statement: &DiagnosedStatement) -> String {
    let executions = if statement.executions > 1.0 {
        format!(", executed {} times", units::count(statement.executions))
    } else {
        String::new()
    };
    let time = units::seconds(statement.time_s);
    format!("{} ({time}{executions})", statement.name)
}

/// Whether this is the count of the candidates of [`not_tried`].
pub(super) fn is_of_not_tried(count: &str) -> bool {
    count.ends_with(NOT_TRIED)
}
