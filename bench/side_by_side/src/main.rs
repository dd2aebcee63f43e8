//! The design side by side on real servers: false differences, time to decide, truth, and all beside a noisy neighbour.

mod answer;
mod costly_server;
mod design;
mod equal_servers;
mod figures;
mod neighbour;
mod null_pair;
mod settings;
mod spread;
mod store;
mod time_to_decide;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use harness::{machine, page};

use crate::{
    costly_server::Cost,
    equal_servers::EqualServers,
    figures::{difference, failures},
    neighbour::{Neighbour, be_neighbour},
    settings::Settings,
    store::{Outcome, Store},
    time_to_decide::{Race, Servers, TimeToDecide},
};

/// Comparisons of the calibration.
const CALIBRATIONS: usize = 3;
/// How much longer a decision may take beside a neighbour.
const SLOWER_BESIDE_AT_MOST: f64 = 2.0;

/// Accuracy and speed of the design side by side; measure.sh builds dbdyno and calls this.
#[derive(Debug, Parser)]
struct Options {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Compare equal servers: how often a difference is found, and how wide the intervals are
    Aa {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        equal: EqualServers,
    },
    /// Time until a true difference of 5 % is decided, beside the classical design
    Decide {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        time: TimeToDecide,
    },
    /// Compare eight settings for a minute, and by long steady runs
    Truth {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        settings: Settings,
    },
    /// The same as aa and, with MariaDB, decide, beside a process that takes 0 to 100 % of a core
    Neighbour {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        time: TimeToDecide,
        #[command(flatten)]
        equal: EqualServers,
    },
    /// Be the neighbour
    #[command(hide = true)]
    BeNeighbour {
        #[arg(long)]
        seed: u64,
    },
}

/// What is measured, and where everything is kept.
#[derive(Debug, clap::Args)]
struct Place {
    #[arg(long, value_name = "PROGRAM")]
    dbdyno: PathBuf,
    /// Directory for sockets, which must exist
    #[arg(long, value_name = "DIR")]
    work: PathBuf,
    /// Directory with all comparisons; those that it has are not made again
    #[arg(long, value_name = "DIR", default_value = "results/side_by_side")]
    results: PathBuf,
    /// Seed of the comparisons and of the neighbour
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1_000_000_000))]
    seed: u64,
    /// Put the results between the part's marks of this page, instead of on stdout
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

fn main() -> Result<()> {
    match Options::parse().part {
        Part::Aa { place, equal } => place.publish("aa", |place| place.equal_servers(&equal)),
        Part::Decide { place, time } => place.publish("decide", |place| place.decisions(time)),
        Part::Truth { place, settings } => {
            place.publish("truth", |place| place.true_differences(&settings))
        }
        Part::Neighbour { place, time, equal } => {
            place.publish("neighbour", |place| place.beside_a_neighbour(time, &equal))
        }
        Part::BeNeighbour { seed } => {
            be_neighbour(seed);
            Ok(())
        }
    }
}

impl Place {
    /// Measures a part, and puts its results on the page or on stdout.
    fn publish(&self, part: &str, measure: impl FnOnce(&Self) -> Result<String>) -> Result<()> {
        let mark = format!("side_by_side_{part}");
        if let Some(path) = &self.into {
            // Before hours of work rather than after them.
            page::replaced(&read(path)?, &mark, "")?;
        }
        let load_before = machine::load_average();
        let results = measure(self)?;
        let results = format!(
            "{}. Seed {}; load average {load_before} before and {} after.\n\n{results}",
            machine::describe(),
            self.seed,
            machine::load_average(),
        );
        match &self.into {
            None => println!("{results}"),
            Some(path) => fs::write(path, page::replaced(&read(path)?, &mark, &results)?)?,
        }
        Ok(())
    }

    fn store(&self, comparisons: usize) -> Result<Store> {
        Store::open(&self.dbdyno, &self.results, &self.work, comparisons)
    }

