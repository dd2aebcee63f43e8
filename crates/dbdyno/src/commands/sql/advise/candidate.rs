//! What could make a statement faster, with the reason: from its plan, its use of columns, and its costs.

mod indexes;
mod order;

use plans::{Flag, Node, Operation, Plan, TableUse, worst_misestimate};
use runs::backticked;
use units::{count, si};
use workload::sql_script::SqlStatement;

use super::{
    rewording::{self, Rewording, Signs},
    statement_text::{ColumnName, StatementText},
    table_facts::TableFacts,
};
use crate::commands::sql::compare::NewIndexes;

/// Statistics are suspected from this factor between estimate and measurement on. A plan shows smaller ones, too
/// ([`plans::MISESTIMATE_FROM`]), but they seldom change it, and each candidate costs a copy and its measurement.
const STATISTICS_SUSPECTED_FROM: f64 = 10.0;
/// Rows of a table read per execution below which neither an index nor another order changes anything.
const ROWS_AT_LEAST: f64 = 100.0;

/// Something to try or to rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Why it may help.
    pub(super) reason: String,
    pub(super) remedy: Remedy,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remedy {
    /// SQL or an option that a variant of a comparison can have.
    Variant {
        /// Its name: `index_price`.
        name: String,
        /// Its parts.
        parts: String,
        /// The indexes that it makes, if it does.
        indexes: Option<NewIndexes>,
    },
    /// Another text of the statement, which a comparison can execute in its place.
    Statement {
        /// Its name: `union_1`.
        name: String,
        /// The text.
        text: String,
    },
    /// A change of the statement that only its author can make.
    Author(String),
}

/// What is known of a statement.
pub(super) struct Subject<'a> {
    pub(super) statement: &'a SqlStatement,
    /// Its number, from 1.
    pub(super) number: usize,
    /// Whether the server follows hints on the order of tables.
    pub(super) has_order_hints: bool,
    pub(super) plan: &'a Plan,
    pub(super) uses: &'a [TableUse],
    /// Facts of each table, in the order of `uses`.
    pub(super) facts: &'a [TableFacts],
    /// What one warm execution adds to counters.
    pub(super) costs: &'a [(String, i64)],
    /// A larger buffer pool than the server's that the machine has memory for, bytes.
    pub(super) larger_pool_bytes: Option<u64>,
}

