//! The reason why the server refuses a row, explained in terms of the format that generated it.

use dataset::RowRefusal;
use protocol::Connection;

use super::{Error, error::RefusedRow, gen_data::GenData};

/// The error for a row that the server refused with this message, which counts rows from `rows_before` on.
pub(super) async fn explain(
    connection: &mut Connection,
    table: &str,
    message: String,
    rows_before: u64,
    generator: Option<&GenData>,
) -> Result<Error, Error> {
    let Some(RowRefusal {
        row,
        column: Some(column),
    }) = RowRefusal::of(&message)
    else {
        return Ok(Error::Refused {
            table: table.to_owned(),
            message,
        });
    };
    let (row, column) = (row + rows_before, column.to_owned());
    let sql = format!("show columns from {table}");
    let columns = match connection.rows(&sql).await {
        Ok(sets) => sets.into_iter().next().unwrap_or_default().rows,
        Err(source) => return Err(statement(&sql, source)),
    };
    let position = columns.iter().position(|row| {
        matches!(row.first(), Some(Some(name)) if name.eq_ignore_ascii_case(column.as_bytes()))
    });
    let fields = generator.and_then(|generator| generator.fields().ok());
    let field = position
        .zip(fields.as_deref())
        .and_then(|(position, fields)| fields.get(position));
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
        column,
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
