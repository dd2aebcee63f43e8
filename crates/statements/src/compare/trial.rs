//! The statements executed on all sides, in blocks of random order, until each comparison is decided.

mod ties;
mod total;

use std::time::Duration;

use blame::Blamed;
use sqltext::SqlStatement;
use stats::Random;
use verdict::{Compared, TimedFamily};

use self::total::Totals;
use super::{
    comparison::{Comparison, ResultEquivalence},
    hint_warnings::{self, Warned, Warning},
    side::{Side, SideError},
};
use crate::{
    execution::{GuardedStatements, StatementResult},
    setting::is_setting,
};

/// Time that the executions of a statement on one side take in a block, unless a single one takes longer, seconds.
const BLOCK_S: f64 = 0.05;
/// Executions of a statement on one side in a block at most.
const EXECUTIONS_AT_MOST: usize = 9;

/// When the blocks end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialParameters {
    /// Blocks at most.
    pub(crate) blocks: usize,
    /// Time for all blocks.
    pub(crate) budget: Duration,
    /// The smallest difference that matters, as a share.
    pub(crate) margin: f64,
    /// Whether a side is faster only if the whole interval is beyond the margin.
    pub(crate) is_beyond_margin: bool,
    /// Seed of the order.
    pub(crate) seed: u64,
    /// Comparisons at least that are decided together: those of other trials for the same question, too.
    pub(crate) family: usize,
}

/// What a trial came to.
pub(crate) struct TrialResult {
    pub(crate) comparisons: Vec<Comparison>,
    /// The sum of the times of each side, if it makes statements faster and others slower.
    pub(crate) totals: Vec<Option<Compared>>,
    pub(crate) blocks: usize,
    /// Time of all blocks.
    pub(crate) took: Duration,
    /// Why it ended early.
    pub(crate) failure: Option<Blamed>,
}

/// The result of a statement with the server's warnings.
type Executed = (StatementResult, Vec<Warning>);

/// The comparisons with their state during the trial.
pub(crate) struct Trial<'a> {
    guarded: Vec<GuardedStatements<'a>>,
    terms: TrialParameters,
    /// How many times each statement is executed; empty if no sum is decided.
    weights: Vec<f64>,
    comparisons: Vec<Comparison>,
}

