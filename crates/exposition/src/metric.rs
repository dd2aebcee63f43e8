//! A metric of a running program.

/// Labels of a sample: name and value.
pub type Labels = Vec<(String, String)>;

/// How the values of a metric change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Up and down.
    Gauge,
    /// Only up, from the start of a program.
    Counter,
}

/// A metric of now.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    pub kind: MetricKind,
    /// Its name without the prefix and the unit.
    pub name: String,
    /// Ends the name; empty for a plain number.
    pub unit: &'static str,
    pub help: String,
    /// Labels and value, one for each sample.
    pub samples: Vec<(Labels, f64)>,
}
