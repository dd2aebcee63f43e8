//! A statement without its LIMIT.
//!
//! A LIMIT leaves open which of several equal rows are in the result: another index or plan may give other ones, and the
//! statement is answered as correctly. All rows without the LIMIT tell whether two answers belong to one result.
//!
//! Each row comes with the values that it is ordered by: these can differ while the rows are the same, as those of
//! `DATE_FORMAT(day, '%M')` do by `lc_time_names`, and those of a column of a rewritten derived table.

use std::ops::Range;

use sqltext::SqlStatement;

use super::statement_text::{Clauses, StatementText};

/// Words between SELECT and its list.
const MODIFIERS: [&str; 10] = [
    "all",
    "distinct",
    "distinctrow",
    "high_priority",
    "straight_join",
    "sql_small_result",
    "sql_big_result",
    "sql_buffer_result",
    "sql_no_cache",
    "sql_calc_found_rows",
];
/// Words before an operand, so that what follows is no alias.
const BEFORE_OPERAND: [&str; 12] = [
    "and", "or", "xor", "not", "is", "div", "mod", "like", "rlike", "regexp", "binary", "collate",
];

/// A SELECT without the LIMIT at its end, and with the keys of its ORDER BY as further columns.
pub(super) struct Unlimited {
    pub(super) statement: SqlStatement,
    /// The same without the keys, where there are any: a name that ORDER BY finds in the list can be ambiguous among the
    /// tables.
    pub(super) without_keys: Option<SqlStatement>,
    /// The ORDER BY and the LIMIT, as written, behind the words of the list: two statements with the same ones want the same
    /// part of their rows. A name in the ORDER BY may be one that the list gives.
    pub(super) part: String,
    /// Whether a subquery had a LIMIT behind an ORDER BY, whose values the rows do not show.
    pub(super) hides_order: bool,
}

impl Unlimited {
    /// Without the LIMITs of its subqueries, derived tables and common table expressions, too, except those of scalar
    /// subqueries, which have to give one row; `None` for a statement without one to leave out, and for a UNION. Only a
    /// statement with the same text wants the same part of its rows.
    pub(super) fn of_all(statement: &SqlStatement) -> Option<Self> {
        let text = StatementText::of(statement)?;
        let clauses = outermost(&text)?;
        let mut within = limits_within(&text);
        let examines_rows = |it: &Range<usize>| it.clone().any(|at| text.is(at, "rows"));
        if within.iter().any(examines_rows) {
            return None;
        }
        within.retain(|it| !is_of_scalar(&text, it.start));
        let hides_order = within.iter().any(|it| follows_order(&text, it.start));
        let cuts = within.into_iter();
        let cuts = cuts.map(|it| (text.bytes(it.start, it.end - 1), String::new()));
        let without = text.edited(cuts.collect())?;
        let without = statement.reworded(without.as_bytes());
        let depth = text.parts[clauses.select].depth;
        let has_own = text.has(clauses.tail..clauses.end, depth, &["limit"]);
        let of_own = Self::of(&without);
        let (statement, without_keys) = match of_own {
            Some(own) => (own.statement, own.without_keys),
            None if has_own => return None,
            None => (without, None),
        };
        Some(Self {
            statement,
            without_keys,
            part: words_without_hints(&text, 0..text.parts.len()),
            hides_order,
        })
    }

    /// `None` for a statement without a LIMIT of its own, and for a UNION.
    pub(super) fn of(statement: &SqlStatement) -> Option<Self> {
        let text = StatementText::of(statement)?;
        let clauses = outermost(&text)?;
        let depth = text.parts[clauses.select].depth;
        let mut tail = clauses.tail..clauses.end;
        let own = |at: &usize| text.parts[*at].depth == depth;
        let order = tail.clone().filter(own).find(|at| text.is(*at, "order"));
        let limit = tail.clone().filter(own).find(|at| text.is(*at, "limit"))?;
        let behind = ["for", "lock", "into", "procedure"];
        let end = tail
            .find(|at| *at > limit && own(at) && behind.iter().any(|word| text.is(*at, word)))
            .unwrap_or(clauses.end);
        // MariaDB's LIMIT ROWS EXAMINED ends a statement that reads too many rows.
        if (limit..end).any(|at| text.is(at, "rows")) {
            return None;
        }
        let part = format!(
            "{} {}",
            words_without_hints(&text, clauses.select + 1..clauses.from),
            text.slice(order.unwrap_or(limit), end)
        );
        // In `select a into @x from t`, a further column would have no variable.
        if (clauses.select + 1..clauses.from).any(|at| own(&at) && text.is(at, "into")) {
            return None;
        }
        let order_keys = order.map(|order| hidden_keys(&text, &clauses, order + 2..limit));
        let list_end = text.parts[clauses.from - 1].range.end;
        let order_keys = order_keys.unwrap_or_default().into_iter();
        let mut edits: Vec<(Range<usize>, String)> = order_keys
            .map(|key| (list_end..list_end, format!(", {key}")))
            .collect();
        let cut = (text.bytes(limit, end - 1), String::new());
        let without_keys = if edits.is_empty() {
            None
        } else {
            text.edited(vec![cut.clone()])
        };
        edits.push(cut);
        let without = text.edited(edits)?;
        Some(Self {
            statement: statement.reworded(without.as_bytes()),
            without_keys: without_keys.map(|text| statement.reworded(text.as_bytes())),
            part,
            hides_order: false,
        })
    }
}

