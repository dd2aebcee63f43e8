//! Other ways to the rows of the tables: without hints, with a join for a subquery, in another order.

use std::ops::Range;

use crate::statement_text::{Clauses, ColumnName, JOINS, StatementText};

/// Words before STRAIGHT_JOIN where it is no join of its own.
const MODIFIED: [&str; 11] = [
    "select",
    "all",
    "distinct",
    "distinctrow",
    "high_priority",
    "sql_small_result",
    "sql_big_result",
    "sql_buffer_result",
    "sql_cache",
    "sql_no_cache",
    "sql_calc_found_rows",
];

/// Hints in comments that force no part of a plan.
const OF_NO_PLAN: [&str; 4] = ["max_execution_time", "qb_name", "resource_group", "set_var"];

/// The statement without STRAIGHT_JOIN, index hints and, if the server follows them, hints in comments, and the list of
/// them. `None` without one.
pub(super) fn without_hints(
    text: &StatementText<'_>,
    has_hints: bool,
) -> Option<(String, Vec<String>)> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut forced = Vec::new();
    let mut at = 0;
    while at < text.parts.len() {
        let part = &text.parts[at];
        let end = if part.text.starts_with("/*+") {
            (has_hints && forces_plan(part.text)).then_some((at, ""))
        } else if part.is("straight_join") {
            let is_modifier = at.checked_sub(1).is_some_and(|before| {
                MODIFIED.iter().any(|word| text.is(before, word))
                    || text.parts[before].text.starts_with("/*+")
            });
            Some((at, if is_modifier { "" } else { "JOIN" }))
        } else {
            index_hint(text, at).map(|end| (end, ""))
        };
        if let Some((end, instead)) = end {
            forced.push(text.slice(at, end + 1).to_owned());
            edits.push((text.bytes(at, end), instead.to_owned()));
            at = end;
        }
        at += 1;
    }
    Some((text.edited(edits)?, forced))
}

/// Whether the hints in a comment are about the plan alone.
fn forces_plan(hints: &str) -> bool {
    let hints = hints.to_ascii_lowercase();
    !OF_NO_PLAN.iter().any(|name| hints.contains(name))
}

/// The last token of an index hint that begins here: `FORCE INDEX FOR JOIN (i)`.
fn index_hint(text: &StatementText<'_>, at: usize) -> Option<usize> {
    let is_one = |at: usize, words: &[&str]| words.iter().any(|word| text.is(at, word));
    if !is_one(at, &["use", "force", "ignore"]) || !is_one(at + 1, &["index", "key"]) {
        return None;
    }
    let open = (at + 2..at + 6).find(|at| text.is_sign(*at, "("))?;
    text.closing(open)
}

/// A derived table in place of the first subquery of an IN that must hold: it gives each value once, if the server
/// compares values of the list and of the column before IN in one way, which `are_alike` says of two names. `None` where
/// the statement has no such IN, or where the join could change its result.
pub(super) fn with_join_for_in(
    text: &StatementText<'_>,
    are_alike: impl Fn([ColumnName; 2]) -> bool,
) -> Option<String> {
    let clauses = text.select()?;
    let condition = clauses.condition?;
    let of_condition = condition..clauses.tail;
    if text.has(of_condition.clone(), 0, &["or", "xor", "not", "case"])
        || text.has_pipe(of_condition, 0)
        || text.selects_all(&clauses)
    {
        return None;
    }
    let mut places = condition + 1..clauses.tail;
    let at = places.find(|at| {
        text.parts[*at].depth == 0
            && text.is(*at, "in")
            && text.is_sign(at + 1, "(")
            && text.is(at + 2, "select")
    })?;
    let outside = text.name_before(at)?;
    let close = text.closing(at + 1)?;
    let is_whole = text.begins_condition(outside.start) && text.ends_condition(close + 1);
    let inner = text.clauses(at + 2, close).filter(|_| is_whole)?;
    let first = inner.select + 1 + usize::from(text.is(inner.select + 1, "distinct"));
    let value = text.name_before(inner.from)?;
    let is_one_value = value.start == first && !text.has(inner.from..close, 1, &["limit", "fetch"]);
    if !is_one_value || !are_alike([outside, value]) {
        return None;
    }
    let derived = format!(
        ", (SELECT DISTINCT {} AS dbdyno_key {}) AS dbdyno_in ",
        text.slice(first, inner.from),
        text.slice(inner.from, close)
    );
    let equality = format!(
        "dbdyno_in.dbdyno_key = {}",
        text.slice(outside.start, outside.end)
    );
    let place = text.parts[condition].range.start;
    text.edited(vec![
        (place..place, derived),
        (text.bytes(outside.start, close), equality),
    ])
}

