//! TPC-C's tables as an experiment's data, and its terminals as the load.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use ::load::{Load, LoadListener, Outcome};
use blame::{Blame, Blamed};
use dataset::KnownTable;
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use protocol::Endpoint;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Destination, Driver, LoadResult, OnServer,
    PreparedStatements, PreparedTables, Stage, Work, disk_bytes,
};
use samples::{CheckResult, CheckTime, Deliveries, Line};

use crate::tpcc::{
    conditions::Violation,
    consistency::{checked, describe, require_after_load, violations},
    deliveries::{are_allowed, deliver_rest},
    key_and_think_times::Pacing,
    load_plan::{ExistingSchema, Keys, LoadPlan, known_tables},
    loading::load_all,
    options::{DataOptions, LoadOptions, TpccData, TpccLoad},
    population::Population,
    procedures::drop_procedures,
    tables::Table,
    terminal::{DELIVERED, TerminalPlan},
    terminal_groups::{Database, ON_ERROR, TerminalMode, couriers, group, prepared_statements},
};

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "tpcc";
/// Seed of the rows: that of `dbdyno tpcc prepare` unless told otherwise.
const SEED: u64 = 1;

pub struct Tpcc;

impl Benchmark for Tpcc {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &TpccLoad
    }

    fn prepared_statements(
        &self,
        _run: &PlannedRun,
        load: &PlannedLoad,
    ) -> Result<PreparedStatements, Blamed> {
        let options = LoadOptions::of(&load.spec.source.values);
        let connections = load.spec.connections;
        Ok(prepared_statements(connections, TerminalMode::of(options)))
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let options = LoadOptions::of(&load.spec.source.values);
        let endpoint = stage.server();
        let database = Database::look(endpoint)?;
        let plan = database.plan(database.warehouses, TerminalMode::of(options), load.seed);
        let tables = match &run.data {
            Some(_) => Tables::Loaded,
            None => Tables::Found,
        };
        let terminals = Terminals::new(plan, options.check, tables, endpoint, context)?;
        Ok(Box::new(terminals))
    }
}

impl OnServer for Tpcc {
    fn name(&self, _load: &LoadSpec) -> Result<String, Blamed> {
        Ok(DATABASE.to_owned())
    }

    fn data_maker(&self) -> Option<&dyn DataMaker> {
        Some(self)
    }
}

impl DataMaker for Tpcc {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &TpccData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(TpccTables::of(DataOptions::of(&data.source.values)))
    }
}

impl PreparedTables for Tpcc {
    fn benchmark(&self) -> &'static str {
        "TPC-C"
    }

    fn known(&self) -> Vec<KnownTable> {
        known_tables()
    }

    fn drop_beside(&self) -> Vec<String> {
        drop_procedures()
    }
}

#[derive(Debug, Clone)]
struct TpccTables {
    plan: LoadPlan,
    warehouses: u32,
}

impl TpccTables {
    /// The tables that a run meets.
    fn of(data: DataOptions) -> Self {
        Self {
            plan: LoadPlan {
                population: Population { seed: SEED },
                warehouses: 1..data.warehouses + 1,
                tables: Table::ALL.to_vec(),
                keys: Keys::After,
                foreign_keys: data.foreign_keys,
            },
            warehouses: data.warehouses,
        }
    }
}

impl DataSet for TpccTables {
    /// `TPC-C with 4 warehouses`
    fn name(&self) -> String {
        let plural = if self.warehouses == 1 { "" } else { "s" };
        format!("TPC-C with {} warehouse{plural}", self.warehouses)
    }

    fn tables(&self) -> Vec<KnownTable> {
        let mut tables = known_tables();
        tables.retain(|known| Table::ALL.iter().any(|table| table.name() == known.name));
        tables
    }

    /// Also sees that they are consistent: every run begins with a copy of them.
    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let endpoint = destination.endpoint;
        let loaded = load_all(
            endpoint,
            &self.plan,
            &ExistingSchema::default(),
            None,
            context,
        )?;
        require_after_load(endpoint, context)?;
        Ok(LoadResult {
            rows: loaded.rows,
            disk_bytes: disk_bytes(Table::ALL.into_iter().map(Table::name), endpoint)?,
            took: loaded.elapsed,
        })
    }
}

/// The origin of the tables of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// Loaded for the run, and checked after that.
    Loaded,
    /// They existed, and were not checked.
    Found,
}

pub struct Terminals {
    plan: Arc<TerminalPlan>,
    check: bool,
    tables: Tables,
    /// What was violated before the run.
    before: Vec<Violation>,
    /// What became of the deliveries that were left to the background.
    deferred: RefCell<Option<Deliveries>>,
    /// How long 90 % of them took at most, from when they were queued.
    delivered_p90_s: Cell<Option<f64>>,
}

