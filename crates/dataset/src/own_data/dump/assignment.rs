//! The assignments of a SET: `SET @old = @@sql_mode, sql_mode = ''`, also in a comment that the server reads.

use bstr::ByteSlice;
use sqltext::{ExecutedTokens, Quoting, Scanner, TokenKind, is_read_by_server};

/// The words of a statement without the comment around them: `SET NAMES utf8` of `/*!40101 SET NAMES utf8 */`.
pub(super) fn words(statement: &[u8]) -> &[u8] {
    words_in_comment(statement).0
}

/// Also whether they stand in a comment, which the SET of `/*+ hint */ SET NAMES utf8` does not.
fn words_in_comment(statement: &[u8]) -> (&[u8], bool) {
    if !is_read_by_server(statement) {
        return (statement, false);
    }
    let mut tokens = ExecutedTokens::of(statement, Quoting::default());
    let begin = tokens.next().map_or(statement.len(), |first| first.start);
    (&statement[begin..], tokens.is_in_comment())
}

/// One assignment of a SET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment<'s> {
    /// The whole assignment as it is written: `SESSION sql_mode = ''`.
    pub text: &'s [u8],
    /// What is set, in capitals and without its scope: `SQL_MODE`, `@OLD`, `NAMES UTF8`.
    pub name: String,
    /// Whether it is set for the whole server.
    pub is_of_server: bool,
    /// The value; empty where the statement has no equals sign, as `NAMES utf8`.
    pub value: &'s [u8],
}

/// The assignments; `None` for any other statement.
pub fn assignments(statement: &[u8]) -> Option<Vec<Assignment<'_>>> {
    let (text, is_in_comment) = words_in_comment(statement);
    let rest = text.get(..4)?;
    if !rest.eq_ignore_ascii_case(b"SET ") {
        return None;
    }
    let mut list = text[4..].trim_ascii();
    if is_in_comment {
        list = list.strip_suffix(b"*/").unwrap_or(list).trim_ascii();
    }
    let mut is_of_server = false;
    let parts = split(list).into_iter().map(|text| {
        let at = text.find_byte(b'=').unwrap_or(text.len());
        let value = text.get(at + 1..).unwrap_or_default().trim_ascii();
        let target = text[..at].trim_ascii();
        let target = target.strip_suffix(b":").unwrap_or(target).trim_ascii();
        let mut name = String::from_utf8_lossy(target).to_uppercase();
        if !name.starts_with('@') || name.starts_with("@@") {
            // A scope by a word holds for the assignments behind it, too; one behind @@ does not.
            let is_variable = name.starts_with("@@");
            let bare = name.trim_start_matches('@');
            let end = if is_variable { '.' } else { ' ' };
            let (scope, rest) = bare.split_once(end).unwrap_or(("", bare));
            let scope = match scope.trim() {
                "GLOBAL" | "PERSIST" | "PERSIST_ONLY" => Some(true),
                "SESSION" | "LOCAL" => Some(false),
                _ => None,
            };
            let of_this = scope.unwrap_or(is_of_server && !is_variable);
            if !is_variable {
                is_of_server = of_this;
            }
            let rest = if scope.is_some() { rest } else { bare };
            name = rest.trim().replace('`', "");
            return Assignment {
                text,
                name,
                is_of_server: of_this,
                value,
            };
        }
        Assignment {
            text,
            name,
            is_of_server: false,
            value,
        }
    });
    Some(parts.collect())
}

/// The parts between commas that are in no text, comment or parentheses.
fn split(list: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut begin, mut depth) = (0, 0_usize);
    for token in Scanner::new(list, Quoting::default()) {
        match (token.kind, token.text) {
            (TokenKind::Sign, b"(") => depth += 1,
            (TokenKind::Sign, b")") => depth = depth.saturating_sub(1),
            (TokenKind::Sign, b",") if depth == 0 => {
                parts.push(list[begin..token.start].trim_ascii());
                begin = token.end();
            }
            _ => {}
        }
    }
    parts.push(list[begin..].trim_ascii());
    parts
}

/// Whether an assignment reads tables or calls functions, so that it says something else on another connection.
fn is_computed(assignment: &Assignment<'_>) -> bool {
    ExecutedTokens::of(assignment.value, Quoting::default()).any(|token| token.is_sign(b'('))
}

/// What a loader does with a SET.
pub(super) enum Setting {
    /// Nothing of it is of the session.
    None,
    /// This statement, on every connection.
    Session(Vec<u8>),
    /// It computes the value of a user variable: on one connection, in order.
    Computed,
}

/// A mode about GRANT, which MySQL 8 does not know and MariaDB has by default, so that its dumps set it for each trigger
/// and routine.
const GRANT_MODE: &str = "NO_AUTO_CREATE_USER";

