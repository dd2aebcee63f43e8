//! The misses of a cache by Che's approximation, for requests by Zipf's law.

/// Items that are computed one by one; the others are computed in ranges.
const SINGLE_ITEMS: u64 = 1_000;
/// Ratio of the last item of a range to its first one.
const RANGE: f64 = 1.02;
/// Halvings of the characteristic time's logarithm.
const STEPS: usize = 60;

/// Items with the same probability of a request.
struct Items {
    count: f64,
    /// Of one of them.
    probability: f64,
}

/// The share of requests that miss a cache of least recently used items, which holds `share` of all `items`; the
/// probability of the item with rank i is proportional to i^-exponent (0: uniform).
///
/// 1 without a cache, 0 if all items fit.
///
/// Source: H. Che, Y. Tung and Z. Wang, "Hierarchical Web caching systems: modeling, design and experimental results",
/// IEEE Journal on Selected Areas in Communications 20 (2002): an item is in the cache if it was requested within the
/// characteristic time T, the solution of Σ(1 - exp(-pT)) = cache size. Its accuracy: C. Fricker, P. Robert and J. Roberts,
/// "A versatile and accurate approximation for LRU cache performance", ITC 24 (2012).
pub(crate) fn miss_ratio(exponent: f64, items: u64, share: f64) -> f64 {
    if share >= 1.0 {
        return 0.0;
    }
    if share <= 0.0 || items == 0 {
        return 1.0;
    }
    let cached = share * items as f64;
    let items = popularities(exponent, items);
    let held = |time: f64| -> f64 {
        let each = items.iter();
        each.map(|it| it.count * -(-it.probability * time).exp_m1())
            .sum()
    };
    // Powers of ten between which T lies for any cache that holds a part of one item up to all but a part of one.
    let (mut low, mut high) = (-12.0_f64, 40.0_f64);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if held(10_f64.powf(middle)) < cached {
            low = middle;
        } else {
            high = middle;
        }
    }
    let time = 10_f64.powf(f64::midpoint(low, high));
    let missed = items
        .iter()
        .map(|it| it.count * it.probability * (-it.probability * time).exp());
    missed.sum()
}

/// The items with their probabilities, those of high ranks in ranges.
fn popularities(exponent: f64, items: u64) -> Vec<Items> {
    let mut all = Vec::new();
    let mut first = 1;
    while first <= items {
        let last = if first <= SINGLE_ITEMS {
            first
        } else {
            ((first as f64 * RANGE) as u64).min(items)
        };
        let middle = f64::midpoint(first as f64, last as f64);
        all.push(Items {
            count: (last - first + 1) as f64,
            probability: middle.powf(-exponent),
        });
        first = last + 1;
    }
    let sum: f64 = all.iter().map(|it| it.count * it.probability).sum();
    all.iter_mut().for_each(|it| it.probability /= sum);
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn uniform_requests_miss_what_is_not_in_memory() {
        for items in [10, 5_000, 10_000_000] {
            for share in [0.1, 0.5, 0.9] {
                let found = miss_ratio(0.0, items, share);
                assert!(
                    (found - (1.0 - share)).abs() < 1e-6,
                    "{items} {share}: {found}"
                );
            }
        }
    }

    #[test]
    fn two_items_miss_as_computed_by_hand() {
        // Probabilities 2/3 and 1/3, one of two fits: y = exp(-T/3) solves y² + y = 1, and 2/3 y² + 1/3 y miss.
        let y = (5.0_f64.sqrt() - 1.0) / 2.0;
        let expected = 2.0 / 3.0 * y * y + y / 3.0;
        assert!((expected - 0.460_655).abs() < 1e-6);
        assert!((miss_ratio(1.0, 2, 0.5) - expected).abs() < 1e-9);
    }

    #[test]
    fn ranges_change_little() {
        // The same items one by one.
        let exact: f64 = (1..=20_000).map(|rank| f64::from(rank).powf(-0.9)).sum();
        let ranges: f64 = popularities(0.9, 20_000)
            .iter()
            .map(|it| it.count * it.probability)
            .sum();
        assert!((ranges - 1.0).abs() < 1e-9);
        let first = popularities(0.9, 20_000)[0].probability;
        assert!((first * exact - 1.0).abs() < 1e-3, "{first}");
    }

    #[test]
    fn the_ends_are_known() {
        assert_eq!(miss_ratio(0.9, 100, 0.0), 1.0);
        assert_eq!(miss_ratio(0.9, 100, 1.0), 0.0);
        assert_eq!(miss_ratio(0.9, 0, 0.5), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn more_memory_misses_less_and_skew_never_more(
            exponent in 0.0..1.5_f64,
            items in 2_u64..100_000,
            share in 0.01..0.9_f64,
        ) {
            let found = miss_ratio(exponent, items, share);
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert!(miss_ratio(exponent, items, share * 1.1) <= found + 1e-9);
            prop_assert!(found <= 1.0 - share + 1e-6);
        }
    }
}
