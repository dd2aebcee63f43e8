//! From the tables of a file to rules.

use std::{collections::HashSet, ops::Range, path::Path};

use regex::bytes::Regex;
use toml::Spanned;

use super::{
    answers::Reply,
    file::{AnswerTable, Cell, Command, FailTable, FileTable, MirrorTable, RuleTable},
    known_errors::known,
    mirror::Target,
    problem::Problem,
    rule::{RouteTarget, Rule},
};
use crate::{BackendKind, Backends, Delay, digest::digest, metrics::RuleCounters};

/// `ER_NOT_ALLOWED_COMMAND`, which a blocked statement gets.
const NOT_ALLOWED: u16 = 1148;
const NOT_ALLOWED_STATE: &str = "42000";
/// Rules of a file.
const RULES_MAX: usize = 100_000;
/// Numbers of errors that clients make themselves.
const OF_CLIENTS: Range<u16> = 2000..3000;

/// What rules are read against.
pub(super) struct Loader<'a> {
    /// Errors may quote the file.
    pub(super) is_quotable: bool,
    /// Paths in the file start from here.
    pub(super) directory: &'a Path,
    pub(super) backends: &'a Backends,
    pub(super) counters: &'a RuleCounters,
    /// Connections can be opened in the middle of a session.
    pub(super) opens_connections: bool,
}

type Checked<T> = Result<T, Problem>;

impl Loader<'_> {
    pub(super) fn rules(&self, text: &str) -> Checked<Vec<Rule>> {
        let tables = FileTable::parse(text, self.is_quotable)?.rule;
        if tables.len() > RULES_MAX {
            let what = format!("{} rules; at most {RULES_MAX} are possible", tables.len());
            return Err(Problem { at: 0, what });
        }
        let mut names = HashSet::new();
        let mut rules = Vec::with_capacity(tables.len());
        for (index, table) in tables.into_iter().enumerate() {
            let span = table.span();
            let table = table.into_inner();
            let (at, name) = match &table.name {
                Some(name) => (name.span(), name.get_ref().clone()),
                None => (span.clone(), format!("rule {}", index + 1)),
            };
            if !names.insert(name.clone()) {
                let what = format!("two rules are called {name:?}; give each a name of its own");
                return Err(Problem::of(&at, "name", what));
            }
            rules.push(self.rule(&name, &span, table)?);
        }
        Ok(rules)
    }

    fn rule(&self, name: &str, span: &Range<usize>, table: RuleTable) -> Checked<Rule> {
        check_actions(span, &table)?;
        let pattern = table.pattern.as_ref().map(pattern).transpose()?;
        if let Some(replace) = &table.replace {
            check_replacement(replace, pattern.as_ref())?;
        }
        let reply = reply(&table)?;
        let route = table.route.as_ref().map(|it| self.way(it)).transpose()?;
        let mirror = table.mirror.map(|it| self.target(&it)).transpose()?;
        // A prepared statement belongs to its connection, and its answer has a form of its own.
        let only_queries = route.is_some()
            || mirror.is_some()
            || matches!(reply, Some(Reply::Rows { .. } | Reply::Done { .. }));
        if only_queries && table.command == Some(Command::Prepare) {
            let what = "answer, route and mirror are for queries only; leave command out";
            return Err(Problem::of(span, "command", what));
        }
        Ok(Rule {
            counter: self.counters.of(name),
            digest: table.digest.as_ref().map(of_digest).transpose()?,
            pattern,
            user: table.user.map(String::into_bytes),
            database: table.database.map(String::into_bytes),
            to_queries: table.command != Some(Command::Prepare),
            to_prepares: table.command != Some(Command::Query) && !only_queries,
            share: table.share.as_ref().map(share).transpose()?,
            replace: table.replace.map(|it| it.into_inner().into_bytes()),
            before: table.before.map(before).transpose()?.unwrap_or_default(),
            reply,
            delay: table
                .delay
                .as_ref()
                .map(delay)
                .transpose()?
                .unwrap_or_default(),
            route,
            mirror,
            is_logged: table.log,
            continues: table.continues,
        })
    }

    fn way(&self, route: &Spanned<String>) -> Checked<RouteTarget> {
        let wanted = route.get_ref();
        let wrong = |what: String| Problem::of(&route.span(), "route", what);
        if !self.opens_connections {
            let what = "connections for routed statements need an account of the proxy's own; add --backend-user \
                        and --backend-password-file";
            return Err(wrong(what.to_owned()));
        }
        if wanted == "read-only" {
            let has = |kind| self.backends.0.iter().any(|backend| backend.kind == kind);
            if has(BackendKind::ReadOnly) {
                return Ok(RouteTarget::ReadOnly);
            }
            let what =
                "there is no read-only backend; name one with --proxy-read-only-backend-addresses";
            return Err(wrong(what.to_owned()));
        }
        let is_wanted = |address: String| address == *wanted;
        let place = self
            .backends
            .0
            .iter()
            .position(|it| is_wanted(it.address.to_string()));
        place.map(RouteTarget::Backend).ok_or_else(|| {
            let all: Vec<String> = self
                .backends
                .0
                .iter()
                .map(|it| it.address.to_string())
                .collect();
            wrong(format!(
                "{wanted:?} is neither \"read-only\" nor a backend's address; the backends are {}",
                all.join(", ")
            ))
        })
    }

    fn target(&self, table: &Spanned<MirrorTable>) -> Checked<std::sync::Arc<Target>> {
        let target = Target::new(table.get_ref(), self.directory);
        target.map_err(|what| Problem::of(&table.span(), "mirror", what))
    }
}

