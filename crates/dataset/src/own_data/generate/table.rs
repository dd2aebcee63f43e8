//! The tables of `generate` as the experiment file has them, and their CREATE TABLEs where there is no schema.

use settings::{NamedTable, quantity};

use super::{
    error::GenerateError,
    rule::{Rule, Values},
};

/// Rows of a table at most.
const ROWS_AT_MOST: u64 = 1_000_000_000_000;
/// Longest VARCHAR that is made; longer texts are MEDIUMTEXT.
const VARCHAR_AT_MOST: u64 = 4_000;

/// A table with its number of rows and its rules.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSpec {
    pub name: String,
    pub rows: u64,
    /// Rules of columns, in the order of the file.
    pub(super) columns: Vec<(String, Rule)>,
}

/// Reads the tables.
///
/// # Errors
/// [`GenerateError`] with the table or the column.
pub fn table_specs(tables: &[NamedTable]) -> Result<Vec<TableSpec>, GenerateError> {
    if tables.is_empty() {
        return Err(GenerateError::table("?", "name at least one table"));
    }
    tables.iter().map(spec_of).collect()
}

fn spec_of(table: &NamedTable) -> Result<TableSpec, GenerateError> {
    let name = &table.name;
    let mut rows = None;
    for (key, value) in &table.values {
        if key != "rows" {
            let problem = format!("unknown key `{key}`: known are `rows` and `columns`");
            return Err(GenerateError::table(name, problem));
        }
        let count = quantity::count(value).filter(|count| *count <= ROWS_AT_MOST);
        let problem = || format!("rows: {value:?} is not a count such as \"250k\" or \"1M\"");
        rows = Some(count.ok_or_else(|| GenerateError::table(name, problem()))?);
    }
    let rows =
        rows.ok_or_else(|| GenerateError::table(name, "`rows` is missing: rows = \"1M\""))?;
    let mut columns = Vec::new();
    for (key, rules) in &table.inner {
        if key != "columns" {
            let problem = format!("unknown key `{key}`: known are `rows` and `columns`");
            return Err(GenerateError::table(name, problem));
        }
        for (column, text) in rules {
            let rule = Rule::parse(text);
            let rule = rule.map_err(|problem| GenerateError::column(name, column, problem))?;
            columns.push((column.clone(), rule));
        }
    }
    Ok(TableSpec {
        name: name.clone(),
        rows,
        columns,
    })
}

impl TableSpec {
    pub(super) fn rule(&self, column: &str) -> Option<&Rule> {
        let mut rules = self.columns.iter();
        let found = rules.find(|(name, _)| name.eq_ignore_ascii_case(column));
        found.map(|(_, rule)| rule)
    }

    /// The tables that its rules refer to.
    pub(super) fn referenced(&self) -> impl Iterator<Item = &str> {
        self.columns
            .iter()
            .filter_map(|(_, rule)| match &rule.values {
                Values::References { table, .. } => Some(table.as_str()),
                _ => None,
            })
    }
}

/// The tables in an order in which each comes behind those that it refers to.
///
/// # Errors
/// A cycle, with its tables.
pub(super) fn in_order<'s>(
    names: &[&'s str],
    refers: &dyn Fn(&str) -> Vec<String>,
) -> Result<Vec<&'s str>, GenerateError> {
    let mut ordered: Vec<&str> = Vec::new();
    let mut left = names.to_vec();
    while !left.is_empty() {
        let is_open = |name: &str| {
            let mut parents = refers(name).into_iter();
            parents.any(|parent| parent != name && left.contains(&parent.as_str()))
        };
        let (open, ready): (Vec<&str>, Vec<&str>) = left.iter().partition(|name| is_open(name));
        if ready.is_empty() {
            let problem = format!(
                "its foreign keys form a cycle with {}",
                open[1..].join(", ")
            );
            return Err(GenerateError::table(open[0], problem));
        }
        ordered.extend(ready);
        left = open;
    }
    Ok(ordered)
}

