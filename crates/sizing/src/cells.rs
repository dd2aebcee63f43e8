//! Executions by memory and concurrency, and draws of them with replacement.

use std::collections::{BTreeMap, BTreeSet};

use stats::Random;

use crate::{error::Error, execution::Execution, service_demand::ServiceDemand};

/// Shares of the data in memory that differ by less are the same.
const SAME_SHARE: f64 = 0.05;
/// The same records have the same draws, and answers about them the same intervals.
const SEED: u64 = 42;

/// The executions of one memory and one concurrency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Index of its share of the data in memory.
    pub(crate) memory: usize,
    pub(crate) concurrency: u32,
    /// Indices of its executions, at least two.
    members: Vec<usize>,
}

/// Executions by memory and concurrency.
#[derive(Debug)]
pub(crate) struct Cells<'e> {
    executions: &'e [Execution],
    pub(crate) cells: Vec<Cell>,
    /// The shares of the data that the buffer pools can hold, rising; empty where they are not known.
    pub(crate) shares: Vec<f64>,
    /// The blocks of the executions, with the results that they belong to.
    pub(crate) blocks: Vec<(usize, u32)>,
    /// Number of executions that are left out because they are the only ones of their cell.
    pub(crate) single: usize,
}

/// Executions of each cell, in the order of the cells.
#[derive(Debug)]
pub(crate) struct Draw<'e> {
    executions: &'e [Execution],
    of_cells: Vec<Vec<usize>>,
}

impl<'e> Cells<'e> {
    /// An error if no cell has two executions, and if those of a cell differ in a factor.
    pub(crate) fn of(executions: &'e [Execution]) -> Result<Self, Error> {
        let (all_shares, memories) = memories(executions);
        let mut members: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
        for (at, execution) in executions.iter().enumerate() {
            let key = (memories[at], execution.concurrency);
            members.entry(key).or_default().push(at);
        }
        for members in members.values() {
            let mut own = members.iter().map(|at| &executions[*at]);
            if let Some(first) = own.next() {
                own.try_for_each(|other| check_levels(first, other))?;
            }
        }
        let single = members.values().filter(|it| it.len() < 2).count();
        let repeated = members.into_iter().filter(|(_, it)| it.len() > 1);
        let mut cells: Vec<Cell> = repeated
            .map(|((memory, concurrency), members)| Cell {
                memory,
                concurrency,
                members,
            })
            .collect();
        if cells.is_empty() {
            let executions = executions.len();
            return Err(Error::OneExecution { executions });
        }
        // A memory whose executions are all left out has no cell.
        let left: BTreeSet<usize> = cells.iter().map(|cell| cell.memory).collect();
        let shares = left.iter().filter_map(|at| all_shares.get(*at).copied());
        let shares: Vec<f64> = shares.collect();
        for cell in &mut cells {
            cell.memory = left.range(..cell.memory).count();
        }
        let members = cells.iter().flat_map(|cell| &cell.members);
        let blocks: BTreeSet<(usize, u32)> = members.map(|at| block_of(&executions[*at])).collect();
        Ok(Self {
            executions,
            cells,
            shares,
            blocks: blocks.into_iter().collect(),
            single,
        })
    }

    /// The smallest number of executions of a cell.
    pub(crate) fn fewest(&self) -> usize {
        let counts = self.cells.iter().map(|cell| cell.members.len());
        counts.min().unwrap_or(0)
    }