/// The assignment as it is sent: without the mode about GRANT.
fn sent(assignment: &Assignment<'_>) -> Vec<u8> {
    let whole = assignment.text;
    let is_grant = |mode: &&[u8]| mode.eq_ignore_ascii_case(GRANT_MODE.as_bytes());
    let (mark, modes) = match assignment.value {
        [mark @ (b'\'' | b'"'), modes @ .., _] if assignment.name == "SQL_MODE" => (*mark, modes),
        _ => return whole.to_vec(),
    };
    let others = modes.split(|it| *it == b',').filter(|it| !is_grant(it));
    let others: Vec<&[u8]> = others.collect();
    // The value is the end of the assignment.
    let mut text = whole[..whole.len() - assignment.value.len()].to_vec();
    text.push(mark);
    text.extend_from_slice(&others.join(&b","[..]));
    text.push(mark);
    text
}

/// What a loader does with a SET: settings of the server, of its transactions and of its binary log are left out.
pub(super) fn setting(statement: &[u8]) -> Option<Setting> {
    let all = assignments(statement)?;
    let is_left_out = |it: &Assignment<'_>| {
        it.is_of_server || ["AUTOCOMMIT", "SQL_LOG_BIN"].contains(&it.name.as_str())
    };
    let kept: Vec<&Assignment<'_>> = all.iter().filter(|it| !is_left_out(it)).collect();
    if kept.is_empty() {
        return Some(Setting::None);
    }
    let is_own = |it: &&Assignment<'_>| it.name.starts_with('@');
    if kept.iter().all(is_own) && kept.iter().any(|it| is_computed(it)) {
        return Some(Setting::Computed);
    }
    let texts: Vec<Vec<u8>> = kept.iter().map(|it| sent(it)).collect();
    if texts.iter().eq(all.iter().map(|it| it.text)) {
        return Some(Setting::Session(statement.to_vec()));
    }
    let (words, is_in_comment) = words_in_comment(statement);
    let mut text = statement[..statement.len() - words.len()].to_vec();
    text.extend_from_slice(b"SET ");
    text.extend_from_slice(&texts.join(&b", "[..]));
    if is_in_comment {
        text.extend_from_slice(b" */");
    }
    Some(Setting::Session(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(statement: &str) -> Option<String> {
        match setting(statement.as_bytes())? {
            Setting::None => Some(String::new()),
            Setting::Session(text) => String::from_utf8(text).ok(),
            Setting::Computed => Some("computed".to_owned()),
        }
    }

    #[test]
    fn only_what_is_not_of_the_session_is_left_out() {
        for (statement, kept) in [
            ("SET NAMES utf8mb4", "SET NAMES utf8mb4"),
            ("SET autocommit=0, unique_checks=0", "SET unique_checks=0"),
            (
                "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, @@SESSION.SQL_LOG_BIN = 0, SQL_MODE='A,B' */",
                "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='A,B' */",
            ),
            ("SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'x:1-5,y:2'", ""),
            (
                "SET GLOBAL a = 1, b = 2, SESSION c = 3",
                "SET SESSION c = 3",
            ),
            ("SET @@global.a = 1, b = 2", "SET b = 2"),
            (
                "SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN",
                "SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN",
            ),
            ("SET @global = '('", "SET @global = '('"),
            (
                "/*!50003 SET sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */",
                "/*!50003 SET sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION' */",
            ),
            (
                "SET autocommit=0, SESSION sql_mode=\"no_auto_create_user\", @a = 'NO_AUTO_CREATE_USER'",
                "SET SESSION sql_mode=\"\", @a = 'NO_AUTO_CREATE_USER'",
            ),
            (
                "/*!50003 */ SET autocommit=0, unique_checks=0",
                "/*!50003 */ SET unique_checks=0",
            ),
            (
                "/*+ x */ SET autocommit=0, unique_checks=0",
                "/*+ x */ SET unique_checks=0",
            ),
            (
                "/*!50003 /* c */ SET autocommit=0, unique_checks=0 */",
                "/*!50003 /* c */ SET unique_checks=0 */",
            ),
            ("SET @a := last_insert_id()", "computed"),
            ("SET @a = (SELECT max(id) FROM t), @b = 1", "computed"),
        ] {
            assert_eq!(session(statement).as_deref(), Some(kept), "{statement}");
        }
        assert_eq!(session("SELECT 1"), None);
    }

    #[test]
    fn assignments_have_names_and_values() {
        let found = assignments(b"/*!50003 SET @saved = @@sql_mode, SESSION `sql_mode` := 'x' */");
        let found: Vec<_> = found
            .unwrap()
            .into_iter()
            .map(|it| (it.name, it.value.to_str_lossy().into_owned()))
            .collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            found,
            [pair("@SAVED", "@@sql_mode"), pair("SQL_MODE", "'x'")]
        );
    }
}
