//! The tables that a benchmark's commands prepare, check and clean up.

use blame::{Blame, Blamed};
use dataset::KnownTable;
use protocol::Endpoint;

use crate::{
    control::{Purpose, control},
    data::{database, known_tables::taken},
};

/// The tables of a benchmark that has commands on them.
pub trait PreparedTables {
    /// The benchmark, as messages call it: `sysbench`.
    fn benchmark(&self) -> &'static str;

    /// Its tables as they can be found in a database, those that refer to others first.
    fn known(&self) -> Vec<KnownTable>;

    /// Statements that drop what else prepare and run make in the database.
    fn drop_beside(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An error where a table of that name is there; `cleanup` is the command that removes the benchmark's.
pub fn refuse_existing(
    tables: &dyn PreparedTables,
    cleanup: &str,
    endpoint: &Endpoint,
) -> Result<(), Blamed> {
    let known = tables.known();
    let found = control(endpoint, async |connection| taken(connection, &known).await)?;
    let Some(first) = found.first() else {
        return Ok(());
    };
    let place = database::name(endpoint);
    let message = format!("table {place}.{} exists already", first.name);
    let hint = if found.iter().all(|found| found.is_known) {
        format!("{cleanup} removes the tables, including those of an interrupted load")
    } else {
        let benchmark = tables.benchmark();
        format!("it does not belong to {benchmark}: name another database with --database")
    };
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// Drops the tables that are there, and returns their names. Where one of them has other columns than the benchmark's,
/// nothing is dropped.
pub fn clean_up(tables: &dyn PreparedTables, endpoint: &Endpoint) -> Result<Vec<String>, Blamed> {
    let names = droppable(tables, endpoint)?;
    let drop_tables = format!("drop table if exists {}", names.join(", "));
    let drop_tables = (!names.is_empty()).then_some(drop_tables);
    Purpose::Change.control(endpoint, async |connection| {
        for sql in drop_tables.into_iter().chain(tables.drop_beside()) {
            connection.query(sql.as_bytes()).await?;
        }
        Ok(())
    })?;
    Ok(names)
}

/// Those of the tables that are there and may be dropped; an error where one of them is not the benchmark's.
pub fn droppable(tables: &dyn PreparedTables, endpoint: &Endpoint) -> Result<Vec<String>, Blamed> {
    let known = tables.known();
    let found = control(endpoint, async |connection| taken(connection, &known).await)?;
    if let Some(other) = found.iter().find(|found| !found.is_known) {
        let (name, benchmark) = (&other.name, tables.benchmark());
        let place = database::name(endpoint);
        let message = format!("{place}.{name}: its columns are not those of {benchmark}");
        let hint = format!(
            "nothing was dropped; name the right database with --database, or drop {name} yourself"
        );
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    Ok(found.into_iter().map(|found| found.name).collect())
}
