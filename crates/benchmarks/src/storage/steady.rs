//! Rounds of one pattern until the disk is steady by both criteria of SNIA.

use std::{path::Path, time::Duration};

use blame::Blamed;
use results::storage_results::WrittenStorage;
use runs::Length;
use samples::{Access, Pattern, SteadyRound, StorageLine, StorageMode};
use stats::SteadyWindow;
use storage::Fio;

use super::{
    measured_disk::MeasuredDisk,
    measurement::{Measurement, ResultsPlace},
    plan::Plan,
};

/// SNIA writes the whole capacity twice before.
const FILLS: u32 = 2;

/// Rounds of random requests.
#[derive(Debug, Clone, Copy)]
pub struct SteadyRounds {
    /// Size of the test file, or of the part of the device, bytes.
    pub file_bytes: u64,
    /// Length of each round, seconds.
    pub each_s: u64,
    /// Maximum number of rounds.
    pub rounds_max: u32,
    /// Size of each request, bytes.
    pub block_bytes: u64,
    /// Share of reads, per cent.
    pub reads_percent: u32,
    /// Requests in flight.
    pub depth: u32,
}

impl SteadyRounds {
    /// Measures them, and writes new results.
    pub fn measure(
        self,
        fio: Fio,
        disk: MeasuredDisk,
        results: Option<&Path>,
    ) -> Result<WrittenStorage, Blamed> {
        disk.place.refuse_unless_room(self.file_bytes)?;
        let pattern = self.pattern();
        let plan = Plan {
            mode: StorageMode::Steady,
            file_bytes: self.file_bytes,
            each_s: self.each_s,
            engine: "libaio".to_owned(),
            fio: Some(fio),
            patterns: vec![pattern.clone()],
            repeats: 1,
            writers: Vec::new(),
            left_out: vec!["purge of the disk: a file cannot do it".to_owned()],
        };
        let mut measurement = Measurement::open(disk, plan, ResultsPlace::New(results))?;
        match measure(&mut measurement, &pattern, self.rounds_max) {
            Ok(()) => measurement.finish(),
            Err(error) => Err(measurement.fail(
                error,
                "; a steady state must be measured without interruption",
            )),
        }
    }

    fn pattern(&self) -> Pattern {
        let Self {
            block_bytes,
            reads_percent,
            depth,
            ..
        } = *self;
        Pattern {
            name: format!("round_{block_bytes}_r{reads_percent}_q{depth}"),
            access: Access::Random,
            block_bytes,
            reads_percent,
            depth,
        }
    }
}

/// Rounds until the steady state is reached, or all of them.
fn measure(measurement: &mut Measurement, pattern: &Pattern, rounds: u32) -> Result<(), Blamed> {
    let header = &measurement.record.header;
    let each = Duration::from_secs_f64(header.each_s);
    for _ in 0..FILLS {
        measurement.disk.fill(header.file_bytes, None)?;
    }
    let step = measurement
        .disk
        .context
        .step("rounds", Length::Paced(rounds.into()));
    let mut rates = Vec::new();
    for round in 1..=rounds {
        let at_most = each * (rounds - round + 1);
        step.announce(&format!("round {round} of at most {rounds}"), at_most);
        let result = measurement.measure(pattern)?;
        rates.push(result.iops());
        measurement.append(StorageLine::Round(SteadyRound { round, result }))?;
        step.reach(round.into());
        if SteadyWindow::of(&rates).is_some_and(|it| it.is_steady()) {
            break;
        }
    }
    Ok(())
}
