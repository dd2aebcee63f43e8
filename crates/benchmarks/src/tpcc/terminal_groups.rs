//! The terminals of a run, as the load engine takes them.

use std::{sync::Arc, time::Duration};

use ::load::{Group, Load, OnError, Stop, WarmUp};
use blame::Blamed;
use protocol::{Connection, Endpoint, NO_SUCH_TABLE};
use runs::{PreparedStatements, control, database, number, steady_judge};

use crate::tpcc::{
    deferred::DeferredDeliveries,
    key_and_think_times::Pacing,
    notes::Notes,
    nurand::Constants,
    tally::SharedTally,
    terminal::{DELIVERED, Deliveries, RoundTrips, Terminal, TerminalPlan, operations, statements},
};

/// Name of the terminals' load in records.
const LOAD: &str = "tpcc";
/// Name of the load of those who deliver in the background.
const COURIERS: &str = "couriers";

/// How terminals take an error: a server may be restarted under them.
pub(super) const ON_ERROR: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(30),
};

/// How terminals run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Number of terminals, each with a connection of its own.
    pub connections: u32,
    /// Event loops, if they are not chosen by the engine.
    pub loops: Option<u32>,
    /// How its warm-up ends.
    pub warm_up: WarmUp,
    /// Length of the measurement.
    pub measured: Duration,
    /// Whether terminals wait as the specification wants.
    pub pacing: Pacing,
    /// Statements one by one, or stored procedures.
    pub round_trips: RoundTrips,
    /// Whether deliveries are deferred.
    pub deliveries: Deliveries,
    /// Seed of what the terminals draw.
    pub seed: u64,
}

/// What a run finds in the database.
#[derive(Debug, Clone, Copy)]
pub struct Database {
    /// Warehouses that are there.
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

    /// The plan of terminals over a number of warehouses.
    pub fn plan(&self, warehouses: u32, settings: &Settings) -> Arc<TerminalPlan> {
        Arc::new(TerminalPlan {
            round_trips: settings.round_trips,
            deliveries: settings.deliveries,
            ..self.terminals(warehouses, settings.pacing, settings.seed)
        })
    }

    /// The plan of terminals that pause so, draw from this seed, send statement by statement and wait for their
    /// deliveries.
    pub fn terminals(&self, warehouses: u32, pacing: Pacing, seed: u64) -> TerminalPlan {
        let at_load = self.notes.map(|notes| notes.last_name_at_load);
        TerminalPlan {
            warehouses,
            constants: Constants::of_run(seed, at_load),
            seed,
            pacing,
            round_trips: RoundTrips::Statements,
            deliveries: Deliveries::Inline,
            deferred: DeferredDeliveries::default(),
            tally: SharedTally::default(),
        }
    }
}

/// A number of terminals, as users of the load engine.
pub(super) fn group(plan: &Arc<TerminalPlan>, users: u32, endpoint: &Endpoint) -> Group<Terminal> {
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

/// The prepared statements of a number of terminals, and of their couriers where they have some.
pub fn prepared_statements(
    terminals: u32,
    deliveries: Deliveries,
    round_trips: RoundTrips,
) -> PreparedStatements {
    let couriers = match deliveries {
        Deliveries::Inline => 0,
        Deliveries::Deferred => couriers_of(terminals),
    };
    PreparedStatements::of(
        terminals.saturating_add(couriers),
        round_trips.prepared_statements(),
    )
}

impl Settings {
    /// The load of terminals with this plan, and of couriers where it has deliveries in the background.
    pub fn load(&self, plan: &Arc<TerminalPlan>, endpoint: &Endpoint) -> Load<Terminal> {
        let mut groups = vec![group(plan, self.connections, endpoint)];
        if plan.deliveries == Deliveries::Deferred {
            groups.push(couriers(plan, self.connections, endpoint));
        }
        let load = Load {
            warm_up: self.warm_up,
            stop: Stop::After(self.measured),
            on_refusal: ON_ERROR.on_refusal(),
            on_error: ON_ERROR,
            ..Load::closed(groups, self.seed, steady_judge::judge)
        };
        load.on_loops(self.loops)
    }
}
