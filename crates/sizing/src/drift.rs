//! Demands that change from block to block.

use crate::{
    cells::{Cells, block_of},
    service_demand::ServiceDemand,
};

/// Blocks from which a drift can be seen.
const BLOCKS_AT_LEAST: usize = 3;
/// A smaller change is none.
const CHANGE_AT_LEAST: f64 = 0.05;
/// Confidence of a change of one of several demands.
const CONFIDENCE: f64 = 0.99;

/// A demand that the last blocks have more or less of than the first ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    pub demand: ServiceDemand,
    /// The last third of the blocks divided by the first one.
    pub ratio: f64,
}

/// The demands that drift, each relative to the mean of its cell; empty for fewer than three blocks.
///
/// The executions of the first third of the blocks are compared with those of the last third by Welch's test
/// ([`stats::compare`]).
pub(crate) fn drifts(cells: &Cells<'_>) -> Vec<Drift> {
    let third = cells.blocks.len() / BLOCKS_AT_LEAST;
    let first = &cells.blocks[..third];
    let last = &cells.blocks[cells.blocks.len() - third..];
    let all = ServiceDemand::ALL.into_iter();
    all.filter_map(|demand| {
        let values = |of: &[(usize, u32)]| relative_demands(cells, demand, of);
        let compared = stats::compare(&values(first), &values(last), CONFIDENCE)?;
        let ratio = compared.ratio;
        let is_certain = ratio.low > 1.0 || ratio.high < 1.0;
        let is_large = ratio.estimate.ln().abs() > CHANGE_AT_LEAST.ln_1p();
        (is_certain && is_large).then_some(Drift {
            demand,
            ratio: ratio.estimate,
        })
    })
    .collect()
}

/// The demands of the executions in some blocks, divided by the means of their cells.
fn relative_demands(cells: &Cells<'_>, demand: ServiceDemand, blocks: &[(usize, u32)]) -> Vec<f64> {
    let all = cells.all();
    let mut values = Vec::new();
    for cell in 0..cells.cells.len() {
        let Some(mean) = all.demand(cell, demand).filter(|mean| *mean > 0.0) else {
            continue;
        };
        let own = all.of_cell(cell);
        let own = own.filter(|it| blocks.contains(&block_of(it)));
        values.extend(own.filter_map(|it| Some(it.demands.get(demand)? / mean)));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execution::Execution, service_demand::Demands, testing::execution};

    /// Writes grow by this share with each block, and vary by half a percent; CPU time only varies.
    fn drifts_of(blocks: u32, growth: f64) -> Vec<Drift> {
        let mut executions: Vec<Execution> = Vec::new();
        for block in 1..=blocks {
            for concurrency in [1, 2, 4, 8] {
                let noise = 1.0 + 0.005 * f64::from((block + concurrency) % 3);
                let grown = 1.0 + growth * f64::from(block);
                executions.push(Execution {
                    demands: Demands::from_fn(|demand| match demand {
                        ServiceDemand::Writes => Some(noise * grown),
                        ServiceDemand::Cpu => Some(noise),
                        ServiceDemand::LockWaits => Some(0.0),
                        _ => None,
                    }),
                    ..execution(0.5, concurrency, block)
                });
            }
        }
        drifts(&Cells::of(&executions).unwrap())
    }

    #[test]
    fn a_demand_that_grows_from_block_to_block_is_found() {
        let found = drifts_of(3, 0.1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].demand, ServiceDemand::Writes);
        // 1.3 / 1.1.
        assert!((found[0].ratio - 1.18).abs() < 0.01, "{found:?}");
        assert!(drifts_of(3, 0.0).is_empty());
        assert!(drifts_of(3, 0.01).is_empty(), "too small");
        assert!(drifts_of(2, 0.1).is_empty(), "too few blocks");
    }
}