/// A rule does something, and nothing that contradicts itself.
fn check_actions(span: &Range<usize>, table: &RuleTable) -> Checked<()> {
    let ends = [
        ("block", table.block.is_some()),
        ("fail", table.fail.is_some()),
        ("answer", table.answer.is_some()),
    ];
    let others = [
        ("replace", table.replace.is_some()),
        ("before", table.before.is_some()),
        ("route", table.route.is_some()),
        ("continue", table.continues),
    ];
    let is_any = table.delay.is_some() || table.mirror.is_some() || table.log;
    let given = |all: &[(&'static str, bool)]| -> Vec<&'static str> {
        all.iter().filter(|it| it.1).map(|it| it.0).collect()
    };
    let (ends, others) = (given(&ends), given(&others));
    match (ends.as_slice(), others.as_slice()) {
        ([], [] | ["continue"]) if !is_any => Err(Problem::of(
            span,
            "rule",
            "it has no action; add replace, before, block, fail, delay, answer, route, mirror or log",
        )),
        ([_], []) | ([], _) => Ok(()),
        ([end], [other, ..]) => {
            let what = format!("with {end} the statement reaches no server; leave {other} out");
            Err(Problem::of(span, other, what))
        }
        ([first, second, ..], _) => {
            let what = format!("a rule has one answer; leave {first} or {second} out");
            Err(Problem::of(span, second, what))
        }
    }
}

fn of_digest(text: &Spanned<String>) -> Checked<Vec<u8>> {
    let digest = digest(text.get_ref().as_bytes());
    if digest.is_empty() {
        return Err(Problem::of(&text.span(), "digest", "it is empty"));
    }
    Ok(digest)
}

fn pattern(text: &Spanned<String>) -> Checked<Regex> {
    Regex::new(text.get_ref()).map_err(|error| {
        // Its picture of the place has several lines; the last one says what is wrong.
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default();
        let what = last.trim_start_matches("error: ");
        Problem::of(&text.span(), "pattern", format!("not a pattern: {what}"))
    })
}

/// Every group of the replacement exists: a missing one would be replaced by nothing.
fn check_replacement(replace: &Spanned<String>, pattern: Option<&Regex>) -> Checked<()> {
    let wrong = |what: String| Err(Problem::of(&replace.span(), "replace", what));
    let text = replace.get_ref();
    let Some(pattern) = pattern else {
        return match text.trim() {
            "" => wrong("the server answers an empty statement with an error".to_owned()),
            _ => Ok(()),
        };
    };
    for group in groups(text) {
        let exists = match group.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => pattern.capture_names().flatten().any(|name| name == group),
        };
        if !exists {
            return wrong(format!(
                "the pattern has no group {group:?}; ${{1}}x is group 1 followed by x, and $$ is a dollar sign"
            ));
        }
    }
    Ok(())
}

/// The groups that a replacement names: `$1`, `$name`, `${name}`; `$$` is none.
fn groups(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('{').and_then(|it| it.split_once('}'))
        {
            found.push(name);
            rest = after;
        } else {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            found.extend(Some(&rest[..end]).filter(|name| !name.is_empty()));
            rest = &rest[end..];
        }
    }
    found
}

fn share(share: &Spanned<f64>) -> Checked<f64> {
    let value = *share.get_ref();
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(Problem::of(
        &share.span(),
        "share",
        "not a number above 0 and up to 1",
    ))
}

