//! What could make a statement faster, with the reason: from its plan, its use of columns, and its costs.

mod authors;
mod first_table;
mod indexes;
mod order;
mod saving;

use plans::{Flag, Node, Operation, Plan, TableUse, stale_statistics};
use runs::backticked;
use sqltext::SqlStatement;
use units::{count, si};

use super::{
    rewording::{self, Rewording, RewordingKind, RewriteEvidence},
    table_facts::TableFacts,
};
use crate::{
    compare::NewIndexes,
    statement_text::{ColumnName, StatementText},
};

/// Statistics are suspected from this factor between estimate and measurement on. A plan shows smaller ones, too
/// ([`plans::MISESTIMATE_FROM`]), but they seldom change it.
const STATISTICS_SUSPECTED_FROM: f64 = 10.0;
/// Rows of a table read per execution below which neither an index nor another order changes anything.
const ROWS_AT_LEAST: f64 = 100.0;
/// Sizes of a larger sort buffer, bytes: at least, and at most.
const SORT_BYTES: [u64; 2] = [32 << 20, 256 << 20];
/// The same for temporary tables in memory.
const TEMPORARY_TABLE_BYTES: [u64; 2] = [256 << 20, 2 << 30];
/// Share of the time that a candidate saves where the plan shows nothing.
const UNKNOWN_SAVING: f64 = 0.5;
/// Pages read from disk below which the buffer pool is not suspected: the server counts them for all sessions.
const PAGES_AT_LEAST: i64 = 100;

/// Something to try or to rewrite.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) reason: String,
    pub(super) remedy: Remedy,
    /// Share of the statement's time that it saves by the plan, about: it decides what is tried first.
    pub(super) saving: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Fresh statistics of these tables, each by its full name in backticks.
    Statistics(Vec<String>),
    /// What a side of a comparison can have.
    Side(SideChange),
    /// A change of the statement that only its author can make.
    Author(String),
}

/// What is different on a side of a comparison: parts of a variant, another text of the statement, or both where neither
/// helps alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SideChange {
    /// Its name: `index_price`.
    pub(super) name: String,
    pub(super) parts: Parts,
    /// Another text of the statement.
    pub(super) text: Option<String>,
}

/// The parts of a variant, by what they change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parts {
    /// None, for another text alone.
    None,
    /// SQL that sets variables of the session.
    Session(String),
    /// SQL that makes indexes, or makes them visible.
    Indexes { sql: String, indexes: NewIndexes },
    /// An option of the server with its value.
    ServerOption { name: &'static str, value: u64 },
}

impl Parts {
    /// The parts as a variant has them: `option innodb_buffer_pool_size = 1073741824`; empty if there are none.
    pub(super) fn text(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Session(sql) | Self::Indexes { sql, .. } => sql.clone(),
            Self::ServerOption { name, value } => format!("option {name} = {value}"),
        }
    }

    /// Whether it is an option of the server, and not a change that can be taken back on a running one.
    pub(super) fn is_option(&self) -> bool {
        matches!(self, Self::ServerOption { .. })
    }

    /// The indexes that the parts make, if they do.
    pub(super) fn indexes(&self) -> Option<&NewIndexes> {
        match self {
            Self::Indexes { indexes, .. } => Some(indexes),
            Self::None | Self::Session(_) | Self::ServerOption { .. } => None,
        }
    }
}

impl Remedy {
    /// Another text alone.
    fn of_text(name: String, text: String) -> Self {
        Self::Side(SideChange {
            name,
            parts: Parts::None,
            text: Some(text),
        })
    }

    /// Parts of a variant alone.
    pub(super) fn of_parts(name: &str, parts: Parts) -> Self {
        Self::Side(SideChange {
            name: name.to_owned(),
            parts,
            text: None,
        })
    }

    /// The same without the other text of this statement, which stands below.
    pub(super) fn title(&self, statement: &str) -> String {
        match self {
            Self::Side(change) if change.text.is_some() => match &change.parts {
                Parts::None => format!("another text of statement {statement}"),
                parts => format!(
                    "{}; and another text of statement {statement}",
                    parts.text()
                ),
            },
            _ => self.words(),
        }
    }

