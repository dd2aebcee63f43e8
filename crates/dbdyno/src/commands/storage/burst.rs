//! `dbdyno storage burst`: requests per second over minutes, by file size and depth, to find where a burst ends.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use blame::{Blame, Blamed};
use reactor::Interrupt;
use runs::{Event, Length};
use samples::{Access, BurstCell, Pattern, StorageLine, StorageMode};
use storage::{Fio, JobFile, iops_per_second, job_file, pattern_result};

use super::{
    ground::{CommonArgs, Ground, Plan},
    session::Session,
    values,
};

/// Begin of the names of fio's logs.
const LOG: &str = "course";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each combination of size and depth is measured for --seconds seconds. There is a pause before every measurement except
the first. A burst ends when the rate falls to 70 % or less of the previous rate and does not rise again. The result
shows the rates during and after the burst, the time of the drop, and the estimated number of extra requests that the
burst allowed. If a burst ended, the same combination is measured again after a pause, to check whether the disk has
recovered. Measurements of less than 180 seconds miss the end of many bursts.

After an interruption, --resume measures only those combinations of size and depth that have not been measured yet.

Example:
  dbdyno storage burst /data --sizes 8G --depths 8 --seconds 600")]
pub(super) struct BurstArgs {
    /// Directory on the disk to measure
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Sizes of the part of the test file that the requests access; each size is measured at each depth
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "1G,2G,4G,8G", value_parser = values::file_bytes)]
    sizes: Vec<u64>,
    /// Depths (numbers of requests in flight)
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,4,8",
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    depths: Vec<u32>,
    /// Length of each measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "180", value_parser = values::seconds)]
    seconds: u64,
    /// Pause before each measurement except the first, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = values::pause_s)]
    pause: u64,
    /// Size of each request, such as 4k
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = values::block_bytes)]
    block: u64,
    /// Share of reads, in per cent; all other requests are writes
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=100))]
    reads: u32,
    /// Continue the latest interrupted measurement; with --results, the one in that directory
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &BurstArgs) -> anyhow::Result<ExitCode> {
    let fio = Fio::find().map_err(Blamed::from)?;
    let ground = Ground::open(&args.directory, &args.common)?;
    let largest = args.sizes.iter().copied().max().unwrap_or(0);
    ground
        .place
        .refuse_unless_room(largest)
        .map_err(Blamed::from)?;
    let cells = args.sizes.iter().flat_map(|size| {
        let depths = args.depths.iter();
        depths.map(move |depth| (*size, pattern(args, *size, *depth)))
    });
    let cells: Vec<(u64, Pattern)> = cells.collect();
    let plan = Plan {
        mode: StorageMode::Burst,
        file_bytes: largest,
        each_s: args.seconds,
        engine: "libaio".to_owned(),
        fio: Some(fio),
        patterns: cells.iter().map(|(_, pattern)| pattern.clone()).collect(),
        repeats: 1,
        writers: Vec::new(),
        left_out: Vec::new(),
    };
    let mut session = if args.resume {
        let session = Session::resume(ground, plan, &args.common)?;
        refuse_other_pause(&session, args.pause)?;
        session
    } else {
        Session::begin(ground, plan, &args.common)?
    };
    match measure(&mut session, args, &cells) {
        Ok(()) => session.finish(),
        Err(error) => Err(session.fail(error, "; to continue, run the same command with --resume")),
    }
}

/// A pause is a part of each cell but the first, and not of the record's first line.
fn refuse_other_pause(session: &Session, pause: u64) -> Result<(), Blamed> {
    let mut measured = session.record.bursts.iter().skip(1);
    match measured.find(|it| it.pause_s != pause as f64) {
        Some(cell) => {
            let message = format!(
                "the pause between its measurements is {}, not {}",
                units::moment(cell.pause_s),
                units::moment(pause as f64)
            );
            let hint = "use --resume with the original options of these results".to_owned();
            Err(Blamed::new(Blame::Input, message).hint(hint))
        }
        None => Ok(()),
    }
}

fn pattern(args: &BurstArgs, size: u64, depth: u32) -> Pattern {
    Pattern {
        name: format!("s{}m_q{depth}", size >> 20),
        access: Access::Random,
        block_bytes: args.block,
        reads_percent: args.reads,
        depth,
    }
}

