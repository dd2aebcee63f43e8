//! The tables of a .smack file as data of a run: loaded, or found.

use std::sync::Arc;

use blame::{Blame, Blamed};
use dataset::{KnownTable, own_session::open_settled};
use protocol::Endpoint;
use runs::{
    Context, DataSet, Destination, Length, Loaded, Purpose, Step, control, disk_bytes, number, wait,
};
use samples::{Dataset, DatasetState};

use crate::smack::{
    error::Error,
    smack_file::SmackFile,
    table::{Existing, TablePlan},
    table_event::TableEvent,
};

/// The tables of a .smack file.
pub(super) struct SmackTables(pub(super) Arc<SmackFile>);

impl DataSet for SmackTables {
    fn name(&self) -> String {
        self.0.name()
    }

    fn tables(&self) -> Vec<KnownTable> {
        self.0.known_tables()
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        rows: Option<u64>,
        context: &Context,
    ) -> Result<Loaded, Blamed> {
        let rows = rows.expect("the tables of a .smack file have a number of rows");
        load_tables(&self.0, destination.endpoint, rows, context)
    }
}

/// Creates every table of a .smack file with this number of rows; a table that exists is replaced.
fn load_tables(
    smack: &SmackFile,
    endpoint: &Endpoint,
    rows: u64,
    context: &Context,
) -> Result<Loaded, Blamed> {
    let script = smack.with_rows(Some(rows));
    let plans = TablePlan::all(&script, &smack.files());
    let step = context.step(
        &format!("loading {rows} rows of {}", smack.name()),
        Length::Even(rows),
    );
    let begin = reactor::system_now();
    let loaded = wait(async {
        let mut connection = open_settled(endpoint, Purpose::Work.limit())
            .await
            .map_err(|error| error.blamed(&endpoint.address))?;
        for plan in &plans {
            let watch = &mut |event: TableEvent<'_>| show(&*step, &event);
            let made = plan.make_ready(&mut connection, Existing::Replace, watch);
            match context.interrupt.unless_raised(made).await {
                Some(Ok(_)) => {}
                Some(Err(Error::Statement { source, .. })) if source.is_connection_lost() => {
                    return Err(source.blamed(&endpoint.address));
                }
                Some(Err(error)) => return Err(Blamed::from(error)),
                None => return Err(Blamed::new(Blame::Interrupted, "interrupted while loading")),
            }
        }
        Ok(())
    });
    loaded??;
    let took = reactor::system_now() - begin;
    Ok(Loaded {
        rows,
        disk_bytes: disk_bytes(smack.tables(), endpoint)?,
        took,
    })
}

/// The tables of a .smack file as they are there, for a run that takes what it finds; `None` when gen-data makes
/// none of them, so that nothing is known about their keys.
pub(super) fn find_tables(
    smack: &SmackFile,
    endpoint: &Endpoint,
) -> Result<Option<Dataset>, Blamed> {
    let mut found: Option<u64> = None;
    for table in smack.generated_tables() {
        let count = format!("select count(*) from {table}");
        let rows = Purpose::Work
            .control(endpoint, async |connection| {
                number(connection, &count).await
            })
            .map_err(|error| {
                error.hint("a [data] table creates the tables of a .smack file".to_owned())
            })?
            .unwrap_or(0);
        if rows == 0 || found.is_some_and(|other| other != rows) {
            let message =
                format!("table {table} has {rows} rows: its keys are not those of gen-data");
            return Err(
                Blamed::new(Blame::Input, message).hint("a [data] table reloads it".to_owned())
            );
        }
        found = Some(rows);
    }
    let Some(rows) = found else {
        return Ok(None);
    };
    let pool = control(endpoint, async |connection| {
        number(connection, "select @@innodb_buffer_pool_size").await
    })?;
    Ok(Some(Dataset {
        source: smack.name(),
        rows,
        disk_bytes: disk_bytes(smack.tables(), endpoint)?,
        buffer_pool_bytes: pool,
        load_s: None,
        state: DatasetState::Found,
    }))
}

fn show(step: &dyn Step, event: &TableEvent<'_>) {
    match event {
        TableEvent::Sent { rows, .. } => step.reach(*rows),
        TableEvent::ByInsert { reason } => {
            step.note(&format!("loading with INSERT, because of this: {reason}"));
        }
        TableEvent::Adjusted { warnings, first } => {
            step.note(&format!(
                "the server adjusted values ({warnings} warnings): {first}"
            ));
        }
        TableEvent::TooFewRows
        | TableEvent::Creating
        | TableEvent::Populating { .. }
        | TableEvent::Loading { .. }
        | TableEvent::Ready => {}
    }
}
