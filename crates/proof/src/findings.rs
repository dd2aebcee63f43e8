//! The answer of a proof: the fate of each group with its mechanism and its price.

use std::{collections::BTreeMap, path::Path};

use blame::Blamed;
use mycnf::{Side as Values, Topic, explanation, shown, topic};
use report::{Gain, PossibleLoss, Proof, ProofLine, ProofRound, UntestedText};
use samples::Record;
use verdict::{ComparisonParameters, Execution, Part, PartStatus, Parts, Side, contrast};

use crate::{
    case::{Case, FACTOR},
    option_line,
    rounds::{MeasuredRound, Rounds},
};

/// Causes of one group that are kept; the first is the most specific.
const CAUSES_MAX: usize = 3;

/// The answer; the rounds are in `directory`.
pub fn findings(case: &Case, rounds: &Rounds, directory: &Path) -> Result<Proof, Blamed> {
    let elimination = &rounds.elimination;
    let parts = elimination.parts().iter().enumerate();
    let lines = parts.map(|(at, part)| line(case, rounds, at, part));
    let done = rounds.measured.iter().zip(elimination.rounds());
    let done = done.map(|(done, round)| ProofRound {
        purpose: round.purpose,
        results: directory.join(&done.named.name).display().to_string(),
        files: done.named.files.len(),
        runs: done.records.len(),
        blocks: done
            .records
            .iter()
            .map(|it| it.header.block)
            .max()
            .unwrap_or(0),
    });
    let untested = case.candidates.untested.iter().map(|it| UntestedText {
        line: option_line::shown(&it.entry),
        why: it.why.clone(),
    });
    let check = elimination.check();
    let metric = rounds.measured.first().map(|round| round.question.metric);
    Ok(Proof {
        file: case.file.display().to_string(),
        against: case.against.as_ref().map(|path| path.display().to_string()),
        version: case.run.clone(),
        workload: case.load.in_words.clone(),
        metric: metric.map_or("throughput", verdict::Metric::in_words),
        margin: case.terms.margin,
        is_finished: elimination.is_finished(),
        possible_loss: possible_loss(case, rounds),
        lines: lines.collect::<Result<_, Blamed>>()?,
        untested: untested.collect(),
        over_base: over_base(rounds),
        over_whole: check.and_then(verdict::ComparedConfiguration::of_baseline),
        smallest_loss: check.and_then(|check| check.smallest),
        class: case.class(&case.whole())?,
        class_of_shortest: case.class(elimination.shortest())?,
        rounds: done.collect(),
        results: directory.display().to_string(),
    })
}

/// The loss that the last check does not exclude.
fn possible_loss(case: &Case, rounds: &Rounds) -> Option<PossibleLoss> {
    let open = rounds.elimination.possible_loss()?;
    Some(PossibleLoss {
        share: open.loss_of_baseline()?,
        without_harmful: open.parts != case.whole(),
    })
}

/// The gain of the last round's baseline that was measured beside the base.
fn over_base(rounds: &Rounds) -> Option<Gain> {
    let elimination = &rounds.elimination;
    let base = elimination.base()?;
    let mut rounds = elimination.rounds().iter().rev();
    let of_base = rounds.find(|round| round.others.contains(&base.parts))?;
    Some(Gain {
        of_shortest: of_base.baseline == *elimination.shortest(),
        ratio: base.of_baseline()?,
    })
}

fn line(case: &Case, rounds: &Rounds, at: usize, part: &Part) -> Result<ProofLine, Blamed> {
    let group = &case.candidates.groups[at];
    let (own, without) = (case.class(&case.whole())?, case.class_without(at)?);
    let mut prices = memory(case, &group.options)?;
    if without > own {
        prices.push(format!("durability {}: {}", own.name(), own.in_words()));
    }
    let costs = group.options.iter().filter_map(|name| {
        let cost = explanation(name)?.cost.trim();
        (!cost.is_empty()).then(|| format!("{name}: {cost}"))
    });
    prices.extend(costs);
    let is_named = !matches!(
        part.fate,
        PartStatus::NoEffect | PartStatus::Untested | PartStatus::Pinned
    );
    Ok(ProofLine {
        lines: group.lines.iter().map(option_line::shown).collect(),
        options: group.options.clone(),
        fate: part.fate,
        effect: part.effect,
        smallest: part.smallest,
        is_equivalent: part.is_equivalent,
        executions: part.executions,
        round: part.round,
        causes: if is_named {
            causes(case, rounds, at, part)
        } else {
            Vec::new()
        },
        prices,
        class_without: (without != own).then_some(without),
    })
}

/// What the options add to the memory that is set aside for the server.
fn memory(case: &Case, options: &[String]) -> Result<Vec<String>, Blamed> {
    let values = |parts: &Parts| -> Result<BTreeMap<String, String>, Blamed> {
        Ok(Values::of_file(&case.file_with(parts)?, &case.target).values)
    };
    let (whole, base) = (values(&case.whole())?, values(&Parts::new())?);
    let of_memory = options.iter().filter(|name| topic(name) == Topic::Memory);
    let lines = of_memory.filter_map(|name| {
        let unit = explanation(name).map(|text| text.unit.as_str())?;
        let (new, old) = (whole.get(name)?, base.get(name)?);
        let is_size = unit == "bytes";
        is_size.then(|| {
            format!(
                "memory: {} instead of {}",
                shown(new, unit),
                shown(old, unit)
            )
        })
    });
    Ok(lines.collect())
}

/// What a group changes in the cost of an operation, from the file without it to the file with it, in the round of its
/// evidence.
fn causes(case: &Case, rounds: &Rounds, at: usize, part: &Part) -> Vec<String> {
    let mut rounds = rounds.measured.iter().zip(rounds.elimination.rounds());
    let of_evidence = part.round.and_then(|number| rounds.nth(number - 1));
    let found = of_evidence.and_then(|(done, round)| {
        let with_baseline = round.baseline.contains(&at);
        let mut other = round.baseline.clone();
        if with_baseline {
            other.remove(&at);
        } else {
            other.insert(at);
        }
        let (baseline, other) = (
            done.named.level(&round.baseline)?,
            done.named.level(&other)?,
        );
        let (without, with) = if with_baseline {
            (other, baseline)
        } else {
            (baseline, other)
        };
        Some(causes_between(case, done, without, with))
    });
    found.unwrap_or_default()
}

fn causes_between(case: &Case, done: &MeasuredRound, without: &str, with: &str) -> Vec<String> {
    let looked_at = done.question.until_decided.map(|budget| budget.blocks);
    let side = |level: &str| {
        let is_it = |record: &&Record| {
            record.is_complete()
                && record
                    .header
                    .combination
                    .get(FACTOR)
                    .is_some_and(|it| it == level)
        };
        let records = done.records.iter().filter(is_it);
        Side {
            name: level.to_owned(),
            levels: BTreeMap::from([(FACTOR.to_owned(), level.to_owned())]),
            executions: records.map(|record| Execution::of(record, 1)).collect(),
            looked_at,
        }
    };
    let terms = ComparisonParameters {
        margin: case.terms.margin,
        primary: Some(done.question.metric),
        asked: None,
    };
    let found = contrast(&side(without), &side(with), &terms);
    let causes = found.places.into_iter().flat_map(|place| place.causes);
    causes
        .take(CAUSES_MAX)
        .map(|cause| cause.sentence)
        .collect()
}