fn measure(
    session: &mut Session,
    args: &BurstArgs,
    cells: &[(u64, Pattern)],
) -> anyhow::Result<()> {
    let interrupt = session.ground.interrupt().clone();
    let left: Vec<&(u64, Pattern)> = left(session, cells).collect();
    if let Some(lost) = lost_recovery(session) {
        let note = format!(
            "{lost}: its second measurement is left out, because the test file had to be written again, so \
             the disk had no pause"
        );
        session.ground.context.tell(Event::Note(&note));
    }
    if left.is_empty() {
        return Ok(());
    }
    let is_begun = left.len() < cells.len();
    session
        .ground
        .fill(session.record.header.file_bytes, None)?;
    let each = Duration::from_secs(args.seconds + args.pause);
    let step = session
        .ground
        .context
        .step("courses", Length::Paced(left.len() as u64));
    for (done, (size, pattern)) in left.iter().enumerate() {
        step.announce(&pattern.name, each * (left.len() - done) as u32);
        let is_first = done == 0 && !is_begun;
        let pause = if is_first { 0 } else { args.pause };
        rest(pause, &interrupt)?;
        let cell = course(session, args, *size, pattern, pause)?;
        let has_ended = stats::burst(&cell.iops).is_some();
        session.append(StorageLine::Burst(cell))?;
        if has_ended {
            step.announce(&format!("{} again after a pause", pattern.name), each);
            rest(args.pause, &interrupt)?;
            let mut again = course(session, args, *size, pattern, args.pause)?;
            again.is_recovery = true;
            session.append(StorageLine::Burst(again))?;
        }
        step.reach(done as u64 + 1);
    }
    Ok(())
}

/// The cells that have no course yet.
fn left<'a>(
    session: &Session,
    cells: &'a [(u64, Pattern)],
) -> impl Iterator<Item = &'a (u64, Pattern)> {
    let measured = session.record.bursts.iter();
    let measured: Vec<Pattern> = measured.map(|it| it.pattern.clone()).collect();
    cells
        .iter()
        .filter(move |(_, pattern)| !measured.contains(pattern))
}

/// The cell whose burst ended when an interruption came before its second course.
fn lost_recovery(session: &Session) -> Option<String> {
    let last = session.record.bursts.last()?;
    let is_lost = !last.is_recovery && stats::burst(&last.iops).is_some();
    is_lost.then(|| last.pattern.name.clone())
}

/// One course: fio with its log of each second.
fn course(
    session: &mut Session,
    args: &BurstArgs,
    size: u64,
    pattern: &Pattern,
    pause_s: u64,
) -> anyhow::Result<BurstCell> {
    let (file, log) = (session.ground.test.data(), session.ground.files().path(LOG));
    let job = JobFile {
        file: &file,
        file_bytes: size,
        each_s: args.seconds,
        engine: "libaio",
        direct: session.ground.place.is_direct(),
        more: &[],
        log: Some(&log),
    };
    let text = job_file(&job, std::slice::from_ref(pattern));
    let job = session.write_job(&format!("{}.fio", pattern.name), text)?;
    let output = session.run_fio(&job, &pattern.name)?;
    let result = pattern_result(pattern, &output).map_err(Blamed::from)?;
    if let Some(error) = result.error {
        let error = format!("fio: pattern {}: {error}", pattern.name);
        return Err(Blamed::new(Blame::Machine, error).into());
    }
    let path = session.ground.files().path(&format!("{LOG}_iops.1.log"));
    let logged = files::read_regular_text(&path, 64 << 20);
    let logged = logged.map_err(|error| {
        Blamed::new(
            Blame::Machine,
            format!("fio's log {}: {error}", path.display()),
        )
    })?;
    Ok(BurstCell {
        size_bytes: Some(size),
        pattern: pattern.clone(),
        pause_s: pause_s as f64,
        is_recovery: false,
        iops: iops_per_second(&logged),
    })
}

/// Waits; an interruption ends it with an error.
fn rest(seconds: u64, interrupt: &Interrupt) -> Result<(), Blamed> {
    if interrupt.wait(Duration::from_secs(seconds)) {
        return Err(Blamed::from(storage::Error::Interrupted));
    }
    Ok(())
}