/// Whether a scalar subquery of a statement has a LIMIT: which of several equal rows gives its value is left open.
pub(super) fn has_scalar_limit(statement: &SqlStatement) -> bool {
    let text = StatementText::of(statement);
    text.is_some_and(|text| {
        let mut limits = limits_within(&text).into_iter();
        limits.any(|it| is_of_scalar(&text, it.start))
    })
}

/// The clauses of a SELECT, or of the one behind the common table expressions of a WITH; `None` where these are recursive,
/// since their LIMIT may be what ends them.
fn outermost(text: &StatementText<'_>) -> Option<Clauses> {
    if !text.is(0, "with") {
        return text.select();
    }
    let mut all = 0..text.parts.len();
    let select = all.find(|at| text.parts[*at].depth == 0 && text.is(*at, "select"));
    let select = select.filter(|_| !text.is(1, "recursive"))?;
    text.clauses(select, text.parts.len())
}

/// The words of a range. Neither a hint in a comment nor the order of tables is part of what is selected.
fn words_without_hints(text: &StatementText<'_>, range: Range<usize>) -> String {
    let is_hint =
        |at: &usize| text.parts[*at].text.starts_with("/*") || text.is(*at, "straight_join");
    let words = range.filter(|at| !is_hint(at));
    let words: Vec<&str> = words.map(|at| text.parts[at].text).collect();
    words.join(" ")
}

/// The LIMITs within brackets: those of subqueries and derived tables.
fn limits_within(text: &StatementText<'_>) -> Vec<Range<usize>> {
    const BEHIND: [&str; 7] = [
        "for",
        "lock",
        "into",
        "procedure",
        "union",
        "except",
        "intersect",
    ];
    let all = 0..text.parts.len();
    let limits = all.filter(|at| text.parts[*at].depth > 0 && text.is(*at, "limit"));
    let ranges = limits.map(|start| {
        let depth = text.parts[start].depth;
        let mut behind = start + 1..text.parts.len();
        let end = behind.find(|at| {
            let is_behind = BEHIND.iter().any(|word| text.is(*at, word));
            text.parts[*at].depth < depth || text.parts[*at].depth == depth && is_behind
        });
        start..end.unwrap_or(text.parts.len())
    });
    ranges.collect()
}

/// Whether a LIMIT within brackets is that of a subquery whose one value is an operand.
fn is_of_scalar(text: &StatementText<'_>, limit: usize) -> bool {
    const BEFORE_ROWS: [&str; 13] = [
        "from",
        "join",
        "straight_join",
        "lateral",
        "as",
        "in",
        "exists",
        "any",
        "some",
        "all",
        "union",
        "except",
        "intersect",
    ];
    let mut depth = text.parts[limit].depth;
    let mut at = limit;
    // Brackets around brackets have the meaning of the outer ones.
    while let Some(open) = (0..at).rev().find(|it| text.parts[*it].depth < depth) {
        let Some(before) = open.checked_sub(1) else {
            return false;
        };
        if text.is_sign(before, ",") {
            return !lists_tables(text, before);
        }
        if !text.is_sign(before, "(") {
            return !BEFORE_ROWS.iter().any(|word| text.is(before, word));
        }
        (at, depth) = (open, text.parts[open].depth);
    }
    false
}

/// Whether a comma stands between the tables of a FROM.
fn lists_tables(text: &StatementText<'_>, comma: usize) -> bool {
    let depth = text.parts[comma].depth;
    let before = (0..comma).rev();
    let query = before.take_while(|at| text.parts[*at].depth >= depth);
    let mut own = query.filter(|at| text.parts[*at].depth == depth);
    let clauses = ["from", "select", "where", "by", "having", "values", "set"];
    let last = own.find(|at| clauses.iter().any(|word| text.is(*at, word)));
    last.is_some_and(|at| text.is(at, "from"))
}

/// Whether the query of a LIMIT has an ORDER BY before it.
fn follows_order(text: &StatementText<'_>, limit: usize) -> bool {
    let depth = text.parts[limit].depth;
    let before = (0..limit).rev();
    let mut query = before.take_while(|at| text.parts[*at].depth >= depth);
    query.any(|at| text.parts[at].depth == depth && text.is(at, "order"))
}

/// A named column of a result.
struct Column<'a> {
    name: &'a str,
    /// The expression, if the name is its alias.
    value: Option<&'a str>,
}

