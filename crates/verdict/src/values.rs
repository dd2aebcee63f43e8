//! The values of two sides: in pairs of one block, or as two lists.

use stats::{
    Comparison, Difference, compare, compare_pairs, execution_mean, subtract, subtract_pairs,
};

/// The value of one execution, with the keys that pair it with one of the other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockValue {
    /// Index of its results.
    pub(crate) results: usize,
    /// Its block in these results.
    pub(crate) block: u32,
    /// The measured value.
    pub(crate) value: f64,
    /// The value for comparisons, which has a ratio to others.
    pub(crate) comparable: f64,
}

impl BlockValue {
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
    /// The measured values of the same.
    measured: [Vec<f64>; 2],
    measured_pairs: [Vec<f64>; 2],
    /// True if every execution of the smaller side has one of the other in its block.
    is_paired: bool,
}

impl Values {
    /// A pair is the only execution of either side in a block of the same results.
    pub(crate) fn of(a: &[BlockValue], b: &[BlockValue]) -> Self {
        let only = |side: &[BlockValue], place: (usize, u32)| {
            let mut same = side.iter().filter(|it| it.place() == place);
            let first = same.next().copied();
            first.filter(|_| same.next().is_none())
        };
        let mut pairs: Vec<[BlockValue; 2]> = a
            .iter()
            .filter_map(|it| Some([only(a, it.place())?, only(b, it.place())?]))
            .collect();
        pairs.sort_by_key(|[a, _]| a.place());
        let list = |side: &[BlockValue]| side.iter().map(|it| it.comparable).collect();
        let measured = |side: &[BlockValue]| side.iter().map(|it| it.value).collect();
        let of_pairs = |side: usize| pairs.iter().map(|pair| pair[side].value).collect();
        Self {
            is_paired: !pairs.is_empty() && pairs.len() == a.len().min(b.len()),
            pairs: pairs
                .iter()
                .map(|[a, b]| (a.comparable, b.comparable))
                .collect(),
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
        if self.is_paired {
            compare_pairs(&self.pairs, confidence)
        } else {
            compare(&self.a, &self.b, confidence)
        }
    }

    pub(crate) fn subtract(&self, confidence: f64) -> Option<Difference> {
        if self.is_paired {
            subtract_pairs(&self.pairs, confidence)
        } else {
            subtract(&self.a, &self.b, confidence)
        }
    }

    /// The same with A and B exchanged.
    pub(crate) fn reversed(&self) -> Self {
        let turned = |[a, b]: &[Vec<f64>; 2]| [b.clone(), a.clone()];
        Self {
            a: self.b.clone(),
            b: self.a.clone(),
            pairs: self.pairs.iter().map(|(a, b)| (*b, *a)).collect(),
            measured: turned(&self.measured),
            measured_pairs: turned(&self.measured_pairs),
            is_paired: self.is_paired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(places: &[(usize, u32)]) -> Vec<BlockValue> {
        let values = places.iter().zip(1..);
        values
            .map(|((results, block), value)| BlockValue {
                results: *results,
                block: *block,
                value: f64::from(value),
                comparable: f64::from(value),
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
}