    /// The executions of all cells.
    pub(crate) fn executions(&self) -> impl Iterator<Item = &'e Execution> {
        let executions = self.executions;
        let members = self.cells.iter().flat_map(|cell| &cell.members);
        members.map(move |at| &executions[*at])
    }

    /// All executions.
    pub(crate) fn all(&self) -> Draw<'e> {
        Draw {
            executions: self.executions,
            of_cells: self.cells.iter().map(|it| it.members.clone()).collect(),
        }
    }

    /// As many executions of each cell as it has, drawn with replacement.
    ///
    /// Blocks are drawn, and each cell takes its executions of the drawn blocks: what the executions of a block have in
    /// common, such as a slow hour of the machine, stays common. A cell without executions of enough drawn blocks takes
    /// any of its own.
    pub(crate) fn draw(&self, random: &mut Random) -> Draw<'e> {
        let blocks = &self.blocks;
        let drawn: Vec<(usize, u32)> = blocks
            .iter()
            .map(|_| blocks[random.below(blocks.len())])
            .collect();
        let of_cell = |cell: &Cell| {
            let members = &cell.members;
            let mut chosen = Vec::with_capacity(members.len());
            for block in &drawn {
                let own = members.iter().copied();
                chosen.extend(own.filter(|at| block_of(&self.executions[*at]) == *block));
            }
            chosen.truncate(members.len());
            while chosen.len() < members.len() {
                chosen.push(members[random.below(members.len())]);
            }
            chosen
        };
        Draw {
            executions: self.executions,
            of_cells: self.cells.iter().map(of_cell).collect(),
        }
    }

    /// This number of draws, at least two, which are the same for every question about these executions.
    pub(crate) fn draws(&self, count: usize) -> Vec<Draw<'e>> {
        let mut random = Random::new(SEED);
        (0..count.max(2)).map(|_| self.draw(&mut random)).collect()
    }

    /// The cell of a memory with the highest mean throughput; `None` for a memory without cells.
    pub(crate) fn fastest(&self, memory: usize) -> Option<usize> {
        let all = self.all();
        let cells = self.cells.iter().enumerate();
        let cells = cells.filter(|(_, cell)| cell.memory == memory);
        let throughput = |at: usize| all.mean(at, |it| Some(it.throughput_per_s)).unwrap_or(0.0);
        cells
            .map(|(at, _)| (at, throughput(at)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(at, _)| at)
    }
}

impl<'e> Draw<'e> {
    /// The executions of a cell.
    pub(crate) fn of_cell(&self, cell: usize) -> impl Iterator<Item = &'e Execution> {
        let executions = self.executions;
        self.of_cells[cell].iter().map(move |at| &executions[*at])
    }

    /// The mean of a value over the executions of a cell that have it; `None` if none has.
    pub(crate) fn mean(
        &self,
        cell: usize,
        value: impl Fn(&Execution) -> Option<f64>,
    ) -> Option<f64> {
        mean(self.of_cell(cell).filter_map(value))
    }

    /// The mean of a demand over the executions of a cell.
    pub(crate) fn demand(&self, cell: usize, demand: ServiceDemand) -> Option<f64> {
        self.mean(cell, |it| it.demands.get(demand))
    }
}

/// The mean; `None` without values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The block of an execution, with the results that it belongs to.
pub(crate) fn block_of(execution: &Execution) -> (usize, u32) {
    (execution.results, execution.block)
}

/// An error if two executions with the same connections and buffer pool have other levels: then a factor varies that is
/// neither, such as the distribution of the keys.
fn check_levels(first: &Execution, other: &Execution) -> Result<(), Error> {
    let pool = |it: &Execution| it.memory.map(|memory| memory.buffer_pool_bytes);
    let mut levels = first.levels.iter();
    let differing = levels.find(|(factor, level)| other.levels.get(*factor) != Some(*level));
    match differing.filter(|_| pool(first) == pool(other)) {
        None => Ok(()),
        Some((factor, level)) => {
            let theirs = other.levels.get(factor).map_or("no level", String::as_str);
            Err(Error::Unlike {
                name: other.name.clone(),
                first: first.name.clone(),
                kind: "workload",
                difference: format!("{factor} {theirs} against {level}"),
            })
        }
    }
}

/// The different shares of the data in memory, rising, and the index of each execution's; no shares and one index for all
/// if they are not known of all.
fn memories(executions: &[Execution]) -> (Vec<f64>, Vec<usize>) {
    let known: Option<Vec<f64>> = executions
        .iter()
        .map(|it| Some(it.memory?.share()))
        .collect();
    let Some(known) = known else {
        return (Vec::new(), vec![0; executions.len()]);
    };
    let mut sorted = known.clone();
    sorted.sort_by(f64::total_cmp);
    let mut begins: Vec<f64> = Vec::new();
    for share in sorted {
        if begins
            .last()
            .is_none_or(|begin| share > begin * (1.0 + SAME_SHARE))
        {
            begins.push(share);
        }
    }
    let index = |share: &f64| begins.partition_point(|begin| begin <= share) - 1;
    let indices: Vec<usize> = known.iter().map(index).collect();
    let shares = (0..begins.len()).map(|group| {
        let own = known.iter().zip(&indices).filter(|(_, at)| **at == group);
        mean(own.map(|(share, _)| *share)).unwrap_or(begins[group])
    });
    (shares.collect(), indices)
}

