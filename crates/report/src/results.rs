//! What the caller hands over: the question and the run records that answer it.

use samples::{Disturbance, Record};

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
    /// The parts of the question that the author wants answered one by one, in the author's order.
    pub clauses: Vec<Clause>,
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

/// A part of the question.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// What it is about, as the author calls it.
    pub name: String,
    /// Factors and the levels of them that it is about; empty for every combination.
    pub filter: Vec<(String, Vec<String>)>,
    /// What is compared; `None` where the highest throughput is asked for.
    pub compared: Option<verdict::Question>,
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

/// A factor and its levels, both in the author's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Name of the factor.
    pub name: String,
    /// Its levels as text.
    pub levels: Vec<String>,
}

/// Which factor goes where in a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// Factor along the x axis.
    pub x: String,
    /// Factor that makes the lines of one chart.
    pub line: Option<String>,
    /// Factors that make one chart per combination of their levels.
    pub facet: Vec<String>,
    /// What is drawn, in this order: `throughput`, `new_orders_per_min`, `cpu`, `p50`, `p95`, `p99`; empty means all of them.
    pub y: Vec<String>,
}
