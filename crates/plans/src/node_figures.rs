//! The figures of a node, as texts for a drawing or a page.

use units::{count, duration, percent_number, si};

use crate::node::Node;

/// Figures of a node in a plan that the server measured; `None` where it did not say one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredFigures {
    /// Rows of one execution, as estimated.
    pub expected: Option<String>,
    /// Rows of one execution.
    pub rows: Option<String>,
    /// Executions; `never` for none.
    pub times: Option<String>,
    /// Time with all below, over all executions.
    pub time: Option<String>,
    /// Time of the node alone, over all executions.
    pub own_time: Option<String>,
}

/// Figures of a node in a plan that is an estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EstimatedFigures {
    /// Rows that are read.
    pub rows: Option<String>,
    /// Percentage of them that the conditions keep.
    pub kept_percent: Option<String>,
    /// Cost in the server's own unit.
    pub cost: Option<String>,
}

impl Node {
    /// What the server measured, beside its estimate.
    pub fn measured_figures(&self) -> MeasuredFigures {
        let expected = self.estimate.rows.map(count);
        let actual = self.actual.unwrap_or_default();
        if actual.loops == Some(0.0) {
            return MeasuredFigures {
                expected,
                rows: None,
                times: Some("never".to_owned()),
                time: None,
                own_time: None,
            };
        }
        let time = |ms: f64| duration(ms * 1e6);
        MeasuredFigures {
            expected,
            rows: actual.rows.map(count),
            times: actual.loops.map(count),
            time: actual.total_ms.or(actual.own_ms).map(time),
            own_time: self.own_ms().map(time),
        }
    }

    pub fn estimated_figures(&self) -> EstimatedFigures {
        let estimate = &self.estimate;
        let percent = |percent: f64| percent_number(percent / 100.0);
        EstimatedFigures {
            rows: estimate.rows.map(count),
            kept_percent: estimate.filtered_percent.map(percent),
            cost: estimate.total_cost.or(estimate.own_cost).map(si),
        }
    }
}
