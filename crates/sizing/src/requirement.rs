//! What a throughput needs: the least of each limit, for each measured memory.

use stats::Interval;

use crate::{
    capacity_model::{CapacityModel, reads_of_memories},
    cells::{Cells, Draw},
    cpu_law::NoLaw,
    drift::{Drift, drifts},
    error::Error,
    execution::Executions,
    fitted_draws::FittedDraws,
    limit::Limit,
    limit_outcome::{
        cpus_not_measured, measured_cpus, memory_not_measured, no_law_in_words, not_measured,
    },
    measuring_conditions::MeasuringConditions,
    memory_position::MemoryPosition,
    prediction::{COMPUTED_CONFIDENCE, interval},
    requirement_model::{Amounts, amounts, highest_per_s},
    response_limit::{AllowedDraws, AllowedShare, ResponseLimit, allowed_share},
    target::{BufferPool, Target},
    target_data::{data_bytes, remarks_on_records, target_data},
};

/// Share of the draws in which an amount must be smaller, so that it is better.
const BETTER_IN: f64 = 0.95;
/// Amounts that differ by less than rounding are the same.
const LESS: f64 = 1.0 - 1e-9;

/// What is required.
#[derive(Debug, Clone)]
pub struct RequirementRequest {
    /// Operations per second.
    pub per_s: f64,
    pub response_limit: Option<ResponseLimit>,
    /// Its memory and its data; its limits are not used.
    pub target: Target,
    /// Exponent of Zipf's law for the requests of pages; `None` if it is not known.
    pub zipf: Option<f64>,
    /// Number of draws of the executions.
    pub draws: usize,
}

/// The machines that carry a throughput.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The load and the server, in words.
    pub subject: String,
    /// Operations per second.
    pub per_s: f64,
    /// The share of a machine's throughput that keeps the limit on the response time; `None` without a limit, or if it
    /// is not known.
    pub allowed: Option<AllowedShare>,
    /// By rising memory, without those that are no better in anything than one with less memory.
    pub rows: Vec<RequirementRow>,
    /// The memories of the rows that are left out.
    pub left_out: Vec<RowMemory>,
    /// What would have to be measured, so that there are rows.
    pub not_measured: Option<String>,
    /// The demands that drift from block to block.
    pub drifts: Vec<Drift>,
    /// CPUs of the measured server; `None` if they were not observed.
    pub measured_cpus: Option<f64>,
    pub executions: usize,
    pub blocks: usize,
    pub conditions: MeasuringConditions,
    /// Notes about the records.
    pub remarks: Vec<String>,
}

/// A machine with one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementRow {
    /// `None` if the records do not say how much memory and data they had.
    pub memory: Option<RowMemory>,
    /// Connections at which the CPUs are those of this row; `None` without a scaling model or without known CPUs.
    pub connections: Option<f64>,
    /// Of each limit.
    pub needs: Vec<(Limit, Need)>,
}

/// The memory of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowMemory {
    pub buffer_pool: BufferPool,
    pub data_bytes: u64,
    /// Share of the data that the buffer pool can hold; above 1 if it is larger.
    pub share: f64,
    /// Whether demands are interpolated between measured shares.
    pub is_interpolated: bool,
}

/// What a throughput needs of one limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    /// The least that carries it, in the limit's unit; of a flush the longest time. Without an upper end if some draws
    /// have none.
    Amount {
        amount: Interval,
        /// Why more may be needed; `None` for an estimate.
        at_least_why: Option<String>,
    },
    /// An operation demands nothing of it.
    Nothing,
    /// What was not measured, and how to measure it.
    NotMeasured(String),
    /// Why no amount carries the throughput.
    Impossible(String),
}

impl Need {
    /// Whether an amount is known that suffices.
    fn is_known(&self) -> bool {
        match self {
            Self::Amount {
                amount,
                at_least_why,
            } => at_least_why.is_none() && amount.high.is_finite(),
            Self::Nothing => true,
            Self::NotMeasured(_) | Self::Impossible(_) => false,
        }
    }
}

