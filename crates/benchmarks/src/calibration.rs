//! The calibration: the client's highest rates on this machine, measured against a null server.

mod cell;

use std::time::Duration;

use blame::{Blame, Blamed};
use load::{Arrivals, Process};
use reactor::Interrupt;
use runs::{
    NullProcess,
    calibration::{CalibratedRate, Calibration},
    open_files, utc_now,
};

pub use cell::{Cell, Figures};

/// Rate and connections of the open loop, which measures the send lag.
const OPEN_LOOP: (f64, u32) = (5_000.0, 8);

/// The measurements of a calibration: of each transport, kind of statement and number of connections; and an open loop.
#[derive(Debug, Clone)]
pub struct CalibrationGrid {
    /// Numbers of connections.
    pub connections: Vec<u32>,
    /// Length of each measurement.
    pub duration: Duration,
    /// Number of event loops; `None` derives it from the numbers of connections and CPUs.
    pub loops: Option<u32>,
}

impl CalibrationGrid {
    /// Measures them against a null server of their own; `before` receives each before its measurement.
    pub fn measure(
        &self,
        interrupt: &Interrupt,
        before: impl Fn(&Cell),
    ) -> Result<(Calibration, Vec<Figures>), Blamed> {
        let most = self.connections.iter().copied().max().unwrap_or(1);
        open_files::provide_for(most.into())?;
        let server = NullProcess::start()?;
        let mut figures = Vec::new();
        for cell in self.cells() {
            before(&cell);
            figures.push(cell.measure(&server, interrupt)?);
            if interrupt.is_raised() {
                return Err(Blamed::new(Blame::Interrupted, "interrupted"));
            }
        }
        server.stop()?;
        let closed = figures.iter().filter(|it| it.cell.rate().is_none());
        let calibration = Calibration {
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            measured_at: utc_now(),
            machine: figures[0].machine.clone(),
            reached: closed.map(reached_in).collect(),
        };
        Ok((calibration, figures))
    }

    fn cells(&self) -> Vec<Cell> {
        let cell = |is_unix, is_prepared, connections, arrivals: Arrivals| {
            let loops = self
                .loops
                .unwrap_or_else(|| load::default_loops(connections, &arrivals));
            Cell {
                is_unix,
                is_prepared,
                connections,
                loops: loops.min(connections),
                arrivals,
                duration: self.duration,
            }
        };
        let mut cells = Vec::new();
        for is_unix in [true, false] {
            for is_prepared in [true, false] {
                for &connections in &self.connections {
                    cells.push(cell(is_unix, is_prepared, connections, Arrivals::Closed));
                }
            }
        }
        let (rate_per_s, connections) = OPEN_LOOP;
        let arrivals = Arrivals::Open {
            rate_per_s,
            process: Process::Constant,
        };
        cells.push(cell(true, true, connections, arrivals));
        cells
    }
}

fn reached_in(figures: &Figures) -> CalibratedRate {
    CalibratedRate {
        transport: figures.cell.transport().to_string(),
        connections: figures.cell.connections,
        queries_per_s: figures.queries_per_s,
    }
}
