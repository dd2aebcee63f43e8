//! Indexes that could serve the conditions of a table.

use plans::{Access, Flag, JoinKind, Node, Operation, TableUse};
use runs::backticked;
use units::count;

use super::{
    Candidate, Parts, ROWS_AT_LEAST, Remedy, SideChange, Subject,
    first_table::{is_found_by_key, is_repeated},
    full_name, plain, read_rows,
};
use crate::{
    advise::{
        rewording::{NewCondition, Rewording},
        table_facts::TableFacts,
    },
    compare::NewIndexes,
};

/// Columns of a covering index at most.
const COLUMNS_AT_MOST: usize = 5;
/// Ranges of a table at most, for an index of each.
const RANGES_AT_MOST: usize = 3;
/// Part of its saving by which an index for a further range is ranked, once for each range before: the candidates of other
/// statements come first.
const FURTHER_RANGE: f64 = 0.5;
/// Columns of an OR at most, for an index of each.
const ALTERNATIVES_AT_MOST: usize = 3;

/// An index that would serve a table.
struct IndexSpec<'a> {
    columns: &'a [String],
    /// Number of the first columns whose order does not matter.
    equal: usize,
}

impl Subject<'_> {
    /// Indexes by the conditions of a table, and one that also has every other column that is used.
    pub(super) fn indexes(&self, table: &TableUse, facts: &TableFacts) -> Vec<Candidate> {
        let Some((node, reads)) = self.read_of(table) else {
            return Vec::new();
        };
        if self.is_only_looked_up(table, facts) {
            return Vec::new();
        }
        let is_first = self.is_always_first(table, node);
        let lists = index_columns(table, facts, node, is_first);
        let saving = |(columns, equal): &(Vec<String>, usize), is_covering: bool| {
            let mut compared = columns[..*equal].iter();
            if compared.any(|it| table.joined.contains(it)) {
                self.saving_by_join(table, is_covering)
            } else {
                self.saving_by_index(table, is_covering)
            }
        };
        let mut found: Vec<Candidate> = self
            .alternatives(table, facts, &reads)
            .into_iter()
            .collect();
        for (at, list) in lists.iter().enumerate() {
            let (columns, equal) = list;
            if let Some(columns) = missing(facts, columns, *equal) {
                let why = format!("no index begins with {}", columns.join(", "));
                // Lists with the same columns of equalities differ in their range.
                let ranges = lists[..at].iter().filter(|(_, it)| it == equal).count();
                let factor: f64 = std::iter::repeat_n(FURTHER_RANGE, ranges).product();
                let wanted = IndexSpec {
                    columns: &columns,
                    equal: *equal,
                };
                let saving = saving(list, false) * factor;
                found.push(index(table, facts, &wanted, [&reads, &why], saving));
            }
        }
        // To change a row the server reads it in any case.
        if let Some(list) = lists.first().filter(|_| !table.is_changed) {
            let (columns, equal) = list;
            let mut covering = columns.clone();
            let others = table.used.iter().filter(|it| !columns.contains(it));
            covering.extend(others.filter(|it| !facts.is_in_key(it)).cloned());
            let is_new = !facts.is_covered(columns, *equal, &covering);
            let covering = facts.without_key(&covering);
            let is_plain = lists
                .iter()
                .any(|(columns, _)| facts.without_key(columns) == covering);
            let fits = covering.len() <= COLUMNS_AT_MOST
                && covering.iter().all(|column| facts.is_indexable(column))
                && facts.fit(&covering);
            if is_new && !is_plain && fits {
                let why =
                    "an index with every column of the statement avoids reading the table's rows";
                let wanted = IndexSpec {
                    columns: &covering,
                    equal: *equal,
                };
                let saving = saving(list, true);
                found.push(index(table, facts, &wanted, [&reads, why], saving));
            }
        }
        found
    }

    /// Another text for a condition, with the index that serves its new condition if there is none: neither helps alone.
    pub(super) fn with_index(
        &self,
        table: &TableUse,
        facts: &TableFacts,
        rewording: &Rewording,
        condition: &NewCondition,
    ) -> Option<Candidate> {
        let (node, reads) = self.read_of(table)?;
        let mut rewritten = table.clone();
        rewritten.wrapped.retain(|it| it.1 != condition.column);
        let column = condition.column.clone();
        if condition.is_equality {
            rewritten.with_number.retain(|it| *it != column);
            if !rewritten.equal.contains(&column) {
                rewritten.equal.push(column);
            }
        } else {
            // The index serves one range, which is to be this one.
            rewritten.range.insert(0, column);
        }
        let is_first = self.is_always_first(table, node);
        let lists = index_columns(&rewritten, facts, node, is_first);
        let mut lists = lists.iter();
        let (columns, equal) = lists.find(|(columns, _)| columns.contains(&condition.column))?;
        let columns = missing(facts, columns, *equal)?;
        let reads = format!("{reads}; {}", rewording.reason);
        let why = format!("no index begins with {}", columns.join(", "));
        let saving = self.saving_by_index(table, false);
        let wanted = IndexSpec {
            columns: &columns,
            equal: *equal,
        };
        let mut candidate = index(table, facts, &wanted, [&reads, &why], saving);
        if let Remedy::Side(change) = &mut candidate.remedy {
            change.text = Some(rewording.text.clone());
        }
        Some(candidate)
    }

    /// Whether the plan begins with a table, and no other table has a condition of its own, by which an index of the join
    /// column could make it the first one.
    fn is_always_first(&self, table: &TableUse, node: &Node) -> bool {
        let is_restricted = |it: &TableUse| {
            let mut columns = [&it.equal, &it.range, &it.either].into_iter();
            columns.any(|columns| !columns.is_empty())
        };
        let others = self.uses.iter().filter(|it| it.alias != table.alias);
        let mut others = others.filter(|it| !it.is_never_first);
        !others.any(is_restricted) && is_read_first(&self.plan.root, node)
    }

    /// The node that reads a table, and that in words; `None` if it reads so few rows that no index changes anything.
    pub(super) fn read_of(&self, table: &TableUse) -> Option<(&Node, String)> {
        let node = self.node(table);
        let node = node.filter(|node| read_rows(node) >= ROWS_AT_LEAST)?;
        let reads = format!(
            "{} reads {} rows ({})",
            table.alias,
            count(read_rows(node)),
            node.access.map_or("read", Access::words)
        );
        Some((node, reads))
    }

    /// An index for each column of an OR, new or made visible, which the server merges: one alone changes nothing.
    fn alternatives(&self, table: &TableUse, facts: &TableFacts, reads: &str) -> Option<Candidate> {
        let missing = table
            .either
            .iter()
            .filter(|it| !facts.is_first_of_index(it));
        let missing: Vec<String> = missing.cloned().collect();
        let can_be = |it: &String| facts.is_indexable(it) && facts.fit(std::slice::from_ref(it));
        let is_converted = |it: &String| facts.is_converted_by_number(table, it);
        if missing.is_empty()
            || table.either.iter().any(is_converted)
            || table.either.len() > ALTERNATIVES_AT_MOST
            || !missing.iter().all(can_be)
        {
            return None;
        }
        let changes = missing.iter().map(|column| {
            let wanted = IndexSpec {
                columns: std::slice::from_ref(column),
                equal: 1,
            };
            IndexChange::of(table, facts, &wanted)
        });
        let changes: Vec<IndexChange> = changes.collect();
        let name = format!(
            "indexes_{}_{}",
            plain(&table.table),
            plain(&missing.join("_"))
        );
        let mut reason = format!(
            "{reads}; an OR over {} needs an index that begins with each",
            table.either.join(" and ")
        );
        for hidden in changes.iter().filter(|it| !it.is_new) {
            reason += &format!("; index {} is {}", hidden.name, facts.hiding.word());
        }
        let saving = self.saving_by_index(table, false);
        Some(candidate(table, changes, name, reason, saving))
    }
}

