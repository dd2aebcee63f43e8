//! The sizes of tables, as estimated in information_schema.

use protocol::{Connection, Error};
use samples::{Edge, TableSize, TableSizes};

use super::{answer::Answer, questioner::Questioner, total::total};

/// Maximum number of tables in a record.
const TABLES_AT_MOST: usize = 50;
/// Databases of the server itself.
const OWN: &str = "'mysql', 'information_schema', 'performance_schema', 'sys'";

/// The selected databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemas<'a> {
    /// All databases except the server's own.
    OfUsers,
    /// All databases, including the server's own.
    All,
    /// This one, whichever it is.
    One(&'a str),
}

/// The tables of these databases that the account may see, largest first.
///
/// They are estimates; MySQL 8 caches them for a day, so the cache is bypassed. Errors are those of the connection.
pub async fn table_sizes(
    connection: &mut Connection,
    schemas: Schemas<'_>,
) -> Result<Vec<TableSize>, Error> {
    match connection.query(FRESH.as_bytes()).await {
        // Servers without this cache do not have its variable.
        Ok(_) | Err(Error::Server(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(sizes(&Answer::to(connection, &sql(&place(schemas))).await?))
}

/// The condition that chooses the databases.
fn place(schemas: Schemas<'_>) -> String {
    match schemas {
        Schemas::OfUsers => format!("table_schema NOT IN ({OWN})"),
        Schemas::All => "TRUE".to_owned(),
        Schemas::One(database) => {
            let mut name = Vec::new();
            protocol::escape_into(database.as_bytes(), &mut name);
            format!("table_schema = '{}'", String::from_utf8_lossy(&name))
        }
    }
}

const FRESH: &str = "SET SESSION information_schema_stats_expiry = 0";

/// All types that contain rows: besides base tables, MariaDB has system-versioned tables and sequences.
fn sql(place: &str) -> String {
    format!(
        "SELECT table_schema AS s, table_name AS t, engine AS e, table_rows AS r, avg_row_length AS l, \
         data_length AS d, index_length AS i, data_free AS f FROM information_schema.tables \
         WHERE table_type NOT IN ('VIEW', 'SYSTEM VIEW') AND {place} ORDER BY data_length + index_length DESC, s, t"
    )
}

fn sizes(answer: &Answer) -> Vec<TableSize> {
    let tables = answer.rows().map(|row| TableSize {
        schema: row.text("s"),
        table: row.text("t"),
        engine: row.text("e"),
        rows: row.number("r"),
        row_bytes: row.number("l"),
        data_bytes: row.number("d"),
        index_bytes: row.number("i"),
        free_bytes: row.number("f"),
    });
    tables.collect()
}

/// The sizes for a record; `None` if the server refuses the query.
pub(crate) async fn recorded(
    questioner: &mut Questioner,
    at: Edge,
) -> Result<Option<TableSizes>, Error> {
    // Refused by servers without this cache.
    let _ = questioner.try_ask(FRESH).await?;
    let question = sql(&place(Schemas::OfUsers));
    let Some(answer) = questioner.ask("table sizes", &question).await? else {
        return Ok(None);
    };
    let mut tables = sizes(&answer);
    let all_bytes = total(tables.iter().map(TableSize::all_bytes));
    let left_out = tables.len().saturating_sub(TABLES_AT_MOST) as u64;
    tables.truncate(TABLES_AT_MOST);
    Ok(Some(TableSizes {
        at,
        tables,
        left_out,
        all_bytes,
    }))
}
