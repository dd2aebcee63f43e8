//! What the first lines of a dump say: its database, and the line with which it ends if it is whole.

use bstr::ByteSlice;

use sqltext::is_only_for_client;

/// Bytes at the end of a dump in which its last line is searched: a hand may have added some statements.
pub const TAIL_BYTES: usize = 4096;

/// First lines of dumps, and the beginnings of their last lines.
const PROGRAMS: [(&str, &str); 3] = [
    ("-- MySQL dump ", "-- Dump completed"),
    ("-- MariaDB dump ", "-- Dump completed"),
    ("-- Dump created by MySQL pump utility", "-- Dump end time"),
];

/// What the first lines of a dump say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DumpHead {
    /// The database: `prod` of `-- Host: localhost    Database: prod`.
    pub database: Option<String>,
    /// The beginning of the last line of a dump that is whole; `None` where the program is not known.
    pub last_line: Option<&'static str>,
}

impl DumpHead {
    /// Reads the comments before the first statement.
    pub fn of(text: &[u8]) -> Self {
        let mut head = Self::default();
        for line in text.lines() {
            // mariadb-dump begins with a comment that only its client reads.
            if line.trim_ascii().is_empty() || is_only_for_client(line) {
                continue;
            }
            if !line.starts_with(b"--") {
                break;
            }
            let program = PROGRAMS
                .iter()
                .find(|(first, _)| line.starts_with(first.as_bytes()));
            if let Some((_, last)) = program {
                head.last_line = Some(last);
            }
            let host = line.strip_prefix(b"-- Host: ");
            let database = host.and_then(|host| host.split_once_str("Database: "));
            // It is empty where all databases were dumped.
            let name = database.map(|(_, name)| name.trim_ascii());
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                head.database = String::from_utf8(name.to_vec()).ok();
            }
        }
        head
    }

    /// The beginning of the line that a dump which ends with these bytes lacks.
    pub(crate) fn missing_last_line(&self, tail: &[u8]) -> Option<&'static str> {
        self.last_line.filter(|line| !tail.contains_str(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_name_the_database_and_the_last_line() {
        let head = |database: Option<&str>, last_line| DumpHead {
            database: database.map(str::to_owned),
            last_line,
        };
        for (text, expected) in [
            (
                "-- MySQL dump 10.13  Distrib 8.0.33, for Linux (x86_64)\n--\n-- Host: localhost    Database: shop-1.0\n-- ---\n",
                head(Some("shop-1.0"), Some("-- Dump completed")),
            ),
            (
                "/*M!999999\\- enable the sandbox mode */ \r\n-- MariaDB dump 10.19  Distrib 10.11\r\n-- Host: db    Database: my shop\r\n",
                head(Some("my shop"), Some("-- Dump completed")),
            ),
            (
                "/*!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19  Distrib 10.11.8-MariaDB\n-- Host: db    Database: shop\n",
                head(Some("shop"), Some("-- Dump completed")),
            ),
            (
                "-- Dump created by MySQL pump utility, version: 8.0.33, Linux (x86_64)\n",
                head(None, Some("-- Dump end time")),
            ),
            (
                "-- MySQL dump 10.13\n-- Host: localhost    Database: \nSELECT 1;\n-- Host: a    Database: b\n",
                head(None, Some("-- Dump completed")),
            ),
            (
                "CREATE TABLE t (a int);\n-- MySQL dump 10.13\n",
                head(None, None),
            ),
        ] {
            assert_eq!(DumpHead::of(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_dump_that_was_cut_off_lacks_its_last_line() {
        let head = DumpHead::of(b"-- MySQL dump 10.13\n");
        for (tail, missing) in [
            ("\n-- Dump completed on 2026-01-02  3:04:05\n", None),
            ("\n-- Dump completed\nCREATE INDEX i ON t (a);\n", None),
            ("(1,'a'),(2,'b');\n", Some("-- Dump completed")),
        ] {
            assert_eq!(head.missing_last_line(tail.as_bytes()), missing, "{tail}");
        }
        assert_eq!(DumpHead::default().missing_last_line(b"SELECT 1;"), None);
    }
}
