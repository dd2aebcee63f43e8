//! What the caller hands over: the question and the run records that answer it.

use samples::{Disturbance, Record};
use settings::{Chart, Factor};

/// One experiment and what its runs recorded.
#[derive(Debug, Clone)]
pub struct Results {
    /// Name of the experiment.
    pub name: String,
    /// The question as the experiment's author asked it; may be empty.
    pub question: String,
    /// The experiment file as run.
    pub experiment_text: String,
    /// The factors in their order.
    pub factors: Vec<Factor>,
    /// What the author wants drawn; `None` leaves the choice to the report.
    pub chart: Option<Chart>,
    /// What the author wants compared.
    pub verdict: Option<verdict::Question>,
    /// One record per run of the plan; of several attempts at one run, the last.
    pub runs: Vec<Record>,
    /// What other work on the machines spoilt.
    pub disturbances: Disturbances,
    /// What the rules of the audit say; `None` where they were not asked.
    pub audit: Option<audit::Audit>,
    /// Number of runs that the plan holds.
    pub planned_runs: u32,
}

impl Results {
    /// The question, or the name of an experiment that asks none.
    pub(crate) fn title(&self) -> &str {
        match self.question.trim() {
            "" => &self.name,
            question => question,
        }
    }
}

/// What other work on the machines spoilt, and from when on it does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disturbances {
    /// User time of other programs above which a run is disturbed, as a share of the machine's CPUs.
    pub others: f64,
    /// Time that the hypervisor gave to others above which a run is disturbed, as a share of the machine's CPUs.
    pub steal: f64,
    /// Runs whose records were set aside and that were done again.
    pub set_aside: Vec<(u32, Disturbance)>,
}
