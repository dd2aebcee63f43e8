//! Compares the tables with what dbgen makes, and sees that all references hold.

use blame::{Blame, Blamed};
use dataset::tpch::{ScaleFactor, Table, foreign_key_checks, known_tables, table_check};
use protocol::{Connection, Endpoint};
use runs::{
    Context, Length, Purpose, control, database,
    known_tables::{NamesakeTable, taken},
    number,
};

/// What is compared of each table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// The number of its rows.
    Count,
    /// Its rows too, by a checksum.
    Content,
}

/// An error where one of the tables is missing, or has other columns.
pub fn require_tables(endpoint: &Endpoint) -> Result<(), Blamed> {
    let found = control(endpoint, async |connection| {
        taken(connection, &known_tables()).await
    })?;
    let missing = Table::ALL.into_iter().find(|table| {
        let is_it = |found: &NamesakeTable| found.name == table.name() && found.is_known;
        !found.iter().any(is_it)
    });
    let Some(missing) = missing else {
        return Ok(());
    };
    let place = database::name(endpoint);
    let message = format!("{place}: has no table {} of TPC-H", missing.name());
    let hint =
        "dbdyno tpch prepare creates the tables; --database names the database that has them";
    Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
}

/// The scale factor of the tables, by the number of suppliers.
pub fn scale_factor_of(endpoint: &Endpoint) -> Result<ScaleFactor, Blamed> {
    let suppliers = control(endpoint, async |connection| {
        number(connection, "select count(*) from supplier").await
    })?;
    ScaleFactor::of_suppliers(suppliers.unwrap_or_default()).ok_or_else(|| {
        let message = "the number of suppliers matches no scale factor";
        Blamed::new(Blame::Input, message).hint("name it with --scale-factor".to_owned())
    })
}

/// Checks every table, then every reference; `tell` hears the name of each and what is wrong with it.
pub fn check(
    endpoint: &Endpoint,
    scale_factor: ScaleFactor,
    compared: Compared,
    context: &Context,
    tell: &mut dyn FnMut(&str, Option<&str>),
) -> Result<(), Blamed> {
    check_tables(endpoint, scale_factor, compared, context, tell)?;
    let step = context.step("checking the references", Length::Unknown);
    Purpose::Work.control(endpoint, async |connection| {
        for check in foreign_key_checks() {
            step.say(&format!("checking the references of {}", check.key.name));
            let orphans = number(connection, &check.sql).await?.unwrap_or_default();
            let (from, to) = (check.table.name(), check.key.to.name());
            let fault = format!("{orphans} rows of {from} refer to missing rows of {to}");
            tell(check.key.name, (orphans > 0).then_some(&fault));
        }
        Ok(())
    })
}

/// Checks every table as [`check`], and no reference.
pub(super) fn check_tables(
    endpoint: &Endpoint,
    scale_factor: ScaleFactor,
    compared: Compared,
    context: &Context,
    tell: &mut dyn FnMut(&str, Option<&str>),
) -> Result<(), Blamed> {
    let step = context.step("checking the tables", Length::Unknown);
    Purpose::Work.control(endpoint, async |connection| {
        for table in Table::ALL {
            step.say(&format!("checking {}", table.name()));
            let fault = match compared {
                Compared::Count => count_fault(connection, table, scale_factor).await?,
                Compared::Content => content_fault(connection, table, scale_factor).await?,
            };
            tell(table.name(), fault.as_deref());
        }
        Ok(())
    })
}

async fn count_fault(
    connection: &mut Connection,
    table: Table,
    scale_factor: ScaleFactor,
) -> Result<Option<String>, protocol::Error> {
    let sql = format!("select count(*) from {}", table.name());
    let rows = number(connection, &sql).await?.unwrap_or_default();
    Ok(wrong_count(rows, scale_factor.rows(table)))
}

async fn content_fault(
    connection: &mut Connection,
    table: Table,
    scale_factor: ScaleFactor,
) -> Result<Option<String>, protocol::Error> {
    let wanted = table_check(table, scale_factor);
    let sets = connection.rows(&wanted.sql).await?;
    let row = sets.into_iter().flat_map(|set| set.rows).next();
    let numbers: Vec<u64> = row
        .into_iter()
        .flatten()
        .filter_map(|value| String::from_utf8(value?).ok()?.parse().ok())
        .collect();
    Ok(match numbers[..] {
        [rows, checksum] if rows == wanted.rows && checksum == wanted.checksum => None,
        [rows, _] if rows != wanted.rows => wrong_count(rows, wanted.rows),
        _ => Some("its rows are not those of dbgen".to_owned()),
    })
}

fn wrong_count(rows: u64, wanted: u64) -> Option<String> {
    (rows != wanted).then(|| format!("{rows} rows, not {wanted}"))
}
