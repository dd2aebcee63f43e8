//! What makes a finished experiment end with an error: an expectation, a limit or a rate that was not kept.

use blame::{Blame, Blamed};
use report::{Results, checked_expectations, search_sentence};
use verdict::Outcome;

/// An error that names what `[expect]` has and the figures do not hold, or do not hold for certain.
pub(super) fn expectations_not_held(recorded: &Results) -> anyhow::Result<()> {
    // Those that are broken come first.
    let checked = checked_expectations(recorded);
    let Some(first) = checked.iter().find(|it| it.outcome != Outcome::Held) else {
        return Ok(());
    };
    let same = checked.iter().filter(|it| it.outcome == first.outcome);
    let others = match same.count() - 1 {
        0 => String::new(),
        others => format!("; and {others} more"),
    };
    let said = first.in_words();
    let error = match first.outcome {
        Outcome::Broken => Blamed::new(Blame::Answer, format!("not as expected: {said}{others}")),
        _ => {
            let hint = match first.doubt {
                Some(_) => "dbdyno audit shows the rule with its evidence and what to do",
                None => "more --repeats or a longer --duration narrow the interval",
            };
            Blamed::new(Blame::Undecided, format!("not certain: {said}{others}"))
                .hint(hint.to_owned())
        }
    };
    Err(error.into())
}

/// An error that names the first search, if any, whose limit no rate keeps, or else whose rate is not known.
pub(super) fn searches_without_rate(recorded: &Results) -> anyhow::Result<()> {
    let answers = recorded.searches.iter();
    let of_outcome = |outcome: Outcome| {
        answers
            .clone()
            .filter(move |it| it.found.outcome() == outcome)
    };
    let first = |outcome: Outcome| of_outcome(outcome).next();
    let never_kept = first(Outcome::Broken);
    let Some(first) = never_kept.or_else(|| first(Outcome::Undecided)) else {
        return Ok(());
    };
    let outcome = first.found.outcome();
    let others = match of_outcome(outcome).count() - 1 {
        0 => String::new(),
        others => format!("; and {others} more"),
    };
    let said = search_sentence(recorded, first);
    let error = match outcome {
        Outcome::Broken => {
            let hint = "a lower `from` of find, or a longer --duration, also tries lower rates";
            Blamed::new(Blame::Answer, format!("limit not kept: {said}{others}"))
                .hint(hint.to_owned())
        }
        _ => Blamed::new(Blame::Undecided, format!("rate not found: {said}{others}"))
            .hint(first.remedy().to_owned()),
    };
    Err(error.into())
}

/// An error that names the first run or stage, if any, that did not reach the requested rate. A search tries rates that are
/// too high.
pub(super) fn rates_not_reached(recorded: &Results) -> anyhow::Result<()> {
    if !recorded.searches.is_empty() {
        return Ok(());
    }
    // Each stage has a rate of its own; that of the whole run is their mean.
    let all = recorded.compared().iter();
    let mut short = all.filter_map(|run| Some((run, run.offered.as_ref()?.shortfall.as_ref()?)));
    let Some((run, first)) = short.next() else {
        return Ok(());
    };
    let others = match short.count() {
        0 => String::new(),
        others if recorded.parts.staged.is_empty() => format!("; likewise in {others} more runs"),
        others => format!("; likewise in {others} more stages"),
    };
    let stage = match run.stages.as_slice() {
        [stage] => format!("stage {} of ", stage.number),
        _ => String::new(),
    };
    let asked = run.offered.as_ref().and_then(|offered| offered.rate_per_s);
    let message = format!(
        "rate not reached in {stage}run {}: {} of {} operations per second, from {} on: {}{others}",
        run.header.number_in_words(),
        units::si(first.achieved_per_s),
        units::si(asked.unwrap_or(0.0)),
        units::moment(first.from_s),
        first.why
    );
    Err(Blamed::new(Blame::Answer, message)
        .hint("the line `offered` of the run's record contains the evidence".to_owned())
        .into())
}
