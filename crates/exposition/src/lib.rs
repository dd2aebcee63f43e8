//! Metrics as OpenMetrics text 1.0, the exposition format of Prometheus and compatible programs.
//!
//! Only gauges, counters and summaries are used, so that programs that know only Prometheus's older text format can
//! read it as well. The crate prometheus-client supports neither summaries nor metrics of finished runs.

mod encoding;
mod metric;

pub use encoding::{Family, document, extended};
pub use metric::{Labels, Metric, MetricKind};
