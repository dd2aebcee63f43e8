//! Tools measured against each other: interleaved in rounds, in a seeded random order.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use harness::{median, shuffled};

use crate::{
    cell::{Answerer, Cell},
    cost::{Cost, Run, SHORT_PER_CONNECTION},
    finished::Finished,
    progress::Progress,
    servers::{CLIENT_PROCESSOR, MariaDb, NullServer},
    tool::{Address, Benchmark, Programs, Task, Tool, pinned},
};

/// Operations that a short run does at least.
const SHORT_MIN: u64 = 1_000;

/// The servers and the programs of a contest.
pub(crate) struct Arena<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) null_server: &'a NullServer,
    pub(crate) mariadb: &'a MariaDb,
}

/// A cell, and in how many rounds which tools are measured in it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) benchmark: Benchmark,
    pub(crate) cell: Cell,
    pub(crate) tools: Vec<Tool>,
    pub(crate) rounds: usize,
}

/// What was measured in a cell: per tool one cost a round, in the order of the rounds.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) entry: Entry,
    pub(crate) costs: BTreeMap<Tool, Vec<Option<Cost>>>,
    /// The first failure of each tool that failed.
    pub(crate) failures: BTreeMap<Tool, String>,
}

impl Outcome {
    /// The costs of two tools in the rounds in which both were measured.
    pub(crate) fn pairs(&self, ours: Tool, theirs: Tool) -> Vec<(Cost, Cost)> {
        let of = |tool| self.costs.get(&tool).map(Vec::as_slice).unwrap_or_default();
        let both = of(ours).iter().zip(of(theirs));
        both.filter_map(|(a, b)| (*a).zip(*b)).collect()
    }

    /// The median over the rounds of what `figure` takes from a cost.
    pub(crate) fn median(&self, tool: Tool, figure: impl Fn(&Cost) -> f64) -> Option<f64> {
        let costs = self.costs.get(&tool)?;
        median(costs.iter().flatten().map(figure).collect())
    }
}

/// Measures all entries, round by round: the cells of a round in random order, and in each its tools.
pub(crate) fn hold(arena: &Arena, entries: &[Entry], random: &mut fastrand::Rng) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = entries.iter().map(outcome_of).collect();
    let runs = entries
        .iter()
        .map(|entry| entry.tools.len() * (entry.rounds + 1))
        .sum();
    let mut progress = Progress::new(runs);
    let mut lengths: BTreeMap<(usize, Tool), u64> = BTreeMap::new();
    let rounds = entries.iter().map(|entry| entry.rounds).max().unwrap_or(0);
    // Round 0 warms up and finds how many operations fill the time; nothing of it is counted.
    for round in 0..=rounds {
        for index in shuffled(entries.len(), random) {
            let entry = &entries[index];
            if round > entry.rounds {
                continue;
            }
            for tool in shuffled(entry.tools.len(), random).map(|at| entry.tools[at]) {
                progress.step(&format!("{}, {}", entry.cell, tool.name()));
                let outcome = &mut outcomes[index];
                if outcome.failures.contains_key(&tool) {
                    continue;
                }
                let measured = match lengths.get(&(index, tool)) {
                    None => find_length(arena, entry, tool).map(|length| {
                        lengths.insert((index, tool), length);
                    }),
                    Some(length) => measure(arena, entry, tool, *length).map(|cost| {
                        outcome.costs.entry(tool).or_default().push(cost);
                    }),
                };
                if let Err(error) = measured {
                    progress.note(&format!("{}, {}: {error:#}", entry.cell, tool.name()));
                    outcome.failures.insert(tool, format!("{error:#}"));
                }
            }
        }
    }
    progress.finish();
    outcomes
}

fn outcome_of(entry: &Entry) -> Outcome {
    Outcome {
        entry: entry.clone(),
        costs: BTreeMap::new(),
        failures: BTreeMap::new(),
    }
}

/// Operations of a short run: the same share for each connection, which mariadb-slap demands.
fn short_length(entry: &Entry) -> u64 {
    let connections = u64::from(entry.cell.connections);
    let least = SHORT_MIN.div_ceil(connections).max(SHORT_PER_CONNECTION);
    match entry.benchmark {
        Benchmark::PointSelect => connections * least,
        // A transaction has 20 statements.
        Benchmark::ReadWrite => connections * least.div_ceil(20),
    }
}

/// How many operations a tool does in the short run and the measured time together.
fn find_length(arena: &Arena, entry: &Entry, tool: Tool) -> Result<u64> {
    let connections = u64::from(entry.cell.connections);
    let short = short_length(entry);
    let first = run(arena, entry, tool, short)?;
    let second = run(arena, entry, tool, 4 * short)?;
    let rate_per_s = match Cost::between(&first, &second) {
        Some(cost) => cost.operations_per_s,
        None => second.operations as f64 / second.usage.wall_s,
    };
    let further = (rate_per_s * entry.cell.measured_s()).max(short as f64) as u64;
    Ok(short + further.next_multiple_of(connections))
}

fn measure(arena: &Arena, entry: &Entry, tool: Tool, length: u64) -> Result<Option<Cost>> {
    let short = run(arena, entry, tool, short_length(entry))?;
    let long = run(arena, entry, tool, length)?;
    Ok(Cost::between(&short, &long))
}

fn run(arena: &Arena, entry: &Entry, tool: Tool, operations: u64) -> Result<Run> {
    let address: &Address = match entry.cell.answerer {
        Answerer::NullServer => arena.null_server.address(),
        Answerer::MariaDb => arena.mariadb.address(),
    };
    let task = Task {
        benchmark: entry.benchmark,
        cell: &entry.cell,
        address,
        operations,
    };
    let mut command = arena.programs.command(tool, task);
    let before_s = arena.null_server.cpu_s()?;
    if entry.cell.answerer == Answerer::NullServer {
        command = pinned(command, CLIENT_PROCESSOR);
    }
    let finished = Finished::success_of(command).context(tool.name())?;
    Ok(Run {
        operations,
        usage: finished.usage,
        server_cpu_s: arena.null_server.cpu_s()? - before_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_one_tool_lost_pairs_with_nothing() {
        let cost = |client_us| {
            Some(Cost {
                client_us,
                server_us: 0.0,
                operations_per_s: 1.0,
                peak_bytes: 1,
            })
        };
        let cell = Cell::all(Answerer::NullServer)[0];
        let mut outcome = outcome_of(&Entry {
            benchmark: Benchmark::PointSelect,
            cell,
            tools: vec![Tool::Dbdyno, Tool::Sysbench],
            rounds: 3,
        });
        outcome
            .costs
            .insert(Tool::Dbdyno, vec![cost(1.0), None, cost(3.0)]);
        outcome
            .costs
            .insert(Tool::Sysbench, vec![cost(10.0), cost(20.0), cost(30.0)]);
        let pairs: Vec<(f64, f64)> = outcome
            .pairs(Tool::Dbdyno, Tool::Sysbench)
            .iter()
            .map(|(ours, theirs)| (ours.client_us, theirs.client_us))
            .collect();
        assert_eq!(pairs, [(1.0, 10.0), (3.0, 30.0)]);
        assert_eq!(
            outcome.median(Tool::Sysbench, |cost| cost.client_us),
            Some(20.0)
        );
        assert!(outcome.pairs(Tool::Dbdyno, Tool::GoDriver).is_empty());
    }
}