/// A CREATE TABLE for each table, in the order of their references, by the rules alone.
///
/// # Errors
/// A table without rules, a reference to what is not there, a cycle.
pub fn create_statements(specs: &[TableSpec]) -> Result<Vec<(String, String)>, GenerateError> {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let find = |name: &str| specs.iter().find(|spec| spec.name == name);
    let refers = |name: &str| -> Vec<String> {
        let spec = find(name).into_iter();
        spec.flat_map(TableSpec::referenced)
            .map(str::to_owned)
            .collect()
    };
    let ordered = in_order(&names, &refers)?;
    let specs = ordered.into_iter().filter_map(find);
    let creates = specs.map(|spec| Ok((spec.name.clone(), create_statement(spec, &find)?)));
    creates.collect()
}

fn create_statement<'s>(
    spec: &TableSpec,
    find: &dyn Fn(&str) -> Option<&'s TableSpec>,
) -> Result<String, GenerateError> {
    let name = &spec.name;
    if spec.columns.is_empty() {
        let problem = "it has no columns: give them rules, or create the tables with `sql`";
        return Err(GenerateError::table(name, problem));
    }
    let mut items = Vec::new();
    let mut keys = Vec::new();
    let is_key = |rule: &Rule| matches!(rule.values, Values::Sequence { .. } | Values::Uuid);
    let primary = spec.columns.iter().find(|(_, rule)| is_key(rule));
    for (column, rule) in &spec.columns {
        let (data_type, target) = type_of(spec, column, rule, find, 0)?;
        let null = if rule.null_share > 0.0 {
            ""
        } else {
            " NOT NULL"
        };
        items.push(format!("{} {data_type}{null}", quoted(column)));
        if let Some((table, parent)) = target {
            let (column, table, parent) = (quoted(column), quoted(&table), quoted(&parent));
            keys.push(format!(
                "FOREIGN KEY ({column}) REFERENCES {table} ({parent})"
            ));
        }
    }
    items.extend(primary.map(|(column, _)| format!("PRIMARY KEY ({})", quoted(column))));
    items.extend(keys);
    Ok(format!(
        "CREATE TABLE {} ({})",
        quoted(name),
        items.join(", ")
    ))
}

/// The type of a column, and the key that it refers to.
fn type_of<'s>(
    spec: &TableSpec,
    column: &str,
    rule: &Rule,
    find: &dyn Fn(&str) -> Option<&'s TableSpec>,
    depth: usize,
) -> Result<(String, Option<(String, String)>), GenerateError> {
    let wrong = |problem: String| GenerateError::column(&spec.name, column, problem);
    let data_type = match &rule.values {
        Values::Sequence { .. } => "BIGINT".to_owned(),
        Values::Numbers { scale: 0, .. } => "BIGINT".to_owned(),
        Values::Numbers { scale, .. } => format!("DECIMAL(20,{scale})"),
        Values::Moments {
            with_time: true, ..
        } => "DATETIME".to_owned(),
        Values::Moments { .. } => "DATE".to_owned(),
        Values::Text { max, .. } if *max <= VARCHAR_AT_MOST => format!("VARCHAR({})", max.max(&1)),
        Values::Text { .. } => "MEDIUMTEXT".to_owned(),
        Values::OneOf(choices) => {
            let lengths = choices.iter().map(|(choice, _)| choice.chars().count());
            format!("VARCHAR({})", lengths.max().unwrap_or(1).max(1))
        }
        Values::Constant(text) => format!("VARCHAR({})", text.chars().count()),
        Values::Uuid => "CHAR(36)".to_owned(),
        Values::TimeOfDay => "TIME".to_owned(),
        Values::Bits(bits) => format!("BIT({bits})"),
        Values::Json => "JSON".to_owned(),
        Values::References {
            table,
            column: parent,
            ..
        } => {
            let missing = || {
                wrong(format!(
                    "{table}.{parent} is not a column of a generated table"
                ))
            };
            let of = find(table).ok_or_else(missing)?;
            let rule = of.rule(parent).ok_or_else(missing)?;
            if !matches!(rule.values, Values::Sequence { .. } | Values::Uuid) || depth > 0 {
                return Err(wrong(format!(
                    "{table}.{parent} is not a key: its rule must be `sequence` or `uuid`"
                )));
            }
            let (data_type, _) = type_of(of, parent, rule, find, depth + 1)?;
            return Ok((data_type, Some((table.clone(), parent.clone()))));
        }
    };
    Ok((data_type, None))
}