impl RequirementRow {
    /// Whether an amount of each limit is known that suffices.
    pub fn is_known(&self) -> bool {
        self.needs.iter().all(|(_, need)| need.is_known())
    }

    fn is_impossible(&self) -> bool {
        let mut needs = self.needs.iter();
        needs.any(|(_, need)| matches!(need, Need::Impossible(_)))
    }
}

impl Requirement {
    /// Confidence that the upper end of one amount suffices (of a flush the lower end), which is one side of its
    /// interval.
    pub const SUFFICES: f64 = 0.95;

    /// Whether a machine is known that carries the throughput.
    pub fn is_known(&self) -> bool {
        self.rows.iter().any(RequirementRow::is_known)
    }

    /// Whether no machine carries the throughput.
    pub fn is_impossible(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(RequirementRow::is_impossible)
    }
}

/// The memories, and what their rows have in common.
struct Candidates {
    better: Vec<Candidate>,
    /// Those that are no better in anything than one with less memory.
    left_out: Vec<Candidate>,
    /// Why there is no scaling model.
    no_law: Option<NoLaw>,
    /// The highest measured number of connections, if the peak of the series is not known.
    measured_up_to: Option<f64>,
}

/// A memory with the amounts by all executions and by each draw.
struct Candidate {
    memory: Option<RowMemory>,
    all: Amounts,
    each: Vec<Amounts>,
    /// Operations per second that any number of CPUs allows; `None` without a scaling model.
    highest_per_s: Option<f64>,
}

/// What a throughput needs, for the memory of the target, or for each measured one.
///
/// With a limit on the response time, a machine needs the throughput divided by the share that keeps it
/// ([`AllowedShare`]). All amounts of a draw come from the same executions.
///
/// An error if all combinations have only one execution, and if the size of the data is not the same in all records and
/// the target does not name it.
pub fn require(
    executions: &Executions,
    request: &RequirementRequest,
) -> Result<Requirement, Error> {
    let cells = Cells::of(&executions.all)?;
    let draws = cells.draws(request.draws);
    let allowed = request
        .response_limit
        .map(|limit| allowed_share(executions, &cells, &draws, limit))
        .transpose();
    let positions = positions(&cells, request)?;
    let mut requirement = Requirement {
        subject: executions.subject.clone(),
        per_s: request.per_s,
        allowed: None,
        rows: Vec::new(),
        left_out: Vec::new(),
        not_measured: None,
        drifts: drifts(&cells),
        measured_cpus: measured_cpus(&cells),
        executions: cells.executions().count(),
        blocks: cells.blocks.len(),
        conditions: executions.conditions.clone(),
        remarks: remarks_on_records(&request.target, &cells),
    };
    let (allowed, positions) = match (allowed, positions) {
        (Ok(allowed), Ok(positions)) => (allowed, positions),
        (Err(why), _) | (_, Err(why)) => {
            requirement.not_measured = Some(why);
            return Ok(requirement);
        }
    };
    requirement.allowed = allowed.as_ref().map(|it| it.allowed.clone());
    let found = Candidates::of(&cells, request.per_s, draws, positions, allowed.as_ref());
    let rows = found.better.iter().map(|it| found.row(&cells, it));
    requirement.rows = rows.collect();
    let left_out = found.left_out.iter();
    requirement.left_out = left_out.filter_map(|it| it.memory).collect();
    Ok(requirement)
}

type Positions = Vec<(Option<RowMemory>, MemoryPosition)>;

