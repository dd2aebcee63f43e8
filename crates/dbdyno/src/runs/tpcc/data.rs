//! TPC-C's tables as an experiment's data, and its terminals as the load.

use std::sync::Arc;

use ::load::{Group, Interrupt};
use protocol::Endpoint;
use samples::Checked;
use workload::tpcc::{
    Found, Keys, LoadPlan, Population, Table, Terminal, TerminalPlan, Violation,
    options::{DataOptions, LoadOptions},
};

use super::{
    super::table_load::{Loaded, disk_bytes},
    consistency::{checked, describe, violations},
    population::load_all,
    terminals::{Database, group},
};
use crate::blame::{Blame, Blamed};

/// The database of the tables, unless another is named.
pub(crate) const DATABASE: &str = super::database::DATABASE;

/// Seed of the rows: that of `dbdyno tpcc load` unless told otherwise.
const SEED: u64 = 1;

/// The tables of an experiment's data set.
#[derive(Debug, Clone)]
pub(crate) struct TpccTables {
    plan: LoadPlan,
    warehouses: u32,
}

impl TpccTables {
    /// The tables that a run meets.
    pub(crate) fn of(data: DataOptions) -> Self {
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

    /// As the record calls them: `TPC-C with 4 warehouses`.
    pub(crate) fn name(&self) -> String {
        let plural = if self.warehouses == 1 { "" } else { "s" };
        format!("TPC-C with {} warehouse{plural}", self.warehouses)
    }

    /// Makes and fills them, and sees that they are consistent: every run begins with a copy of them.
    pub(crate) fn load(
        &self,
        endpoint: &Endpoint,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Loaded> {
        let loaded = load_all(endpoint, &self.plan, &Found::default(), None, interrupt)?;
        if let Some(violation) = violations(endpoint, true)?.first() {
            let message = format!("right after its load, {}", describe(violation));
            return Err(Blamed::new(Blame::Server, message).into());
        }
        Ok(Loaded {
            rows: loaded.rows,
            disk_bytes: disk_bytes(Table::ALL.into_iter().map(Table::name), endpoint)?,
            took: loaded.elapsed,
        })
    }
}

/// The terminals of one run.
pub(crate) struct Terminals {
    plan: Arc<TerminalPlan>,
    check: bool,
    /// The tables were there, and nobody checked them after their load.
    is_found: bool,
    /// What was violated before the run.
    before: Vec<Violation>,
}

impl Terminals {
    /// The terminals on the tables of a database; `is_found` says that nobody has checked these.
    pub(crate) fn new(
        load: LoadOptions,
        seed: u64,
        endpoint: &Endpoint,
        is_found: bool,
    ) -> anyhow::Result<Self> {
        let database = Database::look(endpoint)?;
        let before = match load.check && is_found {
            true => violations(endpoint, false)?,
            false => Vec::new(),
        };
        for violation in &before {
            eprintln!("warning: before the run, {}", describe(violation));
        }
        Ok(Self {
            plan: Arc::new(database.terminals(database.warehouses, load.pacing, seed)),
            check: load.check,
            is_found,
            before,
        })
    }

    /// So many of them, as the load engine takes them.
    pub(crate) fn group(&self, users: u32, endpoint: &Endpoint) -> Group<Terminal> {
        group(&self.plan, users, endpoint)
    }

    /// What is known of the tables before the run; `None` where nobody looked.
    pub(crate) fn checked_before(&self) -> Option<Checked> {
        match (self.is_found, self.check) {
            // What violates a condition there fails the load.
            (false, _) => Some(checked("load", &[])),
            (true, true) => Some(checked("start", &self.before)),
            (true, false) => None,
        }
    }

    /// An error when the run left the database inconsistent, or its inputs were not those of the specification; `tell`
    /// hears what was found.
    pub(crate) fn check(
        &self,
        endpoint: &Endpoint,
        tell: impl FnOnce(Checked),
    ) -> anyhow::Result<()> {
        if !self.check {
            return Ok(());
        }
        let after = violations(endpoint, false)?;
        let new: Vec<Violation> = after
            .iter()
            .filter_map(|violation| violation.since(&self.before))
            .collect();
        tell(checked("end", &new));
        let inputs = self.plan.tally.total().audit(self.plan.warehouses);
        if let Some(share) = inputs.iter().find(|share| share.is_violated()) {
            let message = format!(
                "the run is not valid: {} {:.4}, which clause 5.5.1.5 wants between {} and {}",
                share.what, share.share, share.low, share.high
            );
            return Err(Blamed::new(Blame::Answer, message).into());
        }
        match new.first() {
            None => Ok(()),
            Some(violation) => {
                let message = format!("the run is not valid: after it, {}", describe(violation));
                Err(Blamed::new(Blame::Answer, message).into())
            }
        }
    }
}
