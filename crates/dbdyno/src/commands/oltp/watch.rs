//! The lines printed during a run, at the report interval.

use std::sync::Arc;

use benchmarks::oltp::{
    Plan,
    layout::{self as sysbench, LineTotals},
};
use load::LoadListener;
use samples::{Interval, Phase, PhaseMark};

use super::options::Format;

/// Prints the intermediate lines of a run.
pub(super) struct Watcher {
    pub(super) plan: Arc<Plan>,
    pub(super) format: Format,
    /// Seconds between two lines; 0 for none.
    pub(super) every_s: u64,
    /// Which percentile a line tells, 0 for none.
    pub(super) percentile: f64,
    pub(super) is_open_loop: bool,
    pub(super) totals: LineTotals,
}

impl Watcher {
    fn line(&mut self, t_s: f64) {
        let now = self
            .totals
            .take(&self.plan, t_s, self.percentile, self.is_open_loop);
        let line = sysbench::intermediate(&now);
        match self.format {
            Format::Sysbench | Format::Text => print!("{line}"),
            // Their output is one document.
            Format::Json | Format::Csv => eprint!("{line}"),
        }
    }
}

impl LoadListener for Watcher {
    fn connected(&mut self, _open: u64, _total: u64) {}

    fn started(&mut self) {
        if self.format == Format::Sysbench {
            print!("{}", sysbench::started());
        }
    }

    fn phase(&mut self, _mark: PhaseMark) {}

    fn interval(&mut self, interval: Interval) {
        if self.every_s == 0 || interval.phase == Phase::Drain {
            return;
        }
        self.totals.add(&interval, self.plan.settings().connections);
        let t_s = interval.t_s + interval.length_s;
        if self.totals.length_s() >= self.every_s as f64 - 0.001 {
            self.line(t_s);
        }
    }
}
