//! Conditions that an index serves in place of those that none does.

use crate::{
    advise::table_facts::TableFacts,
    statement_text::{ColumnName, Part, StatementText, TableColumn},
};

/// Signs beside a value that make it a part of an expression.
const ARITHMETIC: [&str; 7] = ["+", "-", "*", "/", "%", "|", "&"];

/// The numbers that a column is compared with for equality, in quotation marks. `None` without one.
pub(super) fn with_quoted_numbers(
    text: &StatementText<'_>,
    column: &TableColumn<'_>,
) -> Option<String> {
    let names = text.names_of_column(column);
    let numbers = names.iter().flat_map(|name| compared_numbers(text, *name));
    let edits = numbers.map(|at| {
        let part = &text.parts[at];
        (part.range.clone(), format!("'{}'", part.text))
    });
    text.edited(edits.collect())
}

/// The tokens that are whole numbers in `c = 5`, `c in (5, 6)` and `5 = c`.
fn compared_numbers(text: &StatementText<'_>, name: ColumnName) -> Vec<usize> {
    let is_alone = |at: usize| {
        let is_sign = |at: usize| ARITHMETIC.iter().any(|sign| text.is_sign(at, sign));
        text.parts
            .get(at)
            .is_some_and(|part| part.is_whole_number())
            && !is_sign(at + 1)
            && !at.checked_sub(1).is_some_and(is_sign)
    };
    if text.is_sign(name.end, "=") && is_alone(name.end + 1) {
        return vec![name.end + 1];
    }
    if text.is(name.end, "in") && text.is_sign(name.end + 1, "(") {
        let Some(close) = text.closing(name.end + 1) else {
            return Vec::new();
        };
        let values = (name.end + 2..close).filter(|at| !text.is_sign(*at, ","));
        let values: Vec<usize> = values.collect();
        let are_numbers = values.iter().all(|at| is_alone(*at));
        return if are_numbers { values } else { Vec::new() };
    }
    let before = name.start.checked_sub(2).filter(|at| {
        let is_longer = at.checked_sub(1).is_some_and(|at| text.is_sign(at, "="));
        text.is_sign(at + 1, "=") && is_alone(*at) && !is_longer
    });
    before.into_iter().collect()
}

/// A range of the column in place of an equality with its year, its date or its first characters. `None` without one.
pub(super) fn with_range_for_function(
    text: &StatementText<'_>,
    column: &TableColumn<'_>,
    facts: &TableFacts,
) -> Option<String> {
    let edits = text.names_of_column(column).into_iter().filter_map(|name| {
        let function = name.start.checked_sub(2)?;
        if !text.is_sign(name.start - 1, "(") {
            return None;
        }
        let close = text.closing(name.start - 1)?;
        // Whole on both sides: `1 + year(d) = 2020` compares something else.
        let is_condition = text.begins_condition(function)
            && text.is_sign(close + 1, "=")
            && text.ends_condition(close + 3);
        let value = text.parts.get(close + 2).filter(|_| is_condition)?;
        let written = text.slice(name.start, name.end);
        let range = if close == name.end && facts.has_date(column.column) {
            if text.is(function, "year") {
                range_of_year(written, value)?
            } else if text.is(function, "date") {
                range_of_date(written, value)?
            } else {
                return None;
            }
        } else if facts.is_text(column.column)
            && text.is(function, "left")
            && text.is_sign(name.end, ",")
        {
            let length = text.slice(name.end + 1, close).parse().ok()?;
            range_of_start(written, value, length)?
        } else {
            return None;
        };
        Some((text.bytes(function, close + 2), range))
    });
    text.edited(edits.collect())
}

/// Years of four digits, so that the next one has them, too.
const YEARS: std::ops::Range<u32> = 1000..9999;

fn range_of_year(column: &str, value: &Part<'_>) -> Option<String> {
    let year: u32 = value.plain_text().unwrap_or(value.text).parse().ok()?;
    let next = year + 1;
    YEARS
        .contains(&year)
        .then(|| format!("({column} >= '{year}-01-01' AND {column} < '{next}-01-01')"))
}

fn range_of_date(column: &str, value: &Part<'_>) -> Option<String> {
    let date = value.plain_text().filter(|it| is_date(it))?;
    Some(format!(
        "({column} >= '{date}' AND {column} < '{date}' + INTERVAL 1 DAY)"
    ))
}

/// The server ignores blanks at the end of values that it compares, and not in a pattern. Between double quotation marks
/// can be a name.
fn range_of_start(column: &str, value: &Part<'_>, length: usize) -> Option<String> {
    let start = value.plain_text()?;
    let is_plain = start.chars().count() == length
        && length > 0
        && !start.contains(['%', '_'])
        && !start.ends_with(' ')
        && value.text.starts_with('\'');
    is_plain.then(|| format!("{column} LIKE '{start}%'"))
}

/// `2020-01-31`, with a day after it. Whether the month has this day is left to the server.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let within = |part: &str, digits: usize, range: std::ops::Range<u32>| {
        let is_plain = part.len() == digits && part.bytes().all(|it| it.is_ascii_digit());
        is_plain && part.parse().is_ok_and(|it| range.contains(&it))
    };
    within(year, 4, YEARS) && within(month, 2, 1..13) && within(day, 2, 1..32)
}
