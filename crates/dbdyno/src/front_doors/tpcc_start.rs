//! `tpcc_start`: the load generator of tpcc-mysql by its command line and output, on dbdyno's engine.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use benchmarks::tpcc::{
    TpccLoad,
    layout::Transactions,
    operations,
    tpcc_mysql_layout::{self as tpcc_mysql, FinalReport},
};
use blame::{Blame, Blamed};
use experiment::{LoadSpec, PlannedLoad};
use load::{LoadListener, Termination, WarmUp};
use samples::{Interval, Phase, PhaseMark};
use settings::{Chosen, OptionTable, Value, defaults, quantity};

mod order_log;
mod schemas;

use order_log::OrderLog;
use runs::{Context, Driver, LoadRules, RunOutcome, shortcoming, signals};
use schemas::{SchemaRange, Schemas};

use crate::{
    front_doors::tpcc_arguments::{Arguments, Tool},
    output::unless_closed,
    seed::fresh_seed,
};

const TOOL: Tool = Tool {
    name: "tpcc_start",
    letters: "hPduwpcrliftmoS01234",
    positions: "hdupwcrl",
    complete_after: &[8],
    usage: "Usage: tpcc_start -h server_host -P port -d database_name -u mysql_user -p mysql_password -w warehouses \
            -c connections -r warmup_time -l running_time -i report_interval -f report_file -t trx_file\n   or: tpcc_start [server[:port]] [DB] \
            [user] [pass] [warehouse] [connection] [rampup] [measure]",
};

/// Limits of the response times, seconds.
const LIMITS_S: [u32; 5] = [5, 5, 5, 80, 20];

/// The parameters of a call.
struct RunOptions {
    warehouses: u32,
    connections: u32,
    ramp_up_s: u32,
    running_s: u32,
    /// Seconds between two periodic lines.
    interval_s: u32,
    limits_s: [u32; 5],
    /// Several databases instead of one.
    several: Option<SchemaRange>,
}

/// Its options, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    TOOL.definition()
}

/// Runs tpcc_start with the arguments after its name.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    print!("{}", tpcc_mysql::generator_banner());
    let arguments = TOOL.parse(args)?;
    arguments.print();
    let wanted = wanted(&arguments)?;
    let mut endpoint = TOOL.endpoint(&arguments)?;
    endpoint.database.get_or_insert_with(|| "tpcc".to_owned());
    print!(
        "{}",
        tpcc_mysql::parameters(&parameters(&arguments, &wanted))
    );
    let load = load(&wanted);
    let schemas = Schemas::look(&endpoint, wanted.several, wanted.warehouses, &load)?;
    let log = Arc::new(OrderLog::create(arguments.text('f'), arguments.text('t'))?);
    let context = Context::silent(signals::interrupt()?);
    print!("{}", tpcc_mysql::ramp_up(wanted.ramp_up_s));
    let mut watcher = Watcher::new(wanted.interval_s, Arc::clone(&log));
    let rules = LoadRules::of_command(&load.spec);
    let driver = Driver::unrecorded(endpoint, &load, rules, &context);
    let outcome = schemas.drive(&driver, &log, &mut watcher)?;
    let report = FinalReport {
        transactions: &watcher.total,
        errors: &outcome.errors,
        limits_s: wanted.limits_s,
        measured_s: watcher.total.measured_s.round() as u32,
        connections: wanted.connections,
    };
    print!("{}", report.text());
    unless_closed(io::stdout().flush())?;
    footnotes();
    log.finish()?;
    Ok(match outcome.ended {
        Termination::Planned => match shortcoming([RunOutcome::from(&outcome)]) {
            Some(error) => return Err(error.into()),
            None => ExitCode::SUCCESS,
        },
        Termination::Interrupted => ExitCode::from(Blame::Interrupted as u8),
        Termination::ServerLost(failure) => {
            let message = format!("the server went away: {failure}");
            return Err(Blamed::new(Blame::Server, message).into());
        }
        Termination::Failed { operation, failure } => {
            let message = format!("{operation}: error {}: {failure}", failure.number);
            return Err(Blamed::new(Blame::Server, message).into());
        }
    })
}

