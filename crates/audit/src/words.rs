//! Lists as text within a sentence.

/// The first `most` of the words; the rest as a number.
pub(crate) fn listed(words: &[String], most: usize) -> String {
    if words.len() <= most {
        return words.join(", ");
    }
    let rest = words.len() - most;
    format!("{} and {rest} more", words[..most].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_end_with_a_number() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(listed(&names, 3), "a, b, c");
        assert_eq!(listed(&names, 1), "a and 2 more");
    }
}
