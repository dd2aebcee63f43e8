//! Indexes of a table that another one makes needless, and those that were not read since the server's start.

use std::time::Duration;

use plans::Plan;
use units::span;

use super::table_facts::{IndexFacts, PRIMARY, TableFacts};

/// Uptime from which an index without reads is called unused: many are for what happens once a day.
const UNUSED_AFTER: Duration = Duration::from_secs(86_400);

/// An index that may not be worth its price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NeedlessIndex {
    /// Schema and table.
    pub(super) table: String,
    pub(super) index: String,
    pub(super) why: DropReason,
}

/// Why an index may not be worth its price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DropReason {
    /// Another one begins with its columns and those of the primary key behind them, and serves everything that it serves.
    Duplicate { of: String },
    /// Another one begins with its columns, but not in the order of the primary key within equal values.
    Shorter { of: String },
    /// It was not read.
    Unused { since: Duration },
}

impl NeedlessIndex {
    /// `index a of shop.item can be dropped: it is a duplicate of index b, which begins with its columns`.
    pub(super) fn sentence(&self) -> String {
        let start = format!("index {} of {}", self.index, self.table);
        match &self.why {
            DropReason::Duplicate { of } => {
                format!(
                    "{start} can be dropped: it is a duplicate of index {of}, which begins with its columns"
                )
            }
            DropReason::Shorter { of } => format!(
                "{start} can be dropped unless a statement needs MIN, MAX or ORDER BY of the primary key: index {of} \
                 begins with its columns"
            ),
            DropReason::Unused { since } => format!(
                "{start} is unused since the server's start ({} ago)",
                span(*since)
            ),
        }
    }
}

/// The needless indexes of a table; `uptime` is that of the server.
pub(super) fn needless(table: &str, facts: &TableFacts, uptime: Duration) -> Vec<NeedlessIndex> {
    let mut found = Vec::new();
    for (name, index) in &facts.indexes {
        let needless = |why| NeedlessIndex {
            table: table.to_owned(),
            index: name.clone(),
            why,
        };
        if let Some(of) = duplicated(name, index, facts) {
            found.push(needless(DropReason::Duplicate { of }));
        } else if let Some(of) = longer(name, index, facts) {
            found.push(needless(DropReason::Shorter { of }));
        } else if uptime >= UNUSED_AFTER && is_unused(name, index, facts) {
            found.push(needless(DropReason::Unused { since: uptime }));
        }
    }
    found
}

/// Whether an index is not needless after all: it is called unused, and a statement reads it. Servers do not
/// count each read.
pub(super) fn is_read(needless: &NeedlessIndex, plans: &[Plan]) -> bool {
    let is_unused = matches!(needless.why, DropReason::Unused { .. });
    let mut plans = plans.iter();
    is_unused && plans.any(|plan| plan.root.uses_index(&needless.index))
}

/// The index that makes another one needless. Of two that are equal the shorter one stays, or else the first by its name.
fn duplicated(name: &str, index: &IndexFacts, facts: &TableFacts) -> Option<String> {
    if name == PRIMARY || !index.is_plain {
        return None;
    }
    let whole = facts.with_key(&index.columns);
    let mut others = facts.indexes.iter().filter(|(_, other)| other.is_plain);
    let found = others.find(|(other_name, other)| {
        if *other_name == name {
            return false;
        }
        // A unique index is a rule for the data, which only the same rule replaces.
        if index.is_unique {
            let is_same = other.columns == index.columns && other.is_unique;
            return is_same && (*other_name == PRIMARY || other_name.as_str() < name);
        }
        let other_whole = facts.with_key(&other.columns);
        if other_whole == whole && !other.is_unique {
            let rank = |name: &str, index: &IndexFacts| (index.columns.len(), name.to_owned());
            return rank(other_name, other) < rank(name, index);
        }
        other_whole.starts_with(&whole)
    });
    found.map(|(name, _)| name.clone())
}

