//! The phrases and numbers of a comparison.

use audit::SidesAudit;
use stats::Interval;
use units::{change, changes, counted, fine_percent};
use verdict::{
    Check, Compared, Contrast, Cost, Decision, Levels, Measure, Metric, Outcome, SharedCombination,
    executions_a_side, why_undecided,
};

use crate::{
    grid::percentiles::{MARKED, marked},
    sentences::{
        groups::groups_in_words,
        nouns::{block_nouns, nouns},
    },
    text::capital::capitalised,
};

/// The names of the sides in all sentences.
pub(super) const SIDES: [&str; 2] = ["A", "B"];

/// The number of executions: `5 executions a side, in pairs`, and those without a pair.
fn executions(place: &SharedCombination) -> String {
    let [a, b] = place.executions;
    let [noun, nouns] = nouns(place.of_batches);
    match (a == b, place.paired) {
        (true, true) => format!("{} a side, in pairs", counted(a, noun)),
        (true, false) => format!("{} a side", counted(a, noun)),
        (false, true) => {
            let pairs = counted(a.min(b), "pair");
            let pairs = if place.of_batches {
                format!("{pairs} of {nouns}")
            } else {
                format!("{pairs} within blocks")
            };
            format!(
                "{pairs}; excluded: {} of {} without a pair",
                counted(a.abs_diff(b), noun),
                SIDES[usize::from(b > a)]
            )
        }
        (false, false) => format!("{} against {b}", counted(a, noun)),
    }
}

/// The decision about a combination, in a sentence.
pub(super) fn headline(
    contrast: &Contrast,
    place: &SharedCombination,
    audit: &SidesAudit,
) -> String {
    let at = if place.within.is_empty() {
        String::new()
    } else {
        format!("{}: ", levels(&place.within))
    };
    let [noun, nouns] = nouns(place.of_batches);
    let Some(compared) = contrast.primary_of(place) else {
        let what = contrast.primary.map_or("nothing", Metric::in_words);
        return match contrast.primary {
            Some(_) => format!("{at}inconclusive: {what} was not measured in every {noun}."),
            None => format!("{at}nothing was measured on both sides."),
        };
    };
    let name = compared.measure.in_words();
    let margin = fine_percent(contrast.margin);
    let sides = executions(place);
    let Some(comparison) = &compared.comparison else {
        if place.of_batches && place.paired {
            let fewest = place.compared_executions().fewest();
            return format!(
                "{at}inconclusive: {name} from {sides}; an interval and a decision need {fewest}."
            );
        }
        return format!(
            "{at}inconclusive: {name} from {sides}; an interval needs at least two {nouns} a side, a decision at least three."
        );
    };
    let ratio = comparison.ratio;
    let [estimate, low, high] = changes([ratio.estimate, ratio.low, ratio.high]);
    let numbers = format!("{name} {estimate} (95 % interval {low} to {high}; {sides})");
    match compared.decision {
        Decision::Faster | Decision::Slower => match audit.disturbance() {
            Some(found) => format!(
                "{at}whether B is {} cannot be decided, because the machine was busy ({}: {}). Measured: {numbers}.",
                compared.decision.word(),
                found.of(),
                found.finding.evidence
            ),
            None => format!("{at}B is {}: {numbers}.", compared.decision.word()),
        },
        Decision::Equivalent => {
            format!("{at}A and B are equivalent: {numbers}, smaller than the margin of {margin}.")
        }
        Decision::Inconclusive => {
            let short = compared.short_slices.as_ref();
            let executions = place.compared_executions();
            let why = why_undecided(compared.decision, comparison, executions, short);
            let needed = needed(compared, place.of_batches);
            format!("{at}inconclusive: {numbers}{why}{needed}.")
        }
    }
}

/// The sides whose executions fall into two groups, one sentence each.
pub(super) fn groups(contrast: &Contrast, place: &SharedCombination) -> Vec<String> {
    let Some(compared) = contrast.primary_of(place) else {
        return Vec::new();
    };
    let scale = compared.measure.scale();
    let sides = SIDES.into_iter().zip(compared.of_sides());
    let groups = sides.filter_map(|(side, values)| {
        let said = groups_in_words(
            values,
            |value| scale.in_words(value),
            nouns(place.of_batches),
        )?;
        Some(format!("{side}: {said}"))
    });
    groups.collect()
}

/// The number of executions that would decide, and the smallest difference that these could have detected.
fn needed(compared: &Compared, of_batches: bool) -> String {
    let Some(needed) = compared.executions_needed else {
        return String::new();
    };
    let [_, nouns] = nouns(of_batches);
    let shown = compared.smallest_effect.map(|effect| {
        format!(
            "; the {nouns} so far detect a difference of {} with 80 % power",
            fine_percent(effect)
        )
    });
    format!(
        "; {} should be enough to decide a difference of {}{}",
        executions_a_side(needed, of_batches),
        fine_percent(compared.effect),
        shown.unwrap_or_default()
    )
}

