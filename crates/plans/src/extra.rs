//! The column `Extra` of EXPLAIN's rows: remarks separated by semicolons.

use crate::{flag::Flag, node::Node, operation::Operation};

/// Reads the remarks into a node: `Using where; Using index`.
pub(crate) fn read(node: &mut Node, extra: &str) {
    for remark in split(extra) {
        if let Some(condition) = remark.strip_prefix("Using where with pushed condition") {
            node.add_flag(Flag::Where);
            node.add_condition("pushed condition", condition.trim());
            continue;
        }
        let flag = Flag::of_extra(remark);
        let reads_nothing = node.table.is_none() && matches!(flag, Flag::Other(_));
        if reads_nothing {
            node.operation = Operation::Nothing;
            remark.clone_into(&mut node.title);
        } else {
            node.add_flag(flag);
        }
    }
}

/// The remarks; a semicolon within brackets belongs to its remark.
fn split(extra: &str) -> Vec<&str> {
    let mut remarks = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, letter) in extra.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => {
                remarks.push(&extra[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    remarks.push(&extra[from..]);
    let trimmed = remarks.into_iter().map(str::trim);
    trimmed.filter(|remark| !remark.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_in_brackets_separates_nothing() {
        let extra = "Using where; Using join buffer (flat; BNL join); ";
        assert_eq!(
            split(extra),
            ["Using where", "Using join buffer (flat; BNL join)"]
        );
    }
}
