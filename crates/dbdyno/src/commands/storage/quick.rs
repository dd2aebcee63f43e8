//! `dbdyno storage quick`: commits and the main patterns in a minute, without fio as far as that goes.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use blame::Blamed;
use runs::{Event, Length};
use samples::{Access, CommitSequence, Pattern, StorageLine, StorageMode};
use storage::{Fio, commit_relevant, native_pattern};

use super::{
    ground::{COMMIT_BYTES, CommonArgs, Ground, Plan},
    session::Session,
    values,
};

/// Size of the test file where there is room and time, and the least, bytes.
const FILE_BYTES: u64 = 1 << 30;
const FILE_AT_LEAST: u64 = 64 << 20;
/// Writing the test file may take this long; a slow disk gets a smaller one.
const FILL_AT_MOST: Duration = Duration::from_secs(10);
/// Time of a pattern and of a commit probe, seconds: ten of them and the file take less than a minute on a busy machine, too.
const EACH_S: u64 = 3;
/// Writers of the commit probes.
const WRITERS: [u32; 2] = [1, 8];
/// Test files are written in units of this, bytes.
const FILE_UNIT: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The measurement takes less than a minute. Each further repeat (--repeats) takes another half minute. If fio is not
installed, dbdyno itself measures commits, and random reads and writes at depths 1 and 16. It then leaves out the other
patterns.

Example:
  dbdyno storage quick /data")]
pub(super) struct QuickArgs {
    /// Directory on the disk to measure
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Number of times to measure all patterns; with more than one, each time in a new random order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::repeats())]
    repeats: u32,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &QuickArgs) -> anyhow::Result<ExitCode> {
    let ground = Ground::open(&args.directory, &args.common)?;
    let mut left_out = vec![
        "steady state: dbdyno storage steady".to_owned(),
        "bursts: dbdyno storage burst".to_owned(),
    ];
    let fio = match Fio::find() {
        Ok(fio) => Some(fio),
        Err(error) => {
            let lacking = "sequential and mixed patterns and depths above 16";
            let warning = format!("{error}: {lacking} are left out");
            ground.context.tell(Event::Warning(&warning));
            left_out.insert(0, format!("{lacking}: {error}"));
            None
        }
    };
    let room = ground.place.room_bytes().saturating_sub(COMMIT_BYTES);
    let bytes = (room / FILE_UNIT * FILE_UNIT).clamp(FILE_AT_LEAST, FILE_BYTES);
    ground
        .place
        .refuse_unless_room(bytes + COMMIT_BYTES)
        .map_err(Blamed::from)?;
    let file_bytes = ground.fill(bytes, Some(FILL_AT_MOST))?;
    let patterns = commit_relevant().into_iter();
    let patterns = patterns.filter(|it| fio.is_some() || is_native(it));
    let plan = Plan {
        mode: StorageMode::Quick,
        file_bytes,
        each_s: EACH_S,
        engine: if fio.is_some() { "libaio" } else { "native" }.to_owned(),
        patterns: patterns.collect(),
        repeats: args.repeats,
        fio,
        writers: WRITERS.to_vec(),
        left_out,
    };
    let has_fio = plan.fio.is_some();
    let mut session = Session::begin(ground, plan, &args.common)?;
    match measure(&mut session, has_fio) {
        Ok(()) => session.finish(),
        Err(error) => Err(session.fail(error, "")),
    }
}

fn measure(session: &mut Session, has_fio: bool) -> anyhow::Result<()> {
    let each = Duration::from_secs(EACH_S);
    session.probe_commits(CommitSequence::Mariadb, each)?;
    let left = session.left();
    let step = session
        .ground
        .context
        .step("patterns", Length::Paced(left.len() as u64));
    for (done, (repeat, pattern)) in left.iter().enumerate() {
        let title = session.title(*repeat, pattern);
        step.say_with(&title, each * (left.len() - done) as u32);
        let mut result = if has_fio {
            session.measure(pattern)?
        } else {
            let (header, ground) = (&session.record.header, &session.ground);
            let limited = ground.limited()?;
            let measured = native_pattern(
                pattern,
                &ground.test.data(),
                header.file_bytes,
                header.direct,
                each,
                ground.interrupt(),
            );
            drop(limited);
            measured.map_err(Blamed::from)?
        };
        result.repeat = *repeat;
        session.append(StorageLine::Pattern(result))?;
        step.reach(done as u64 + 1);
    }
    Ok(())
}

/// Whether threads without fio can run it.
fn is_native(pattern: &Pattern) -> bool {
    let whole = matches!(pattern.reads_percent, 0 | 100);
    pattern.access == Access::Random && whole && pattern.depth <= 16
}
