//! `dbdyno null-server`: a server that answers every statement without work, to measure clients against.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use files::SocketFile;
use protocol::null_server::{
    Behaviour, ColdStart, CpuDemand, Delay, Dialect, Freeze, InventedRows, NullServer, ReadDemand,
    ServiceLaw, Settings, Stalls, usual_error,
};
use reactor::{Clock, Interrupt, Listener, Reactor};
use runs::{open_files, signals};
use settings::quantity;

/// Interval at which it checks whether the log can be written.
const CHECK_LOG_EVERY: Duration = Duration::from_millis(50);
/// Freeze of a server that never answers: longer than its lifetime.
const NEVER: Duration = Duration::from_secs(100 * 365 * 86_400);
/// Buffer of the log, bytes.
const LOG_BUFFER_BYTES: usize = 256 << 10;

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("address").required(true).multiple(true).args(["socket", "port"]),
    after_help = "\
The server accepts every login with any password, and has no data. It answers statements as follows:
  SELECT from a table, CALL      generated rows
  INSERT, UPDATE, DELETE         a number of changed rows
  LOAD DATA LOCAL                the input is read and discarded
  SET, SHOW, queries about the server itself
                                 an answer without delays or errors

When the server is ready, it prints one line with the addresses on which it listens. SIGINT or SIGTERM ends the server.