impl Terminals {
    /// The terminals of a plan; `check` says whether the consistency conditions are checked.
    pub fn new(
        plan: TerminalPlan,
        check: bool,
        tables: Tables,
        endpoint: &Endpoint,
        context: &Context,
    ) -> Result<Self, Blamed> {
        let before = if check && tables == Tables::Found {
            violations(endpoint, false, context)?
        } else {
            Vec::new()
        };
        for violation in &before {
            context.warn(&format!("before the run, {}", describe(violation)));
        }
        Ok(Self {
            plan: Arc::new(plan),
            deferred: RefCell::default(),
            delivered_p90_s: Cell::default(),
            check,
            tables,
            before,
        })
    }

    /// What the terminals share.
    pub fn plan(&self) -> &TerminalPlan {
        &self.plan
    }

    /// The conditions that the run has violated; `tell` hears of them. `None` if they are not checked.
    pub fn violated(
        &self,
        endpoint: &Endpoint,
        context: &Context,
        tell: &mut dyn FnMut(Line),
    ) -> Result<Option<Vec<Violation>>, Blamed> {
        if !self.check {
            return Ok(None);
        }
        let after = violations(endpoint, false, context)?;
        let new = after.iter();
        let new = new.filter_map(|violation| violation.since(&self.before));
        let new: Vec<Violation> = new.collect();
        tell(Line::Checked(checked(CheckTime::End, &new)));
        Ok(Some(new))
    }

    fn is_deferred(&self) -> bool {
        self.plan.deliveries == crate::tpcc::Deliveries::Deferred
    }

    /// An error when deliveries that were left to the background were not executed, or too late.
    fn check_deliveries(&self) -> Result<(), Blamed> {
        let deferred = self.deferred.borrow();
        let is_paced = self.plan.pacing == Pacing::Specification;
        let p90_s = self.delivered_p90_s.get();
        match deferred.as_ref() {
            Some(deliveries) if !are_allowed(deliveries, p90_s, is_paced) => {
                let message = format!(
                    "the run is not valid: {} of {} deferred deliveries were not executed, or 90 % took longer than \
                     80 s (clause 2.7.2.2)",
                    deliveries.left, deliveries.queued
                );
                Err(Blamed::new(Blame::Answer, message))
            }
            _ => Ok(()),
        }
    }

    /// What is known of the tables before the run; `None` if they were not examined.
    fn checked_before(&self) -> Option<CheckResult> {
        match (self.tables, self.check) {
            // What violates a condition there fails the load.
            (Tables::Loaded, _) => Some(checked(CheckTime::Load, &[])),
            (Tables::Found, true) => Some(checked(CheckTime::Start, &self.before)),
            (Tables::Found, false) => None,
        }
    }
}

impl Work for Terminals {
    fn known_before(&self) -> Vec<Line> {
        let checked = self.checked_before().map(Line::Checked);
        checked.into_iter().collect()
    }

    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let group = group(&self.plan, driver.users(), driver.endpoint());
        let mut load = Load {
            // The specification's transactions are tried again until they are in.
            on_refusal: ON_ERROR.on_refusal(),
            on_error: ON_ERROR,
            ..driver.load(group)
        };
        if self.is_deferred() {
            let couriers = couriers(&self.plan, driver.users(), driver.endpoint());
            load.groups.push(couriers);
        }
        let outcome = driver.drive(load, observer)?;
        let mut totals = outcome.totals.iter();
        let delivered = totals.find(|total| total.operation == DELIVERED);
        let p90_ns = delivered.and_then(|total| total.histogram.quantile_ns(0.9));
        self.delivered_p90_s.set(p90_ns.map(|ns| ns as f64 / 1e9));
        Ok(outcome)
    }

    fn known_after(&self, endpoint: &Endpoint, _took_s: f64, context: &Context) -> Vec<Line> {
        if !self.is_deferred() {
            return Vec::new();
        }
        let deliveries = deliver_rest(&self.plan, endpoint, context);
        self.deferred.replace(Some(deliveries.clone()));
        vec![Line::Deliveries(deliveries)]
    }

    /// An error when the run left the database inconsistent, or its inputs were not those of the specification.
    fn check(
        &self,
        endpoint: &Endpoint,
        context: &Context,
        tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed> {
        self.check_deliveries()?;
        let Some(new) = self.violated(endpoint, context, tell)? else {
            return Ok(());
        };
        let inputs = self.plan.tally.total().audit(self.plan.warehouses);
        if let Some(share) = inputs.iter().find(|share| share.is_violated()) {
            let message = format!(
                "the run is not valid: {} {:.4}, which clause 5.5.1.5 requires to be between {} and {}",
                share.what, share.share, share.low, share.high
            );
            return Err(Blamed::new(Blame::Answer, message));
        }
        match new.first() {
            None => Ok(()),
            Some(violation) => {
                let message = format!("the run is not valid: after it, {}", describe(violation));
                Err(Blamed::new(Blame::Answer, message))
            }
        }
    }
}