impl<'a> Trial<'a> {
    /// Executes every statement on every side that does not skip it twice, which is not timed, and compares the results.
    /// The second time shows how long an execution takes once its pages are in memory.
    pub(crate) async fn begin(
        sides: &mut [Side<'a>],
        terms: TrialParameters,
        weights: &[f64],
    ) -> Result<Self, SideError> {
        let guarded: Vec<GuardedStatements<'a>> = sides
            .iter()
            .map(|side| GuardedStatements::new(side.statements, false, None))
            .collect();
        for (side, guarded) in sides.iter_mut().zip(&guarded) {
            let checked = guarded.check(&side.session, side.variant.settings()).await;
            checked.map_err(|error| side.blamed(error))?;
        }
        let mut trial = Self {
            guarded,
            terms,
            weights: weights.to_vec(),
            comparisons: Vec::new(),
        };
        let first = trial.results(sides).await?;
        let warned = sides.iter().zip(&first).map(|(side, executed)| Warned {
            variant: side.variant,
            statements: side.statements,
            warnings: executed.iter().map(warnings_of).collect(),
        });
        let followed = hint_warnings::check(&warned.collect::<Vec<_>>());
        followed.map_err(SideError::of_one)?;
        let second = trial.results(sides).await?;
        for (statement, earlier) in first[0].iter().enumerate() {
            for side in 1..sides.len() {
                let executed = [0, side].map(|side| second[side][statement].as_ref());
                let (Some((earlier, _)), [Some(before), Some(after)]) = (earlier, executed) else {
                    continue;
                };
                let results = [before.0, after.0];
                trial.comparisons.push(Comparison {
                    statement,
                    side,
                    results,
                    sameness: ResultEquivalence::of(*earlier, results),
                    times_s: Vec::new(),
                    compared: None,
                    disturbed_by: None,
                    costs: Default::default(),
                });
            }
        }
        trial.settle_ties(sides).await?;
        Ok(trial)
    }

    /// The results of all statements on some sides, without those of settings; `None` of one that a side skips.
    async fn results(
        &self,
        sides: &mut [Side<'a>],
    ) -> Result<Vec<Vec<Option<Executed>>>, SideError> {
        let mut all = Vec::new();
        for (side, guarded) in sides.iter_mut().zip(&self.guarded) {
            let mut results = Vec::new();
            for (at, statement) in side.statements.iter().enumerate() {
                if is_setting(statement) {
                    let executed = guarded.execute(&mut side.session, at).await;
                    executed.map_err(|error| side.blamed(error))?;
                } else if side.skips(at) {
                    results.push(None);
                } else {
                    let result = guarded.result(&mut side.session, at).await;
                    results.push(Some(result.map_err(|error| side.blamed(error))?));
                }
            }
            all.push(results);
        }
        Ok(all)
    }

    /// Measures blocks until every comparison and every sum is decided or the budget is used up; a statement with a
    /// different result is not measured. A failure ends it, and what was measured before counts.
    pub(crate) async fn run(mut self, sides: &mut [Side<'a>]) -> TrialResult {
        let TrialParameters {
            blocks,
            budget,
            margin,
            is_beyond_margin,
            seed,
            family,
        } = self.terms;
        let measured: Vec<usize> = (0..self.comparisons.len())
            .filter(|at| self.comparisons[*at].sameness != ResultEquivalence::Different)
            .collect();
        let members = measured.len().max(family).max(1);
        let family = TimedFamily::new(members, margin, blocks, is_beyond_margin);
        let mut family = family.expect("the command line has a margin and three blocks or more");
        let of_totals = measured.iter().map(|at| &self.comparisons[*at]);
        let mut totals = Totals::new(self.weights.clone(), of_totals);
        let mut random = Random::new(seed);
        let started = reactor::now();
        let (mut done, mut failure) = (0, None);
        while done < blocks && reactor::now() - started < budget {
            let of_totals = totals.open(&family);
            let open: Vec<(usize, usize)> = measured
                .iter()
                .copied()
                .enumerate()
                .filter(|(member, _)| !family.is_decided(*member) || of_totals.contains(member))
                .collect();
            if open.is_empty() {
                break;
            }
            let mut pairs = Vec::new();
            let block = self.block(sides, &open, &mut pairs, &mut random).await;
            for (member, pair) in &pairs {
                // What is decided is final: further blocks count for the sum only.
                if !family.is_decided(*member) {
                    family.add(*member, *pair);
                }
            }
            totals.add(pairs);
            if let Err(error) = block {
                failure = Some(Blamed::from(error));
                break;
            }
            done += 1;
        }
        let took = reactor::now() - started;
        let totals = (0..sides.len()).map(|side| totals.of_side(side, &family));
        let totals = totals.collect();
        let compared = family.compared();
        for ((member, at), compared) in measured.iter().enumerate().zip(compared) {
            self.comparisons[*at].times_s = family.pairs(member).to_vec();
            self.comparisons[*at].compared = compared;
        }
        if failure.is_none() {
            failure = self.add_costs(sides).await.err().map(Blamed::from);
        }
        TrialResult {
            comparisons: self.comparisons,
            totals,
            blocks: done,
            took,
            failure,
        }
    }

    /// One block: of each statement that is open on some side, the median of some executions there and on the baseline,
    /// which are added to `pairs` with the number of the comparison in its family.
    async fn block(
        &self,
        sides: &mut [Side<'a>],
        open: &[(usize, usize)],
        pairs: &mut Vec<(usize, (f64, f64))>,
        random: &mut Random,
    ) -> Result<(), SideError> {
        let mut places: Vec<Places<'_>> = sides.iter().map(Places::of).collect();
        let statements = self.comparisons.last().map_or(0, |it| it.statement + 1);
        for statement in 0..statements {
            let of_statement: Vec<(usize, usize)> = open
                .iter()
                .map(|(member, at)| (*member, &self.comparisons[*at]))
                .filter(|(_, it)| it.statement == statement)
                .map(|(member, it)| (member, it.side))
                .collect();
            let mut order: Vec<usize> = (0..sides.len())
                .filter(|side| *side == 0 || of_statement.iter().any(|(_, of)| of == side))
                .collect();
            let mut times_s: Vec<Vec<f64>> = vec![Vec::new(); sides.len()];
            for (at, side) in sides.iter_mut().enumerate() {
                // The settings before it, also on a side that needs no execution.
                let (settings, _) = places[at].reach(statement);
                for setting in settings {
                    let executed = self.guarded[at].execute(&mut side.session, setting).await;
                    executed.map_err(|error| side.blamed(error))?;
                }
            }
            if of_statement.is_empty() {
                continue;
            }
            for _ in 0..self.executions(statement) {
                random.shuffle(&mut order);
                for at in &order {
                    let (_, place) = places[*at].reach(statement);
                    let side = &mut sides[*at];
                    let execution = self.guarded[*at].execute(&mut side.session, place).await;
                    let execution = execution.map_err(|error| side.blamed(error))?;
                    times_s[*at].push(execution.time_s);
                }
            }
            for (member, side) in of_statement {
                let pair = median(&mut times_s[0]).zip(median(&mut times_s[side]));
                pairs.push((member, pair.expect("both sides were executed")));
            }
        }
        Ok(())
    }

    /// Executions of a statement in a block on each side: a short one is disturbed easily, and a median of several is not.
    fn executions(&self, statement: usize) -> usize {
        let of_statement = self
            .comparisons
            .iter()
            .filter(|it| it.statement == statement);
        let times_s = of_statement.flat_map(|it| it.results.map(|result| result.time_s));
        let longest_s = times_s.fold(0.0, f64::max);
        ((BLOCK_S / longest_s) as usize).clamp(1, EXECUTIONS_AT_MOST)
    }

    async fn add_costs(&mut self, sides: &mut [Side<'a>]) -> Result<(), SideError> {
        for (number, side) in sides.iter_mut().enumerate() {
            let mut statement = 0;
            for (at, text) in side.statements.iter().enumerate() {
                if is_setting(text) {
                    let executed = self.guarded[number].execute(&mut side.session, at).await;
                    executed.map_err(|error| side.blamed(error))?;
                    continue;
                }
                if side.skips(at) {
                    statement += 1;
                    continue;
                }
                let costs = self.guarded[number].costs(&mut side.session, at).await;
                let costs = costs.map_err(|error| side.blamed(error))?;
                let of_statement = |it: &&mut Comparison| it.statement == statement;
                for comparison in self.comparisons.iter_mut().filter(of_statement) {
                    if number == 0 {
                        comparison.costs[0].clone_from(&costs);
                    } else if comparison.side == number {
                        comparison.costs[1].clone_from(&costs);
                    }
                }
                statement += 1;
            }
        }
        Ok(())
    }
}

/// The warnings of the server about a statement; none about one that was skipped.
fn warnings_of(executed: &Option<Executed>) -> Vec<Warning> {
    let warnings = executed.as_ref().map(|(_, warnings)| warnings.clone());
    warnings.unwrap_or_default()
}

/// The way through the statements of a side, whose settings stand between them.
struct Places<'a> {
    side: &'a [SqlStatement],
    next: usize,
    /// Index of the statement that was reached last, without settings.
    reached: Option<(usize, usize)>,
}

impl<'a> Places<'a> {
    fn of(side: &Side<'a>) -> Self {
        Self {
            side: side.statements,
            next: 0,
            reached: None,
        }
    }

    /// The settings on the way to a statement that were not passed yet, and its place.
    fn reach(&mut self, statement: usize) -> (Vec<usize>, usize) {
        let mut settings = Vec::new();
        while self.reached.is_none_or(|(number, _)| number < statement) {
            let place = self.next;
            self.next += 1;
            if is_setting(&self.side[place]) {
                settings.push(place);
            } else {
                let number = self.reached.map_or(0, |(number, _)| number + 1);
                self.reached = Some((number, place));
            }
        }
        (settings, self.reached.map_or(0, |(_, place)| place))
    }
}

/// The median; of an even number of values the upper one of the two in the middle.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
