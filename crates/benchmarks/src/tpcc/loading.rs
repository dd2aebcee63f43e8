//! Fills the tables of TPC-C, or what of them is missing.

use std::{num::NonZero, thread};

use blame::Blamed;
use dataset::Progress;
use protocol::{Connection, Endpoint};
use runs::{
    Context, Length, Purpose, control, database, population::fill,
    redo_log::switched_off::with_redo_log,
};

use crate::tpcc::{
    load_plan::{ExistingSchema, LOAD_SESSION, LoadPlan},
    notes::{Notes, forget_parts},
};

/// Connections beyond which a load gains nothing.
const PARALLEL_MAX: usize = 8;

/// How `prepare` loads.
#[derive(Debug, Clone, Copy)]
pub struct Loading {
    /// Connections that load at the same time; `None` for one per CPU.
    pub parallel: Option<u32>,
    /// InnoDB's redo log is written meanwhile.
    pub redo_log: bool,
}

/// Makes the database and the tables and loads them, or the rest of a load that was interrupted.
pub fn prepare(
    endpoint: &Endpoint,
    plan: &LoadPlan,
    loading: Loading,
    context: &Context,
) -> Result<Progress, Blamed> {
    database::create(endpoint)?;
    let (found, noted) = look(endpoint)?;
    refuse_what_is_there(endpoint, &found, noted.as_ref(), plan)?;
    if !found.loaded.is_empty() {
        context.note("continuing an interrupted load");
    }
    with_redo_log(loading.redo_log, endpoint, context, || {
        load_all(endpoint, plan, &found, loading.parallel, context)
    })
}

/// Refuses a database with rows that are not the beginning of this very load.
fn refuse_what_is_there(
    endpoint: &Endpoint,
    found: &ExistingSchema,
    noted: Option<&Notes>,
    plan: &LoadPlan,
) -> Result<(), Blamed> {
    let conflict = |what: String, go_on: Option<String>| {
        let drop = "dbdyno tpcc cleanup, with the same connection options, removes it".to_owned();
        Err(database::conflict(endpoint, what).hint(go_on).hint(drop))
    };
    let (warehouses, seed) = (plan.warehouses.end - 1, plan.population.seed);
    if let Some(notes) = noted
        && !found.filled.is_empty()
    {
        if notes.is_complete {
            let what = format!("it is loaded already, with {} warehouses", notes.warehouses);
            return conflict(what, None);
        }
        let (noted_warehouses, noted_seed) = (notes.warehouses, notes.seed);
        if (noted_warehouses, noted_seed) != (warehouses, seed) {
            let what = format!(
                "a load of {noted_warehouses} warehouses with seed {noted_seed} was interrupted there"
            );
            let go_on = format!("--warehouses {noted_warehouses} --seed {noted_seed} continues it");
            return conflict(what, Some(go_on));
        }
    }
    match found.unexplained().next() {
        Some(table) => {
            let what = format!("table {} has rows from another loader", table.name());
            conflict(what, None)
        }
        None => Ok(()),
    }
}

/// What is in the database, and what a load noted there.
pub fn look(endpoint: &Endpoint) -> Result<(ExistingSchema, Option<Notes>), Blamed> {
    control(endpoint, async |connection| {
        let found = ExistingSchema::read(connection).await?;
        Ok((found, Notes::read(connection).await?))
    })
}

/// Loads all tables of all warehouses, or what of them is missing, and notes that they are complete.
pub fn load_all(
    endpoint: &Endpoint,
    plan: &LoadPlan,
    found: &ExistingSchema,
    parallel: Option<u32>,
    context: &Context,
) -> Result<Progress, Blamed> {
    let begun = Notes {
        seed: plan.population.seed,
        last_name_at_load: plan.population.constants().last_name,
        warehouses: plan.warehouses.end - 1,
        is_complete: false,
    };
    Purpose::Change.control(endpoint, async |connection| begun.write(connection).await)?;
    let loaded = load_tables(endpoint, plan, found, parallel, context)?;
    Purpose::Change.control(endpoint, async |connection| {
        let complete = Notes {
            is_complete: true,
            ..begun
        };
        complete.write(connection).await?;
        forget_parts(connection).await
    })?;
    Ok(loaded)
}

/// Loads what is missing and adds the foreign keys; what it reached stays when it fails.
pub fn load_tables(
    endpoint: &Endpoint,
    plan: &LoadPlan,
    found: &ExistingSchema,
    parallel: Option<u32>,
    context: &Context,
) -> Result<Progress, Blamed> {
    let session: Vec<String> = LOAD_SESSION.map(str::to_owned).to_vec();
    let population = dataset::Population {
        endpoint: endpoint.clone(),
        tables: plan.tables(found),
        streams: parallel.unwrap_or_else(default_parallel),
        session,
    };
    let begin = reactor::system_now();
    let loaded = fill(&population, "loading TPC-C", context).map_err(with_going_on)?;
    let step = context.step("adding foreign keys", Length::Unknown);
    Purpose::Work
        .control(endpoint, async |connection| {
            add_foreign_keys(connection, plan, found).await
        })
        .map_err(with_going_on)?;
    drop(step);
    Ok(Progress {
        elapsed: reactor::system_now() - begin,
        ..loaded
    })
}

async fn add_foreign_keys(
    connection: &mut Connection,
    plan: &LoadPlan,
    found: &ExistingSchema,
) -> Result<(), protocol::Error> {
    // Made with the tables, they are there.
    if plan.keys == crate::tpcc::Keys::Before && found.tables.is_empty() {
        return Ok(());
    }
    for sql in LOAD_SESSION {
        connection.query(sql.as_bytes()).await?;
    }
    for sql in plan.foreign_key_statements(found) {
        connection.query(sql.as_bytes()).await?;
    }
    Ok(())
}

fn default_parallel() -> u32 {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    cpus.min(PARALLEL_MAX) as u32
}

fn with_going_on(blamed: Blamed) -> Blamed {
    blamed.hint(
        "the loaded rows are kept: to continue, run the same command again; to start over, run dbdyno tpcc cleanup"
            .to_owned(),
    )
}
