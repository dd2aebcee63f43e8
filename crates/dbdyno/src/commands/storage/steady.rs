//! `dbdyno storage steady`: rounds until the disk is steady by both criteria of SNIA.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use blame::{Blame, Blamed};
use runs::Length;
use samples::{Access, Pattern, SteadyRound, StorageLine, StorageMode};
use stats::{STEADY_ROUNDS, STEADY_ROUNDS_AT_MOST, SteadyWindow};
use storage::Fio;

use super::{
    destroy::DestroyArgs,
    ground::{CommonArgs, Ground, Plan},
    session::Session,
    values,
};

/// SNIA writes the whole capacity twice before.
const FILLS: u32 = 2;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
First, the whole file is written twice. Then the requests (--block, --reads, --depth) run in rounds of equal length. The
disk is steady when the rates of the last five rounds meet two conditions (SNIA SSS PTS 2.0.2):
  - the difference between the highest and the lowest rate is less than 20 % of the mean rate
  - a line fitted to the rates rises or falls by less than 10 % of the mean rate

Do not compare the figures with a drive's SNIA figures: a file is not the whole disk, and the disk is not purged before
the measurement.

If the disk is not steady after --rounds rounds, the exit code is 1. An interrupted measurement cannot be resumed,
because the rounds must follow each other without a pause.

Example:
  dbdyno storage steady /data --size 16G")]
pub(super) struct SteadyArgs {
    /// Directory on the disk to measure; with --destroy, a raw device
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Size of the test file; with --destroy, size of the part of the device that is overwritten and measured
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = values::file_bytes)]
    size: u64,
    /// Length of each round, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = values::seconds)]
    seconds: u64,
    /// Maximum number of rounds
    #[arg(long, value_name = "N", default_value_t = STEADY_ROUNDS_AT_MOST as u32,
        value_parser = clap::value_parser!(u32).range(STEADY_ROUNDS as i64..=1000))]
    rounds: u32,
    /// Size of each request, such as 16k
    #[arg(long, value_name = "SIZE", default_value = "16k", value_parser = values::block_bytes)]
    block: u64,
    /// Share of reads, in per cent; all other requests are writes
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    reads: u32,
    /// Depth (number of requests in flight)
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    depth: u32,
    /// Refused, with the reason
    #[arg(long, hide = true)]
    resume: bool,
    #[command(flatten)]
    destroy: DestroyArgs,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &SteadyArgs) -> anyhow::Result<ExitCode> {
    if args.resume {
        let message = "steady cannot be resumed: its rounds follow each other without a pause on a file that was just written";
        let hint = "run it again without --resume: it writes the file again and begins with the first round";
        return Err(Blamed::new(Blame::Input, message)
            .hint(hint.to_owned())
            .into());
    }
    let fio = Fio::find().map_err(Blamed::from)?;
    let ground = Ground::of(&args.directory, &args.destroy, &args.common)?;
    ground
        .place
        .refuse_unless_room(args.size)
        .map_err(Blamed::from)?;
    let pattern = Pattern {
        name: format!("round_{}_r{}_q{}", args.block, args.reads, args.depth),
        access: Access::Random,
        block_bytes: args.block,
        reads_percent: args.reads,
        depth: args.depth,
    };
    let plan = Plan {
        mode: StorageMode::Steady,
        file_bytes: args.size,
        each_s: args.seconds,
        engine: "libaio".to_owned(),
        fio: Some(fio),
        patterns: vec![pattern.clone()],
        repeats: 1,
        writers: Vec::new(),
        left_out: vec!["purge of the disk: a file cannot do it".to_owned()],
    };
    let mut session = Session::begin(ground, plan, &args.common)?;
    match measure(&mut session, &pattern, args.rounds) {
        Ok(true) => session.finish(),
        Ok(false) => {
            session.finish()?;
            Ok(ExitCode::from(Blame::Answer as u8))
        }
        Err(error) => Err(session.fail(
            error,
            "; a steady state must be measured without interruption",
        )),
    }
}

/// Whether the steady state was reached.
fn measure(session: &mut Session, pattern: &Pattern, rounds: u32) -> anyhow::Result<bool> {
    let header = &session.record.header;
    let each = Duration::from_secs_f64(header.each_s);
    for _ in 0..FILLS {
        session.ground.fill(header.file_bytes, None)?;
    }
    let step = session
        .ground
        .context
        .step("rounds", Length::Paced(rounds.into()));
    let mut rates = Vec::new();
    for round in 1..=rounds {
        let at_most = each * (rounds - round + 1);
        step.announce(&format!("round {round} of at most {rounds}"), at_most);
        let result = session.measure(pattern)?;
        rates.push(result.iops());
        session.append(StorageLine::Round(SteadyRound { round, result }))?;
        step.reach(round.into());
        if SteadyWindow::of(&rates).is_some_and(|it| it.is_steady()) {
            return Ok(true);
        }
    }
    Ok(false)
}
