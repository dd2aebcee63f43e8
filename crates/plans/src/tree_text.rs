//! EXPLAIN FORMAT=TREE and EXPLAIN ANALYZE of MySQL 8.0.16 and later: one operator per line, indented below its reader.
//!
//! `    -> Filter: (a = 1)  (cost=0.25 rows=1) (actual time=0.002..0.003 rows=0 loops=200)`

use crate::{
    error::Error,
    json::Json,
    node::{Actual, Fact, Node},
    operator,
};

/// Nodes within each other at most; deeper ones become neighbours, so that no server can exhaust the stack.
const DEPTH_AT_MOST: usize = 128;

struct Line {
    indent: usize,
    text: String,
}

/// Reads the text into a tree.
///
/// # Errors
/// [`Error::NoPlan`] if no line begins with an arrow.
pub(crate) fn plan_of(text: &str) -> Result<Node, Error> {
    let lines = lines_of(text);
    if lines.is_empty() {
        return Err(Error::NoPlan {
            form: "FORMAT=TREE",
        });
    }
    let mut roots: Vec<Node> = Vec::new();
    // The open nodes with their indentation, from the outermost to the last one.
    let mut open: Vec<(usize, Node)> = Vec::new();
    for line in lines {
        let is_beside = |(indent, _): &(usize, Node)| *indent >= line.indent;
        while open.last().is_some_and(is_beside) || open.len() >= DEPTH_AT_MOST {
            close(&mut open, &mut roots);
        }
        open.push((line.indent, node_of(&line.text)));
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    let mut roots = roots.into_iter();
    let mut first = roots.next().ok_or(Error::NoPlan {
        form: "FORMAT=TREE",
    })?;
    first.children.extend(roots);
    Ok(first)
}

fn close(open: &mut Vec<(usize, Node)>, roots: &mut Vec<Node>) {
    if let Some((_, node)) = open.pop() {
        match open.last_mut() {
            Some((_, parent)) => parent.children.push(node),
            None => roots.push(node),
        }
    }
}

/// The operators; a line without an arrow continues a text that contains a line break.
fn lines_of(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        match (trimmed.strip_prefix("-> "), lines.last_mut()) {
            (Some(operator::NO_TREE), _) => {}
            (Some(operator), _) => lines.push(Line {
                indent: line.len() - trimmed.len(),
                text: operator.to_owned(),
            }),
            (None, Some(last)) if !trimmed.is_empty() => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            _ => {}
        }
    }
    lines
}

fn node_of(line: &str) -> Node {
    let mut words = line.trim_end();
    let mut estimate = None;
    let mut measured = None;
    loop {
        if let Some(rest) = words.strip_suffix("(never executed)") {
            measured = Some(Actual {
                loops: Some(0.0),
                ..Actual::default()
            });
            words = rest.trim_end();
        } else if let Some((rest, inside)) = last_brackets(words, "(actual ") {
            measured = Some(actual_of(inside));
            words = rest;
        } else if let Some((rest, inside)) = last_brackets(words, "(cost=") {
            estimate = Some((value(inside, "(cost="), value(inside, " rows=")));
            words = rest;
        } else if let Some((rest, inside)) = last_brackets(words, "(rows=") {
            estimate = Some((None, value(inside, "(rows=")));
            words = rest;
        } else {
            break;
        }
    }
    let mut node = operator::node_of(words);
    if let Some((cost, rows)) = estimate {
        node.estimate.total_cost = cost;
        node.estimate.rows = rows;
    }
    node.actual = measured;
    if !operator::is_known(words) {
        node.rest.push(Fact {
            name: "operator".to_owned(),
            value: Json::Text(words.to_owned()),
            known: false,
        });
    }
    node
}

/// The text before the last brackets, if those begin with `start` and end the line.
fn last_brackets<'a>(words: &'a str, start: &str) -> Option<(&'a str, &'a str)> {
    let inside = words.strip_suffix(')')?;
    let at = inside.rfind(start)?;
    // A closing bracket in between belongs to the operator's own words.
    let is_last = !inside[at..].contains(')');
    is_last.then(|| (words[..at].trim_end(), &inside[at..]))
}

/// A number after a name; of two (`first..last`) the last.
fn value(text: &str, name: &str) -> Option<f64> {
    let rest = &text[text.find(name)? + name.len()..];
    let number = rest.split_whitespace().next()?;
    let last = number.rsplit("..").next()?;
    last.parse().ok()
}

/// `(actual time=0.002..0.003 rows=0 loops=200`: times are means of a loop.
fn actual_of(inside: &str) -> Actual {
    let loops = value(inside, " loops=");
    let time_ms = value(inside, " time=");
    Actual {
        rows: value(inside, " rows="),
        loops,
        filtered_percent: None,
        total_ms: time_ms.zip(loops).map(|(ms, loops)| ms * loops),
        own_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;

    #[test]
    fn a_deep_tree_is_cut_and_drawn() {
        let text: String = (0..5_000)
            .map(|depth| format!("{:depth$}-> Filter: (a)\n", ""))
            .collect();
        let root = plan_of(&text).unwrap();
        assert_eq!(root.all().len(), 5_000);
    }

    #[test]
    fn lines_become_a_tree() {
        let text = "-> Nested loop inner join  (cost=108 rows=33.4) (actual time=0.7..0.8 rows=0 loops=1)\n    \
                    -> Index lookup on r using k (rev_user=0)  (cost=38..40 rows=2e+3) (actual time=2e-3..0.5 rows=200 loops=2)\n    \
                    -> Filter: (a = 'x\ny')  (cost=0.25 rows=1) (never executed)\n        \
                    -> Table scan on p\n";
        let root = plan_of(text).unwrap();
        assert_eq!(root.children.len(), 2);
        let lookup = &root.children[0];
        assert_eq!(lookup.estimate.total_cost, Some(40.0));
        assert_eq!(lookup.estimate.rows, Some(2000.0));
        assert_eq!(lookup.actual.unwrap().total_ms, Some(1.0));
        let filter = &root.children[1];
        assert_eq!(filter.conditions[0].text, "(a = 'x\ny')");
        assert_eq!(filter.actual.unwrap().loops, Some(0.0));
        assert_eq!(filter.children[0].operation, Operation::Access);
        assert!(plan_of("<not executable by iterator executor>").is_err());
    }
}
