//! Executions that fall into two groups, in words.

use stats::two_groups;

/// A sentence if executions fall into two groups, otherwise `None`; they are called by these nouns, one and several:
/// `The executions fall into two groups, 2 around 70.3k/s and 4 around 100k/s: ...`.
pub(crate) fn groups_in_words(
    values: &[f64],
    number: impl Fn(f64) -> String,
    [noun, nouns]: [&str; 2],
) -> Option<String> {
    let groups = two_groups(values)?;
    Some(format!(
        "The {nouns} fall into two groups, {} around {} and {} around {}: no {noun} is near the mean, and its interval is correct in fewer than 95 of 100 cases.",
        groups.low_count,
        number(groups.low),
        groups.high_count,
        number(groups.high)
    ))
}

#[cfg(test)]
mod tests {
    use units::per_s;

    use super::*;

    #[test]
    fn groups_are_told() {
        let values = [10_000.0, 9_990.0, 7_010.0, 10_050.0, 7_000.0, 9_970.0];
        let nouns = ["execution", "executions"];
        assert_eq!(
            groups_in_words(&values, per_s, nouns).unwrap(),
            "The executions fall into two groups, 2 around 7.00k/s and 4 around 10.0k/s: no execution is near the \
             mean, and its interval is correct in fewer than 95 of 100 cases."
        );
        assert_eq!(groups_in_words(&values[..4], per_s, nouns), None);
    }
}
