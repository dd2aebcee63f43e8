//! What the benchmarks share: processes with their cost, targets with their verdicts, the page of results.

pub mod finished;
pub mod machine;
pub mod page;
pub mod progress;
pub mod target;
pub mod verdict;

/// The numbers from 0 to `count` - 1 in random order.
pub fn shuffled(count: usize, random: &mut fastrand::Rng) -> impl Iterator<Item = usize> + use<> {
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order.into_iter()
}

/// The middle value, of an even number the mean of the middle two.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn the_order_is_random_and_comes_from_the_seed() {
        let order =
            |seed| -> Vec<usize> { shuffled(20, &mut fastrand::Rng::with_seed(seed)).collect() };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