fn before(statements: Spanned<Vec<String>>) -> Checked<Vec<Vec<u8>>> {
    let span = statements.span();
    let statements = statements.into_inner();
    if statements.is_empty() || statements.iter().any(|it| it.trim().is_empty()) {
        return Err(Problem::of(&span, "before", "an empty statement, or none"));
    }
    Ok(statements.into_iter().map(String::into_bytes).collect())
}

fn delay(text: &Spanned<String>) -> Checked<Delay> {
    let delay = text.get_ref().parse();
    delay.map_err(|what: String| Problem::of(&text.span(), "delay", what))
}

fn reply(table: &RuleTable) -> Checked<Option<Reply>> {
    if let Some(message) = &table.block {
        return Ok(Some(Reply::Error {
            number: NOT_ALLOWED,
            sqlstate: NOT_ALLOWED_STATE.to_owned(),
            message: message.clone(),
        }));
    }
    if let Some(fail) = &table.fail {
        return failure(fail).map(Some);
    }
    table.answer.as_ref().map(answer).transpose()
}

fn failure(table: &Spanned<FailTable>) -> Checked<Reply> {
    let wrong = |what: String| Problem::of(&table.span(), "fail", what);
    let FailTable {
        errno,
        sqlstate,
        message,
    } = table.get_ref();
    if *errno == 0 || OF_CLIENTS.contains(errno) {
        return Err(wrong(format!(
            "errno {errno} is not an error of a server: 2000 to 2999 are made by clients; to lose connections, use --drop"
        )));
    }
    let known = known(*errno);
    let message = message.clone().or(known.map(|it| it.1.to_owned()));
    let message = message.ok_or_else(|| {
        wrong(format!(
            "the text of errno {errno} is not known here; add message"
        ))
    })?;
    let sqlstate = sqlstate.clone().or(known.map(|it| it.0.to_owned()));
    let sqlstate = sqlstate.unwrap_or_else(|| "HY000".to_owned());
    if sqlstate.len() != 5
        || !sqlstate
            .bytes()
            .all(|it| it.is_ascii_digit() || it.is_ascii_uppercase())
    {
        return Err(wrong(format!(
            "sqlstate {sqlstate:?}: not five digits or capital letters"
        )));
    }
    Ok(Reply::Error {
        number: *errno,
        sqlstate,
        message,
    })
}

fn answer(table: &Spanned<AnswerTable>) -> Checked<Reply> {
    /// The most columns that a server sends.
    const COLUMNS_MAX: usize = 4096;
    let wrong = |what: String| Problem::of(&table.span(), "answer", what);
    let answer = table.get_ref();
    let counts = (answer.affected_rows, answer.insert_id);
    let Some(columns) = &answer.columns else {
        if answer.rows.is_some() || counts == (None, None) {
            return Err(wrong(
                "add columns, or affected_rows and insert_id".to_owned(),
            ));
        }
        return Ok(Reply::Done {
            affected_rows: counts.0.unwrap_or(0),
            insert_id: counts.1.unwrap_or(0),
        });
    };
    if counts != (None, None) {
        return Err(wrong("give columns or counts, not both".to_owned()));
    }
    if columns.is_empty() || columns.len() > COLUMNS_MAX {
        return Err(wrong(format!("1 to {COLUMNS_MAX} columns are possible")));
    }
    let mut rows = Vec::new();
    for (index, row) in answer.rows.iter().flatten().enumerate() {
        let number = index + 1;
        if row.len() != columns.len() {
            let counts = (row.len(), columns.len());
            return Err(wrong(format!(
                "row {number} has {} values for {} columns",
                counts.0, counts.1
            )));
        }
        let values = row.iter().map(value).collect::<Option<Vec<_>>>();
        rows.push(
            values
                .ok_or_else(|| wrong(format!("row {number}: NULL is written {{ null = true }}")))?,
        );
    }
    Ok(Reply::Rows {
        columns: columns.clone(),
        rows,
    })
}

/// A value of a row; `None` where it is none.
fn value(cell: &Cell) -> Option<Option<String>> {
    match cell {
        Cell::Text(text) => Some(Some(text.clone())),
        Cell::Integer(number) => Some(Some(number.to_string())),
        Cell::Float(number) => Some(Some(number.to_string())),
        Cell::Null(table) => table.null.then_some(None),
    }
}

#[cfg(test)]
mod tests;
