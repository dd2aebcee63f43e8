//! The databases of a run: one, or several to which the threads are assigned in turn (options m and o).

use std::sync::Arc;

use benchmarks::tpcc::{
    LoadOptions, Terminal, TerminalPlan,
    terminal_groups::{Database, ON_ERROR, TerminalMode, group},
};
use blame::{Blame, Blamed};
use experiment::PlannedLoad;
use load::{Load, LoadListener, OnRefusal, Outcome};
use protocol::Endpoint;
use runs::Driver;

use crate::front_doors::tpcc_start::order_log::{LoggedTerminal, OrderLog};

/// A range of databases: their number, and the number of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SchemaRange {
    pub(super) count: u32,
    pub(super) offset: u32,
}

/// A database with the plan of its terminals.
struct Schema {
    endpoint: Arc<Endpoint>,
    plan: Arc<TerminalPlan>,
}

/// The databases of a run, each with the warehouses that it needs.
pub(super) struct Schemas(Vec<Schema>);

impl Schemas {
    /// Reads the state of each of them, for the threads of this load.
    pub(super) fn look(
        endpoint: &Endpoint,
        several: Option<SchemaRange>,
        warehouses: u32,
        load: &PlannedLoad,
    ) -> Result<Self, Blamed> {
        let endpoints = match several {
            None => vec![endpoint.clone()],
            Some(SchemaRange { count, offset }) => (offset..offset + count)
                .map(|number| Endpoint {
                    database: endpoint
                        .database
                        .as_ref()
                        .map(|name| format!("{name}_{number}")),
                    ..endpoint.clone()
                })
                .collect(),
        };
        let mode = TerminalMode::of(LoadOptions::of(&load.spec.source.values));
        let look = |(endpoint, index): (Endpoint, u64)| {
            let database = Database::look(&endpoint)?;
            if warehouses > database.warehouses {
                let message = format!(
                    "database {}: it has {} warehouses, not {warehouses}",
                    endpoint.database.as_deref().unwrap_or_default(),
                    database.warehouses
                );
                return Err(Blamed::new(Blame::Input, message));
            }
            // Terminals with the same number in two databases have different inputs.
            let seed = load.seed.wrapping_add(index);
            Ok(Schema {
                plan: Arc::new(database.plan(warehouses, mode, seed)),
                endpoint: Arc::new(endpoint),
            })
        };
        let schemas: Result<_, _> = endpoints.into_iter().zip(0..).map(look).collect();
        Ok(Self(schemas?))
    }

    /// Drives the terminals over all of them: thread t has database t mod m, as with the original.
    pub(super) fn drive(
        self,
        driver: &Driver<'_>,
        log: &Arc<OrderLog>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let terminals = group(&self.0[0].plan, driver.users(), driver.endpoint());
        let (log, schemas) = (Arc::clone(log), self.0);
        let make = move |thread: u32| {
            let count = schemas.len() as u32;
            let schema = &schemas[(thread % count) as usize];
            let (plan, endpoint) = (Arc::clone(&schema.plan), Arc::clone(&schema.endpoint));
            let terminal = Terminal::new(plan, endpoint, thread / count);
            LoggedTerminal::new(terminal, Arc::clone(&log), thread)
        };
        let load = Load {
            // Threads of the original that cannot connect end, and the others continue.
            on_refusal: OnRefusal::GoOn,
            on_error: ON_ERROR,
            ..driver.load(terminals.made_by(make))
        };
        driver.drive(load, observer)
    }
}
