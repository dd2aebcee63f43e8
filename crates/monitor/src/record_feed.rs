//! A run record, or the newest record of a directory with an unfinished experiment.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use blame::{Blame, Blamed};
use reactor::{Instant, system_now, wall_now};
use results::{REPORT, is_claimed, record_error, record_files};
use samples::RecordTail;
use top::{Model, Source};

use crate::feed::{Feed, PollOutcome};

/// A run writes every second. If the state of its dbdyno is unknown, a run without new lines for this time counts as
/// killed.
const DEAD_AFTER: Duration = Duration::from_secs(30);
/// A record that no process holds open may have just been created: for this time it counts as active.
const UNHELD_AFTER: Duration = Duration::from_secs(3);
/// Interval at which a directory is checked for the record of another run.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time without a line after which the user is informed.
const SILENT_AFTER: Duration = Duration::from_secs(3);

/// A run record, followed while it is written.
pub struct RecordFeed {
    /// Where newer records may come; `None` for one file.
    directory: Option<PathBuf>,
    path: PathBuf,
    tail: RecordTail,
    /// The run has ended or its dbdyno is dead, and no other run will follow.
    is_replay: bool,
    /// The run has ended, and another one will follow.
    is_between_runs: bool,
    /// Last modification time of the record, which may have been renamed since.
    written: SystemTime,
    /// Time of the last check for a newer record.
    looked: Instant,
    /// The run did not end, and no process writes to its record any more.
    was_killed: bool,
}

impl RecordFeed {
    /// Opens the record, or the newest one of a directory, and reads what stands there.
    pub fn open(path: &Path) -> Result<(Self, Model), Blamed> {
        let is_directory = path.is_dir();
        let record = if is_directory {
            newest(path)?
        } else {
            path.to_owned()
        };
        let mut model = model_of(&record);
        let mut feed = Self {
            directory: is_directory.then(|| path.to_owned()),
            tail: open(&record)?,
            path: record,
            is_replay: false,
            is_between_runs: false,
            written: SystemTime::UNIX_EPOCH,
            looked: system_now(),
            was_killed: false,
        };
        feed.read(&mut model)?;
        feed.is_replay = feed.is_last(&model);
        feed.refuse_nothing(&model)?;
        Ok((feed, model))
    }

    /// An error if the run is over and has nothing to show.
    fn refuse_nothing(&self, model: &Model) -> Result<(), Blamed> {
        if !self.is_replay || model.end_s() > 0.0 {
            return Ok(());
        }
        let message = format!("{}: nothing was measured in this run", self.path.display());
        Err(Blamed::new(Blame::Input, message))
    }

    /// True if nothing more will be written here.
    fn is_last(&self, model: &Model) -> bool {
        let is_last_here = |directory: &Path| self.is_last_of(directory);
        let directory = self.directory.as_deref();
        // A dbdyno that was killed during a run starts no other run.
        self.is_killed(model) || model.has_ended() && directory.is_none_or(is_last_here)
    }

    /// True if the run did not end and no process writes to its record any more.
    fn is_killed(&self, model: &Model) -> bool {
        !model.has_ended() && self.is_dead()
    }

    /// Reads new lines; true if there were any.
    fn read(&mut self, model: &mut Model) -> Result<bool, Blamed> {
        let mut is_any = false;
        loop {
            let lines = self
                .tail
                .lines()
                .map_err(|error| record_error(&self.path, &error))?;
            if lines.is_empty() {
                break;
            }
            is_any = true;
            lines.into_iter().for_each(|line| model.take(line));
        }
        self.written = self.written.max(modified(&self.path));
        Ok(is_any)
    }

    /// Switches to a newer record, if there is one.
    fn go_on(&mut self, model: &mut Model) -> Result<bool, Blamed> {
        let Some(directory) = &self.directory else {
            return Ok(false);
        };
        if system_now() - self.looked < LOOK_EVERY {
            return Ok(false);
        }
        self.looked = system_now();
        // The only record may have just been set aside.
        let Ok(newest) = newest(directory) else {
            return Ok(false);
        };
        if newest == self.path || modified(&newest) <= self.written {
            return Ok(false);
        }
        self.written = SystemTime::UNIX_EPOCH;
        self.tail = open(&newest)?;
        self.path = newest;
        *model = model_of(&self.path);
        self.is_replay = false;
        self.read(model)
    }

    /// True if the dbdyno that wrote the record has ended.
    fn is_dead(&self) -> bool {
        match self.tail.is_written() {
            Some(true) => false,
            Some(false) => self.silence() > UNHELD_AFTER,
            None => self.silence() > DEAD_AFTER,
        }
    }

    fn silence(&self) -> Duration {
        let silence = wall_now().duration_since(self.written);
        silence.unwrap_or_default()
    }

    /// True if no run follows this record: no experiment is running here, or it has been reported on.
    fn is_last_of(&self, directory: &Path) -> bool {
        modified(&directory.join(REPORT)) >= self.written || !is_claimed(directory)
    }
}

impl Feed for RecordFeed {
    fn poll(&mut self, model: &mut Model) -> Result<PollOutcome, Blamed> {
        let is_any = self.read(model)?;
        let is_over = model.has_ended() || self.is_dead();
        let is_new_run = is_over && self.go_on(model)?;
        self.is_replay = self.is_replay && !is_new_run || self.is_last(model);
        self.is_between_runs = model.has_ended() && !self.is_replay;
        self.refuse_nothing(model)?;
        self.was_killed = self.is_killed(model);
        Ok(PollOutcome {
            is_any: is_any || is_new_run,
            is_new_run,
        })
    }

    fn source(&self) -> Source {
        if self.is_replay {
            Source::Replay
        } else {
            Source::Following
        }
    }

    fn is_over(&self) -> bool {
        self.is_replay
    }

    fn broken_off(&self) -> Option<String> {
        let record = self.path.display();
        self.was_killed.then(|| {
            format!("{record}: the dbdyno that wrote it has ended, and the run is incomplete")
        })
    }

    fn silent_for(&self) -> Option<Duration> {
        let silence = self.silence();
        (!self.is_replay && !self.is_between_runs && silence > SILENT_AFTER).then_some(silence)
    }

    fn set_every(&mut self, _every: Duration) {}
}

/// The most recently modified record in a directory; of a run with several loads, which are written at the same time, the
/// first by name.
fn newest(directory: &Path) -> Result<PathBuf, Blamed> {
    let files = record_files(directory)?;
    let newest = files.iter().max_by_key(|file| modified(file));
    let newest = newest.ok_or_else(|| {
        let message = format!("{}: contains no run record", directory.display());
        Blamed::new(Blame::Input, message)
    })?;
    let is_same_run = |file: &&PathBuf| {
        let run = run_number(newest);
        run.is_some() && run_number(file) == run
    };
    Ok(files.iter().find(is_same_run).unwrap_or(newest).clone())
}

/// The run of an experiment's record: `0007` of `run-0007-batch.jsonl`; `None` for another file.
fn run_number(record: &Path) -> Option<&str> {
    let stem = record.file_stem()?.to_str()?.strip_prefix("run-")?;
    stem.split('-').next()
}

/// Modification time of a file; the epoch if it does not exist.
fn modified(path: &Path) -> SystemTime {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn model_of(record: &Path) -> Model {
    Model::of_record(record.display().to_string())
}

fn open(record: &Path) -> Result<RecordTail, Blamed> {
    RecordTail::open(record).map_err(|error| record_error(record, &error))
}