/// The columns of an index that would be new, without those that InnoDB adds; `None` if there is one, or none can be made.
fn missing(facts: &TableFacts, columns: &[String], equal: usize) -> Option<Vec<String>> {
    let is_missing = facts.index_with(columns, equal).is_none();
    let columns = facts.without_key(columns);
    (is_missing && facts.fit(&columns)).then_some(columns)
}

/// Columns for an index, each list with the number of those compared by equality: to begin a join with the table by its own
/// conditions, and to find its rows for each row of the tables before; `is_first` where there is never one before it.
fn index_columns(
    table: &TableUse,
    facts: &TableFacts,
    node: &Node,
    is_first: bool,
) -> Vec<(Vec<String>, usize)> {
    let usable = |columns: &[String]| -> Vec<String> {
        let columns = columns.iter().filter(|column| facts.is_indexable(column));
        columns.cloned().collect()
    };
    // A text that is compared with a number is found in no index, and neither is a pattern in one of numbers or dates.
    let found = |columns: &[String]| -> Vec<String> {
        let mut columns = usable(columns);
        columns.retain(|it| {
            let is_pattern = facts.is_number_or_date(it) && table.pattern.contains(it);
            !facts.is_converted_by_number(table, it) && !is_pattern
        });
        columns
    };
    let mut own = found(&table.equal);
    // Rows with one value of the whole primary key are no scan: such a comparison is with another table's row, and it is
    // made after the read, as MariaDB's `<in_optimizer>` does.
    let key = facts.clustering_key();
    let has_key = |columns: &[String]| !key.is_empty() && key.iter().all(|it| columns.contains(it));
    if has_key(&own) {
        own.retain(|it| !facts.is_in_key(it));
    }
    let mut joined = own.clone();
    joined.extend(
        usable(&table.joined)
            .into_iter()
            .filter(|it| !own.contains(it)),
    );
    // A lookup by the whole primary key finds one row: another column of its index drops nothing.
    if has_key(&joined) {
        joined.retain(|it| own.contains(it) || !facts.is_in_key(it));
    }
    let ranges = |equal: &[String]| {
        let mut ranges = found(&table.range);
        ranges.retain(|it| !equal.contains(it));
        ranges.into_iter().take(RANGES_AT_MOST)
    };
    let mut lists = Vec::new();
    let mut first = own.clone();
    let mut of_own = ranges(&own);
    match of_own.next() {
        Some(range) => first.push(range),
        // The rows of each value of a list have an order of their own.
        None if own.iter().any(|it| table.listed.contains(it)) => {}
        None => first.extend(
            usable(&table.order)
                .into_iter()
                .filter(|it| !own.contains(it)),
        ),
    }
    if first.len() == own.len() {
        let not_null = usable(&table.not_null).into_iter();
        first.extend(not_null.filter(|it| !own.contains(it)).take(1));
    }
    // The range selects the rows of the first table, and an index that begins with a join column does not serve it.
    let is_first_by_range = is_first && own.is_empty() && ranges(&own).next().is_some();
    let mut inner = joined.clone();
    inner.extend(ranges(&joined).next());
    if joined.len() > own.len() && !is_found_by_key(node) && !is_first_by_range {
        lists.push((inner, joined.len()));
    }
    // A table that is read again and again is not the first one, unless an index makes it that.
    let is_later = is_repeated(node) || table.is_never_first;
    let at = if is_later { lists.len() } else { 0 };
    // The equalities alone only begin a join.
    let is_in_longer = !lists.is_empty() && first.len() == own.len();
    if !(table.is_never_first && is_in_longer) {
        lists.insert(at, (first, own.len()));
    }
    // An index serves one range, and the plan does not show which of them leaves the fewest rows.
    lists.extend(of_own.map(|range| {
        let mut columns = own.clone();
        columns.push(range);
        (columns, own.len())
    }));
    lists.retain(|(columns, _)| !columns.is_empty());
    lists
}

