//! The terminals of a run, as the load engine takes them.

use std::{sync::Arc, time::Duration};

use ::load::{Group, OnError};
use blame::Blamed;
use protocol::{Connection, Endpoint, NO_SUCH_TABLE};
use runs::{PreparedStatements, control, database, number};

use crate::tpcc::{
    deferred::DeferredDeliveries,
    key_and_think_times::Pacing,
    notes::Notes,
    nurand::Constants,
    options::LoadOptions,
    tally::SharedTally,
    terminal::{DELIVERED, Deliveries, RoundTrips, Terminal, TerminalPlan, operations, statements},
};

/// Name of the terminals' load in records.
const LOAD: &str = "tpcc";
/// Name of the load of those who deliver in the background.
const COURIERS: &str = "couriers";

/// How terminals take an error: a server may be restarted under them.
pub const ON_ERROR: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(30),
};

/// How terminals work.
#[derive(Debug, Clone, Copy)]
pub struct TerminalMode {
    /// Whether terminals wait as the specification wants.
    pub pacing: Pacing,
    /// Statements one by one, or stored procedures.
    pub round_trips: RoundTrips,
    /// Whether deliveries are deferred.
    pub deliveries: Deliveries,
}

impl TerminalMode {
    /// That of these options, which send statement by statement.
    pub fn of(options: LoadOptions) -> Self {
        Self {
            pacing: options.pacing,
            round_trips: RoundTrips::Statements,
            deliveries: options.deliveries,
        }
    }
}

/// What a run finds in the database.
#[derive(Debug, Clone, Copy)]
pub struct Database {
    pub warehouses: u32,
    /// What a load by dbdyno noted.
    pub notes: Option<Notes>,
}

impl Database {
    /// Looks into the database; an error where there are no warehouses.
    pub fn look(endpoint: &Endpoint) -> Result<Self, Blamed> {
        let (warehouses, notes) = control(endpoint, async |connection: &mut Connection| {
            let warehouses = match number(connection, "select max(w_id) from warehouse").await {
                Err(error) if error.server_number() == Some(NO_SUCH_TABLE) => None,
                found => found?,
            };
            Ok((warehouses, Notes::read(connection).await?))
        })?;
        match warehouses.and_then(|count| u32::try_from(count).ok()) {
            Some(warehouses) if warehouses > 0 => Ok(Self { warehouses, notes }),
            _ => Err(database::conflict(endpoint, "it has no warehouse").hint(
                "dbdyno tpcc prepare --warehouses W creates and loads the tables".to_owned(),
            )),
        }
    }

    /// The plan of terminals over a number of warehouses, which draw from this seed.
    pub fn plan(&self, warehouses: u32, mode: TerminalMode, seed: u64) -> TerminalPlan {
        let at_load = self.notes.map(|notes| notes.last_name_at_load);
        TerminalPlan {
            warehouses,
            constants: Constants::of_run(seed, at_load),
            seed,
            pacing: mode.pacing,
            round_trips: mode.round_trips,
            deliveries: mode.deliveries,
            deferred: DeferredDeliveries::default(),
            tally: SharedTally::default(),
        }
    }
}

pub fn group(plan: &Arc<TerminalPlan>, users: u32, endpoint: &Endpoint) -> Group<Terminal> {
    let (plan, endpoint) = (Arc::clone(plan), Arc::new(endpoint.clone()));
    Group {
        name: LOAD.to_owned(),
        operations: operations(),
        statements: statements(plan.round_trips),
        users,
        make: Box::new(move |index| Terminal::new(Arc::clone(&plan), Arc::clone(&endpoint), index)),
    }
}

/// Couriers for a number of terminals: deliveries are a sixth of the statements of terminals that never pause.
pub(super) fn couriers(
    plan: &Arc<TerminalPlan>,
    terminals: u32,
    endpoint: &Endpoint,
) -> Group<Terminal> {
    let (plan, endpoint) = (Arc::clone(plan), Arc::new(endpoint.clone()));
    Group {
        name: COURIERS.to_owned(),
        operations: vec![DELIVERED.to_owned()],
        statements: statements(plan.round_trips),
        users: couriers_of(terminals),
        make: Box::new(move |_| Terminal::courier(Arc::clone(&plan), Arc::clone(&endpoint))),
    }
}

fn couriers_of(terminals: u32) -> u32 {
    terminals.div_ceil(4)
}

/// The connections of a number of terminals, and of their couriers where they have some.
pub fn connections(terminals: u32, deliveries: Deliveries) -> u32 {
    match deliveries {
        Deliveries::Inline => terminals,
        Deliveries::Deferred => terminals.saturating_add(couriers_of(terminals)),
    }
}

/// The prepared statements of the same.
pub fn prepared_statements(terminals: u32, mode: TerminalMode) -> PreparedStatements {
    PreparedStatements::of(
        connections(terminals, mode.deliveries),
        mode.round_trips.prepared_statements(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn couriers_are_connections_that_prepare_statements_too() {
        for (deliveries, expected) in [(Deliveries::Inline, 9), (Deliveries::Deferred, 12)] {
            assert_eq!(connections(9, deliveries), expected);
            let mode = TerminalMode {
                pacing: Pacing::None,
                round_trips: RoundTrips::Statements,
                deliveries,
            };
            let prepared = prepared_statements(9, mode);
            assert_eq!(prepared.connections, u64::from(expected));
        }
    }
}
