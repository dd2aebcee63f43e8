//! `dbdyno calibrate`: measures the client's highest rates on this machine against a null server.

use std::{process::ExitCode, time::Duration};

use blame::{Blame, Blamed};
use clap::ValueEnum;
use load::{Arrivals, Process};
use runs::{
    NullProcess,
    calibration::{Calibration, Reached},
    open_files, signals,
};
use settings::quantity;

use crate::commands::calibrate::cell::{Cell, Figures};

mod cell;
mod table;

/// Rate and connections of the open loop, which measures the send lag.
const OPEN_LOOP: (f64, u32) = (5_000.0, 8);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
In a separate process, dbdyno starts a null server, which answers at once and does no work. dbdyno sends single-row
SELECTs to this server, over the unix socket and over TCP, as prepared statements and as text. It then stores the
highest rates. The record of each later run contains the run's throughput as a share of these rates. If the kernel, the
number of CPUs or the dbdyno version has changed since the calibration, the calibration is ignored.

Examples:
  dbdyno calibrate
  dbdyno calibrate --connections 1,64 --duration 3s --format json")]
pub(crate) struct CalibrateArgs {
    /// Numbers of connections; each number is measured separately
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,8,64,512",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: Vec<u32>,
    /// Length of each measurement, such as 500ms or 3s
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    duration: Duration,
    /// Number of event loops (threads that drive the connections) [default: derived from the numbers of connections and
    /// CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    loops: Option<u32>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Print every measurement
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(args: CalibrateArgs) -> anyhow::Result<ExitCode> {
    let most = args.connections.iter().copied().max().unwrap_or(1);
    open_files::provide_for(most.into())?;
    let interrupt = signals::interrupt()?;
    let server = NullProcess::start()?;
    let mut figures = Vec::new();
    for cell in cells(&args) {
        eprintln!("{cell}");
        figures.push(cell.measure(&server, &interrupt)?);
        if interrupt.is_raised() {
            return Err(Blamed::new(Blame::Interrupted, "interrupted").into());
        }
    }
    server.stop()?;
    let machine = figures[0].machine.clone();
    let reached = figures
        .iter()
        .filter(|figures| figures.cell.rate().is_none());
    let calibration = Calibration {
        dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        measured_at: measured_at(),
        machine,
        reached: reached.map(reached_in).collect(),
    };
    match args.format {
        Format::Text if args.verbose => print!("{}", table::text(&figures)),
        Format::Text => print!("{}", table::answer(&figures)),
        Format::Json => println!("{}", table::json(&calibration, &figures)),
    }
    let kept = calibration.keep().map_err(|error| {
        Blamed::new(
            Blame::Machine,
            format!("the calibration cannot be saved: {error}"),
        )
    })?;
    match kept {
        Some(path) => eprintln!("saved for run records: {}", path.display()),
        None => eprintln!("not saved: there is no home directory"),
    }
    Ok(ExitCode::SUCCESS)
}

fn cells(args: &CalibrateArgs) -> Vec<Cell> {
    let loops = |connections, arrivals: &Arrivals| {
        let asked = args
            .loops
            .unwrap_or_else(|| load::default_loops(connections, arrivals));
        asked.min(connections)
    };
    let mut cells = Vec::new();
    for is_unix in [true, false] {
        for is_prepared in [true, false] {
            for &connections in &args.connections {
                let arrivals = Arrivals::Closed;
                cells.push(Cell {
                    is_unix,
                    is_prepared,
                    connections,
                    loops: loops(connections, &arrivals),
                    arrivals,
                    duration: args.duration,
                });
            }
        }
    }
    let (rate_per_s, connections) = OPEN_LOOP;
    let arrivals = Arrivals::Open {
        rate_per_s,
        process: Process::Constant,
    };
    cells.push(Cell {
        is_unix: true,
        is_prepared: true,
        connections,
        loops: loops(connections, &arrivals),
        arrivals,
        duration: args.duration,
    });
    cells
}

fn reached_in(figures: &Figures) -> Reached {
    Reached {
        transport: figures.cell.transport().to_string(),
        connections: figures.cell.connections,
        queries_per_s: figures.queries_per_s,
    }
}

fn measured_at() -> String {
    jiff::Timestamp::try_from(reactor::wall_now())
        .map(|now| now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}

fn duration(text: &str) -> Result<Duration, String> {
    match quantity::duration(text) {
        Some(duration) if duration >= Duration::from_millis(100) => Ok(duration),
        Some(_) => Err("at least 100 ms is needed to measure the CPU time".to_owned()),
        None => Err(format!(
            "a time such as 500ms or 2s; {}",
            quantity::DURATION_LIMIT
        )),
    }
}
