//! Queries about the server itself, which clients send when they connect: SELECT without a table, and SHOW.

use sqltext::{
    Token,
    TokenKind::{Name, Sign, Text, Word},
};

use super::{
    request::tokens,
    variables::{Counters, Identity, is_like},
};

/// A small result: column names and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) names: Vec<Vec<u8>>,
    pub(super) rows: Vec<Vec<Option<Vec<u8>>>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownVariable(pub(super) String);

/// The context of a query: client and server.
pub(super) struct QueryContext<'a> {
    pub(super) identity: &'a Identity,
    pub(super) counters: Counters,
    pub(super) connection_id: u32,
    pub(super) user: &'a [u8],
    pub(super) database: Option<&'a [u8]>,
}

impl QueryContext<'_> {
    /// Answers a SELECT without a table: its list of expressions.
    pub(super) fn values(&self, list: &[u8]) -> Result<Set, UnknownVariable> {
        let (mut names, mut row) = (Vec::new(), Vec::new());
        for item in items(list) {
            names.push(name_of(item));
            row.push(self.value(item)?);
        }
        Ok(Set {
            names,
            rows: vec![row],
        })
    }

    /// Answers a SHOW: variables, status, or an empty set.
    pub(super) fn show(&self, what: &[u8]) -> Set {
        let mut tokens = tokens(what).peekable();
        let scopes = ["global", "session", "local", "full", "count"];
        while tokens
            .next_if(|token| scopes.iter().any(|it| token.is_word(it)))
            .is_some()
        {}
        let kind = tokens.next().filter(|it| it.kind == Word);
        let kind = kind.map_or(&b""[..], |kind| kind.text);
        let all = match kind.to_ascii_lowercase().as_slice() {
            b"variables" => self.identity.variables(),
            b"status" => self.counters.status(),
            b"databases" | b"schemas" => return Set::empty(&["Database"]),
            b"tables" => return Set::empty(&["Tables"]),
            b"warnings" | b"errors" => return Set::empty(&["Level", "Code", "Message"]),
            _ => return Set::empty(&["Value"]),
        };
        // LIKE 'a%', but also WHERE Variable_name = 'a' and IN ('a', 'b').
        let patterns: Vec<&[u8]> = tokens
            .filter(Token::is_quoted)
            .map(|token| token.inner())
            .collect();
        let is_asked = |name: &str| {
            patterns.is_empty() || patterns.iter().any(|it| is_like(name.as_bytes(), it))
        };
        let mut set = Set::empty(&["Variable_name", "Value"]);
        let asked = all.into_iter().filter(|(name, _)| is_asked(name));
        set.rows
            .extend(asked.map(|(name, value)| vec![Some(name.into()), Some(value.into())]));
        set
    }

    /// The value of one expression; its text if it is not recognised.
    fn value(&self, item: &[u8]) -> Result<Option<Vec<u8>>, UnknownVariable> {
        let parts: Vec<_> = tokens(item).map(|it| (it.kind, it.text)).collect();
        let function = |name: &[u8]| self.function(&name.to_ascii_lowercase());
        Ok(match parts[..] {
            [
                (Sign, b"@"),
                (Sign, b"@"),
                (Word, scope),
                (Sign, b"."),
                (Word, name),
                ..,
            ] if is_scope(scope) => Some(self.variable(name)?),
            [(Sign, b"@"), (Sign, b"@"), (Word, name), ..] => Some(self.variable(name)?),
            // A user variable is never set.
            [(Sign, b"@"), ..] => None,
            [(Word, name), (Sign, b"("), (Sign, b")"), ..] => function(name),
            [(Name | Text, _), ..] => tokens(item).next().map(|it| it.unquoted().into_owned()),
            [(Word, word), ..] if word.eq_ignore_ascii_case(b"null") => None,
            [(Word, word), ..] if word.eq_ignore_ascii_case(b"current_user") => function(word),
            _ => {
                let value = item.split(|byte| byte.is_ascii_whitespace());
                Some(
                    value
                        .into_iter()
                        .find(|it| !it.is_empty())
                        .unwrap_or_default()
                        .to_vec(),
                )
            }
        })
    }

    fn variable(&self, name: &[u8]) -> Result<Vec<u8>, UnknownVariable> {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let all = self.identity.variables();
        match all.into_iter().find(|(known, _)| *known == name) {
            // SELECT shows a boolean variable as a number.
            Some((_, value)) if value == "ON" => Ok(b"1".to_vec()),
            Some((_, value)) if value == "OFF" => Ok(b"0".to_vec()),
            Some((_, value)) => Ok(value.into()),
            None => Err(UnknownVariable(name)),
        }
    }

    fn function(&self, name: &[u8]) -> Option<Vec<u8>> {
        match name {
            b"version" => Some(self.identity.version().into()),
            b"connection_id" => Some(self.connection_id.to_string().into()),
            b"database" | b"schema" => self.database.map(<[u8]>::to_vec),
            b"user" | b"current_user" | b"session_user" | b"system_user" => {
                Some([self.user, b"@localhost"].concat())
            }
            _ => Some(b"0".to_vec()),
        }
    }
}

impl Set {
    /// A set without rows.
    pub(super) fn empty(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(|name| name.as_bytes().to_vec()).collect(),
            rows: Vec::new(),
        }
    }

    /// Length of the longest value.
    pub(super) fn length(&self) -> u32 {
        let values = self.rows.iter().flatten().flatten();
        values.map(Vec::len).max().unwrap_or(0) as u32
    }
}