/// Whether a share is that of a group.
pub(crate) fn is_same_share(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_SHARE * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::execution;

    fn numbered(share: f64, concurrency: u32, block: u32) -> Execution {
        Execution {
            throughput_per_s: f64::from(block * concurrency),
            ..execution(share, concurrency, block)
        }
    }

    #[test]
    fn executions_are_grouped_by_memory_and_concurrency() {
        let mut executions = Vec::new();
        for block in [1, 2] {
            for share in [0.5, 0.25] {
                // The size of loaded data varies.
                executions.push(numbered(share * (1.0 + 0.01 * f64::from(block)), 8, block));
                executions.push(numbered(share, 4, block));
            }
        }
        executions.push(numbered(0.5, 16, 1));
        // Of less memory than all others.
        executions.push(numbered(0.1, 4, 1));
        let cells = Cells::of(&executions).unwrap();
        let found: Vec<_> = cells
            .cells
            .iter()
            .map(|it| (it.memory, it.concurrency))
            .collect();
        assert_eq!(found, [(0, 4), (0, 8), (1, 4), (1, 8)]);
        assert_eq!((cells.single, cells.fewest()), (2, 2));
        assert_eq!(cells.blocks, [(0, 1), (0, 2)]);
        assert_eq!(cells.shares.len(), 2);
        assert!(
            (cells.shares[0] - 0.251875).abs() < 1e-6,
            "{:?}",
            cells.shares
        );
        assert_eq!(cells.fastest(1), Some(3));
        // (8 + 16) / 2.
        assert_eq!(
            cells.all().mean(3, |it| Some(it.throughput_per_s)),
            Some(12.0)
        );
    }

    #[test]
    fn one_execution_of_each_has_no_interval() {
        let executions = [execution(0.5, 4, 1), execution(0.5, 8, 1)];
        let error = Cells::of(&executions).unwrap_err();
        assert!(matches!(error, Error::OneExecution { executions: 2 }));
    }

    #[test]
    fn a_factor_that_is_neither_connections_nor_memory_is_refused() {
        let keys = |block: u32, level: &str| Execution {
            levels: [("keys".to_owned(), level.to_owned())].into(),
            ..execution(0.5, 4, block)
        };
        let error = Cells::of(&[keys(1, "uniform"), keys(2, "pareto")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "run-2.jsonl: another workload than in run-1.jsonl: keys pareto against uniform"
        );
        assert!(Cells::of(&[keys(1, "uniform"), keys(2, "uniform")]).is_ok());
    }

    #[test]
    fn a_draw_takes_whole_blocks() {
        let mut executions = Vec::new();
        for block in 1..=3 {
            executions.push(numbered(0.5, 1, block));
            executions.push(numbered(0.5, 2, block));
        }
        // A cell of two blocks only.
        executions.extend([numbered(0.5, 4, 1), numbered(0.5, 4, 2)]);
        let cells = Cells::of(&executions).unwrap();
        let mut random = Random::new(1);
        for _ in 0..50 {
            let draw = cells.draw(&mut random);
            let blocks = |cell| draw.of_cell(cell).map(|it| it.block).collect::<Vec<_>>();
            assert_eq!(blocks(0), blocks(1));
            assert_eq!((blocks(0).len(), blocks(2).len()), (3, 2));
        }
    }

    #[test]
    fn unknown_memory_is_one_group() {
        let unknown = Execution {
            memory: None,
            ..execution(0.5, 4, 2)
        };
        let executions = [execution(0.5, 4, 1), unknown];
        let cells = Cells::of(&executions).unwrap();
        assert!(cells.shares.is_empty());
        assert_eq!(cells.cells.len(), 1);
    }
}
