//! Preparation of a .smack file's tables, with the original's messages.

use std::io::IsTerminal;

use benchmarks::smack::{DataFiles, Existing, Script, TableEvent, TablePlan};
use blame::Blamed;
use dataset::own_session::open_settled;
use runs::{Purpose, wait};

use crate::{front_doors::super_smack::endpoints::Endpoints, progress::Step};

/// Checks every table and creates those with too few rows.
pub(super) fn make_ready(
    script: &Script,
    files: &DataFiles,
    endpoints: &Endpoints,
) -> anyhow::Result<()> {
    for plan in TablePlan::all(script, files) {
        let endpoint = endpoints.of(plan.client);
        let mut progress = None;
        wait(async {
            let of_server = |error: protocol::Error| error.blamed(&endpoint.address);
            let limit = Purpose::Work.limit();
            let opened = open_settled(endpoint, limit).await;
            let mut connection = opened.map_err(of_server)?;
            let watch = &mut |event: TableEvent<'_>| show(&plan.table, &event, &mut progress);
            plan.make_ready(&mut connection, Existing::KeepIfEnough, watch)
                .await
                .map_err(Blamed::from)?;
            connection.close().await.map_err(of_server)
        })??;
    }
    Ok(())
}

fn show(table: &str, event: &TableEvent<'_>, progress: &mut Option<Step>) {
    match event {
        TableEvent::TooFewRows => {
            println!("Table '{table}' does not meet conditions, will be dropped");
        }
        TableEvent::Creating => println!("Creating table '{table}'"),
        TableEvent::Populating { path, command } => println!(
            "Populating data file '{}' with shell command '{command}'",
            path.display()
        ),
        TableEvent::Loading { path: Some(path) } => println!(
            "Loading data from file '{}' into table '{table}'",
            path.display()
        ),
        TableEvent::Loading { path: None } => {
            println!("Loading generated rows into table '{table}'");
        }
        TableEvent::ByInsert { reason } => {
            eprintln!("note: table '{table}' is loaded with INSERT, because of this: {reason}");
        }
        TableEvent::Sent { rows, of } => {
            if let Some(of) = of
                && std::io::stderr().is_terminal()
            {
                progress
                    .get_or_insert_with(|| Step::bar(format!("loading '{table}'"), *of))
                    .reach(*rows);
            }
        }
        TableEvent::Adjusted { warnings, first } => eprintln!(
            "warning: the server adjusted values of table '{table}' ({warnings} warnings), the first: {first}"
        ),
        TableEvent::Ready => {
            *progress = None;
            println!("Table {table} is now ready for the test");
        }
    }
}