impl Subject<'_> {
    /// All candidates: indexes of each table and other conditions on it, then other texts, statistics and memory.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let text = StatementText::of(self.statement);
        let mut found = Vec::new();
        for (at, (table, facts)) in self.uses.iter().zip(self.facts).enumerate() {
            found.extend(self.indexes(table, facts));
            let is_shared = |column: &str| {
                let mut all = self.facts.iter().enumerate();
                all.any(|(other, facts)| other != at && facts.kind(column).is_some())
            };
            let reworded = text
                .as_ref()
                .map(|text| rewording::of_conditions(text, table, facts, is_shared));
            let reworded = reworded.unwrap_or_default();
            found.extend(authors(table, facts, &reworded));
            found.extend(reworded.into_iter().map(|it| self.reworded(it)));
        }
        if let Some(text) = &text {
            let are_alike = |names: [ColumnName; 2]| {
                let [one, other] = names.map(|name| self.kind(text.column_and_table(name)));
                one.is_some() && one == other
            };
            let of_plan = rewording::of_plan(text, self.signs(), are_alike);
            found.extend(of_plan.into_iter().map(|it| self.reworded(it)));
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

    /// Another text as a candidate.
    fn reworded(&self, rewording: Rewording) -> Candidate {
        Candidate {
            reason: rewording.reason,
            remedy: Remedy::Statement {
                name: format!("{}_{}", rewording.kind, self.number),
                text: rewording.text,
            },
        }
    }

    /// What the plan shows about subqueries.
    fn signs(&self) -> Signs {
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
        Signs {
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

    /// Fresh statistics, where an estimate is far off.
    fn statistics(&self) -> Option<Candidate> {
        let worst = worst_misestimate(&self.plan.root)?;
        let alias = worst.node.table.as_deref()?;
        let table = self.uses.iter().find(|table| table.alias == alias)?;
        if worst.factor() < STATISTICS_SUSPECTED_FROM {
            return None;
        }
        Some(Candidate {
            reason: format!(
                "{alias}: {} rows expected, {} found ({}x)",
                count(worst.estimated),
                count(worst.actual),
                si(worst.factor())
            ),
            remedy: Remedy::Variant {
                name: format!("statistics_{}", plain(&table.table)),
                parts: format!("analyze table {}", full_name(table)),
                indexes: None,
            },
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
        let mut add = |is_needed: bool, reason: String, name: &str, parts: &str| {
            if is_needed {
                found.push(Candidate {
                    reason,
                    remedy: Remedy::Variant {
                        name: name.to_owned(),
                        parts: parts.to_owned(),
                        indexes: None,
                    },
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
        add(
            passes > 0,
            format!(
                "the sort does not fit into its buffer: {} merge passes",
                number(passes)
            ),
            "sort_buffer",
            "set sort_buffer_size = 33554432",
        );
        add(
            on_disk > 0,
            format!("{} temporary tables on disk", number(on_disk)),
            "temporary_tables",
            "set tmp_table_size = 268435456; set max_heap_table_size = 268435456",
        );
        let pool = self.larger_pool_bytes.unwrap_or(0);
        add(
            read * 20 > asked && pool > 0,
            format!(
                "a warm execution reads {} of its {} pages from disk: the buffer pool is too small for them",
                number(read),
                number(asked)
            ),
            "buffer_pool",
            &format!("option innodb_buffer_pool_size = {pool}"),
        );
        found
    }
}

/// Rows that a node reads in all its loops: measured, else estimated.
fn read_rows(node: &Node) -> f64 {
    let actual = node
        .actual
        .and_then(|it| Some(it.rows? * it.loops.unwrap_or(1.0)));
    actual.or(node.estimate.rows).unwrap_or(0.0)
}

fn full_name(table: &TableUse) -> String {
    format!("{}.{}", backticked(&table.schema), backticked(&table.table))
}

/// A name of letters, digits and `_` only.
fn plain(name: &str) -> String {
    let letter = |it: char| if it.is_alphanumeric() { it } else { '_' };
    name.chars().map(letter).collect()
}

/// What only the author of a statement can change, without the columns whose conditions were rewritten.
fn authors(table: &TableUse, facts: &TableFacts, reworded: &[Rewording]) -> Vec<Candidate> {
    let is_open = |column: &String| {
        let mut columns = reworded.iter().filter_map(|it| it.column.as_ref());
        !columns.any(|it| it == column)
    };
    let mut found = Vec::new();
    let wrapped = table
        .wrapped
        .iter()
        .filter(|(_, it)| facts.is_first_of_index(it) && is_open(it));
    for (function, column) in wrapped {
        found.push(Candidate {
            reason: format!(
                "{}.{column} has an index, which a condition on {function}() of it does not use",
                table.alias
            ),
            remedy: Remedy::Author(format!("compare {column} itself, by a range of its values")),
        });
    }
    let of_text = table
        .with_number
        .iter()
        .filter(|it| facts.is_text(it) && is_open(it));
    for column in of_text {
        found.push(Candidate {
            reason: format!(
                "{}.{column} is text and is compared with a number, which converts every row",
                table.alias
            ),
            remedy: Remedy::Author(format!(
                "compare {column} with a text: put the number in quotation marks"
            )),
        });
    }
    for column in &table.wildcard {
        found.push(Candidate {
            reason: format!(
                "{}.{column} is searched by a pattern that begins with a wildcard",
                table.alias
            ),
            remedy: Remedy::Author(format!(
                "search {column} from its beginning, or by a full-text index"
            )),
        });
    }
    found
}

#[cfg(test)]
mod tests;
