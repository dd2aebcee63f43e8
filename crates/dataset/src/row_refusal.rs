//! The row of a statement that a server refuses, as its message names it.

/// What a message says about a refused row.
#[derive(Debug, PartialEq, Eq)]
pub struct RowRefusal<'a> {
    /// The row of the statement, from 1.
    pub row: u64,
    /// The column, without its database and table, if the message names one.
    pub column: Option<&'a str>,
}

impl<'a> RowRefusal<'a> {
    /// Parses messages such as `Data too long for column 'address3' at row 13`; `None` for one without a row.
    pub fn of(message: &'a str) -> Option<Self> {
        let (before, row) = message.rsplit_once(" at row ")?;
        let (digits, _) = row
            .split_once(|it: char| !it.is_ascii_digit())
            .unwrap_or((row, ""));
        // MariaDB names some columns as `db`.`table`.`column`.
        let column = before.rsplit_once("column ").map(|(_, names)| {
            let name = names.rsplit('.').next().unwrap_or(names);
            name.trim_matches(['\'', '`', '"'])
        });
        Some(Self {
            row: digits.parse().ok()?,
            column,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_servers() {
        for (message, row, column) in [
            (
                "Data too long for column 'address3' at row 13",
                13,
                Some("address3"),
            ),
            (
                "Incorrect integer value: 'x' for column `test`.`http_auth`.`uid` at row 7",
                7,
                Some("uid"),
            ),
            (
                "Out of range value for column 'gid' at row 1",
                1,
                Some("gid"),
            ),
            ("Division by 0 at row 2.", 2, None),
        ] {
            assert_eq!(RowRefusal::of(message), Some(RowRefusal { row, column }));
        }
        for message in [
            "Duplicate entry 'a' for key 'PRIMARY'",
            "Row 2 doesn't contain data for all columns",
        ] {
            assert_eq!(RowRefusal::of(message), None);
        }
    }
}
