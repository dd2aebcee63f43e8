//! Conditions that an index serves in place of those that none does.

use crate::commands::sql::advise::{
    statement_text::{ColumnName, StatementText},
    table_facts::TableFacts,
};

/// Signs beside a value that make it a part of an expression.
const ARITHMETIC: [&str; 8] = ["+", "-", "*", "/", "%", ".", "|", "&"];

/// The numbers that a column is compared with for equality, in quotation marks. `None` without one.
pub(super) fn with_quoted_numbers(text: &StatementText<'_>, column: &str) -> Option<String> {
    let names = text.names_of(column);
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
        text.parts.get(at).is_some_and(|part| part.is_number())
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
    column: &str,
    facts: &TableFacts,
) -> Option<String> {
    let has_date = facts.has_date(column);
    let is_text = facts.is_text(column);
    let edits = text.names_of(column).into_iter().filter_map(|name| {
        let function = name.start.checked_sub(2)?;
        if !text.is_sign(name.start - 1, "(") {
            return None;
        }
        let close = text.closing(name.start - 1)?;
        let value = text.parts.get(close + 2)?;
        if !text.is_sign(close + 1, "=") || is_continued(text, close + 3) {
            return None;
        }
        let written = text.slice(name.start, name.end);
        let is_only_argument = close == name.end;
        let range = if has_date && is_only_argument && text.is(function, "year") {
            let year: u32 = value.plain_text().unwrap_or(value.text).parse().ok()?;
            // Years of four digits, so that the next one has them, too.
            let is_plain = (1000..9999).contains(&year);
            let next = year + 1;
            is_plain
                .then(|| format!("({written} >= '{year}-01-01' AND {written} < '{next}-01-01')"))?
        } else if has_date && is_only_argument && text.is(function, "date") {
            let date = value.plain_text().filter(|it| is_date(it))?;
            format!("({written} >= '{date}' AND {written} < '{date}' + INTERVAL 1 DAY)")
        } else if is_text && text.is(function, "left") && text.is_sign(name.end, ",") {
            let start = value.plain_text()?;
            let length: usize = text.slice(name.end + 1, close).parse().ok()?;
            let is_plain = start.chars().count() == length && !start.contains(['%', '_']);
            is_plain.then(|| format!("{written} LIKE '{start}%'"))?
        } else {
            return None;
        };
        Some((text.bytes(function, close + 2), range))
    });
    text.edited(edits.collect())
}

/// Whether an expression continues at a token.
fn is_continued(text: &StatementText<'_>, at: usize) -> bool {
    ARITHMETIC.iter().any(|sign| text.is_sign(at, sign))
}

/// `2020-01-31`.
fn is_date(text: &str) -> bool {
    let form: String = text
        .chars()
        .map(|it| if it.is_ascii_digit() { '9' } else { it })
        .collect();
    form == "9999-99-99"
}
