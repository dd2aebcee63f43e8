//! The tables of a file of rules, as TOML has them.
//!
//! ```toml
//! [[rule]]
//! name = "no deadlocks in tests"
//! digest = "UPDATE `stock` SET `quantity` = ? WHERE `id` = ?"
//! share = 0.01
//! fail = { errno = 1213 }
//! ```

use serde::Deserialize;
use toml::Spanned;

use super::problem::Problem;

/// Characters of a line that an error shows.
const SHOWN_AT_MOST: usize = 80;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTable {
    #[serde(default)]
    pub(super) rule: Vec<Spanned<RuleTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    pub(super) name: Option<Spanned<String>>,
    pub(super) digest: Option<Spanned<String>>,
    pub(super) pattern: Option<Spanned<String>>,
    pub(super) user: Option<String>,
    pub(super) database: Option<String>,
    pub(super) command: Option<Command>,
    pub(super) share: Option<Spanned<f64>>,
    pub(super) replace: Option<Spanned<String>>,
    pub(super) before: Option<Spanned<Vec<String>>>,
    pub(super) block: Option<String>,
    pub(super) fail: Option<Spanned<FailTable>>,
    pub(super) delay: Option<Spanned<String>>,
    pub(super) answer: Option<Spanned<AnswerTable>>,
    pub(super) route: Option<Spanned<String>>,
    pub(super) mirror: Option<Spanned<MirrorTable>>,
    #[serde(default)]
    pub(super) log: bool,
    #[serde(default, rename = "continue")]
    pub(super) continues: bool,
}

/// The command that carries a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Command {
    /// `COM_QUERY`.
    Query,
    /// `COM_STMT_PREPARE`.
    Prepare,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailTable {
    pub(super) errno: u16,
    pub(super) sqlstate: Option<String>,
    pub(super) message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerTable {
    pub(super) columns: Option<Vec<String>>,
    pub(super) rows: Option<Vec<Vec<Cell>>>,
    pub(super) affected_rows: Option<u64>,
    pub(super) insert_id: Option<u64>,
}

/// A value of a row; TOML has no NULL of its own.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a value is a text, a number, or { null = true }"
)]
pub(super) enum Cell {
    Text(String),
    Integer(i64),
    Float(f64),
    Null(NullTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NullTable {
    pub(super) null: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MirrorTable {
    pub(super) address: String,
    pub(super) user: String,
    pub(super) password_file: Option<String>,
    pub(super) database: Option<String>,
}

impl FileTable {
    pub(super) fn parse(text: &str, is_quotable: bool) -> Result<Self, Problem> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let begin = text.as_bytes()[..at].iter().rposition(|it| *it == b'\n');
            let begin = begin.map_or(0, |newline| newline + 1);
            let line = text.get(begin..).and_then(|rest| rest.lines().next());
            let line: String = line
                .unwrap_or_default()
                .trim()
                .chars()
                .take(SHOWN_AT_MOST)
                .collect();
            let message = error.message().trim_end().replace('\n', ", ");
            Problem {
                at,
                what: if !is_quotable {
                    format!("{message} ({})", files::WITHHELD)
                } else if line.is_empty() {
                    message
                } else {
                    format!("`{line}`: {message}")
                },
            }
        })
    }
}
