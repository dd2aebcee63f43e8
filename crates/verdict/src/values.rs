//! The values of two sides: in pairs of one block, or as two lists.

use stats::{
    Batch, Comparison, Difference, compare, compare_batches, compare_pairs, execution_mean,
    subtract, subtract_batches, subtract_pairs,
};

use crate::side::Slices;

/// The value of one execution, with the keys that pair it with one of the other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockValue<'a> {
    /// Index of its results.
    pub(crate) results: usize,
    /// Its block in these results.
    pub(crate) block: u32,
    /// The measured value.
    pub(crate) value: f64,
    /// The value for comparisons, which has a ratio to others.
    pub(crate) comparable: f64,
    /// The slices of a batch; `None` for another execution.
    pub(crate) slices: Option<&'a Slices>,
}

impl BlockValue<'_> {
    fn place(&self) -> (usize, u32) {
        (self.results, self.block)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    a: Vec<f64>,
    b: Vec<f64>,
    /// The values of blocks that both sides have, A first, in the order of the blocks.
    pairs: Vec<(f64, f64)>,
    /// The same with their slices, if all of them are batches.
    batches: Option<Vec<Batch>>,
    /// The measured values of the same.
    measured: [Vec<f64>; 2],
    measured_pairs: [Vec<f64>; 2],
    /// True if every execution of the smaller side has one of the other in its block.
    is_paired: bool,
}

