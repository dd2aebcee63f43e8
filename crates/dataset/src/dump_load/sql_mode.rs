//! Whether a backslash protects the byte behind it, as the SETs of a dump say.

use std::collections::BTreeMap;

use crate::own_data::dump::assignments;

/// The mode NO_BACKSLASH_ESCAPES where sql_mode is a number.
const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;

/// The part of sql_mode that the text of a dump depends on.
#[derive(Debug, Clone)]
pub(super) struct SqlMode {
    pub(super) has_backslashes: bool,
    /// What user variables keep of it.
    saved: BTreeMap<String, bool>,
}

impl Default for SqlMode {
    fn default() -> Self {
        Self {
            has_backslashes: true,
            saved: BTreeMap::new(),
        }
    }
}

impl SqlMode {
    /// Takes over what a statement sets.
    pub(super) fn execute(&mut self, statement: &[u8]) {
        for assignment in assignments(statement).into_iter().flatten() {
            let value = String::from_utf8_lossy(assignment.value).to_uppercase();
            let reads = value.contains("@@SQL_MODE") || value.contains("@@SESSION.SQL_MODE");
            if assignment.name.starts_with('@') {
                if reads {
                    self.saved.insert(assignment.name, self.has_backslashes);
                }
            } else if assignment.name == "SQL_MODE" && !assignment.is_of_server {
                self.has_backslashes = match value.parse::<u64>() {
                    Ok(modes) => modes & NO_BACKSLASH_ESCAPES == 0,
                    Err(_) if value.starts_with('@') && !reads => {
                        self.saved.get(&value).copied().unwrap_or(true)
                    }
                    Err(_) if value.contains("NO_BACKSLASH_ESCAPES") => false,
                    Err(_) => !reads || self.has_backslashes,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_kept_and_put_back() {
        let mut mode = SqlMode::default();
        for (statement, expected) in [
            (
                "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_BACKSLASH_ESCAPES' */",
                false,
            ),
            ("/*!50003 SET @saved_sql_mode       = @@sql_mode */", false),
            (
                "/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES' */",
                true,
            ),
            ("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')", true),
            ("/*!50003 SET sql_mode = @saved_sql_mode */", false),
            ("SET GLOBAL sql_mode = ''", false),
            ("INSERT INTO t VALUES ('SET sql_mode = 0')", false),
            ("SET sql_mode = concat(@@sql_mode, ',ANSI_QUOTES')", false),
            ("/*!40101 SET SQL_MODE=@OLD_SQL_MODE */", true),
            ("SET sql_mode = 1048576", false),
            ("SET sql_mode = DEFAULT", true),
        ] {
            mode.execute(statement.as_bytes());
            assert_eq!(mode.has_backslashes, expected, "{statement}");
        }
    }
}
