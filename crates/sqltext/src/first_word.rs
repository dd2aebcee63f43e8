//! Whether a text is SQL at all, by its first word, before an error quotes a file that others may not read.

use std::path::Path;

use super::{Quoting, scanner::Scanner, token::TokenKind};

/// Bytes at the beginning that hold the first word: comments may stand before it.
const HEAD_BYTES: usize = 64 << 10;

/// First words of statements of MySQL and MariaDB, and of the command-line client's commands that files contain.
const FIRST_WORDS: [&str; 63] = [
    "alter",
    "analyze",
    "backup",
    "begin",
    "binlog",
    "cache",
    "call",
    "change",
    "check",
    "checksum",
    "clone",
    "commit",
    "create",
    "deallocate",
    "delete",
    "delimiter",
    "desc",
    "describe",
    "do",
    "drop",
    "execute",
    "explain",
    "flush",
    "grant",
    "handler",
    "help",
    "if",
    "import",
    "insert",
    "install",
    "kill",
    "load",
    "lock",
    "optimize",
    "prepare",
    "purge",
    "release",
    "rename",
    "repair",
    "replace",
    "reset",
    "restart",
    "revoke",
    "rollback",
    "savepoint",
    "select",
    "set",
    "show",
    "shutdown",
    "signal",
    "source",
    "start",
    "stop",
    "table",
    "truncate",
    "uninstall",
    "unlock",
    "update",
    "use",
    "values",
    "while",
    "with",
    "xa",
];

/// The error for a file that is not to be quoted ([`files::is_quotable`]) and begins like no SQL: its text would reach
/// the server, whose error message quotes it. `path` may also be the text of an option, which is no file.
pub fn refuse_foreign_text(path: &Path, text: &[u8]) -> Result<(), String> {
    if files::is_quotable(path) || begins_as_sql(text) {
        return Ok(());
    }
    Err(format!("it is not SQL ({})", files::WITHHELD))
}

fn begins_as_sql(text: &[u8]) -> bool {
    // A command of pgbench, or of the client.
    if text.trim_ascii_start().first() == Some(&b'\\') {
        return true;
    }
    let head = &text[..text.len().min(HEAD_BYTES)];
    let mut tokens = Scanner::new(head, Quoting::default());
    let first = tokens.find(|it| matches!(it.kind, TokenKind::Word | TokenKind::Number));
    // A text without a word has nothing to hide.
    first.is_none_or(|first| FIRST_WORDS.iter().any(|word| first.is_word(word)))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt,
    };

    use super::*;

    #[test]
    fn sql_is_known_by_its_first_word() {
        for text in [
            "SELECT 1",
            "  -- a comment\n(select 1) union (select 2)",
            "/*!40101 SET NAMES utf8 */;\nDROP TABLE t;",
            "-- MariaDB dump\n/*M!999999\\- enable the sandbox mode */\n",
            "\\set id random(1, 10)\nupdate t set a = 1",
            "delimiter //\ncreate procedure p() begin end//",
            "",
        ] {
            assert!(begins_as_sql(text.as_bytes()), "{text}");
        }
        for text in [
            "root:$6$abc:19000:0:99999:7:::",
            "# passwords\nselecta = 1",
            "[client]\npassword = x",
            "12345",
        ] {
            assert!(!begins_as_sql(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn only_what_is_private_and_no_sql_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "").unwrap();
        let refused = |text: &str| refuse_foreign_text(&path, text.as_bytes()).is_err();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(!refused("root:x"));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert!(refused("root:x") && !refused("select 1"));
    }
}
