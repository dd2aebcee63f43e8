//! `dbdyno top`: shows the activity of a server and its load, on a full screen or in plain lines.

use std::{
    io::{IsTerminal, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use monitor::{Feed, RecordFeed, ServerFeed, Viewers};
use runs::{Stage, sample_every, signals, utc_now};
use top::{Model, Palette, Playback, Subject};

mod full_screen;
mod hang_up;
mod keyboard;
mod plain_lines;

use crate::{
    connection_options::{ConnectionOptions, observe_options::ObserveOptions},
    live_view, terminal,
};

/// Default polling interval of a server.
const EVERY: Duration = Duration::from_secs(1);
/// Replay speeds, relative to the recorded speed.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.125..=512.0;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without RECORD, dbdyno top polls the server at the --every interval. It reads SHOW GLOBAL STATUS, the process list,
InnoDB's state and metrics, and performance_schema if it is enabled. It changes nothing on the server, and needs the
PROCESS privilege.

With RECORD (a run record, or a results directory of `dbdyno run` or `dbdyno oltp`), dbdyno top follows a run in
progress, or replays a finished run.

--serve shows the same screen in browsers, and serves metrics for Prometheus at /metrics. The page is read-only and has
no password. Unless ADDRESS is a loopback address, everyone who can reach the address can read the page.

The key q quits, and the key h shows all other keys. With --plain, or if the output is not a terminal, dbdyno top prints
one line for each interval.

Examples:
  dbdyno top --server demo
  dbdyno top results/quickstart-1
  dbdyno top --speed 10 results/oltp-read_write-1/record.jsonl
  dbdyno top --host db1 --user root --every 5s --count 12 > afternoon.txt
  dbdyno top --server demo --serve 127.0.0.1:9104")]
pub(crate) struct TopArgs {
    /// Run record or results directory of the run to follow or replay; without it, the server is watched
    #[arg(value_name = "RECORD")]
    record: Option<PathBuf>,
    /// Interval at which the server is polled, such as 500ms or 5s [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = sample_every, conflicts_with = "record")]
    every: Option<Duration>,
    /// Replay speed, from 0.125 to 512 times the original speed [default: 1; with --plain, as fast as possible]
    #[arg(long, value_name = "FACTOR", value_parser = speed, requires = "record")]
    speed: Option<f64>,
    /// Exit after this many intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Print one line per interval instead of using the full screen of the terminal
    #[arg(long)]
    plain: bool,
    /// Serve the screen to browsers at this address, and metrics for Prometheus at /metrics (port 0 selects a free
    /// port)
    #[arg(long, value_name = "ADDRESS:PORT")]
    serve: Option<String>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    observe: ObserveOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Colour {
    /// Use colours unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Use colours regardless of NO_COLOR and TERM
    Always,
    /// Use no colours
    Never,
}

pub(crate) fn run(args: TopArgs) -> anyhow::Result<ExitCode> {
    let interrupt = signals::silent_interrupt()?;
    let (mut feed, mut model): (Box<dyn Feed>, Model) = match &args.record {
        Some(path) => {
            refuse_server(&args, path)?;
            let (feed, model) = RecordFeed::open(path)?;
            (Box::new(feed), model)
        }
        None => {
            let stage = Stage::of(
                args.connection.endpoint()?,
                args.observe.observe()?,
                &terminal::context()?,
            )?;
            let model = Model::new(Subject {
                name: args.connection.server.as_ref().map_or_else(
                    || stage.server().address.to_string(),
                    |name| format!("server {name}"),
                ),
                version: String::new(),
                started_at: utc_now(),
            });
            let feed = ServerFeed::start(stage, args.every.unwrap_or(EVERY))?;
            (Box::new(feed), model)
        }
    };
    feed.poll(&mut model)?;
    let viewers = args.serve.as_deref().map(viewers).transpose()?;
    if args.plain || !stdout().is_terminal() {
        let paced = args.speed.map(|speed| Playback::new(feed.source(), speed));
        let choices = plain_lines::Choices {
            paced,
            count: args.count,
            every: args.every.unwrap_or(EVERY),
            viewers,
        };
        let written = plain_lines::write_lines(&mut *feed, &mut model, choices, &interrupt);
        if let Some(why) = feed.broken_off() {
            eprintln!("warning: {why}");
        }
        return written;
    }
    let choices = full_screen::Choices {
        palette: palette(args.color),
        every: args.every.unwrap_or(EVERY),
        speed: args.speed.unwrap_or(1.0),
        count: args.count,
        viewers,
    };
    let shown = full_screen::show(&mut *feed, &mut model, &choices, &interrupt);
    if let Some(why) = feed.broken_off() {
        eprintln!("warning: {why}");
    }
    shown
}

/// Serves the screen at an address as the user wrote it.
fn viewers(wanted: &str) -> Result<Viewers, Blamed> {
    let server = live_view::bind("--serve", wanted)?;
    let (viewers, site) = Viewers::of_a_site();
    live_view::start(server, move || site)?;
    Ok(viewers)
}

/// An error if both a record and a server are named.
fn refuse_server(args: &TopArgs, path: &Path) -> Result<(), Blamed> {
    let observes = args.observe.observe()?.is_some();
    if !args.connection.names_a_server() && !observes {
        return Ok(());
    }
    let message = format!("{}: a record is replayed without a server", path.display());
    Err(Blamed::new(Blame::Input, message)
        .hint("leave out the connection options, or the record".to_owned()))
}

/// Parses the value of `--speed`.
fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text
        .parse()
        .map_err(|_| "a number, for example 10 or 0.5".to_owned())?;
    if SPEEDS.contains(&speed) {
        Ok(speed)
    } else {
        Err(format!("from {} to {}", SPEEDS.start(), SPEEDS.end()))
    }
}

fn palette(colour: Colour) -> Palette {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match colour {
        Colour::Always => Palette::coloured(),
        Colour::Never => Palette::plain(),
        Colour::Auto if is_set("NO_COLOR") || is_dumb => Palette::plain(),
        Colour::Auto => Palette::coloured(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_has_limits() {
        assert_eq!(speed("10"), Ok(10.0));
        assert_eq!(speed("0.5"), Ok(0.5));
        for text in ["0", "-1", "1e9", "fast", "NaN"] {
            assert!(speed(text).is_err(), "{text}");
        }
    }
}