impl Values {
    /// A pair is the only execution of either side in a block of the same results.
    pub(crate) fn of(a: &[BlockValue<'_>], b: &[BlockValue<'_>]) -> Self {
        fn only<'s>(side: &[BlockValue<'s>], place: (usize, u32)) -> Option<BlockValue<'s>> {
            let mut same = side.iter().filter(|it| it.place() == place);
            let first = same.next().copied();
            first.filter(|_| same.next().is_none())
        }
        let mut pairs: Vec<[BlockValue<'_>; 2]> = a
            .iter()
            .filter_map(|it| Some([only(a, it.place())?, only(b, it.place())?]))
            .collect();
        pairs.sort_by_key(|[a, _]| a.place());
        let list = |side: &[BlockValue<'_>]| side.iter().map(|it| it.comparable).collect();
        let measured = |side: &[BlockValue<'_>]| side.iter().map(|it| it.value).collect();
        let of_pairs = |side: usize| pairs.iter().map(|pair| pair[side].value).collect();
        Self {
            is_paired: !pairs.is_empty() && pairs.len() == a.len().min(b.len()),
            pairs: pairs
                .iter()
                .map(|[a, b]| (a.comparable, b.comparable))
                .collect(),
            batches: pairs.iter().map(batch).collect(),
            a: list(a),
            b: list(b),
            measured: [measured(a), measured(b)],
            measured_pairs: [of_pairs(0), of_pairs(1)],
        }
    }

    /// The compared executions of A and of B, as measured.
    pub(crate) fn measured(&self) -> &[Vec<f64>; 2] {
        if self.is_paired {
            &self.measured_pairs
        } else {
            &self.measured
        }
    }

    /// The means of the compared executions of A and of B: only of the pairs if the sides are compared in pairs.
    pub(crate) fn means(&self, confidence: f64) -> Option<[f64; 2]> {
        let [a, b] = self.measured();
        let mean = |values: &[f64]| Some(execution_mean(values, confidence)?.mean);
        Some([mean(a)?, mean(b)?])
    }

    /// True if the sides are compared in pairs.
    pub(crate) fn is_paired(&self) -> bool {
        self.is_paired
    }

    /// The pairs, even if some executions have none.
    pub(crate) fn pairs(&self) -> &[(f64, f64)] {
        &self.pairs
    }

    /// The pairs with their slices, if all of them are batches.
    pub(crate) fn batches(&self) -> Option<&[Batch]> {
        self.batches.as_deref().filter(|it| !it.is_empty())
    }

    pub(crate) fn leave_out_unpaired(&mut self) {
        self.is_paired = true;
    }

    /// Number of compared executions of the smaller side.
    pub(crate) fn executions(&self) -> usize {
        if self.is_paired {
            self.pairs.len()
        } else {
            self.a.len().min(self.b.len())
        }
    }

    pub(crate) fn compare(&self, confidence: f64) -> Option<Comparison> {
        match self.batches() {
            Some(batches) if self.is_paired => compare_batches(batches, confidence),
            _ if self.is_paired => compare_pairs(&self.pairs, confidence),
            _ => compare(&self.a, &self.b, confidence),
        }
    }

    pub(crate) fn subtract(&self, confidence: f64) -> Option<Difference> {
        match self.batches() {
            Some(batches) if self.is_paired => subtract_batches(batches, confidence),
            _ if self.is_paired => subtract_pairs(&self.pairs, confidence),
            _ => subtract(&self.a, &self.b, confidence),
        }
    }

    /// The same with A and B exchanged.
    pub(crate) fn reversed(&self) -> Self {
        let turned = |[a, b]: &[Vec<f64>; 2]| [b.clone(), a.clone()];
        let exchanged = |pairs: &[(f64, f64)]| -> Vec<(f64, f64)> {
            pairs.iter().map(|(a, b)| (*b, *a)).collect()
        };
        let batches = self.batches.iter().flatten().map(|batch| Batch {
            pair: (batch.pair.1, batch.pair.0),
            slices: exchanged(&batch.slices),
            ..*batch
        });
        Self {
            a: self.b.clone(),
            b: self.a.clone(),
            pairs: exchanged(&self.pairs),
            batches: self.batches.is_some().then(|| batches.collect()),
            measured: turned(&self.measured),
            measured_pairs: turned(&self.measured_pairs),
            is_paired: self.is_paired,
        }
    }
}

/// A pair of batches; `None` if one of them has no slices.
fn batch([a, b]: &[BlockValue<'_>; 2]) -> Option<Batch> {
    let (of_a, of_b) = (a.slices?, b.slices?);
    Some(Batch {
        session: of_a.session,
        pair: (a.comparable, b.comparable),
        slices: of_a
            .per_s
            .iter()
            .copied()
            .zip(of_b.per_s.iter().copied())
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(places: &[(usize, u32)]) -> Vec<BlockValue<'static>> {
        let values = places.iter().zip(1..);
        values
            .map(|((results, block), value)| BlockValue {
                results: *results,
                block: *block,
                value: f64::from(value),
                comparable: f64::from(value),
                slices: None,
            })
            .collect()
    }

    #[test]
    fn executions_of_one_block_of_the_same_results_make_a_pair() {
        let pairs = |a: &[(usize, u32)], b: &[(usize, u32)]| {
            let values = Values::of(&placed(a), &placed(b));
            values.is_paired().then(|| values.pairs().to_vec())
        };
        let two = [(1, 1), (1, 2)];
        assert_eq!(pairs(&two, &two), Some(vec![(1.0, 1.0), (2.0, 2.0)]));
        let reversed = [(1, 2), (1, 1)];
        assert_eq!(pairs(&reversed, &two), Some(vec![(2.0, 1.0), (1.0, 2.0)]));
        let three = [(1, 1), (1, 2), (1, 3)];
        assert_eq!(pairs(&three, &two), Some(vec![(1.0, 1.0), (2.0, 2.0)]));
        assert_eq!(pairs(&two, &[(2, 1), (2, 2)]), None, "other results");
        assert_eq!(pairs(&[(1, 1), (1, 1)], &two), None, "a block twice");
        assert_eq!(pairs(&two, &[(1, 1), (1, 3)]), None, "one is alone");
        assert_eq!(pairs(&[], &[]), None);
    }

    #[test]
    fn batches_are_compared_with_their_slices() {
        let slices: Vec<Slices> = (0..12)
            .map(|at| Slices {
                session: 1,
                per_s: [100.0, 101.0, 99.0]
                    .map(|value| value + f64::from(at))
                    .to_vec(),
                ended: vec![100; 3],
            })
            .collect();
        let placed = |factor: f64| -> Vec<BlockValue<'_>> {
            let values = slices.iter().zip(1..).map(|(slices, block)| BlockValue {
                results: 1,
                block,
                value: factor * f64::from(block * block % 7 + 90),
                comparable: factor * f64::from(block * block % 7 + 90),
                slices: Some(slices),
            });
            values.collect()
        };
        let (a, b) = (placed(1.0), placed(1.1));
        let values = Values::of(&a, &b);
        let batches = values.batches().unwrap();
        assert_eq!((batches.len(), batches[11].slices[0]), (12, (111.0, 111.0)));
        assert_eq!(values.compare(0.95), compare_batches(batches, 0.95));
        assert_eq!(values.subtract(0.95), subtract_batches(batches, 0.95));
        assert_eq!(values.reversed().reversed(), values);
        let few = Values::of(&a[..5], &b[..5]);
        assert_eq!(few.compare(0.95), None);
        let mut without = b.clone();
        without[3].slices = None;
        assert_eq!(Values::of(&a, &without).batches(), None);
    }
}