/// The keys of an ORDER BY whose values the rows do not show.
fn hidden_keys(text: &StatementText<'_>, clauses: &Clauses, order: Range<usize>) -> Vec<String> {
    let columns = columns(text, clauses);
    let selects_all = text.selects_all(clauses);
    let has_name = |key: &Range<usize>, name: &str| {
        let mut names = text.names_of(name).into_iter();
        names.any(|it| it.start + 1 == it.end && key.contains(&it.start))
    };
    let is_shown = |key: &Range<usize>| {
        let name = text.name_before(key.end);
        let Some(name) = name.filter(|it| it.start == key.start) else {
            // A position in the list.
            return key.len() == 1 && text.parts[key.start].is_whole_number();
        };
        let (_, table) = text.column_and_table(name);
        selects_all || table.is_none() && columns.iter().any(|it| has_name(key, it.name))
    };
    let keys = items(text, order).into_iter().map(|key| {
        let last = key.end.saturating_sub(1);
        let has_direction = text.is(last, "asc") || text.is(last, "desc");
        key.start..key.end - usize::from(has_direction)
    });
    let hidden = keys.filter(|key| !is_shown(key));
    hidden.map(|key| with_values(text, key, &columns)).collect()
}

/// A key with the expressions of the list in place of their aliases, which cannot stand in the list themselves.
fn with_values(text: &StatementText<'_>, key: Range<usize>, columns: &[Column<'_>]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = key.start;
    for at in key.clone() {
        let is_here = |it: &&Column<'_>| {
            let mut names = text.names_of(it.name).into_iter();
            names.any(|name| name.start == at && name.end == at + 1)
        };
        let column = columns.iter().find(is_here).filter(|_| !is_unit(text, at));
        if let Some(value) = column.and_then(|it| it.value) {
            parts.extend([text.slice(next, at).to_owned(), format!("({value})")]);
            next = at + 1;
        }
    }
    parts.push(text.slice(next, key.end).to_owned());
    parts.retain(|it| !it.is_empty());
    parts.join(" ")
}

/// Whether a word is the unit of a time, and no name: `interval n day`, or `timestampdiff(day, a, b)`.
fn is_unit(text: &StatementText<'_>, at: usize) -> bool {
    const BEFORE_UNIT: [&str; 3] = ["timestampdiff", "timestampadd", "extract"];
    let Some(last) = at.checked_sub(1) else {
        return false;
    };
    let (value, words) = if text.is_sign(last, "(") {
        (last, &BEFORE_UNIT[..])
    } else if text.is_sign(last, ")") {
        let depth = text.parts[last].depth;
        let is_open = |it: &usize| text.parts[*it].depth == depth && text.is_sign(*it, "(");
        (
            (0..last).rev().find(is_open).unwrap_or(last),
            &["interval"][..],
        )
    } else {
        let name = text.name_before(at);
        (name.map_or(last, |it| it.start), &["interval"][..])
    };
    let before = value.checked_sub(1);
    before.is_some_and(|before| words.iter().any(|word| text.is(before, word)))
}

/// The columns of a list that have a name.
fn columns<'a>(text: &StatementText<'a>, clauses: &Clauses) -> Vec<Column<'a>> {
    let is_modifier = |at: &usize| {
        let is_hint = text.parts[*at].text.starts_with("/*");
        is_hint || MODIFIERS.iter().any(|word| text.is(*at, word))
    };
    let mut list = clauses.select + 1..clauses.from;
    let start = list.find(|at| !is_modifier(at)).unwrap_or(clauses.from);
    let columns = items(text, start..clauses.from).into_iter();
    let columns = columns.filter_map(|item| {
        // An alias in quotation marks.
        let last = item.end.checked_sub(1)?;
        if last > item.start
            && text.is(last - 1, "as")
            && let Some(name) = text.parts[last].plain_text()
        {
            let value = Some(text.slice(item.start, last - 1));
            return Some(Column { name, value });
        }
        let name = text.name_before(item.end)?;
        let before = name.start.checked_sub(1).filter(|at| *at >= item.start);
        let is_named = before.is_none_or(|at| {
            let part = &text.parts[at];
            let is_operand =
                part.name().is_some() || part.is_number() || part.plain_text().is_some();
            let is_operator = BEFORE_OPERAND.iter().any(|word| text.is(at, word));
            let is_behind =
                text.is_sign(at, ")") || is_operand && !is_operator && !text.is(name.start, "end");
            is_behind && !is_unit(text, name.start)
        });
        let (column, _) = text.column_and_table(name);
        let value = before.map(|at| {
            let end = if text.is(at, "as") { at } else { name.start };
            text.slice(item.start, end)
        });
        column
            .filter(|_| is_named)
            .map(|name| Column { name, value })
    });
    columns.collect()
}

/// The parts of a list between its commas.
fn items(text: &StatementText<'_>, list: Range<usize>) -> Vec<Range<usize>> {
    let depth = text.parts.get(list.start).map_or(0, |part| part.depth);
    let is_comma = |at: &usize| text.parts[*at].depth == depth && text.is_sign(*at, ",");
    let mut ends: Vec<usize> = list.clone().filter(is_comma).collect();
    ends.push(list.end);
    let mut next = list.start;
    let items = ends.into_iter().map(|end| {
        let item = next..end;
        next = end + 1;
        item
    });
    items.collect()
}

#[cfg(test)]
mod tests;