/// Whether a node reads the first table of a plan whose joins find the rows of each later table by an index.
fn is_read_first(root: &Node, node: &Node) -> bool {
    let all = root.all();
    let first = all.iter().find(|it| it.access.is_some());
    let is_join = |it: &&Node| matches!(it.operation, Operation::Join(_));
    let is_buffered = |it: &&Node| {
        let mut flags = it.flags.iter();
        it.operation == Operation::Join(JoinKind::Buffered)
            || flags.any(|flag| matches!(flag, Flag::JoinBuffer(_)))
    };
    first.is_some_and(|it| std::ptr::eq(*it, node))
        && all.iter().any(is_join)
        && !all.iter().any(is_buffered)
}

/// A candidate of one index: a new one, or a hidden one that is made visible. The reasons are what reads the
/// table, and why a new index may help.
fn index(
    table: &TableUse,
    facts: &TableFacts,
    wanted: &IndexSpec<'_>,
    [reads, why]: [&str; 2],
    saving: f64,
) -> Candidate {
    let change = IndexChange::of(table, facts, wanted);
    let (name, reason) = if change.is_new {
        (change.name.clone(), format!("{reads}; {why}"))
    } else {
        let name = index_name(table, std::slice::from_ref(&change.name), "visible");
        let reason = format!(
            "{reads}; make index {} visible, which is {} and has the columns that are needed",
            change.name,
            facts.hiding.word()
        );
        (name, reason)
    };
    candidate(table, vec![change], name, reason, saving)
}