/// The memories of the rows: that of the target, or all measured ones. The inner error says what would have to be
/// measured.
fn positions(
    cells: &Cells<'_>,
    request: &RequirementRequest,
) -> Result<Result<Positions, String>, Error> {
    let target = &request.target;
    let bytes = data_bytes(target, cells)?.filter(|_| !cells.shares.is_empty());
    let Some(data_bytes) = bytes else {
        return Ok(Ok(vec![(None, MemoryPosition::At(0))]));
    };
    let Some(buffer_pool) = target.buffer_pool() else {
        let shares = cells.shares.iter().enumerate();
        let measured = shares.map(|(at, share)| {
            let memory = RowMemory {
                buffer_pool: BufferPool {
                    bytes: (share * data_bytes as f64).round() as u64,
                    is_assumed: false,
                },
                data_bytes,
                share: *share,
                is_interpolated: false,
            };
            (Some(memory), MemoryPosition::At(at))
        });
        return Ok(Ok(measured.collect()));
    };
    let Some(data) = target_data(target, cells, request.zipf.unwrap_or(0.0))? else {
        return Ok(Ok(vec![(None, MemoryPosition::At(0))]));
    };
    let position = MemoryPosition::of(&data, &cells.shares, &reads_of_memories(cells));
    Ok(match position {
        Err(why) => Err(memory_not_measured(why, data.share, &cells.shares)),
        Ok(position) => {
            let memory = RowMemory {
                buffer_pool,
                data_bytes,
                share: data.share,
                is_interpolated: matches!(position, MemoryPosition::Between { .. }),
            };
            Ok(vec![(Some(memory), position)])
        }
    })
}

impl Candidates {
    fn of(
        cells: &Cells<'_>,
        per_s: f64,
        draws: Vec<Draw<'_>>,
        positions: Positions,
        allowed: Option<&AllowedDraws>,
    ) -> Self {
        let target = Target::default();
        let model = |position| CapacityModel::new(cells, &target, position, Vec::new());
        let first = model(MemoryPosition::At(0));
        let fitted = FittedDraws::of(&first, draws, COMPUTED_CONFIDENCE);
        let peak_is_known = fitted.peak_is_known();
        let share = allowed.map_or(1.0, |it| it.allowed.share.estimate);
        let share_of = |draw: usize| allowed.map_or(1.0, |it| it.each[draw]);
        let mut found = Self {
            better: Vec::new(),
            left_out: Vec::new(),
            no_law: first.series.as_ref().err().copied(),
            measured_up_to: fitted
                .scaling
                .filter(|_| !peak_is_known)
                .map(|it| it.measured_up_to),
        };
        for (memory, position) in positions {
            let model = model(position);
            let each = fitted.each.iter().enumerate();
            let each =
                each.map(|(at, draw)| amounts(&model, draw, per_s / share_of(at), peak_is_known));
            let candidate = Candidate {
                memory,
                all: amounts(&model, &fitted.all, per_s / share, peak_is_known),
                each: each.collect(),
                highest_per_s: highest_per_s(&model, &fitted.all, peak_is_known),
            };
            let mut less = found.better.iter();
            if less.all(|less| candidate.is_better_than(less)) {
                found.better.push(candidate);
            } else {
                found.left_out.push(candidate);
            }
        }
        found
    }

    fn row(&self, cells: &Cells<'_>, candidate: &Candidate) -> RequirementRow {
        let needs = Limit::ALL.map(|limit| (limit, self.need(cells, candidate, limit)));
        let mut cpus = needs.iter().filter(|(limit, _)| *limit == Limit::Cpus);
        let are_known = cpus.any(|(_, need)| matches!(need, Need::Amount { .. }));
        let has_law = self.no_law.is_none() && are_known;
        RequirementRow {
            memory: candidate.memory,
            connections: has_law.then_some(candidate.all.connections),
            needs: needs.into(),
        }
    }

    fn need(&self, cells: &Cells<'_>, candidate: &Candidate, limit: Limit) -> Need {
        let estimate = candidate.all.get(limit);
        let unknown = match limit {
            Limit::Cpus if estimate.is_finite() => cpus_not_measured(cells, estimate),
            Limit::Cpus => return self.without_cpus(candidate),
            _ => not_measured(limit, cells),
        };
        if let Some(why) = unknown {
            return Need::NotMeasured(why);
        }
        // Without flushes, they may take any time.
        if estimate == 0.0 || estimate.is_infinite() {
            return Need::Nothing;
        }
        let no_law = self.no_law.filter(|_| limit == Limit::Cpus);
        let at_least = no_law.filter(|it| it.hides_contention(estimate));
        Need::Amount {
            amount: candidate.interval(limit, cells.fewest()),
            at_least_why: at_least.map(no_law_in_words),
        }
    }