Examples:
  dbdyno null-server --socket /tmp/null.sock
  dbdyno null-server --port 3307 --delay exponential:1ms --error-rate 0.01 --error-number 1213
  dbdyno null-server --socket /tmp/null.sock --cpus 2 --cpu-time 500us --reads-per-statement 2.5 --read-iops 3000
  dbdyno null-server --socket /tmp/null.sock --freeze-at 2s --freeze-for 500ms --log statements.log"
)]
pub(crate) struct NullServerArgs {
    /// Listen on this unix socket, which must not exist yet and is removed at the end
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on this TCP port (port 0 selects a free port)
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// With --port: address to listen on
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        requires = "port"
    )]
    bind: IpAddr,
    /// Server to imitate: mariadb or mysql
    #[arg(long, value_name = "NAME", default_value = "mariadb")]
    dialect: DialectName,
    /// Always send EOF packets, as MySQL before 5.7.5 and MariaDB before 10.2 do
    #[arg(long)]
    eof_packets: bool,
    /// Number of rows in each result
    #[arg(long, value_name = "N", default_value_t = 1)]
    rows: u32,
    /// Length of the value in each column, in bytes
    #[arg(long, value_name = "N", default_value_t = 119)]
    row_bytes: u32,
    /// Response time of each statement: a fixed time (1ms), or random times with this mean (exponential:1ms) [default:
    /// none]
    #[arg(long, value_name = "TIME", value_parser = delay)]
    delay: Option<Delay>,
    /// Number of simulated CPUs, each of which executes one statement at a time; further statements wait
    #[arg(long, value_name = "N", requires = "cpu_time", value_parser = clap::value_parser!(u16).range(1..))]
    cpus: Option<u16>,
    /// Simulated CPU time of each statement on one of the --cpus; it uses no real CPU time
    #[arg(long, value_name = "TIME", value_parser = positive_time, requires = "cpus")]
    cpu_time: Option<Duration>,
    /// Time of each statement in a critical section, which only one connection at a time executes
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    serial_time: Option<Duration>,
    /// Mean number of pages that a statement reads; SHOW STATUS counts them
    #[arg(long, value_name = "N", value_parser = amount)]
    reads_per_statement: Option<f64>,
    /// Maximum number of page reads per second of the simulated disk; statements wait for their reads
    #[arg(long, value_name = "N", value_parser = amount, requires = "reads_per_statement")]
    read_iops: Option<f64>,
    /// Additional response time at the start, as with cold caches; --warm-in sets how fast it decays
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "warm_in")]
    cold: Option<Duration>,
    /// Time in which the additional response time of --cold decays to 37 % of its initial value
    #[arg(long, value_name = "TIME", value_parser = positive_time, requires = "cold")]
    warm_in: Option<Duration>,
    /// Interval between the starts of two stalls; during a stall, no statement is answered
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "stall_for")]
    stall_every: Option<Duration>,
    /// Length of each stall that --stall-every causes
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "stall_every")]
    stall_for: Option<Duration>,
    /// Stall once, when this time has passed since the first statement
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "freeze_for")]
    freeze_at: Option<Duration>,
    /// Length of the stall that --freeze-at causes
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "freeze_at")]
    freeze_for: Option<Duration>,
    /// Never answer statements that read or change rows; logins and queries about the server are still answered
    #[arg(long, conflicts_with_all = ["freeze_at", "cpus", "serial_time", "reads_per_statement"])]
    never_answer: bool,
    /// Number of statements that are answered normally before the faults begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    spare: u64,
    /// Share of statements that fail
    #[arg(long, value_name = "0..1", value_parser = share, default_value = "0")]
    error_rate: f64,
    /// Error number of the statements that fail
    #[arg(long, value_name = "N", default_value_t = 1213, requires = "error_rate",
          value_parser = clap::value_parser!(u16).range(1..))]
    error_number: u16,
    /// Share of statements for which the server closes the connection instead of sending an answer
    #[arg(long, value_name = "0..1", value_parser = share, default_value = "0")]
    drop_rate: f64,
    /// Delay before the server reads the data that a client has sent
    #[arg(long, value_name = "TIME", value_parser = duration)]
    read_delay: Option<Duration>,
    /// Random seed for delays, errors and dropped connections
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Maximum number of connections; further connections are refused with error 1040 [default: derived from the limit
    /// on open files]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_connections: Option<u32>,
    /// System variable, and the value that the server reports for it, such as datadir=/srv/db; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    variable: Vec<(String, String)>,
    /// Imitate a limit on a user's connections: if this number is open, further ones are refused with error 1226
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    user_connections: Option<u32>,
    /// Write a line for each statement to this file: the connection, the times of receipt and answer (monotonic clock,
    /// in nanoseconds), the command and the result
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DialectName {
    Mariadb,
    Mysql,
}

pub(crate) fn run(args: NullServerArgs) -> anyhow::Result<ExitCode> {
    let interrupt = signals::silent_interrupt()?;
    let settings = settings(&args)?;
    let reactor = Reactor::new(Clock::System)
        .map_err(|error| Blamed::new(Blame::Machine, format!("event loop: {error}")))?;
    Ok(reactor.run(serve(&args, settings, interrupt))?)
}

fn settings(args: &NullServerArgs) -> Result<Settings, Blamed> {
    let rows = InventedRows {
        rows: args.rows,
        row_bytes: args.row_bytes,
    };
    if !rows.fit(1) {
        let message =
            "--rows and --row-bytes: a value of more than 8 MiB or a result of more than 64 MiB";
        return Err(Blamed::new(Blame::Input, message));
    }
    if args.error_rate + args.drop_rate > 1.0 {
        let message = "--error-rate and --drop-rate: together more than 1";
        return Err(Blamed::new(Blame::Input, message));
    }
    let stalls = match (args.stall_every, args.stall_for) {
        (Some(every), Some(length)) if length >= every => {
            let message = "--stall-for is not shorter than --stall-every: the server would never answer again";
            return Err(Blamed::new(Blame::Input, message));
        }
        (every, length) => every.zip(length),
    };
    let room = u32::try_from(open_files::room_for_connections()).unwrap_or(u32::MAX);
    let max_connections = args.max_connections.unwrap_or(room);
    open_files::provide_for(max_connections.into())?;
    let log = args.log.as_deref().map(open_log).transpose()?;
    Ok(Settings {
        dialect: match args.dialect {
            DialectName::Mariadb => Dialect::MariaDb,
            DialectName::Mysql => Dialect::MySql,
        },
        deprecate_eof: !args.eof_packets,
        rows,
        behaviour: Behaviour {
            delay: args.delay,
            law: service_law(args),
            chill: args
                .cold
                .zip(args.warm_in)
                .map(|(extra, time_constant)| ColdStart {
                    extra,
                    time_constant,
                }),
            stalls: stalls.map(|(every, length)| Stalls { every, length }),
            freeze: freeze(args),
            spare: args.spare,
            error_rate: args.error_rate,
            drop_rate: args.drop_rate,
            read_delay: args.read_delay.unwrap_or_default(),
            seed: args.seed,
        },
        error: usual_error(args.error_number),
        max_connections,
        variables: args.variable.clone(),
        user_connections: args.user_connections,
        log,
    })
}

/// The simulated resources; `None` if no option names one.
fn service_law(args: &NullServerArgs) -> Option<ServiceLaw> {
    let law = ServiceLaw {
        cpu: args
            .cpus
            .zip(args.cpu_time)
            .map(|(cpus, time)| CpuDemand { cpus, time }),
        serial_time: args.serial_time.unwrap_or_default(),
        reads: args.reads_per_statement.map(|per_statement| ReadDemand {
            per_statement,
            iops: args.read_iops,
        }),
    };
    (law != ServiceLaw::default()).then_some(law)
}

fn freeze(args: &NullServerArgs) -> Option<Freeze> {
    if args.never_answer {
        return Some(Freeze {
            at: Duration::ZERO,
            length: NEVER,
        });
    }
    let both = args.freeze_at.zip(args.freeze_for);
    both.map(|(at, length)| Freeze { at, length })
}

fn open_log(path: &Path) -> Result<Box<dyn Write>, Blamed> {
    match File::create(path) {
        Ok(file) => Ok(Box::new(BufWriter::with_capacity(LOG_BUFFER_BYTES, file))),
        Err(error) => {
            let message = format!("--log {}: {error}", path.display());
            Err(Blamed::new(Blame::Input, message))
        }
    }
}

async fn serve(
    args: &NullServerArgs,
    settings: Settings,
    interrupt: Interrupt,
) -> Result<ExitCode, Blamed> {
    let server = NullServer::new(settings);
    let mut addresses = Vec::new();
    let _socket_file = match &args.socket {
        None => None,
        Some(path) => {
            let listener = Listener::bind_unix(path).map_err(|error| refused(path, error))?;
            server.serve(listener, path.to_str());
            addresses.push(path.display().to_string());
            Some(SocketFile::at(path))
        }
    };
    if let Some(port) = args.port {
        let address = SocketAddr::new(args.bind, port);
        let failed = |error| Blamed::new(Blame::Input, format!("{address}: {error}"));
        let listener = Listener::bind_tcp(address).map_err(failed)?;
        let address = listener.tcp_address().unwrap_or(address);
        server.serve(listener, None);
        addresses.push(address.to_string());
    }
    println!("listening on {}", addresses.join(" and "));
    let failed = async {
        while !server.has_failed() {
            reactor::sleep(CHECK_LOG_EVERY).await;
        }
    };
    interrupt.unless_raised(failed).await;
    let logged = server.finish();
    let counters = server.counters();
    let mut summary = format!(
        "{} statements on {} connections (at most {} at a time)",
        counters.statements, counters.connections, counters.most_connected
    );
    for (count, what) in [
        (counters.errors, "failed on purpose"),
        (counters.drops, "dropped on purpose"),
        (counters.refused, "connections refused"),
        (counters.page_reads.unwrap_or(0), "page reads"),
    ] {
        if count > 0 {
            summary.push_str(&format!("; {count} {what}"));
        }
    }
    eprintln!("{summary}");
    let log = args.log.as_deref().unwrap_or(Path::new(""));
    logged.map_err(Blamed::io(Blame::Machine, log))?;
    Ok(ExitCode::SUCCESS)
}

fn refused(path: &Path, error: io::Error) -> Blamed {
    let hint = (error.kind() == io::ErrorKind::AddrInUse).then(|| {
        format!(
            "a server may be using it; if not, an earlier one left it behind: remove {}",
            path.display()
        )
    });
    Blamed::io(Blame::Input, path)(error).hint(hint)
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            Ok((name.to_ascii_lowercase(), value.to_owned()))
        }
        _ => Err("a name and a value, for example read_only=ON".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    quantity::pause(text)
        .ok_or_else(|| format!("a time such as 500ms or 2s; {}", quantity::DURATION_LIMIT))
}

fn positive_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("not above zero".to_owned()),
        time => Ok(time),
    }
}