/// A name as SQL has it.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, rows: &str, columns: &[(&str, &str)]) -> NamedTable {
        let own = |(name, rule): &(&str, &str)| ((*name).to_owned(), (*rule).to_owned());
        NamedTable {
            name: name.to_owned(),
            values: vec![("rows".to_owned(), rows.to_owned())],
            inner: vec![("columns".to_owned(), columns.iter().map(own).collect())],
        }
    }

    #[test]
    fn tables_are_typed_by_their_rules_behind_those_they_refer_to() {
        let orders = table(
            "orders",
            "1k",
            &[
                ("id", "sequence"),
                ("customer", "references customer.id zipf 1.1"),
                ("total", "0.00..999.99"),
                ("created", "2024-01-01..2026-01-01"),
                ("note", "text 20..200 null 5%"),
                ("state", "one of new@3, paid"),
            ],
        );
        let customer = table("customer", "100", &[("id", "sequence 5")]);
        let specs = table_specs(&[orders, customer]).unwrap();
        let creates = create_statements(&specs).unwrap();
        let creates: Vec<&str> = creates.iter().map(|(_, sql)| sql.as_str()).collect();
        assert_eq!(
            creates,
            [
                "CREATE TABLE `customer` (`id` BIGINT NOT NULL, PRIMARY KEY (`id`))",
                "CREATE TABLE `orders` (`id` BIGINT NOT NULL, `customer` BIGINT NOT NULL, \
                 `total` DECIMAL(20,2) NOT NULL, `created` DATE NOT NULL, `note` VARCHAR(200), \
                 `state` VARCHAR(4) NOT NULL, PRIMARY KEY (`id`), \
                 FOREIGN KEY (`customer`) REFERENCES `customer` (`id`))"
            ]
        );
    }

    #[test]
    fn faults_are_named() {
        let two = |first: (&str, &str), second: (&str, &str)| {
            [table("a", "10", &[first]), table("b", "10", &[second])]
        };
        for (tables, fault) in [
            (vec![], "name at least one table"),
            (
                vec![table("a", "many", &[])],
                "table a: rows: \"many\" is not a count",
            ),
            (
                vec![table("a", "1", &[("x", "no")])],
                "a.x: \"no\" is not a rule",
            ),
            (vec![table("a", "1", &[])], "it has no columns"),
            (
                two(("x", "references b.x"), ("x", "references a.x")).to_vec(),
                "table a: its foreign keys form a cycle with b",
            ),
            (
                two(("x", "references c.x"), ("x", "1..2")).to_vec(),
                "a.x: c.x is not a column of a generated table",
            ),
            (
                two(("x", "references b.x"), ("x", "1..2")).to_vec(),
                "b.x is not a key",
            ),
        ] {
            let found = table_specs(&tables).and_then(|specs| create_statements(&specs));
            let found = found.unwrap_err().to_string();
            assert!(found.contains(fault), "{found}");
        }
        let mut typo = table("a", "1", &[]);
        typo.values.push(("row".to_owned(), "2".to_owned()));
        let found = table_specs(&[typo]).unwrap_err().to_string();
        assert!(found.contains("unknown key `row`"), "{found}");
    }
}
