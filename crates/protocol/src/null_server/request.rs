//! Classification of statements for generating their answers.

use sqltext::{ExecutedTokens, Quoting, Token, TokenKind};

/// Largest number of columns; servers have no wider tables.
const COLUMNS_MAX: u16 = 4096;

/// Databases in which a server describes itself; here they are empty.
const SERVERS_OWN: [&str; 2] = ["information_schema", "performance_schema"];

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request<'a> {
    Rows {
        /// Number of items in its select list; `*` counts as one.
        columns: u16,
    },
    /// Values without a table: the text between SELECT and the end of the statement.
    Values(&'a [u8]),
    /// The text after SHOW.
    Show(&'a [u8]),
    /// A statement with an empty result (EXPLAIN, CHECK, a SELECT from the server's own databases).
    Report,
    /// A change of rows, or the start or end of a transaction.
    Change {
        rows: u64,
        /// True for an UPDATE, whose answer contains a text.
        update: bool,
    },
    /// LOAD DATA LOCAL, with the name of the file.
    File(&'a [u8]),
    /// USE with the name of a database.
    Use(&'a [u8]),
    /// SET of global variables: the text after SET.
    SetGlobal(&'a [u8]),
    /// Any other statement, which is answered with OK.
    Done,
}

impl<'a> Request<'a> {
    /// Classifies one statement.
    pub(super) fn of(sql: &'a [u8]) -> Self {
        let mut tokens = tokens(sql);
        // A SELECT may be in parentheses.
        let Some(verb) = tokens.find(|token| !token.is_sign(b'(')) else {
            return Self::Done;
        };
        let is = |keyword: &str| verb.is_word(keyword);
        if is("select") {
            return Self::select(sql, tokens);
        }
        if is("update") {
            return Self::Change {
                rows: 1,
                update: true,
            };
        }
        let changed = |rows| Self::Change {
            rows,
            update: false,
        };
        if is("insert") || is("replace") {
            return changed(inserted(tokens));
        }
        if is("delete") {
            return changed(1);
        }
        let of_transactions = ["begin", "start", "commit", "rollback"];
        if of_transactions.into_iter().any(is) {
            return changed(0);
        }
        if is("show") {
            return Self::Show(&sql[tokens.at()..]);
        }
        if is("set") {
            let assignments = &sql[tokens.at()..];
            let is_global = tokens.next().is_some_and(|scope| scope.is_word("global"));
            return if is_global {
                Self::SetGlobal(assignments)
            } else {
                Self::Done
            };
        }
        if is("load") {
            return local_file(tokens).map_or(changed(0), Self::File);
        }
        if is("use") {
            let name = tokens.next().filter(|token| token.kind != TokenKind::Sign);
            return name.map_or(Self::Done, |name| Self::Use(name.inner()));
        }
        // The result of a procedure is generated as well.
        let one_column = ["with", "table", "values", "call"];
        let reports = [
            "explain", "describe", "desc", "check", "checksum", "analyze", "optimize", "repair",
            "help",
        ];
        if one_column.into_iter().any(is) {
            Self::Rows { columns: 1 }
        } else if reports.into_iter().any(is) {
            Self::Report
        } else {
            Self::Done
        }
    }

    fn select(sql: &'a [u8], mut tokens: ExecutedTokens<'a>) -> Self {
        let begin = tokens.at();
        let (mut columns, mut depth) = (1_u16, 0_u32);
        loop {
            let end = tokens.at();
            let Some(token) = tokens.next() else {
                return Self::Values(&sql[begin..end]);
            };
            match (token.kind, token.text) {
                (TokenKind::Sign, b"(") => depth += 1,
                (TokenKind::Sign, b")") => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                (TokenKind::Sign, b",") => columns = columns.saturating_add(1).min(COLUMNS_MAX),
                _ if token.is_word("from") => {
                    return match tokens.next() {
                        Some(table) if SERVERS_OWN.iter().any(|own| table.is_word(own)) => {
                            Self::Report
                        }
                        _ => Self::Rows { columns },
                    };
                }
                _ => {
                    let mut ends = ["limit", "into", "union"].into_iter();
                    if token.is_sign(b';') || ends.any(|word| token.is_word(word)) {
                        return Self::Values(&sql[begin..end]);
                    }
                }
            }
        }
    }
}

/// The tokens of a statement. The null server has no SQL mode, and so the default quoting.
pub(super) fn tokens(sql: &[u8]) -> ExecutedTokens<'_> {
    ExecutedTokens::of(sql, Quoting::default())
}

/// The number of rows after VALUES, counted by parentheses of the first level; one without VALUES.
fn inserted(tokens: ExecutedTokens<'_>) -> u64 {
    let mut tokens = tokens.skip_while(|token| !token.is_word("values") && !token.is_word("value"));
    if tokens.next().is_none() {
        return 1;
    }
    let (mut rows, mut depth) = (0, 0_u64);
    for token in tokens {
        match (token.kind, token.text) {
            (TokenKind::Sign, b"(") => {
                rows += u64::from(depth == 0);
                depth += 1;
            }
            (TokenKind::Sign, b")") => depth = depth.saturating_sub(1),
            (TokenKind::Sign, b";") if depth == 0 => break,
            // ON DUPLICATE KEY UPDATE, RETURNING and an alias contain no rows.
            (TokenKind::Word, _) if depth == 0 => break,
            _ => {}
        }
    }
    rows.max(1)
}

/// The file of a LOAD DATA LOCAL; `None` if the server itself would read the file.
fn local_file(mut tokens: ExecutedTokens<'_>) -> Option<&[u8]> {
    tokens.find(|token| token.is_word("local"))?;
    tokens.find(|token| token.is_word("infile"))?;
    let file = tokens.next().filter(Token::is_quoted)?;
    Some(file.inner())
}

/// The number of placeholders in a statement.
pub(super) fn parameters(sql: &[u8]) -> usize {
    tokens(sql).filter(|token| token.is_sign(b'?')).count()
}

/// The first statement of a text, and the text after its semicolon (empty if there is none).
pub(super) fn split_first(sql: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = tokens(sql).find(|token| token.is_sign(b';')) else {
        return (sql, b"");
    };
    let rest = &sql[end.end()..];
    let is_last = tokens(rest).next().is_none();
    (&sql[..end.start], if is_last { b"" } else { rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let change = |rows| Request::Change {
            rows,
            update: false,
        };
        let cases = [
            (
                "SELECT c FROM sbtest1 WHERE id=5",
                Request::Rows { columns: 1 },
            ),
            (
                "(select a, f(b, c), d from t) limit 1",
                Request::Rows { columns: 3 },
            ),
            (
                "SELECT (SELECT 1 FROM t), 'from', x FROM u",
                Request::Rows { columns: 3 },
            ),
            (
                "/* hi */ select @@version_comment limit 1",
                Request::Values(b" @@version_comment"),
            ),
            ("SELECT 1", Request::Values(b" 1")),
            ("SELECT 1;", Request::Values(b" 1")),
            ("SELECT f(1", Request::Values(b" f(1")),
            (
                "SELECT name FROM information_schema.innodb_metrics",
                Request::Report,
            ),
            (
                "show variables like 'a%'",
                Request::Show(b" variables like 'a%'"),
            ),
            (
                "UPDATE t SET k=k+1",
                Request::Change {
                    rows: 1,
                    update: true,
                },
            ),
            ("insert into t values (1,'),('),(f(2),3)", change(2)),
            (
                "INSERT INTO t (a) VALUE (1) ON DUPLICATE KEY UPDATE a=VALUES(a)",
                change(1),
            ),
            ("INSERT INTO t SELECT * FROM u", change(1)),
            ("DELETE FROM t", change(1)),
            (
                "LOAD DATA LOCAL INFILE 'x.csv' INTO TABLE t",
                Request::File(b"x.csv"),
            ),
            ("LOAD DATA INFILE 'x.csv' INTO TABLE t", change(0)),
            ("use `a b`", Request::Use(b"a b")),
            ("EXPLAIN SELECT 1", Request::Report),
            (
                "WITH x AS (SELECT 1) SELECT * FROM x",
                Request::Rows { columns: 1 },
            ),
            ("CALL p(1, 2)", Request::Rows { columns: 1 }),
            ("BEGIN", change(0)),
            ("commit", change(0)),
            ("SET NAMES utf8mb4", Request::Done),
            (
                "SET GLOBAL sync_binlog = 0",
                Request::SetGlobal(b" GLOBAL sync_binlog = 0"),
            ),
            ("", Request::Done),
            ("-- nothing", Request::Done),
        ];
        for (sql, expected) in cases {
            assert_eq!(Request::of(sql.as_bytes()), expected, "{sql}");
        }
    }

    #[test]
    fn placeholders_in_quotes_and_comments_are_none() {
        assert_eq!(
            parameters(b"SELECT '?', \"?\", ? /* ? */ FROM `?` WHERE a = ?"),
            2
        );
    }

    #[test]
    fn statements_are_split_at_semicolons() {
        let cases: [(&str, (&str, &str)); 5] = [
            ("a; b;c", ("a", " b;c")),
            ("a ';' b", ("a ';' b", "")),
            ("a;", ("a", "")),
            ("a; -- nothing", ("a", "")),
            ("", ("", "")),
        ];
        for (sql, (first, rest)) in cases {
            assert_eq!(
                split_first(sql.as_bytes()),
                (first.as_bytes(), rest.as_bytes())
            );
        }
    }
}
