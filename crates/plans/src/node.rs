//! The plan model: one tree for every form in which a server explains a statement.

use serde::Serialize;

use crate::{
    flag::Flag,
    json::Json,
    operation::{Access, JoinForm, Operation},
};

/// The plan of a statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    pub root: Node,
    /// The statement as the optimizer rewrote it, where the server shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
    /// Notes of the server about the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A node of a plan, which reads the rows of its children.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    pub operation: Operation,
    /// The work in a few words, in the server's own where it has some: `Nested loop inner join`.
    pub title: String,
    /// The form of a join; `None` where the plan does not show it. The title says it in the server's words.
    #[serde(skip)]
    pub join_form: Option<JoinForm>,
    /// Whether a node that materialises rows holds those of another query; else they are of its own one, as before a
    /// grouping.
    #[serde(skip)]
    pub holds_query: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Name or alias of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The columns of the index that are used, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_parts: Vec<String>,
    /// Length of the used part of the index, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_bytes: Option<String>,
    /// The values or columns that select entries of the index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lookup: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub possible_indexes: Vec<String>,
    #[serde(skip_serializing_if = "Estimate::is_empty")]
    pub estimate: Estimate,
    /// What the server measured, if it executed the statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Actual>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Remarks of the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// What the server says besides, by its own names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rest: Vec<Fact>,
    /// The nodes whose rows it reads, and the subqueries of its conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

/// What the optimizer expects of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// Rows each time the node runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// Number of times it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<f64>,
    /// Share of the rows that its conditions keep, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered_percent: Option<f64>,
    /// Cost of the node and of all below it, in the optimizer's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost: Option<f64>,
    /// Cost of the node alone, in the optimizer's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_cost: Option<f64>,
}

/// What the server measured of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Actual {
    /// Rows each time the node ran, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// Number of times it ran; 0 if it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<f64>,
    /// Share of the rows that its conditions kept, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered_percent: Option<f64>,
    /// Time of the node and of all below it, over all loops, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<f64>,
    /// Time of the node alone, over all loops, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_ms: Option<f64>,
}

/// A condition with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Where it is applied: `where`, `index condition`, `having`.
    pub kind: String,
    /// The condition in the server's words.
    pub text: String,
}

/// A value that a server gives by a name of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    pub name: String,
    pub value: Json,
    /// Whether this version of dbdyno knows the name; the others come from newer servers.
    pub known: bool,
}

impl Node {
    /// A node with nothing but its work.
    pub(crate) fn new(operation: Operation, title: impl Into<String>) -> Self {
        Self {
            operation,
            title: title.into(),
            join_form: None,
            holds_query: false,
            access: None,
            table: None,
            partitions: Vec::new(),
            index: None,
            key_parts: Vec::new(),
            key_bytes: None,
            lookup: Vec::new(),
            possible_indexes: Vec::new(),
            estimate: Estimate::default(),
            actual: None,
            conditions: Vec::new(),
            flags: Vec::new(),
            rest: Vec::new(),
            children: Vec::new(),
        }
    }

    /// The node and all below it, a parent before its children.
    pub fn all(&self) -> Vec<&Self> {
        let mut found = vec![self];
        let mut next = 0;
        while let Some(node) = found.get(next).copied() {
            let at = next + 1;
            found.splice(at..at, node.children.iter());
            next = at;
        }
        found
    }

    /// Whether the node, or one below it, reads an index, or may choose it for each row.
    pub fn uses_index(&self, name: &str) -> bool {
        let is_one_of = |names: &str| {
            let of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
            let mut names = names.split(|letter| !of_name(letter));
            names.any(|it| it.eq_ignore_ascii_case(name))
        };
        self.all().iter().any(|node| {
            let by_flag = node.flags.iter().any(|flag| match flag {
                Flag::RangePerRow(_) => true,
                Flag::IndexMerge(names) | Flag::RowidFilter(names) => is_one_of(names),
                _ => false,
            });
            by_flag || node.index.as_deref().is_some_and(is_one_of)
        })
    }

    /// The node in a few words: `page p by index range page_len`.
    pub fn name(&self) -> String {
        match (&self.table, &self.index) {
            (Some(table), Some(index)) => format!("{table} by {index}"),
            (Some(table), None) => table.clone(),
            (None, _) => self.title.clone(),
        }
    }

    /// Time of the node alone, milliseconds, over all loops: as measured, or its total without those of its children.
    pub fn own_ms(&self) -> Option<f64> {
        let actual = self.actual?;
        actual.own_ms.or_else(|| {
            let below: f64 = self.children.iter().map(Self::total_ms).sum();
            Some((actual.total_ms? - below).max(0.0))
        })
    }

    /// Time of the node and of all below it, milliseconds; nodes without a measurement count what is below them.
    pub fn total_ms(&self) -> f64 {
        let measured = self.actual.and_then(|actual| actual.total_ms);
        measured.unwrap_or_else(|| {
            let own = self.actual.and_then(|actual| actual.own_ms).unwrap_or(0.0);
            own + self.children.iter().map(Self::total_ms).sum::<f64>()
        })
    }

    /// Cost of the node alone, in the optimizer's unit.
    pub fn own_cost(&self) -> Option<f64> {
        self.estimate.own_cost.or_else(|| {
            let below: f64 = self.children.iter().map(Self::cost).sum();
            Some((self.estimate.total_cost? - below).max(0.0))
        })
    }

    fn cost(&self) -> f64 {
        self.estimate.total_cost.unwrap_or_else(|| {
            let own = self.estimate.own_cost.unwrap_or(0.0);
            own + self.children.iter().map(Self::cost).sum::<f64>()
        })
    }

    /// Whether the server measured any node here or below.
    pub fn is_measured(&self) -> bool {
        self.all().iter().any(|node| node.actual.is_some())
    }

    /// What the server measured, to be filled in.
    pub(crate) fn measured(&mut self) -> &mut Actual {
        self.actual.get_or_insert_with(Actual::default)
    }

    pub(crate) fn add_condition(&mut self, kind: &str, text: impl Into<String>) {
        self.conditions.push(Condition {
            kind: kind.to_owned(),
            text: text.into(),
        });
    }

    pub(crate) fn add_flag(&mut self, flag: Flag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }
}

impl Estimate {
    /// Whether nothing is estimated.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_used_alone_merged_or_as_a_filter() {
        let mut node = Node::new(Operation::Access, "table");
        node.possible_indexes = vec!["a".to_owned()];
        assert!(!node.uses_index("a"));
        for (index, flag, expected) in [
            (Some("a"), None, true),
            (Some("aa"), None, false),
            // EXPLAIN's rows: an index merge, and MariaDB's filter of row ids.
            (Some("b,a"), None, true),
            (Some("b|a"), None, true),
            (
                Some("b"),
                Some(Flag::IndexMerge("union(b,a)".to_owned())),
                true,
            ),
            (
                None,
                Some(Flag::RangePerRow("index map: 0x3".to_owned())),
                true,
            ),
        ] {
            node.index = index.map(str::to_owned);
            node.flags = flag.into_iter().collect();
            let mut root = Node::new(Operation::Limit, "limit");
            root.children.push(node.clone());
            assert_eq!(root.uses_index("a"), expected, "{index:?}");
        }
    }
}
