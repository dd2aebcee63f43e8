//! A node in words, the same on a terminal and on a page.

use units::{count, percent, si};

use crate::{
    findings::{CostliestNode, Measure, Misestimate},
    flag::Flag,
    node::Node,
    operation::{Access, Operation},
};

/// `1 row`, `267 rows`, `4.11k rows`.
pub(crate) fn rows_in_words(rows: f64) -> String {
    let number = count(rows);
    let noun = if number == "1" { "row" } else { "rows" };
    format!("{number} {noun}")
}

impl Node {
    /// The node's work and, for a table, its access: `p: index range page_len (page_len)`.
    pub fn label(&self) -> String {
        let Some(table) = &self.table else {
            return match &self.index {
                Some(index) if self.key_parts.is_empty() => format!("{}: {index}", self.title),
                Some(index) => format!("{}: {index} ({})", self.title, self.key_parts.join(", ")),
                None => self.title.clone(),
            };
        };
        let is_write = matches!(
            self.operation,
            Operation::Insert
                | Operation::Update
                | Operation::Delete
                | Operation::Union
                | Operation::Join(_)
        );
        let mut label = if is_write {
            format!("{} {table}", self.title)
        } else {
            table.clone()
        };
        let mut words = Vec::new();
        words.extend(self.access.map(|access| access.words().to_owned()));
        words.extend(self.index.clone());
        if !self.key_parts.is_empty() {
            words.push(format!("({})", self.key_parts.join(", ")));
        }
        if !self.lookup.is_empty() {
            words.push(format!("= {}", self.lookup.join(", ")));
        }
        if !words.is_empty() {
            label.push_str(": ");
            label.push_str(&words.join(" "));
        }
        label
    }

    /// What else is known of the node, a line each: remarks, conditions, partitions, and what newer servers add.
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.flags.is_empty() {
            let words: Vec<String> = self.flags.iter().map(Flag::words).collect();
            lines.push(words.join("; "));
        }
        for condition in &self.conditions {
            lines.push(format!("{} {}", condition.kind, condition.text));
        }
        if !self.partitions.is_empty() {
            lines.push(format!("partitions {}", self.partitions.join(", ")));
        }
        let is_per_row = |flag: &Flag| matches!(flag, Flag::RangePerRow(_));
        let reads_everything =
            matches!(self.access, Some(Access::All)) && !self.flags.iter().any(is_per_row);
        if reads_everything && !self.possible_indexes.is_empty() {
            lines.push(format!(
                "no index used of {}",
                self.possible_indexes.join(", ")
            ));
        }
        for fact in self.rest.iter().filter(|fact| !fact.known) {
            let value = serde_json::to_string(&fact.value).unwrap_or_default();
            lines.push(format!("{}: {value}", fact.name));
        }
        lines
    }
}

impl Misestimate<'_> {
    pub fn sentence(&self) -> String {
        let rows = if self.is_of_kept_rows {
            "rows kept"
        } else {
            "rows"
        };
        let direction = if self.actual > self.estimated {
            "too low"
        } else {
            "too high"
        };
        format!(
            "Worst estimate: {}, {} {rows} expected, {} found ({}x {direction}).",
            self.node.name(),
            count(self.estimated),
            count(self.actual),
            si(self.factor()),
        )
    }
}

impl CostliestNode<'_> {
    pub fn sentence(&self) -> String {
        let share = percent((self.own / self.total).min(1.0));
        let name = self.node.name();
        match self.measure {
            Measure::Time => format!(
                "Most expensive node: {name}, {} of {} ({share}).",
                units::duration(self.own * 1e6),
                units::duration(self.total * 1e6)
            ),
            Measure::Cost => format!(
                "Most expensive node by estimated cost: {name}, {share} of {}.",
                si(self.total)
            ),
            Measure::Rows => format!(
                "Most rows by estimate: {name}, {}.",
                rows_in_words(self.own)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_chosen_for_each_row_may_be_used() {
        let mut node = Node::new(Operation::Access, "table");
        node.access = Some(Access::All);
        node.possible_indexes = vec!["a".to_owned()];
        assert_eq!(node.details(), ["no index used of a"]);
        node.add_flag(Flag::RangePerRow("index map: 0x1".to_owned()));
        assert_eq!(
            node.details(),
            ["index chosen for each row (index map: 0x1)"]
        );
    }
}