fn delay(text: &str) -> Result<Delay, String> {
    match text.strip_prefix("exponential:") {
        Some(mean) => duration(mean).map(Delay::Exponential),
        None => duration(text).map(Delay::Fixed),
    }
}

/// A number above zero, such as the reads of a statement or of a second.
fn amount(text: &str) -> Result<f64, String> {
    quantity::rate(text).ok_or_else(|| "not a number above 0 and at most 1000000".to_owned())
}

/// A share of the whole, 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().map_err(|error| format!("{error}"))?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("not from 0 to 1".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays() {
        let ms = Duration::from_millis;
        let cases = [
            ("1ms", Some(Delay::Fixed(ms(1)))),
            ("exponential:2s", Some(Delay::Exponential(ms(2000)))),
            ("exponential:", None),
            ("gauss:1ms", None),
            ("-1ms", None),
            ("5", None),
            ("18446744073709551615s", None),
            ("exponential:600000000000y", None),
        ];
        for (text, expected) in cases {
            assert_eq!(delay(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn positive_times() {
        assert_eq!(positive_time("2s"), Ok(Duration::from_secs(2)));
        assert!(positive_time("0s").is_err() && positive_time("2").is_err());
    }

    #[test]
    fn amounts() {
        assert_eq!(amount("2.5"), Ok(2.5));
        for text in ["0", "-1", "1000001", "3k", "NaN", ""] {
            assert!(amount(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares() {
        for (text, ok) in [
            ("0", true),
            ("1", true),
            ("0.01", true),
            ("1.1", false),
            ("-0.1", false),
            ("NaN", false),
            ("x", false),
        ] {
            assert_eq!(share(text).is_ok(), ok, "{text}");
        }
    }
}
