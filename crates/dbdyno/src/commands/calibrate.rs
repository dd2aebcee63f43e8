//! `dbdyno calibrate`: measures the client's highest rates on this machine against a null server.

use std::{process::ExitCode, time::Duration};

use benchmarks::calibration::CalibrationGrid;
use blame::{Blame, Blamed};
use runs::signals;
use settings::quantity;

mod table;

use crate::output::Format;

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
    #[arg(long, short, value_name = "N,...", value_delimiter = ',', default_value = "1,8,64,512",
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

pub(crate) fn run(args: CalibrateArgs) -> anyhow::Result<ExitCode> {
    let grid = CalibrationGrid {
        connections: args.connections,
        duration: args.duration,
        loops: args.loops,
    };
    let interrupt = signals::interrupt()?;
    let (calibration, figures) = grid.measure(&interrupt, |cell| eprintln!("{cell}"))?;
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
