//! A Zipf-like curve over ranks that every machine computes alike.

/// The weights of ranks from 0: about (rank + offset)^-(1 - 2^-roots). Its sum and the inverse of that need nothing but square
/// roots and products, which are exact to the last bit everywhere; a power is not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    ranks: u64,
    offset: f64,
    roots: u32,
}

impl Curve {
    /// The curve over this number of ranks. The larger the offset, the flatter the first ranks.
    pub(super) fn new(ranks: u64, offset: f64, roots: u32) -> Self {
        Self {
            ranks,
            offset,
            roots,
        }
    }

    /// Share of the weight that is before a rank, from 0 to 1.
    pub(super) fn before(self, rank: u64) -> f64 {
        (self.root(rank as f64) - self.root(0.0)) / self.span()
    }

    /// The rank in which a share of the weight ends.
    pub(super) fn rank_at(self, share: f64) -> u64 {
        let root = self.root(0.0) + share * self.span();
        let shifted = (0..self.roots).fold(root, |value, _| value * value);
        let rank = (shifted - self.offset).max(0.0) as u64;
        rank.min(self.ranks - 1)
    }

    fn span(self) -> f64 {
        self.root(self.ranks as f64) - self.root(0.0)
    }

    fn root(self, rank: f64) -> f64 {
        (0..self.roots).fold(rank + self.offset, |value, _| value.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_before_a_rank_leads_back_to_it() {
        let curve = Curve::new(10_000, 3.0, 2);
        for rank in [0, 1, 17, 5000, 9999] {
            let middle = (curve.before(rank) + curve.before(rank + 1)) / 2.0;
            assert_eq!(curve.rank_at(middle), rank);
        }
        assert_eq!((curve.before(0), curve.before(10_000)), (0.0, 1.0));
        assert_eq!(curve.rank_at(1.0), 9999);
    }

    #[test]
    fn weights_fall_with_the_power_of_the_rank() {
        let curve = Curve::new(1_000_000, 1.0, 3);
        let weight = |rank| curve.before(rank + 1) - curve.before(rank);
        // Ten times the rank has 10^-0.875 of the weight.
        let ratio = weight(100_000) / weight(10_000);
        assert!((ratio - 0.1334).abs() < 0.001, "{ratio}");
    }
}