fn wanted(arguments: &Arguments) -> Result<RunOptions, Blamed> {
    let number = |letter, default| TOOL.number(arguments, letter, default);
    let mut limits_s = LIMITS_S;
    for (limit, letter) in limits_s.iter_mut().zip('0'..='4') {
        *limit = number(letter, *limit)?;
    }
    let wanted = RunOptions {
        warehouses: number('w', 1)?,
        connections: number('c', 10)?,
        ramp_up_s: number('r', 10)?,
        running_s: number('l', 20)?,
        interval_s: number('i', 10)?,
        limits_s,
        several: match (number('m', 0)?, number('o', 0)?) {
            (0, _) => None,
            (count, offset) => Some(SchemaRange { count, offset }),
        },
    };
    let counts = [
        ('w', wanted.warehouses),
        ('c', wanted.connections),
        ('i', wanted.interval_s),
    ];
    if let Some((letter, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
        return Err(TOOL.misuse(&format!("option {letter}: at least 1")));
    }
    let times = [
        ('r', wanted.ramp_up_s),
        ('l', wanted.running_s),
        ('i', wanted.interval_s),
    ];
    let too_long = |seconds: u32| Duration::from_secs(seconds.into()) > quantity::DURATION_AT_MOST;
    if let Some((letter, _)) = times.into_iter().find(|(_, seconds)| too_long(*seconds)) {
        let limit_s = quantity::DURATION_AT_MOST.as_secs();
        return Err(TOOL.misuse(&format!("option {letter}: at most {limit_s} seconds")));
    }
    if wanted.running_s < wanted.interval_s {
        return Err(TOOL
            .misuse("option l: shorter than the interval of option i, nothing would be measured"));
    }
    Ok(wanted)
}

/// The load, as an experiment has it.
fn load(wanted: &RunOptions) -> PlannedLoad {
    let mut values = defaults(TpccLoad.options());
    values.set("delivery", Value::Choice("inline"));
    let source = Chosen {
        kind: &TpccLoad as _,
        values,
    };
    // Complete intervals only.
    let measured_s = wanted.running_s / wanted.interval_s * wanted.interval_s;
    let measured = Duration::from_secs(measured_s.into());
    PlannedLoad {
        spec: LoadSpec {
            warmup: WarmUp::fixed(Duration::from_secs(wanted.ramp_up_s.into())),
            ..LoadSpec::closed(source, wanted.connections, measured)
        },
        // Two consecutive runs send different values, as with the original.
        seed: fresh_seed(),
    }
}

fn parameters(arguments: &Arguments, wanted: &RunOptions) -> Vec<(&'static str, String)> {
    let shown = |letter| arguments.shown(letter).to_owned();
    let port = arguments.text('P').unwrap_or("3306").to_owned();
    let database = arguments.text('d').unwrap_or("tpcc").to_owned();
    vec![
        ("server", shown('h')),
        ("port", port),
        ("DBname", database),
        ("user", shown('u')),
        ("pass", shown('p')),
        ("warehouse", wanted.warehouses.to_string()),
        ("connection", wanted.connections.to_string()),
        ("rampup", format!("{} (sec.)", wanted.ramp_up_s)),
        ("measure", format!("{} (sec.)", wanted.running_s)),
    ]
}

/// Prints the intentional differences from the original's figures.
fn footnotes() {
    eprintln!(
        "note: the limits in parentheses are in seconds, and averages, percentiles and rt cover only the measured \
         time; tpcc-mysql compared its limits with milliseconds and included the ramp-up in its averages. This is a \
         TPC-C-like result, not a TPC result"
    );
}

/// Prints the periodic lines.
struct Watcher {
    interval_s: u32,
    /// Transactions since the last line.
    period: Transactions,
    total: Transactions,
    printed_s: u32,
    log: Arc<OrderLog>,
}

impl Watcher {
    fn new(interval_s: u32, log: Arc<OrderLog>) -> Self {
        let none = Transactions::new(&operations());
        Self {
            interval_s,
            period: none.clone(),
            total: none,
            printed_s: 0,
            log,
        }
    }

    fn print(text: &str) {
        print!("{text}");
        // Flushed so that the line is visible at once.
        let _ = io::stdout().flush();
    }
}

impl LoadListener for Watcher {
    fn connected(&mut self, _open: u64, _total: u64) {}

    fn started(&mut self) {}

    fn phase(&mut self, mark: PhaseMark) {
        if mark.phase == Phase::Measurement {
            Self::print(tpcc_mysql::MEASURING);
        }
    }

    fn interval(&mut self, interval: Interval) {
        self.total.add(&interval);
        self.period.add(&interval);
        if self.period.measured_s > f64::from(self.interval_s) - 0.5 {
            self.printed_s += self.interval_s;
            self.log.printed(self.printed_s);
            Self::print(&tpcc_mysql::periodic(self.printed_s, &self.period));
            self.period = Transactions::new(&operations());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted_of(line: &str) -> Result<RunOptions, String> {
        let args = line.split_whitespace().map(OsString::from);
        let arguments = TOOL.parse(args).map_err(|error| error.to_string())?;
        wanted(&arguments).map_err(|error| error.message)
    }

    #[test]
    fn the_command_lines_of_the_articles() {
        let found =
            wanted_of("-h localhost -d tpcc -u root -p pw -w 400 -c 10 -r 60 -l 600").unwrap();
        let figures = [
            found.warehouses,
            found.connections,
            found.ramp_up_s,
            found.running_s,
        ];
        assert_eq!((figures, found.interval_s), ([400, 10, 60, 600], 10));
        let found = wanted_of("db1:3307 tpcc root pw 20 16 10 60").unwrap();
        let figures = [
            found.warehouses,
            found.connections,
            found.ramp_up_s,
            found.running_s,
        ];
        assert_eq!((figures, found.limits_s), ([20, 16, 10, 60], LIMITS_S));
        assert_eq!(found.several, None);
        let several = wanted_of("-m 2 -o 3 -f rt.txt -t trx.txt").unwrap().several;
        assert_eq!(
            several,
            Some(SchemaRange {
                count: 2,
                offset: 3
            })
        );
        assert_eq!(
            wanted_of("-0 10 -3 100").unwrap().limits_s,
            [10, 5, 5, 100, 20]
        );
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        for (line, what) in [
            ("-m x", "option m: 'x' is not a number"),
            ("-c 0", "option c: at least 1"),
            ("-l 5", "shorter than the interval"),
            ("-r 2592001", "option r: at most 2592000 seconds"),
            ("-l 4294967295", "option l: at most 2592000 seconds"),
            ("-h", "option requires an argument -- 'h'"),
        ] {
            let message = wanted_of(line).err().unwrap();
            assert!(message.contains(what), "{line}: {message}");
        }
    }
}