    /// Why no number of CPUs carries the throughput: that is certain only beyond a known peak.
    fn without_cpus(&self, candidate: &Candidate) -> Need {
        let highest = units::si(candidate.highest_per_s.unwrap_or(0.0));
        match self.measured_up_to {
            None => Need::Impossible(format!(
                "no number of CPUs carries it: by the scaling model, contention and coherency allow at most {highest} \
                 operations/s"
            )),
            Some(connections) => {
                let connections = units::count(connections);
                Need::NotMeasured(format!(
                    "with up to {connections} connections, the scaling model allows at most {highest} operations/s on \
                     any number of CPUs; measure more connections"
                ))
            }
        }
    }
}

impl Candidate {
    /// Whether it surely needs less of something than a candidate with less memory.
    fn is_better_than(&self, less: &Self) -> bool {
        let draws = self.each.len() as f64;
        [Limit::Cpus, Limit::Reads, Limit::Writes]
            .into_iter()
            .any(|limit| {
                let pairs = self.each.iter().zip(&less.each);
                let smaller =
                    pairs.filter(|(ours, theirs)| ours.get(limit) < theirs.get(limit) * LESS);
                smaller.count() as f64 >= BETTER_IN * draws
            })
    }

    /// The interval of an amount; without an upper end if a draw has no such amount.
    fn interval(&self, limit: Limit, executions: usize) -> Interval {
        let draws = self.each.iter().map(|it| it.get(limit));
        let finite: Vec<f64> = draws.filter(|it| it.is_finite()).collect();
        let found = interval(self.all.get(limit), &finite, executions);
        if finite.len() < self.each.len() {
            Interval {
                high: f64::INFINITY,
                ..found
            }
        } else {
            found
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        execution::Execution, requirement_text::requirement_lines, searched_rate::SearchedRate,
        testing::execution,
    };

    #[test]
    fn a_limit_on_the_response_time_needs_more() {
        // An operation demands 1 of everything, and a closed loop does 4000 operations/s.
        let all = [1, 2].map(|block| Execution {
            throughput_per_s: 4000.0,
            ..execution(0.5, 4, block)
        });
        let mut executions = Executions::of("made".to_owned(), all.into());
        let request = RequirementRequest {
            per_s: 1600.0,
            response_limit: Some(ResponseLimit(Duration::from_millis(20))),
            target: Target::default(),
            zipf: None,
            draws: 20,
        };
        let unknown = require(&executions, &request).unwrap();
        assert!(unknown.rows.is_empty() && !unknown.is_known());
        let first = &requirement_lines(&unknown)[0].text;
        let expected = "The needs of 1.60k operations/s are not known: no search for p99 < 20 ms is among the records; ";
        assert!(first.starts_with(expected), "{first}");
        let per_s = Interval {
            estimate: 3200.0,
            low: 3200.0,
            high: 3200.0,
        };
        executions.searches.push(SearchedRate {
            quantile: 0.99,
            limit_ns: 20_000_000,
            in_words: String::new(),
            per_s: Some(per_s),
            is_at_least: false,
            share: Some(0.5),
        });
        let known = require(&executions, &request).unwrap();
        let (_, reads) = &known.rows[0].needs[1];
        let Need::Amount { amount, .. } = reads else {
            panic!("{reads:?}");
        };
        // 1600 / (3200 / 4000).
        assert!((amount.estimate - 2000.0).abs() < 1e-6, "{amount:?}");
        let lines = requirement_lines(&known);
        assert!(
            lines[0]
                .text
                .contains("1.60k operations/s with p99 < 20 ms")
        );
        assert!(lines.iter().any(|it| it.label == "p99"));
    }
}