    fn equal_servers(&self, equal: &EqualServers) -> Result<String> {
        let planned = usize::from(equal.comparisons);
        let mut store = self.store(planned)?;
        let outcomes = equal.measure(&mut store, "aa", self.seed)?;
        store.finish();
        Ok(version(outcomes.first())
            + &equal_servers::table(&outcomes)
            + &failures(outcomes.len(), planned))
    }

    fn decisions(&self, time: TimeToDecide) -> Result<String> {
        let planned = 4 * usize::from(time.rounds);
        let mut store = self.store(planned + CALIBRATIONS)?;
        let cost = costly_server::calibrate(&mut store, self.seed)?;
        let null = time.measure(&mut store, "decide/null", Servers::Null, self.seed)?;
        let maria_db = self.quiet_race(&mut store, time, cost)?;
        store.finish();
        let races = [
            ("null servers", &null, None),
            ("MariaDB", &maria_db, Some(cost.ratio.estimate)),
        ];
        let targets = [null.target("null servers"), maria_db.target("MariaDB")];
        let made = null.made() + maria_db.made();
        Ok(version(first_of(&maria_db))
            + &time_to_decide::table(&races)
            + &calibrated(cost)
            + "\n"
            + &page::targets(&targets)
            + &failures(made, planned))
    }

    fn true_differences(&self, settings: &Settings) -> Result<String> {
        let mut store = self.store(Settings::COMPARISONS)?;
        let compared = settings.measure(&mut store, self.seed)?;
        store.finish();
        Ok(settings::table(&compared))
    }

    fn beside_a_neighbour(&self, time: TimeToDecide, equal: &EqualServers) -> Result<String> {
        let (decided, compared) = (2 * usize::from(time.rounds), usize::from(equal.comparisons));
        let mut store = self.store(CALIBRATIONS + 2 * decided + compared)?;
        // The cost and the times without a neighbour, unless the store has them.
        let cost = costly_server::calibrate(&mut store, self.seed)?;
        let quiet = self.quiet_race(&mut store, time, cost)?;
        let neighbour = Neighbour::start(self.seed)?;
        let outcomes = equal.measure(&mut store, "neighbour/aa", self.seed)?;
        let servers = Servers::MariaDb(cost);
        let noisy = time.measure(&mut store, "neighbour/decide", servers, self.seed)?;
        drop(neighbour);
        store.finish();
        let truth = Some(cost.ratio.estimate);
        let races = [
            ("MariaDB beside the neighbour", &noisy, truth),
            ("MariaDB alone", &quiet, truth),
        ];
        let slower = "time to decide side by side, beside the neighbour / alone".to_owned();
        let targets = [
            noisy.slower_than(&quiet, slower, SLOWER_BESIDE_AT_MOST),
            noisy.target("MariaDB beside the neighbour"),
        ];
        let made = outcomes.len() + noisy.made() + quiet.made();
        Ok(version(outcomes.first())
            + &equal_servers::table(&outcomes)
            + "\n"
            + &time_to_decide::table(&races)
            + &calibrated(cost)
            + "\n"
            + &page::targets(&targets)
            + &failures(made, compared + 2 * decided))
    }

    /// The comparisons of MariaDB without a neighbour, which two parts need.
    fn quiet_race(&self, store: &mut Store, time: TimeToDecide, cost: Cost) -> Result<Race> {
        time.measure(store, "decide/mariadb", Servers::MariaDb(cost), self.seed)
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn first_of(race: &Race) -> Option<&Outcome> {
    race.outcomes(design::Design::SideBySide).next()
}

/// A line with the version of the server.
fn version(outcome: Option<&Outcome>) -> String {
    let version = outcome.and_then(|it| it.answer.server_version.as_deref());
    version.map_or(String::new(), |it| format!("Server {it}.\n\n"))
}

/// A line with the calibrated cost.
fn calibrated(cost: Cost) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\nMariaDB: {} hashes in each transaction change throughput by {} % (two sessions of 60 s for each server).",
        cost.hashes,
        difference(Some(cost.ratio)),
    );
    text
}