/// The beginning of the first cause.
const WHY: &str = "Why: ";
/// The same if no metric differs.
const ONLY_COSTS: &str = "No metric differs significantly, but the cost of an operation does: ";

/// The causes of the differences in the metrics, one sentence each; if none certainly differs, the costs that do.
pub(super) fn causes(place: &SharedCombination) -> Vec<String> {
    let decided = |compared: &Compared| compared.decision.is_different();
    let is_decided = place.metrics.iter().any(decided);
    let first = if is_decided { WHY } else { ONLY_COSTS };
    let causes = place.causes.iter().enumerate();
    let sentences = causes.map(|(index, cause)| match index {
        0 => format!("{first}{}.", cause.sentence),
        _ => format!("Also: {}.", cause.sentence),
    });
    let mut sentences: Vec<String> = sentences.collect();
    if sentences.is_empty() && is_decided {
        sentences.push("Why: unexplained, because no observed cost certainly differs.".to_owned());
    }
    sentences
}

/// The first of them, as the answer has it: behind a label, and short, so that the cause is on its line.
pub(crate) fn first_cause(place: &SharedCombination) -> Option<String> {
    let first = causes(place).into_iter().next()?;
    Some(match first.strip_prefix(ONLY_COSTS) {
        Some(cause) => format!("only the cost of an operation differs: {cause}"),
        None => {
            let cause = first.trim_start_matches(WHY);
            match other_metric(place) {
                Some([deciding, other]) => {
                    let [deciding, other] = [deciding, other].map(|it| it.measure.in_words());
                    format!("{other} differs significantly, {deciding} does not: {cause}")
                }
                None => cause.to_owned(),
            }
        }
    })
}

/// The deciding metric, the first, if it does not certainly differ, and the next one that does. Others may differ, too.
fn other_metric(place: &SharedCombination) -> Option<[&Compared; 2]> {
    let is_different = |it: &&Compared| it.decision.is_different();
    let found = place.metrics.iter().find(is_different)?;
    let deciding = place.metrics.first()?;
    (deciding.measure != found.measure).then_some([deciding, found])
}

/// The first two of them, where several settings differ between the sides.
pub(crate) fn first_causes(place: &SharedCombination) -> Option<String> {
    let first = first_cause(place)?;
    let second = place.causes.get(1);
    Some(match second {
        Some(second) => format!("{}; also {}.", first.trim_end_matches('.'), second.sentence),
        None => first,
    })
}

pub(super) fn not_observed(place: &SharedCombination) -> Option<String> {
    let names = place.not_observed.iter();
    let names: Vec<&str> = names
        .map(|cost: &Cost| Measure::Cost(*cost).in_words())
        .collect();
    (!names.is_empty()).then(|| format!("Not available on both sides: {}.", names.join(", ")))
}

/// Combinations that have no counterpart.
pub(super) fn alone(contrast: &Contrast) -> Vec<String> {
    let sides = contrast.alone.iter().zip(SIDES);
    let sides = sides.filter(|(alone, _)| !alone.is_empty());
    sides
        .map(|(alone, side)| {
            let all: Vec<String> = alone.iter().map(levels).collect();
            format!("Only {side} has {}.", all.join("; "))
        })
        .collect()
}

/// A tolerance and its outcome.
pub(super) fn check(check: &Check) -> String {
    let limit = change(check.tolerance.ratio);
    let at = if check.within.is_empty() {
        String::new()
    } else {
        format!(" at {}", levels(&check.within))
    };
    let name = check.tolerance.measure.name();
    let found = match check.ratio {
        None => {
            let [_, nouns] = nouns(check.of_batches);
            format!("too few {nouns} or operations on a side")
        }
        Some(ratio) => {
            let [estimate, low, high] = match check.amount {
                Some(amount) => amounts(check.tolerance.measure, &amount),
                None => [ratio.estimate, ratio.low, ratio.high].map(change),
            };
            let confidence = fine_percent(check.confidence);
            format!("{estimate}, {confidence} interval {low} to {high}")
        }
    };
    let outcome = match check.outcome {
        Outcome::Held => "held",
        Outcome::Broken => "BROKEN",
        Outcome::Undecided => "undecided",
    };
    format!("{name} {limit}{at}: {outcome} ({found})")
}