/// The table itself in place of a derived table that selects all its columns, with its condition in the outer WHERE.
/// `None` where the statement has none that the server keeps, which `is_kept` says of its name, or where an outer join
/// would give the condition another meaning.
pub(super) fn with_merged_derived(
    text: &StatementText<'_>,
    is_kept: impl Fn(&str) -> bool,
) -> Option<String> {
    let clauses = text.select()?;
    let end = clauses.condition.unwrap_or(clauses.tail);
    let open = (clauses.from + 1..end).find(|at| {
        text.is_sign(*at, "(")
            && text.is(at + 1, "select")
            && text.is_sign(at + 2, "*")
            && text.is(at + 3, "from")
    })?;
    let close = text.closing(open)?;
    let alias = close + 1 + usize::from(text.is(close + 1, "as"));
    text.parts.get(alias)?.name().filter(|it| is_kept(it))?;
    let inner = text.clauses(open + 1, close)?;
    let table_end = inner.condition.unwrap_or(inner.tail);
    let table = text.name_before(table_end)?;
    let is_table = table.start == inner.from + 1 && inner.tail == close;
    let is_outer = text.has(clauses.from..end, 0, &["left", "right", "full"]);
    // Outside, the table has its alias only, and a derived table around it may hide its columns.
    let can_move = |condition: usize| {
        let mut points = condition..close;
        text.parts[open].depth == 0 && !is_outer && !points.any(|at| text.is_point(at))
    };
    if !is_table || !inner.condition.is_none_or(can_move) {
        return None;
    }
    let mut edits = vec![(
        text.bytes(open, close),
        text.slice(table.start, table.end).to_owned(),
    )];
    if let Some(condition) = inner.condition {
        let own = text.slice(condition + 1, close);
        edits.extend(narrowed(text, &clauses, own));
    }
    text.edited(edits)
}

/// The edits that add a condition to a SELECT.
fn narrowed(
    text: &StatementText<'_>,
    clauses: &Clauses,
    condition: &str,
) -> Vec<(Range<usize>, String)> {
    let end = text.parts[clauses.tail - 1].range.end;
    match clauses.condition {
        Some(at) => {
            let start = text.parts[at].range.end;
            vec![
                (start..start, format!(" ({condition}) AND (")),
                (end..end, ")".to_owned()),
            ]
        }
        None => vec![(end..end, format!(" WHERE ({condition})"))],
    }
}

/// A join of two tables that begins with the table of this name or alias, an order which the server keeps. `None` for
/// other joins.
pub(in crate::advise) fn with_table_first(text: &StatementText<'_>, alias: &str) -> Option<String> {
    let clauses = text.select()?;
    let end = clauses.condition.unwrap_or(clauses.tail);
    let (first, next) = table(text, clauses.from + 1)?;
    let join = next + usize::from(text.is(next, "inner"));
    if !text.is(join, "join") && !text.is_sign(next, ",") {
        return None;
    }
    let (second, rest) = table(text, join + 1).filter(|(_, rest)| *rest <= end)?;
    let is_end = rest == end || text.is(rest, "on");
    let has_more = text.has(rest..end, 0, &["join", "straight_join"])
        || (rest..end).any(|at| text.parts[at].depth == 0 && text.is_sign(at, ","));
    if !is_end || has_more {
        return None;
    }
    let is_meant = |end: usize| {
        let name = text.parts[end - 1].name();
        name.is_some_and(|it| it.eq_ignore_ascii_case(alias))
    };
    let joined = if is_meant(next) {
        format!("{first} STRAIGHT_JOIN {second}")
    } else if is_meant(rest) && !text.selects_all(&clauses) {
        format!("{second} STRAIGHT_JOIN {first}")
    } else {
        return None;
    };
    text.edited(vec![(text.bytes(clauses.from + 1, rest - 1), joined)])
}

/// Whether a name or alias is one of a table in the FROM of a SELECT, and not of one in a subquery or behind a view.
pub(in crate::advise) fn has_table(text: &StatementText<'_>, alias: &str) -> bool {
    let Some(clauses) = text.select() else {
        return false;
    };
    let end = clauses.condition.unwrap_or(clauses.tail);
    let mut own = text.parts[clauses.from..end]
        .iter()
        .filter(|it| it.depth == 0);
    own.any(|it| {
        it.name()
            .is_some_and(|name| name.eq_ignore_ascii_case(alias))
    })
}

/// Whether a statement has an outer join, to whose inner tables the rows of the outer ones lead.
pub(in crate::advise) fn has_outer_join(text: &StatementText<'_>) -> bool {
    let mut all = 0..text.parts.len();
    all.any(|at| {
        let is_side = text.is(at, "left") || text.is(at, "right");
        is_side && !text.is_sign(at + 1, "(")
    })
}

/// A table with its alias, and the token behind it.
fn table<'a>(text: &StatementText<'a>, start: usize) -> Option<(&'a str, usize)> {
    /// Words that are no alias, besides those of [`JOINS`].
    const NO_ALIAS: [&str; 6] = ["on", "using", "where", "use", "force", "ignore"];
    let mut end = start + 1;
    text.parts.get(start)?.name()?;
    if text.is_sign(end, ".") {
        text.parts.get(end + 1)?.name()?;
        end += 2;
    }
    if text.is(end, "as") {
        end += 1;
    }
    let is_alias = text.parts.get(end).is_some_and(|part| {
        part.name().is_some()
            && part.depth == 0
            && !NO_ALIAS.iter().chain(&JOINS).any(|word| part.is(word))
    });
    // GROUP BY and the like follow where there is no condition.
    let is_tail = ["group", "having", "order", "limit", "for", "window"];
    let is_tail = is_tail.iter().any(|word| text.is(end, word));
    end += usize::from(is_alias && !is_tail);
    Some((text.slice(start, end), end))
}
