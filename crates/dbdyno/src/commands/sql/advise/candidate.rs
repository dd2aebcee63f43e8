//! What could make a statement faster, with the reason: from its plan, its use of columns, and its costs.

use plans::{Access, Node, Plan, TableUse, worst_misestimate};
use units::{count, si};

use super::table_facts::TableFacts;

/// Columns of a covering index at most.
const COLUMNS_AT_MOST: usize = 5;
/// Statistics are suspected from this factor between estimate and measurement on.
const MISESTIMATE_FROM: f64 = 10.0;
/// Rows of a table read per execution below which an index changes nothing.
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
    },
    /// A change of the statement, which is the user's.
    Rewrite(String),
}

/// What is known of a statement.
pub(super) struct Subject<'a> {
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
    /// All candidates: indexes of each table and what its author can change, then statistics and memory.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (table, facts) in self.uses.iter().zip(self.facts) {
            found.extend(self.indexes(table, facts));
            found.extend(rewrites(table, facts));
        }
        found.extend(self.statistics());
        found.extend(self.memory());
        found
    }

    /// The node that reads a table.
    fn node(&self, table: &TableUse) -> Option<&Node> {
        let nodes = self.plan.root.all().into_iter();
        nodes
            .filter(|node| node.table.as_deref() == Some(table.alias.as_str()))
            .max_by(|a, b| read_rows(a).total_cmp(&read_rows(b)))
    }

    /// Indexes by the conditions of a table, and one that also has every other column that is used.
    fn indexes(&self, table: &TableUse, facts: &TableFacts) -> Vec<Candidate> {
        let node = self.node(table);
        let Some(node) = node.filter(|node| read_rows(node) >= ROWS_AT_LEAST) else {
            return Vec::new();
        };
        let lists = index_columns(table, facts, node);
        let reads = format!(
            "{} reads {} rows ({})",
            table.alias,
            count(read_rows(node)),
            node.access.map_or("read", Access::words)
        );
        let mut found = Vec::new();
        for (columns, equal) in &lists {
            if facts.index_with(columns, *equal).is_none() && facts.fit(columns) {
                let reason = format!("{reads}; no index begins with {}", columns.join(", "));
                found.push(index(table, columns, "index", reason));
            }
        }
        if let Some((columns, equal)) = lists.first() {
            let mut covering = columns.clone();
            let others = table.used.iter().filter(|it| !columns.contains(it));
            covering.extend(others.cloned());
            let fits = covering.len() > columns.len()
                && covering.len() <= COLUMNS_AT_MOST
                && !lists.iter().any(|(columns, _)| *columns == covering)
                && covering.iter().all(|column| facts.is_indexable(column));
            if fits && facts.index_with(&covering, *equal).is_none() && facts.fit(&covering) {
                let reason = format!(
                    "{reads}; an index with every column of the statement needs no row of the table"
                );
                found.push(index(table, &covering, "covering", reason));
            }
        }
        found
    }

    /// Fresh statistics, where an estimate is far off.
    fn statistics(&self) -> Option<Candidate> {
        let worst = worst_misestimate(&self.plan.root)?;
        let alias = worst.node.table.as_deref()?;
        let table = self.uses.iter().find(|table| table.alias == alias)?;
        if worst.factor() < MISESTIMATE_FROM {
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
                    },
                });
            }
        };
        let number = |value: i64| count(value as f64);
        let (passes, on_disk) = (cost("Sort_merge_passes"), cost("Created_tmp_disk_tables"));
        let (asked, read) = (
            cost("Innodb_buffer_pool_read_requests"),
            cost("Innodb_buffer_pool_reads"),
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

/// Columns for an index, each list with the number of those compared by equality: to begin a join with the table by its own
/// conditions, and to find its rows for each row of the tables before.
fn index_columns(table: &TableUse, facts: &TableFacts, node: &Node) -> Vec<(Vec<String>, usize)> {
    let usable = |columns: &[String]| -> Vec<String> {
        let columns = columns.iter().filter(|column| facts.is_indexable(column));
        columns.cloned().collect()
    };
    let mut own = usable(&table.equal);
    // A column of text compared with a number finds nothing in an index.
    own.retain(|column| !(facts.is_text(column) && table.with_number.contains(column)));
    let mut joined = own.clone();
    joined.extend(
        usable(&table.joined)
            .into_iter()
            .filter(|it| !own.contains(it)),
    );
    let range = |equal: &[String]| {
        usable(&table.range)
            .into_iter()
            .find(|it| !equal.contains(it))
    };
    let mut lists = Vec::new();
    let mut first = own.clone();
    match range(&own) {
        Some(range) => first.push(range),
        None => first.extend(
            usable(&table.order)
                .into_iter()
                .filter(|it| !own.contains(it)),
        ),
    }
    let is_found_by_key = matches!(
        node.access,
        Some(Access::EqRef | Access::Const | Access::System | Access::UniqueSubquery)
    );
    let mut inner = joined.clone();
    inner.extend(range(&joined));
    if joined.len() > own.len() && !is_found_by_key {
        lists.push((inner, joined.len()));
    }
    // A table that is read again and again is not the first one, unless an index makes it that.
    let is_repeated = node
        .actual
        .and_then(|it| it.loops)
        .is_some_and(|loops| loops > 1.0);
    let at = if is_repeated { lists.len() } else { 0 };
    lists.insert(at, (first, own.len()));
    lists.retain(|(columns, _)| !columns.is_empty());
    lists
}

/// Rows that a node reads in all its loops: measured, else estimated.
fn read_rows(node: &Node) -> f64 {
    let actual = node
        .actual
        .and_then(|it| Some(it.rows? * it.loops.unwrap_or(1.0)));
    actual.or(node.estimate.rows).unwrap_or(0.0)
}

/// What only the author of a statement can change.
fn rewrites(table: &TableUse, facts: &TableFacts) -> Vec<Candidate> {
    let is_indexed = |column: &String| {
        let mut indexes = facts.indexes.values();
        indexes.any(|index| index.first() == Some(column))
    };
    let mut found = Vec::new();
    for (function, column) in &table.wrapped {
        if is_indexed(column) {
            found.push(Candidate {
                reason: format!("{}.{column} has an index, which a condition on {function}() of it does not use", table.alias),
                remedy: Remedy::Rewrite(format!("compare {column} itself, by a range of its values")),
            });
        }
    }
    for column in table
        .with_number
        .iter()
        .filter(|column| facts.is_text(column))
    {
        found.push(Candidate {
            reason: format!(
                "{}.{column} is text and is compared with a number, which converts every row",
                table.alias
            ),
            remedy: Remedy::Rewrite(format!(
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
            remedy: Remedy::Rewrite(format!(
                "search {column} from its beginning, or by a full-text index"
            )),
        });
    }
    found
}

fn index(table: &TableUse, columns: &[String], kind: &str, reason: String) -> Candidate {
    let name = format!(
        "{kind}_{}_{}",
        plain(&table.table),
        columns
            .iter()
            .map(|it| plain(it))
            .collect::<Vec<_>>()
            .join("_")
    );
    // The server's limit is 64 characters.
    let name: String = name.chars().take(60).collect();
    let columns: Vec<String> = columns.iter().map(|column| quoted_name(column)).collect();
    Candidate {
        reason,
        remedy: Remedy::Variant {
            parts: format!(
                "create index `{name}` on {} ({})",
                full_name(table),
                columns.join(", ")
            ),
            name,
        },
    }
}

fn full_name(table: &TableUse) -> String {
    format!(
        "{}.{}",
        quoted_name(&table.schema),
        quoted_name(&table.table)
    )
}

fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A name of letters, digits and `_` only.
fn plain(name: &str) -> String {
    let letter = |it: char| if it.is_alphanumeric() { it } else { '_' };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use plans::column_uses;

    use super::*;

    fn candidates(
        tree: &str,
        rewritten: &str,
        types: &[(&str, &str)],
        costs: &[(&str, i64)],
    ) -> Vec<String> {
        let plan = Plan::of_tree(tree).unwrap();
        let uses = column_uses(rewritten);
        let facts = TableFacts {
            types: types
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned()))
                .collect(),
            bytes: [("name".to_owned(), 3065)].into(),
            indexes: [("day".to_owned(), vec!["day".to_owned()])].into(),
        };
        let costs: Vec<_> = costs
            .iter()
            .map(|(name, added)| ((*name).to_owned(), *added))
            .collect();
        let subject = Subject {
            plan: &plan,
            uses: &uses,
            facts: &vec![facts; uses.len()],
            costs: &costs,
            larger_pool_bytes: Some(1 << 30),
        };
        let found = subject.candidates().into_iter().map(|it| match it.remedy {
            Remedy::Variant { parts, .. } => parts,
            Remedy::Rewrite(what) => what,
        });
        found.collect()
    }

    const SCAN: &str = "-> Table scan on t  (cost=1 rows=5) (actual time=0..1 rows=5000 loops=1)\n";

    #[test]
    fn indexes_follow_conditions_and_orders() {
        let types = [
            ("a", "int"),
            ("b", "int"),
            ("c", "int"),
            ("day", "date"),
            ("note", "text"),
        ];
        let of = |condition: &str| {
            let text = format!("select `s`.`t`.`c` AS `c` from `s`.`t` where {condition}");
            candidates(SCAN, &text, &types, &[])
        };
        let found = of("((`s`.`t`.`b` > 5) and (`s`.`t`.`a` = 1))");
        assert_eq!(found[0], "create index `index_t_a_b` on `s`.`t` (`a`, `b`)");
        assert_eq!(
            found[1],
            "create index `covering_t_a_b_c` on `s`.`t` (`a`, `b`, `c`)"
        );
        // The estimate is off by a factor of 1000.
        assert_eq!(found[2..], ["analyze table `s`.`t`"]);
        let found = of("(`s`.`t`.`day` = '2020-01-01')");
        assert_eq!(
            found[0],
            "create index `covering_t_day_c` on `s`.`t` (`day`, `c`)"
        );
        // With another column the key is too long.
        let types = [("a", "int"), ("c", "int"), ("name", "varchar")];
        let text = "select `s`.`t`.`c` AS `c` from `s`.`t` where (`s`.`t`.`name` = 'x')";
        let found = candidates(SCAN, text, &types, &[]);
        assert_eq!(
            found,
            [
                "create index `index_t_name` on `s`.`t` (`name`)",
                "analyze table `s`.`t`"
            ]
        );
        let found = of("(`s`.`t`.`note` = 'x')");
        assert_eq!(found, ["analyze table `s`.`t`"]);
    }

    #[test]
    fn a_table_of_a_join_can_be_the_first_or_a_later_one() {
        let types = [("a", "int"), ("b", "int")];
        let text = "select 1 AS `1` from `s`.`u` join `s`.`t` where `s`.`t`.`a` = `s`.`u`.`x` and `s`.`t`.`b` < 5";
        let of = |loops: u32| {
            candidates(
                &SCAN.replace("loops=1", &format!("loops={loops}")),
                text,
                &types,
                &[],
            )
        };
        let (inner, first) = (
            "create index `index_t_a_b` on `s`.`t` (`a`, `b`)",
            "create index `index_t_b` on `s`.`t` (`b`)",
        );
        assert_eq!(of(1)[..2], [first, inner]);
        assert_eq!(of(9)[..2], [inner, first]);
        let by_key = SCAN.replace(
            "Table scan on t",
            "Single-row index lookup on t using PRIMARY (a=u.x)",
        );
        assert_eq!(candidates(&by_key, text, &types, &[])[0], first);
    }

    #[test]
    fn what_the_author_has_to_change_is_said() {
        let types = [("day", "date"), ("code", "varchar"), ("name", "varchar")];
        let text = "select 1 AS `1` from `s`.`t` where (year(`s`.`t`.`day`) = 2020) and (`s`.`t`.`code` = 5) and (`s`.`t`.`name` like '%x')";
        let found = candidates(&SCAN.replace("rows=5000", "rows=6"), text, &types, &[]);
        assert_eq!(
            found,
            [
                "compare day itself, by a range of its values",
                "compare code with a text: put the number in quotation marks",
                "search name from its beginning, or by a full-text index"
            ]
        );
    }

    #[test]
    fn memory_is_a_candidate_where_it_overflows() {
        let text = "select 1 AS `1` from `s`.`t`";
        let tree = SCAN.replace("rows=5000", "rows=6");
        let costs = [
            ("Sort_merge_passes", 3),
            ("Innodb_buffer_pool_read_requests", 1000),
            ("Innodb_buffer_pool_reads", 900),
        ];
        assert_eq!(
            candidates(&tree, text, &[], &costs),
            [
                "set sort_buffer_size = 33554432",
                "option innodb_buffer_pool_size = 1073741824"
            ]
        );
        assert!(candidates(&tree, text, &[], &[]).is_empty());
    }
}