/// The variables with the values that a SET assigns to them globally: `GLOBAL a = 1, GLOBAL b = 'x'`.
pub(super) fn global_assignments(list: &[u8]) -> Vec<(String, String)> {
    let assignments = items(list).into_iter().filter_map(|item| {
        let parts: Vec<Token<'_>> = tokens(item).collect();
        let [scope, name, equals, value] = parts.as_slice() else {
            return None;
        };
        let text = |token: &Token<'_>| String::from_utf8_lossy(&token.unquoted()).into_owned();
        let is_global = scope.is_word("global") && equals.is_sign(b'=');
        is_global.then(|| (text(name), text(value)))
    });
    assignments.collect()
}

fn is_scope(word: &[u8]) -> bool {
    [&b"global"[..], b"session", b"local"]
        .into_iter()
        .any(|scope| word.eq_ignore_ascii_case(scope))
}

/// The items of a list, separated by commas outside of parentheses.
fn items(list: &[u8]) -> Vec<&[u8]> {
    let (mut items, mut begin, mut depth) = (Vec::new(), 0, 0_u32);
    for token in tokens(list) {
        match (token.kind, token.text) {
            (Sign, b"(") => depth += 1,
            (Sign, b")") => depth = depth.saturating_sub(1),
            (Sign, b",") if depth == 0 => {
                items.push(&list[begin..token.start]);
                begin = token.end();
            }
            _ => {}
        }
    }
    items.push(&list[begin..]);
    items
}

/// The alias after AS, or the item itself.
fn name_of(item: &[u8]) -> Vec<u8> {
    let mut tokens = tokens(item).skip_while(|token| !token.is_word("as"));
    let alias = tokens.nth(1).filter(|it| it.kind != Sign);
    alias
        .map_or(item.trim_ascii(), |alias| alias.inner())
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing_greeting::Dialect;

    fn request<T>(question: impl FnOnce(QueryContext<'_>) -> T) -> T {
        let identity = Identity {
            dialect: Dialect::MySql,
            socket: "/tmp/s".into(),
            port: 3307,
            max_connections: 100,
            max_prepared_stmt_count: 10,
            set: Vec::new(),
        };
        question(QueryContext {
            identity: &identity,
            counters: Counters {
                statements: 5,
                ..Counters::default()
            },
            connection_id: 7,
            user: b"me",
            database: None,
        })
    }

    fn text(values: &[Option<Vec<u8>>]) -> Vec<String> {
        let text = |value: &Option<Vec<u8>>| match value {
            None => "NULL".to_owned(),
            Some(value) => String::from_utf8_lossy(value).into_owned(),
        };
        values.iter().map(text).collect()
    }

    #[test]
    fn values_without_a_table() {
        let cases = [
            (" 1", "1", "1"),
            (
                "@@max_allowed_packet, @@GLOBAL.Port",
                "@@max_allowed_packet|@@GLOBAL.Port",
                "67108864|3307",
            ),
            ("@@session.autocommit AS `on?`", "on?", "1"),
            (
                "VERSION(), connection_id() as id",
                "VERSION()|id",
                "8.4.2-null|7",
            ),
            (
                "DATABASE(), USER(), @mine",
                "DATABASE()|USER()|@mine",
                "NULL|me@localhost|NULL",
            ),
            ("'a,b', NULL", "'a,b'|NULL", "a,b|NULL"),
            ("'it''s'", "'it''s'", "it's"),
            (
                "/*+ MRR(t) */ @@port, 'open",
                "/*+ MRR(t) */ @@port|'open",
                "3307|open",
            ),
            (
                "/*!50000 @@port */, 1.5",
                "/*!50000 @@port */|1.5",
                "3307|1.5",
            ),
            ("1+1", "1+1", "1+1"),
            ("", "", ""),
        ];
        for (list, names, values) in cases {
            let set = request(|asker| asker.values(list.as_bytes())).unwrap();
            let found: Vec<_> = set
                .names
                .iter()
                .map(|name| String::from_utf8_lossy(name))
                .collect();
            assert_eq!(found.join("|"), names);
            assert_eq!(text(&set.rows[0]).join("|"), values);
        }
        let unknown = request(|asker| asker.values(b"@@no_such"));
        assert_eq!(unknown, Err(UnknownVariable("no_such".to_owned())));
    }

    #[test]
    fn assignments_of_global_variables() {
        let found =
            global_assignments(b" GLOBAL sync_binlog = 0, global sql_mode='ANSI,X', @a = 1");
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, [("sync_binlog", "0"), ("sql_mode", "ANSI,X")]);
    }

    #[test]
    fn show() {
        let rows = |what: &str| {
            let set = request(|asker| asker.show(what.as_bytes()));
            set.rows
                .iter()
                .map(|row| text(row).join("="))
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(" GLOBAL VARIABLES LIKE 'port'"), ["port=3307"]);
        assert_eq!(
            rows("variables where Variable_name in ('port', 'socket')"),
            ["port=3307", "socket=/tmp/s"]
        );
        assert_eq!(rows("status like 'Que%'"), ["Queries=5", "Questions=5"]);
        assert!(rows("VARIABLES").len() > 30);
        for other in ["warnings", "tables from x", "engines", ""] {
            assert!(rows(other).is_empty(), "{other}");
        }
    }
}
