//! What only the author of a statement can change.

use plans::{Computation, JoinedColumn, TableUse};
use runs::backticked;

use super::{Candidate, Remedy, Subject};
use crate::{
    advise::{rewording::Rewording, table_facts::TableFacts},
    statement_text::StatementText,
};

/// Functions whose equality with a value is a range of their column.
const OF_RANGES: [&str; 5] = ["date", "left", "to_days", "unix_timestamp", "year"];
/// Functions that convert a value to any type.
const CONVERSIONS: [&str; 2] = ["cast", "convert"];
/// Words of a statement for the type that a server shows as `double`.
const DOUBLES: [&str; 2] = ["double", "real"];

/// Advice without a saving, which nothing measures.
fn advice(reason: String, remedy: String) -> Candidate {
    Candidate {
        reason,
        saving: 0.0,
        remedy: Remedy::Author(remedy),
    }
}

impl Subject<'_> {
    /// A table without the columns that it is joined by and that no index serves.
    pub(super) fn comparable(&self, table: &TableUse, facts: &TableFacts) -> TableUse {
        let mut comparable = table.clone();
        comparable.joined.retain(|column| {
            let mut pairs = table.joined_with.iter().filter(|(it, _)| it == column);
            pairs.any(|(_, other)| !self.is_converted(column, facts, other))
        });
        comparable
    }

    /// Whether the server converts each value of a column to compare it with another one, so that no index of it serves:
    /// one number has many forms as a text, and so has one date.
    fn is_converted(&self, column: &str, facts: &TableFacts, other: &JoinedColumn) -> bool {
        let mut all = self.uses.iter().zip(self.facts);
        let other = all
            .find(|(it, facts)| it.alias == other.alias && facts.is_number_or_date(&other.column));
        facts.is_text(column) && other.is_some()
    }

    /// What only the author of a statement can change, without the columns whose conditions were rewritten.
    pub(super) fn authors(
        &self,
        table: &TableUse,
        facts: &TableFacts,
        reworded: &[Rewording],
    ) -> Vec<Candidate> {
        let is_open = |column: &String| {
            let mut conditions = reworded.iter().filter_map(|it| it.condition.as_ref());
            !conditions.any(|it| it.column == *column)
        };
        let alias = &table.alias;
        let mut found = Vec::new();
        let wrapped = table
            .wrapped
            .iter()
            .filter(|(_, it)| facts.is_first_of_index(it) && is_open(it));
        for (function, column) in
            wrapped.filter(|(_, it)| !self.is_read_by_expression(table, facts, it))
        {
            found.push(self.wrapped(table, function, column));
        }
        let of_text = table
            .with_number
            .iter()
            .filter(|it| facts.is_converted_by_number(table, it) && is_open(it));
        for column in of_text {
            let remedy = if table.range.contains(column) {
                format!(
                    "give {column} a numeric type: as texts, numbers have another order ('10' is less than '9')"
                )
            } else {
                format!("compare {column} with a text in quotation marks, spelled as it is stored")
            };
            found.push(advice(
                format!(
                    "{alias}.{column} is text and is compared with a number, which converts every row"
                ),
                remedy,
            ));
        }
        let of_pattern = table.pattern.iter();
        for column in of_pattern.filter(|it| facts.is_number_or_date(it)) {
            found.push(advice(
                format!(
                    "{alias}.{column} is not a text column, but is searched with a pattern, which converts every row"
                ),
                format!("compare {column} itself with a range of values"),
            ));
        }
        let joined = table.joined_with.iter();
        for (column, other) in joined.filter(|(it, other)| self.is_converted(it, facts, other)) {
            let other = format!("{}.{}", other.alias, other.column);
            found.push(advice(
                format!(
                    "{alias}.{column} is text and {other} is not: the comparison of both converts every row of {alias}"
                ),
                format!("give {alias}.{column} and {other} the same type"),
            ));
        }
        for column in &table.wildcard {
            found.push(advice(
                format!("{alias}.{column} is searched with a pattern that begins with a wildcard"),
                format!("search {column} from its beginning, or use a full-text index"),
            ));
        }
        found
    }

    /// What to do about a function of a column that has an index: one that the author wrote, or a conversion by the server.
    fn wrapped(&self, table: &TableUse, function: &str, column: &str) -> Candidate {
        let alias = &table.alias;
        let rewritten = self.rewritten.unwrap_or_default();
        let target = type_of_cast(rewritten, table, column).filter(|_| function == "cast");
        let by_server = match function {
            "convert" => Some("character set"),
            "cast" => Some("type"),
            _ => None,
        };
        // So the server writes functions of a date and of a time.
        let function = match target {
            Some("date") => "date",
            Some("time") => "time",
            Some("datetime") => "timestamp",
            _ => function,
        };
        if let Some(what) = by_server.filter(|_| !self.converts(function, target)) {
            return advice(
                format!(
                    "{alias}.{column} has an index, which is not used: the server converts the column to the {what} \
                     of the value that it is compared with"
                ),
                format!("give both sides of the comparison the same {what}"),
            );
        }
        let mut computed = table.computed.iter();
        let computation = computed.find(|(_, it)| it == column).map(|(kind, _)| *kind);
        let remedy = if OF_RANGES.contains(&function) {
            format!("compare {column} itself with a range of values")
        } else {
            in_place_of(computation.unwrap_or(Computation::Other), column)
        };
        advice(
            format!(
                "{alias}.{column} has an index, which a condition on {function}() of it does not use"
            ),
            remedy,
        )
    }

    /// Whether the statement itself has this function, or a conversion to the type of a cast.
    fn converts(&self, function: &str, target: Option<&str>) -> bool {
        let has_one_of = |words: &[&str]| words.iter().any(|it| self.statement.has_word(it));
        let text = StatementText::of(self.statement);
        // A column can have the name of a function.
        let calls = |word: &str| {
            text.as_ref().is_none_or(|text| {
                let mut all = 0..text.parts.len();
                all.any(|at| text.is(at, word) && text.is_sign(at + 1, "("))
            })
        };
        let has_conversion = CONVERSIONS.into_iter().any(calls);
        match target {
            // The server compares a text with a number in this way.
            Some("double") => has_conversion && has_one_of(&DOUBLES),
            _ => has_conversion || calls(function) || has_one_of(&["binary"]),
        }
    }

    /// Whether the index that a table is read by is one of an expression of this column, which serves its condition.
    pub(super) fn is_read_by_expression(
        &self,
        table: &TableUse,
        facts: &TableFacts,
        column: &str,
    ) -> bool {
        let index = self.node(table).and_then(|node| node.index.as_ref());
        let index = index.and_then(|name| facts.indexes.get(name));
        let mut wrapped = table.wrapped.iter().filter(|(_, it)| it == column);
        let function = wrapped.next().map(|(function, _)| format!("{function}("));
        let parts = [function.unwrap_or_default(), backticked(column)];
        index.is_some_and(|it| {
            let mut all = it.expressions.iter();
            all.any(|it| parts.iter().all(|part| it.contains(part.as_str())))
        })
    }

    /// What its author can change about conditions on expressions of columns, which no index of the column serves.
    pub(super) fn computed(
        &self,
        table: &TableUse,
        facts: &TableFacts,
        reworded: &[Rewording],
    ) -> Vec<Candidate> {
        let Some((_, reads)) = self.read_of(table) else {
            return Vec::new();
        };
        let is_known = |column: &str| {
            let is_wrapped = table.wrapped.iter().any(|(_, it)| it == column);
            // These have an index or advice already.
            self.is_read_by_expression(table, facts, column)
                || is_wrapped && facts.is_first_of_index(column)
                || facts.is_converted_by_number(table, column)
                || reworded
                    .iter()
                    .filter_map(|it| it.condition.as_ref())
                    .any(|it| it.column == column)
        };
        let open = table.computed.iter().filter(|(_, it)| !is_known(it));
        let candidates = open.map(|(computation, column)| {
            let alias = &table.alias;
            advice(
                format!(
                    "{reads}; a condition on an expression with {alias}.{column} cannot use an index on {column}"
                ),
                in_place_of(*computation, column),
            )
        });
        candidates.collect()
    }
}

/// The type to which the server casts a column: `double` of `` cast(`s`.`t`.`c` as double) ``.
fn type_of_cast<'a>(rewritten: &'a str, table: &TableUse, column: &str) -> Option<&'a str> {
    let name = [table.schema.as_str(), table.alias.as_str(), column].map(backticked);
    let cast = format!("cast({} as ", name.join("."));
    let (_, behind) = rewritten.split_once(cast.as_str())?;
    behind.split(|it: char| !it.is_ascii_alphabetic()).next()
}

/// What an index serves in place of a condition on an expression of a column.
fn in_place_of(computation: Computation, column: &str) -> String {
    match computation {
        Computation::Shift => {
            format!("compare {column} itself, and do the arithmetic on the value")
        }
        // A document is not compared itself, and MySQL has no index on a column of its type.
        Computation::Json => {
            "compare an indexed generated column, not of type JSON, that stores the whole expression".to_owned()
        }
        Computation::Clock => format!(
            "compare {column} itself: no generated column can store an expression of the current time"
        ),
        Computation::Other => format!(
            "compare {column} itself, or compare an indexed generated column that stores the whole expression"
        ),
    }
}