    /// `create index ... on ...`, or `as select ...`.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Statistics(tables) => format!("analyze table {}", tables.join(", ")),
            Self::Author(what) => what.clone(),
            Self::Side(change) => match (&change.parts, &change.text) {
                (parts, None) => parts.text(),
                (Parts::None, Some(text)) => format!("as {text}"),
                (parts, Some(text)) => format!("{}; and the statement as {text}", parts.text()),
            },
        }
    }

    /// Why it was not measured: some plan has to read each of its indexes.
    pub(super) fn why_unused(&self) -> &'static str {
        match self {
            Self::Side(change) if change.parts.indexes().is_some_and(|it| it.names.len() > 1) => {
                "the optimizer does not choose all of its indexes"
            }
            _ => "the optimizer does not choose it for any statement",
        }
    }
}

/// What is known of a statement.
pub(super) struct Subject<'a> {
    pub(super) statement: &'a SqlStatement,
    /// Its number, from 1.
    pub(super) number: usize,
    /// Whether the server follows hints in comments.
    pub(super) has_hints: bool,
    /// Whether the server follows hints on the order of tables.
    pub(super) has_order_hints: bool,
    /// Whether the server joins a table without a fitting index by a hash table, which it reads once.
    pub(super) has_hash_join: bool,
    pub(super) plan: &'a Plan,
    /// The statement as the optimizer rewrote it, where the server shows it.
    pub(super) rewritten: Option<&'a str>,
    pub(super) uses: &'a [TableUse],
    /// Facts of each table, in the order of `uses`.
    pub(super) facts: &'a [TableFacts],
    /// What one warm execution adds to counters.
    pub(super) costs: &'a [(String, i64)],
    pub(super) buffers: Buffers,
}

/// The buffers of a server and of the session of a statement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Buffers {
    /// A larger buffer pool than the server's that the machine has memory for, bytes.
    pub(super) larger_pool_bytes: Option<u64>,
    /// Size of the buffer of a sort, bytes; 0 if it is not known.
    pub(super) sort_bytes: u64,
    /// Size of a temporary table in memory at most, bytes; 0 if it is not known.
    pub(super) temporary_table_bytes: u64,
}