/// An index that a candidate makes, or makes visible.
struct IndexChange {
    name: String,
    columns: Vec<String>,
    sql: String,
    undone_by: String,
    is_new: bool,
}

impl IndexChange {
    /// A hidden index with the wanted columns, else a new one.
    fn of(table: &TableUse, facts: &TableFacts, wanted: &IndexSpec<'_>) -> Self {
        let full_name = full_name(table);
        let Some(hidden) = facts.hidden_with(wanted.columns, wanted.equal) else {
            let name = index_name(table, wanted.columns, "index");
            let columns: Vec<String> = wanted.columns.iter().map(|it| backticked(it)).collect();
            return Self {
                columns: wanted.columns.to_vec(),
                sql: format!(
                    "create index `{name}` on {full_name} ({})",
                    columns.join(", ")
                ),
                undone_by: format!("DROP INDEX {} ON {full_name}", backticked(&name)),
                name,
                is_new: true,
            };
        };
        let altered = |to: &str| {
            format!(
                "alter table {full_name} alter index {} {to}",
                backticked(hidden)
            )
        };
        Self {
            name: hidden.to_owned(),
            // Its own, so that it is one candidate whatever order a statement wants.
            columns: facts.hidden[hidden].columns.clone(),
            sql: altered(facts.hiding.opposite()),
            undone_by: altered(facts.hiding.word()),
            is_new: false,
        }
    }
}

/// A candidate of one or more indexes.
fn candidate(
    table: &TableUse,
    changes: Vec<IndexChange>,
    name: String,
    reason: String,
    saving: f64,
) -> Candidate {
    let sql = changes.iter().map(|it| it.sql.as_str());
    let sql = sql.collect::<Vec<_>>().join("; ");
    let made = changes.iter().filter(|it| it.is_new);
    let indexes = NewIndexes {
        schema: table.schema.clone(),
        table: table.table.clone(),
        names: changes.iter().map(|it| it.name.clone()).collect(),
        columns: changes.iter().flat_map(|it| it.columns.clone()).collect(),
        made: made.map(|it| it.name.clone()).collect(),
        undone_by: changes.into_iter().map(|it| it.undone_by).collect(),
    };
    Candidate {
        reason,
        saving,
        remedy: Remedy::Side(SideChange {
            name,
            parts: Parts::Indexes { sql, indexes },
            text: None,
        }),
    }
}

fn index_name(table: &TableUse, columns: &[String], kind: &str) -> String {
    let columns: Vec<String> = columns.iter().map(|it| plain(it)).collect();
    let name = format!("{kind}_{}_{}", plain(&table.table), columns.join("_"));
    // The server's limit is 64 characters.
    name.chars().take(60).collect()
}
