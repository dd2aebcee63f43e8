//! Sums of numbers from the server, which may have any value.

/// The sum, limited to the largest representable number.
pub(super) fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_is_the_most() {
        assert_eq!(total([2, 3].into_iter()), 5);
        assert_eq!(total([u64::MAX, 3].into_iter()), u64::MAX);
    }
}
