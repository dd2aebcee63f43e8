//! A UNION whose parts have one alternative of an OR each.

use crate::statement_text::{Clauses, StatementText};

const ALTERNATIVES_AT_MOST: usize = 4;
/// Functions over all rows, which cannot be computed part by part.
const AGGREGATES: [&str; 19] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "group_concat",
    "bit_and",
    "bit_or",
    "bit_xor",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "st_collect",
    "json_arrayagg",
    "json_objectagg",
];

/// Words between SELECT and FROM that have no meaning, or another one, in a part of a UNION.
const MODIFIERS: [&str; 7] = [
    "distinct",
    "distinctrow",
    "sql_calc_found_rows",
    "sql_cache",
    "sql_no_cache",
    "high_priority",
    "into",
];

/// The OR of a condition.
struct Alternatives<'a> {
    /// The condition before and behind it.
    around: [&'a str; 2],
    all: Vec<&'a str>,
}

/// A UNION ALL of parts of which each leaves out the rows of those before it. `None` where the statement has no such
/// OR, or more than a list of columns or `count(*)`.
pub(super) fn with_union_for_or(text: &StatementText<'_>) -> Option<String> {
    let clauses = text.select()?;
    let condition = clauses.condition?;
    let head = clauses.select..clauses.from;
    // The parts would assign in another order.
    let has_assignment = text.parts.iter().any(|part| part.is_sign(":"));
    let is_plain = clauses.tail == clauses.end && !has_assignment && !text.has(head, 0, &MODIFIERS);
    if !is_plain {
        return None;
    }
    let list = text.slice(clauses.select + 1, clauses.from);
    let counted = is_count(text, &clauses);
    let has_aggregate = (clauses.select..clauses.from).any(|at| {
        let is_function = AGGREGATES.iter().any(|name| text.is(at, name));
        (is_function && text.is_sign(at + 1, "(")) || text.is(at, "over")
    });
    if has_aggregate && counted.is_none() {
        return None;
    }
    let or = alternatives(text, condition + 1, clauses.tail)?;
    let from = text.slice(clauses.from, condition);
    let selected = match counted {
        Some(_) => "1",
        None => list,
    };
    let parts = or.all.iter().enumerate().map(|(at, own)| {
        let before = &or.all[..at];
        let own = if before.is_empty() {
            format!("({own})")
        } else {
            let known: Vec<String> = before.iter().map(|it| format!("({it})")).collect();
            format!("(({own}) AND ({}) IS NOT TRUE)", known.join(" OR "))
        };
        let [start, end] = or.around;
        let condition = [start, &own, end].join(" ");
        format!("SELECT {selected} {from} WHERE {}", condition.trim())
    });
    let union = parts.collect::<Vec<_>>().join(" UNION ALL ");
    Some(match counted {
        Some(count) => format!("SELECT {count} FROM ({union}) AS dbdyno_union"),
        None => union,
    })
}

/// The list of a SELECT if it is `count(*)` alone, with an alias or not.
fn is_count<'a>(text: &StatementText<'a>, clauses: &Clauses) -> Option<&'a str> {
    let at = clauses.select + 1;
    let is_count = text.is(at, "count")
        && text.is_sign(at + 1, "(")
        && text.is_sign(at + 2, "*")
        && text.is_sign(at + 3, ")");
    let rest = at + 4..clauses.from;
    let has_more = rest.clone().any(|at| text.parts[at].name().is_none());
    (is_count && !has_more && rest.len() <= 2).then(|| text.slice(at, clauses.from))
}

/// The alternatives of a condition: of its own OR, or of one OR in brackets among conditions that must all hold.
fn alternatives<'a>(
    text: &StatementText<'a>,
    start: usize,
    end: usize,
) -> Option<Alternatives<'a>> {
    if let Some(all) = split(text, start, end) {
        let around = ["", ""];
        return Some(Alternatives { around, all });
    }
    if text.has(start..end, 0, &["or", "xor", "not", "case"]) || text.has_pipe(start..end, 0) {
        return None;
    }
    let open = (start..end).find(|at| {
        let begins = text.begins_condition(*at);
        begins && text.parts[*at].depth == 0 && text.is_sign(*at, "(")
    })?;
    let close = text.closing(open)?;
    let all = split(text, open + 1, close).filter(|_| text.ends_condition(close + 1))?;
    let around = [text.slice(start, open), text.slice(close + 1, end)];
    Some(Alternatives { around, all })
}

/// The parts between the ORs of a list of conditions with nothing else in it.
fn split<'a>(text: &StatementText<'a>, start: usize, end: usize) -> Option<Vec<&'a str>> {
    let depth = text.parts.get(start)?.depth;
    let is_mixed = text.has(start..end, depth, &["and", "xor", "not", "between", "case"]);
    if is_mixed || text.has_pipe(start..end, depth) {
        return None;
    }
    let is_or = |at: &usize| text.parts[*at].depth == depth && text.is(*at, "or");
    let mut ends: Vec<usize> = (start..end).filter(is_or).collect();
    ends.push(end);
    if !(2..=ALTERNATIVES_AT_MOST).contains(&ends.len()) {
        return None;
    }
    let mut next = start;
    let parts = ends.into_iter().map(|end| {
        let part = text.slice(next, end);
        next = end + 1;
        part
    });
    let parts: Vec<&str> = parts.collect();
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}