/// The method of the comparison, and what the mark of a percentile means if one has it.
pub(super) fn method(contrast: &Contrast) -> String {
    let of_batches = contrast.places.iter().any(|it| it.of_batches);
    let [_, nouns] = nouns(of_batches);
    let [block, blocks] = block_nouns(of_batches);
    let together = match contrast.looked_at {
        None => "(Holm, 5 %)".to_owned(),
        Some(most) => format!(
            "(5 %, divided among them), even though the results were analysed after every {block}, up to {most} {blocks}: the intervals are widened for this"
        ),
    };
    let decides = match (contrast.primary, contrast.is_asked) {
        (None, _) => String::new(),
        (Some(metric), true) => format!(
            "{} decides, as the experiment specifies: its decision is the same as in the experiment's report. ",
            capitalised(metric.in_words())
        ),
        (Some(metric), false) => format!(
            "{} decides, over all combinations together. ",
            capitalised(metric.in_words())
        ),
    };
    let mut metrics = contrast.places.iter().flat_map(|it| &it.metrics);
    let mark = if metrics.any(|it| it.thin.contains(&true)) {
        format!(" {MARKED}")
    } else {
        String::new()
    };
    format!(
        "{} are compared with Student's t on logarithms. {decides}Decisions are valid for all other metrics together and for all costs together {together}. Equivalent means a difference that is certainly within {}; for costs, also a difference too small to matter. For inconclusive rows the table shows how many {nouns} a side would detect the measured difference.{mark}",
        capitalised(nouns),
        fine_percent(contrast.margin)
    )
}

/// The levels in words: `connections 8, mix 1:1`.
pub(crate) fn levels(levels: &Levels) -> String {
    let all: Vec<String> = levels
        .iter()
        .map(|(factor, level)| format!("{factor} {level}"))
        .collect();
    if all.is_empty() {
        "all of it".to_owned()
    } else {
        all.join(", ")
    }
}

/// The mean of a side, 0 or 1, marked if it is a thin percentile.
pub(super) fn value(compared: &Compared, side: usize) -> String {
    let value = compared.measure.scale().in_words(compared.means[side]);
    marked(value, compared.thin[side])
}

/// A row of a table: measure, A, B, change, interval, decision. The executions may be batches of slices.
pub(super) fn row(compared: &Compared, of_batches: bool) -> [String; 6] {
    let ratio = compared.comparison.map(|it| it.ratio);
    let [estimate, low, high] = match (compared.amount(), ratio) {
        (Some(amount), _) => amounts(compared.measure, &amount),
        (None, Some(ratio)) => changes([ratio.estimate, ratio.low, ratio.high]),
        (None, None) => [(); 3].map(|()| String::new()),
    };
    let or_nothing = |text: String| Some(text).filter(|it| !it.is_empty());
    let interval = or_nothing(low).map(|low| format!("{low} to {high}"));
    [
        compared.measure.in_words().to_owned(),
        value(compared, 0),
        value(compared, 1),
        or_nothing(estimate).unwrap_or_else(|| "–".to_owned()),
        interval.unwrap_or_else(|| "–".to_owned()),
        decision(compared, of_batches),
    ]
}

/// A difference and the bounds of its interval, with signs: `+0.896`.
fn amounts(measure: Measure, amount: &Interval) -> [String; 3] {
    let scale = measure.scale();
    let zero = scale.in_words(0.0);
    [amount.estimate, amount.low, amount.high].map(|value| match scale.in_words(value.abs()) {
        none if none == zero => none,
        less if value < 0.0 => format!("-{less}"),
        more => format!("+{more}"),
    })
}

/// True for the metric that decides, for a certain difference, and for a cost that explains something.
pub(super) fn is_notable(contrast: &Contrast, place: &SharedCombination, it: &Compared) -> bool {
    let mut causes = place.causes.iter();
    let explains = causes.any(|cause| cause.cost.map(Measure::Cost) == Some(it.measure));
    let decides = contrast.primary.map(Measure::Metric) == Some(it.measure);
    decides || explains || it.decision.is_different()
}

/// The compared measures that did not certainly change and are not shown.
pub(super) fn left_out<'c>(compared: impl Iterator<Item = &'c Compared>) -> Option<String> {
    let (equivalent, inconclusive): (Vec<_>, Vec<_>) =
        compared.partition(|it| it.decision == Decision::Equivalent);
    let of = |measures: &[&Compared], decision: Decision| {
        let names: Vec<&str> = measures.iter().map(|it| it.measure.in_words()).collect();
        (!names.is_empty()).then(|| format!("{}: {}", decision.word(), names.join(", ")))
    };
    let parts = [
        of(&equivalent, Decision::Equivalent),
        of(&inconclusive, Decision::Inconclusive),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Not shown without --all: {}.", parts.join("; ")))
}

/// The decision in a word; for a cost, B needs more or less.
fn decision(compared: &Compared, of_batches: bool) -> String {
    let word = match (compared.measure, compared.decision) {
        (Measure::Cost(_), Decision::Faster) => "less",
        (Measure::Cost(_), Decision::Slower) => "more",
        (_, decision) => decision.word(),
    };
    match compared.executions_needed {
        Some(needed) => format!("{word}, {}", executions_a_side(needed, of_batches)),
        None => word.to_owned(),
    }
}