/// An index that begins with the columns of another one, which is no rule for the data.
fn longer(name: &str, index: &IndexFacts, facts: &TableFacts) -> Option<String> {
    if name == PRIMARY || !index.is_plain || index.is_unique {
        return None;
    }
    let whole = facts.with_key(&index.columns);
    let mut others = facts.indexes.iter().filter(|(_, other)| other.is_plain);
    let found = others.find(|(other_name, other)| {
        *other_name != name
            && other.columns.len() > index.columns.len()
            && other.columns.starts_with(&index.columns)
            && !facts.with_key(&other.columns).starts_with(&whole)
    });
    found.map(|(name, _)| name.clone())
}

/// Whether an index was not read, and is no rule for the data. It would serve the reads of its duplicates.
fn is_unused(name: &str, index: &IndexFacts, facts: &TableFacts) -> bool {
    let is_for = |other: &str, index: &IndexFacts| {
        let replacing = duplicated(other, index, facts).or_else(|| longer(other, index, facts));
        other == name || replacing.as_deref() == Some(name)
    };
    let served = facts.indexes.iter().filter(|(other, it)| is_for(other, it));
    let reads = served.map(|(other, _)| facts.reads.as_ref()?.get(other).copied());
    let reads: Option<u64> = reads.sum();
    let first = index.columns.first();
    let is_needed = first.is_some_and(|first| facts.foreign.contains(first));
    reads == Some(0) && name != PRIMARY && !index.is_unique && !is_needed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(indexes: &[(&str, &[&str])]) -> TableFacts {
        let indexes = indexes.iter().map(|(name, columns)| {
            let index = IndexFacts {
                columns: columns.iter().map(|it| (*it).to_owned()).collect(),
                is_unique: *name == PRIMARY || name.starts_with("unique"),
                is_plain: !name.starts_with("prefix"),
                ..IndexFacts::default()
            };
            ((*name).to_owned(), index)
        });
        TableFacts {
            indexes: indexes.collect(),
            is_clustered: true,
            ..TableFacts::default()
        }
    }

    fn sentences(facts: &TableFacts) -> Vec<String> {
        sentences_after(UNUSED_AFTER, facts)
    }

    fn sentences_after(uptime: Duration, facts: &TableFacts) -> Vec<String> {
        let found = needless("s.t", facts, uptime);
        found.iter().map(NeedlessIndex::sentence).collect()
    }

    #[test]
    fn an_index_that_another_one_begins_with_is_a_duplicate() {
        let primary = (PRIMARY, &["id"][..]);
        for (indexes, expected) in [
            (
                &[("a", &["x"][..]), ("b", &["x", "y"])][..],
                &[
                    "index a of s.t can be dropped unless a statement needs MIN, MAX or ORDER BY of the primary key: \
                     index b begins with its columns",
                ][..],
            ),
            (
                &[("a", &["x"][..]), ("b", &["x", "id", "y"])],
                &[
                    "index a of s.t can be dropped: it is a duplicate of index b, which begins with its columns",
                ],
            ),
            // InnoDB adds the primary key to both.
            (
                &[("long", &["x", "id"]), ("short", &["x"])],
                &[
                    "index long of s.t can be dropped: it is a duplicate of index short, which begins with its columns",
                ],
            ),
            (
                &[("one", &["x"]), ("other", &["x"])],
                &[
                    "index other of s.t can be dropped: it is a duplicate of index one, which begins with its columns",
                ],
            ),
            (&[("unique_a", &["x"]), ("b", &["x", "y"])], &[]),
            (
                &[("a", &["x"]), ("unique_b", &["x"])],
                &[
                    "index a of s.t can be dropped: it is a duplicate of index unique_b, which begins with its columns",
                ],
            ),
            (&[("a", &["y", "x"]), ("b", &["x", "y"])], &[]),
            (&[("prefix", &["x"]), ("b", &["x", "y"])], &[]),
            (
                &[("id", &["id"])],
                &[
                    "index id of s.t can be dropped: it is a duplicate of index PRIMARY, which begins with its columns",
                ],
            ),
            (
                &[("a", &["x", "id"]), ("unique_b", &["x"])],
                &[
                    "index a of s.t can be dropped: it is a duplicate of index unique_b, which begins with its columns",
                ],
            ),
        ] {
            let all: Vec<_> = [primary]
                .into_iter()
                .chain(indexes.iter().copied())
                .collect();
            assert_eq!(sentences(&facts(&all)), expected, "{indexes:?}");
        }
    }

    #[test]
    fn an_index_of_an_expression_that_a_plan_reads_is_not_unused() {
        let of_expression = IndexFacts {
            columns: vec![String::new()],
            ..IndexFacts::default()
        };
        let names = ["lower_mail", "other"];
        let facts = TableFacts {
            indexes: names
                .map(|name| (name.to_owned(), of_expression.clone()))
                .into(),
            reads: Some(names.map(|name| (name.to_owned(), 0)).into()),
            ..TableFacts::default()
        };
        let plan = r#"{"query_block":{"select_id":1,"table":{"table_name":"t","access_type":"ref",
            "key":"lower_mail"}}}"#;
        let plans = [Plan::of_json(plan).unwrap()];
        let mut found = needless("s.t", &facts, UNUSED_AFTER);
        assert_eq!(found.len(), 2);
        found.retain(|it| !is_read(it, &plans));
        let left: Vec<&str> = found.iter().map(|it| it.index.as_str()).collect();
        assert_eq!(left, ["other"]);
    }

    #[test]
    fn an_index_without_reads_is_unused_unless_it_is_a_rule() {
        let names = [
            (PRIMARY, &["id"][..]),
            ("a", &["x"]),
            ("b", &["y"]),
            ("of_key", &["z"]),
            ("unique_c", &["w"]),
        ];
        let mut facts = facts(&names);
        assert!(sentences(&facts).is_empty(), "nothing is counted");
        let reads = names.map(|(name, _)| (name.to_owned(), u64::from(name == "b")));
        facts.reads = Some(reads.into());
        facts.foreign = vec!["z".to_owned()];
        let unused = "index a of s.t is unused since the server's start (1 d 0 h ago)";
        assert_eq!(sentences(&facts), [unused]);
        let early = UNUSED_AFTER - Duration::from_secs(1);
        assert!(sentences_after(early, &facts).is_empty());
        // Nor is an index that replaces one which was read.
        let columns = |names: &[&str]| IndexFacts {
            columns: names.iter().map(|it| (*it).to_owned()).collect(),
            is_plain: true,
            ..IndexFacts::default()
        };
        let mut replacing = TableFacts {
            indexes: [("e", &["v"][..]), ("f", &["v", "w"])]
                .map(|(name, names)| (name.to_owned(), columns(names)))
                .into(),
            reads: Some(
                [("e", 5), ("f", 0)]
                    .map(|(name, reads)| (name.to_owned(), reads))
                    .into(),
            ),
            ..TableFacts::default()
        };
        replacing
            .indexes
            .insert(PRIMARY.to_owned(), columns(&["id"]));
        replacing.is_clustered = true;
        let found = sentences(&replacing);
        assert!(found.iter().all(|it| !it.contains("unused")), "{found:?}");
        // The longer index was read, which is to be dropped for the shorter one.
        let longer = IndexFacts {
            columns: vec!["x".to_owned(), "id".to_owned()],
            is_plain: true,
            ..IndexFacts::default()
        };
        facts.indexes.insert("d".to_owned(), longer);
        facts.reads.as_mut().unwrap().insert("d".to_owned(), 5);
        let duplicate = "index d of s.t can be dropped: it is a duplicate of index a, which begins with its columns";
        assert_eq!(sentences(&facts), [duplicate]);
    }
}
