//! Terminals whose violations the command reports beside the figures, where they fail a run of an experiment.

use std::cell::RefCell;

use benchmarks::tpcc::{TerminalPlan, Terminals, Violation};
use blame::Blamed;
use load::{LoadListener, Outcome};
use protocol::Endpoint;
use runs::{Context, Driver, Work};
use samples::Line;

/// The terminals, and what their run has violated.
pub(super) struct ReportedTerminals {
    terminals: Terminals,
    /// The check after the run; `None` before it, and if the conditions are not checked.
    found: RefCell<Result<Option<Vec<Violation>>, Blamed>>,
}

impl ReportedTerminals {
    pub(super) fn new(terminals: Terminals) -> Self {
        Self {
            terminals,
            found: RefCell::new(Ok(None)),
        }
    }

    /// What the terminals share.
    pub(super) fn plan(&self) -> &TerminalPlan {
        self.terminals.plan()
    }

    /// The conditions that the run has violated; `None` if they were not checked. Leaves nothing for a second call.
    pub(super) fn found(&self) -> Result<Option<Vec<Violation>>, Blamed> {
        self.found.replace(Ok(None))
    }
}

impl Work for ReportedTerminals {
    fn known_before(&self) -> Vec<Line> {
        self.terminals.known_before()
    }

    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        self.terminals.drive(driver, observer)
    }

    fn known_after(&self, endpoint: &Endpoint, took_s: f64, context: &Context) -> Vec<Line> {
        self.terminals.known_after(endpoint, took_s, context)
    }

    fn check(
        &self,
        endpoint: &Endpoint,
        context: &Context,
        tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed> {
        *self.found.borrow_mut() = self.terminals.violated(endpoint, context, tell);
        Ok(())
    }
}
