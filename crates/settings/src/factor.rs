//! The factors of an experiment, and where its charts draw them.

/// A factor with its levels, both in the author's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Name, as in `{name}`.
    pub name: String,
    pub levels: Vec<String>,
}

/// Which factor goes where in the charts; no factor is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// Factor along the x axis.
    pub x: String,
    /// Factor that makes the lines of one chart.
    pub line: Option<String>,
    /// Factors that make one chart per combination of their levels.
    pub facet: Vec<String>,
    /// What is drawn, in this order, of `throughput`, `new_orders_per_min`, `cpu`, `p50`, `p95`, `p99`, and of what an
    /// operation cost `fsyncs`, `misses`, `server_cpu`, `client_cpu`; empty for all of them.
    pub y: Vec<String>,
}
