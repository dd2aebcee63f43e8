//! The reason why the server refuses a row, explained in terms of the format that generated it.

use protocol::Connection;

use super::{Error, error::RefusedRow, gen_data::GenData};

/// A row that the server refuses.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    /// From 1.
    row: u64,
    column: String,
}

impl Refusal {
    /// Parses messages such as `Data too long for column 'address3' at row 13`.
    fn of(message: &str) -> Option<Self> {
        let (_, row) = message.rsplit_once("at row ")?;
        let digits: String = row.chars().take_while(char::is_ascii_digit).collect();
        let (_, column) = message.rsplit_once("column ")?;
        // MariaDB names some columns as `db`.`table`.`column`.
        let (name, _) = column.split_once(" at row ")?;
        let name = name.rsplit('.').next().unwrap_or(name);
        Some(Self {
            row: digits.parse().ok()?,
            column: name.trim_matches(['\'', '`', '"']).to_owned(),
        })
    }
}

/// The error for a row that the server refused with this message, which counts rows from `rows_before` on.
pub(super) async fn explain(
    connection: &mut Connection,
    table: &str,
    message: String,
    rows_before: u64,
    generator: Option<&GenData>,
) -> Result<Error, Error> {
    let Some(refusal) = Refusal::of(&message) else {
        return Ok(Error::Refused {
            table: table.to_owned(),
            message,
        });
    };
    let sql = format!("show columns from {table}");
    let columns = match connection.rows(&sql).await {
        Ok(sets) => sets.into_iter().next().unwrap_or_default().rows,
        Err(source) => return Err(statement(&sql, source)),
    };
    let position = columns.iter().position(|row| {
        matches!(row.first(), Some(Some(name)) if name.eq_ignore_ascii_case(refusal.column.as_bytes()))
    });
    let fields = generator.and_then(|generator| generator.fields().ok());
    let field = position
        .zip(fields.as_deref())
        .and_then(|(position, fields)| fields.get(position));
    let row = refusal.row + rows_before;
    let (cause, remedy) = match field {
        Some(field) => (field.cause(), field.remedy()),
        None => (
            format!("it is line {row} of the data"),
            "make the column fit the data, or the data the column".to_owned(),
        ),
    };
    Ok(Error::Row(Box::new(RefusedRow {
        table: table.to_owned(),
        row,
        column: refusal.column,
        message,
        cause,
        remedy,
    })))
}

fn statement(sql: &str, source: protocol::Error) -> Error {
    Error::Statement {
        sql: sql.to_owned(),
        source,
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
                "address3",
            ),
            (
                "Incorrect integer value: 'x' for column `test`.`http_auth`.`uid` at row 7",
                7,
                "uid",
            ),
            ("Out of range value for column 'gid' at row 1", 1, "gid"),
        ] {
            let refusal = Refusal::of(message).unwrap();
            assert_eq!((refusal.row, refusal.column.as_str()), (row, column));
        }
        assert_eq!(Refusal::of("Duplicate entry 'a' for key 'PRIMARY'"), None);
        assert_eq!(
            Refusal::of("Row 2 doesn't contain data for all columns"),
            None
        );
    }
}