impl Subject<'_> {
    /// All candidates: indexes of each table and other conditions on it, then other texts, statistics and memory. A user
    /// changes neither the tables of the server nor the statements of tools that read them.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        if !self.facts.is_empty() && self.facts.iter().all(|it| it.is_of_server) {
            return found;
        }
        let text = StatementText::of(self.statement);
        let is_any_of_server = self.facts.iter().any(|it| it.is_of_server);
        let tables = self.uses.iter().zip(self.facts).enumerate();
        for (at, (table, facts)) in tables.filter(|(_, (_, facts))| !facts.is_of_server) {
            let table = &self.comparable(table, facts);
            found.extend(self.indexes(table, facts));
            let is_shared = |column: &str| {
                let mut all = self.facts.iter().enumerate();
                all.any(|(other, facts)| other != at && facts.kind(column).is_some())
            };
            let reworded = text
                .as_ref()
                .map(|text| rewording::of_conditions(text, table, facts, is_shared));
            let mut reworded = reworded.unwrap_or_default();
            // A function may have an index already.
            reworded.retain(|it| {
                let column = it.condition.as_ref().map(|it| it.column.as_str());
                let is_read = |column| self.is_read_by_expression(table, facts, column);
                it.kind != RewordingKind::Range || !column.is_some_and(is_read)
            });
            found.extend(self.authors(table, facts, &reworded));
            found.extend(self.computed(table, facts, &reworded));
            for it in reworded {
                found.extend(self.of_condition(table, facts, it));
            }
        }
        if let Some(text) = text.as_ref().filter(|_| !is_any_of_server) {
            let are_alike = |names: [ColumnName; 2]| {
                let [one, other] = names.map(|name| self.kind(text.column_and_table(name)));
                one.is_some() && one == other
            };
            let of_plan = rewording::of_plan(text, self.signs(), are_alike);
            for it in of_plan {
                let saving = self.saving_by_text(it.kind);
                found.push(self.reworded(it, saving));
            }
            found.extend(self.order(text));
        }
        found.extend(self.statistics());
        found.extend(self.memory());
        found
    }

    /// How the server compares values of a column of the statement; `None` if it is unknown, or if it is one of several
    /// tables that differ in that.
    fn kind(&self, (column, table): (Option<&str>, Option<&str>)) -> Option<[&str; 2]> {
        let column = column?;
        let all = self.uses.iter().zip(self.facts);
        let named =
            all.filter(|(it, _)| table.is_none_or(|table| table.eq_ignore_ascii_case(&it.alias)));
        let mut kinds = named.filter_map(|(_, facts)| facts.kind(column));
        let first = kinds.next()?;
        kinds.all(|it| it == first).then_some(first)
    }

    /// Another text for a condition of a table, with the index that it needs; alone where there is one, or where it may
    /// help without.
    fn of_condition(
        &self,
        table: &TableUse,
        facts: &TableFacts,
        rewording: Rewording,
    ) -> Vec<Candidate> {
        if self.is_only_looked_up(table, facts) {
            return Vec::new();
        }
        let saving = self.saving_by_index(table, false);
        let Some(condition) = rewording.condition.clone() else {
            return vec![self.reworded(rewording, saving)];
        };
        let with_index = self.with_index(table, facts, &rewording, &condition);
        let is_alone = facts.is_first_of_index(&condition.column)
            || condition.is_equality && with_index.is_none();
        let alone = is_alone.then(|| self.reworded(rewording, saving));
        alone.into_iter().chain(with_index).collect()
    }

    /// Another text as a candidate.
    fn reworded(&self, rewording: Rewording, saving: f64) -> Candidate {
        let name = format!("{}_{}", rewording.kind.word(), self.number);
        Candidate {
            reason: rewording.reason,
            saving,
            remedy: Remedy::of_text(name, rewording.text),
        }
    }

    /// What the server and its plan show about hints and subqueries.
    fn signs(&self) -> RewriteEvidence<'_> {
        let all = self.plan.root.all();
        let is_repeated = |node: &&Node| {
            let loops = node.actual.and_then(|it| it.loops);
            loops.is_some_and(|loops| loops > 1.0)
        };
        let is_dependent = all.iter().any(|node| {
            node.flags.contains(&Flag::Dependent)
                || node.operation == Operation::Subquery && node.all().iter().any(is_repeated)
        });
        let is_materialised = all
            .iter()
            .any(|node| matches!(node.operation, Operation::Derived | Operation::Materialise));
        RewriteEvidence {
            rewritten: self.rewritten,
            has_hints: self.has_hints,
            is_dependent,
            is_materialised,
        }
    }

    /// The node that reads a table.
    fn node(&self, table: &TableUse) -> Option<&Node> {
        let nodes = self.plan.root.all().into_iter();
        nodes
            .filter(|node| node.table.as_deref() == Some(table.alias.as_str()))
            .max_by(|a, b| read_rows(a).total_cmp(&read_rows(b)))
    }

    /// Fresh statistics of the tables whose own are far off.
    fn statistics(&self) -> Option<Candidate> {
        let (mut tables, mut reasons) = (Vec::new(), Vec::new());
        for stale in stale_statistics(&self.plan.root) {
            let alias = stale.node.table.as_deref().unwrap_or_default();
            let mut all = self.uses.iter().zip(self.facts);
            let table = all.find(|(table, _)| table.alias == alias);
            let name = table
                .filter(|(_, facts)| facts.is_base_table())
                .map(|(table, _)| full_name(table));
            let name = name.filter(|_| stale.factor() >= STATISTICS_SUSPECTED_FROM);
            let Some(name) = name.filter(|name| !tables.contains(name)) else {
                continue;
            };
            tables.push(name);
            reasons.push(format!(
                "{alias}: {} expected from the statistics, {} rows found ({}x)",
                count(stale.estimated),
                count(stale.actual),
                si(stale.factor())
            ));
        }
        (!tables.is_empty()).then(|| Candidate {
            reason: reasons.join("; "),
            saving: 1.0,
            remedy: Remedy::Statistics(tables),
        })
    }

    /// Larger buffers, where a warm execution overflows them.
    fn memory(&self) -> Vec<Candidate> {
        let cost = |name: &str| {
            let mut costs = self.costs.iter();
            costs
                .find(|(known, _)| known == name)
                .map_or(0, |(_, added)| *added)
        };
        let mut found = Vec::new();
        let mut add = |is_needed: bool, reason: String, saving: f64, remedy: Remedy| {
            if is_needed {
                found.push(Candidate {
                    reason,
                    saving,
                    remedy,
                });
            }
        };
        let number = |value: i64| count(value as f64);
        let (passes, on_disk) = (cost("Sort_merge_passes"), cost("Created_tmp_disk_tables"));
        let (asked, read) = (
            cost("Innodb_buffer_pool_read_requests"),
            // Pages that are read ahead are not among the first ones.
            cost("Innodb_buffer_pool_reads").max(cost("Innodb_pages_read")),
        );
        let sort_bytes = larger_buffer(self.buffers.sort_bytes, SORT_BYTES);
        add(
            passes > 0 && sort_bytes.is_some(),
            format!(
                "the sort does not fit into its buffer: {} merge passes",
                number(passes)
            ),
            self.saving_by_sort_buffer(),
            Remedy::of_parts(
                "sort_buffer",
                Parts::Session(format!(
                    "set sort_buffer_size = {}",
                    sort_bytes.unwrap_or(0)
                )),
            ),
        );
        let table_bytes = larger_buffer(self.buffers.temporary_table_bytes, TEMPORARY_TABLE_BYTES);
        let bytes = table_bytes.unwrap_or(0);
        add(
            on_disk > 0 && table_bytes.is_some(),
            format!(
                "{} temporary tables on disk; those with TEXT or BLOB columns stay there before MySQL 8.0.13 and in MariaDB",
                number(on_disk)
            ),
            UNKNOWN_SAVING,
            Remedy::of_parts(
                "temporary_tables",
                Parts::Session(format!(
                    "set tmp_table_size = {bytes}; set max_heap_table_size = {bytes}"
                )),
            ),
        );
        let pool = self.buffers.larger_pool_bytes.unwrap_or(0);
        add(
            read * 20 > asked && read >= PAGES_AT_LEAST && pool > 0,
            format!(
                "a warm execution reads {} of its {} pages from disk: the buffer pool is too small for them",
                number(read),
                number(asked)
            ),
            (read as f64 / asked.max(1) as f64).min(1.0),
            Remedy::of_parts(
                "buffer_pool",
                Parts::ServerOption {
                    name: "innodb_buffer_pool_size",
                    value: pool,
                },
            ),
        );
        found
    }
}

/// Four times the size of a buffer, within these bounds; `None` if it is as large already.
fn larger_buffer(bytes: u64, [least, most]: [u64; 2]) -> Option<u64> {
    let larger = bytes.saturating_mul(4).clamp(least, most);
    (larger > bytes).then_some(larger)
}

/// Rows that a node gives in all its loops: measured, else estimated.
fn rows_of(node: &Node) -> Option<f64> {
    let actual = node
        .actual
        .and_then(|it| Some(it.rows? * it.loops.unwrap_or(1.0)));
    actual.or(node.estimate.rows)
}

/// The same; 0 where it is not known.
fn read_rows(node: &Node) -> f64 {
    rows_of(node).unwrap_or(0.0)
}

fn full_name(table: &TableUse) -> String {
    format!("{}.{}", backticked(&table.schema), backticked(&table.table))
}

/// A name of letters, digits and `_` only.
fn plain(name: &str) -> String {
    let letter = |it: char| if it.is_alphanumeric() { it } else { '_' };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests;
