//! `dbdyno tpch check`: compares the tables with what dbgen makes, and sees that all references hold.

use std::process::ExitCode;

use protocol::Connection;
use runs::{
    Blame, Blamed, Purpose, control,
    known_tables::{NamesakeTable, taken},
    number,
};
use workload::tpch::{ScaleFactor, Table, foreign_key_checks, known_tables, table_check};

use crate::{connection_options::ConnectionOptions, progress::Step};

/// The tables are not what they should be.
const EXIT_WRONG: u8 = 1;

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// The scale factor that the tables should have; told by the number of suppliers unless given
    #[arg(long, value_name = "F", value_parser = super::target::scale_factor)]
    scale_factor: Option<ScaleFactor>,
    /// Count the rows only, and do not compare their content
    #[arg(long)]
    no_checksums: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let endpoint = super::target::endpoint(&args.connection)?;
    let found = control(&endpoint, async |connection| {
        taken(connection, &known_tables()).await
    })?;
    let missing = Table::ALL.into_iter().find(|table| {
        let is_it = |found: &NamesakeTable| found.name == table.name() && found.is_known;
        !found.iter().any(is_it)
    });
    if let Some(missing) = missing {
        let database = endpoint.database.as_deref().unwrap_or_default();
        let message = format!("{database}: has no table {} of TPC-H", missing.name());
        return Err(Blamed::new(Blame::Input, message)
            .hint(
                "dbdyno tpch prepare makes the tables; --database names where they are".to_owned(),
            )
            .into());
    }
    let scale_factor = match args.scale_factor {
        Some(scale_factor) => scale_factor,
        None => tell_scale_factor(&endpoint)?,
    };
    println!("scale factor {scale_factor}");
    let step = Step::spinner("checking the tables");
    let mut wrong = 0;
    Purpose::Work.control(&endpoint, async |connection| {
        for table in Table::ALL {
            step.say(format!("checking {}", table.name()));
            let fault = if args.no_checksums {
                compare_count(connection, table, scale_factor).await?
            } else {
                compare_content(connection, table, scale_factor).await?
            };
            wrong += u32::from(tell(table.name(), fault));
        }
        for check in foreign_key_checks() {
            step.say(format!("checking the references of {}", check.key.name));
            let orphans = number(connection, &check.sql).await?.unwrap_or_default();
            let fault = (orphans > 0).then(|| {
                let to = check.key.to.name();
                format!(
                    "{orphans} rows of {} refer to nothing in {to}",
                    check.table.name()
                )
            });
            wrong += u32::from(tell(check.key.name, fault));
        }
        Ok(())
    })?;
    Ok(match wrong {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_WRONG),
    })
}

fn tell_scale_factor(endpoint: &protocol::Endpoint) -> Result<ScaleFactor, Blamed> {
    let suppliers = control(endpoint, async |connection| {
        number(connection, "select count(*) from supplier").await
    })?;
    ScaleFactor::of_suppliers(suppliers.unwrap_or_default()).ok_or_else(|| {
        Blamed::new(
            Blame::Input,
            "the number of suppliers is that of no scale factor",
        )
        .hint("name it with --scale-factor".to_owned())
    })
}

/// Prints one line; true for a fault.
fn tell(what: &str, fault: Option<String>) -> bool {
    match &fault {
        None => println!("ok     {what}"),
        Some(fault) => println!("WRONG  {what}: {fault}"),
    }
    fault.is_some()
}

async fn compare_count(
    connection: &mut Connection,
    table: Table,
    scale_factor: ScaleFactor,
) -> Result<Option<String>, protocol::Error> {
    let sql = format!("select count(*) from {}", table.name());
    let rows = number(connection, &sql).await?.unwrap_or_default();
    Ok(count_fault(rows, scale_factor.rows(table)))
}

async fn compare_content(
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
        [rows, _] if rows != wanted.rows => count_fault(rows, wanted.rows),
        _ => Some("its rows are not those of dbgen".to_owned()),
    })
}

fn count_fault(rows: u64, wanted: u64) -> Option<String> {
    (rows != wanted).then(|| format!("{rows} rows, not {wanted}"))
}
