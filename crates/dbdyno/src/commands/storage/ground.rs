//! The place of a measurement: a directory with dbdyno's files below it, or a raw device, and the limit that is in force.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use blame::{Blame, Blamed};
use reactor::{Interrupt, system_now};
use runs::{
    Context, Length, claim_place,
    limit::{guard::GuardedGroup, recorded_limit},
    storage_of, utc_now,
};
use samples::{DiskLimit, Pattern, STORAGE_FORMAT, Storage, StorageHeader, StorageMode};
use server::{Cgroup, Entered};
use settings::DiskLimits;
use storage::{Fio, Place, Target, TestFile};
use telemetry::{disk_flushes, storage_of_device};

use super::destroy::DestroyArgs;
use crate::terminal;

/// What the commit probe writes: its redo log, and the binary log up to its size; bytes.
pub(super) const COMMIT_BYTES: u64 = 128 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct CommonArgs {
    /// Limits on the disk during the measurement, set through a control group: read_iops and write_iops in requests
    /// per second, read_mb and write_mb in MiB per second [default: none]
    #[arg(long, value_name = "KEY=N,...", value_parser = DiskLimits::parse)]
    limit: Option<DiskLimits>,
    /// Directory for the results [default: results/storage-COMMAND-N]
    #[arg(long, value_name = "RESULTS")]
    pub(super) results: Option<PathBuf>,
}

/// The place to measure, with dbdyno's directory below it.
pub(super) struct Ground {
    pub(super) context: Context,
    pub(super) place: Place,
    pub(super) test: Target,
    storage: Storage,
    limit: Option<DiskLimit>,
    pub(super) group: Option<GuardedGroup>,
}

/// What is measured, and how; the rest of the header is the place's.
pub(super) struct Plan {
    pub(super) mode: StorageMode,
    pub(super) file_bytes: u64,
    pub(super) each_s: u64,
    pub(super) engine: String,
    pub(super) fio: Option<Fio>,
    pub(super) patterns: Vec<Pattern>,
    /// How often each pattern is measured.
    pub(super) repeats: u32,
    pub(super) writers: Vec<u32>,
    pub(super) left_out: Vec<String>,
}

impl Ground {
    /// Checks the directory and claims the test files' own below it; what a killed dbdyno left there is removed.
    /// A limit that cannot be set is an error before anything is written.
    pub(super) fn open(directory: &Path, args: &CommonArgs) -> anyhow::Result<Self> {
        let context = terminal::context()?;
        let (place, test, group) = claim_place(directory, &context, |place| {
            let limits = args.limit;
            let group = limits.map(|limits| Cgroup::create(place.path(), limits));
            Ok(group.transpose()?)
        })?;
        let storage = storage_of(place.path());
        let group = group.map(GuardedGroup::new).transpose()?;
        let limit = args.limit.zip(group.as_deref());
        let limit = limit.map(|(limits, group)| recorded_limit(limits, group));
        Ok(Self {
            context,
            place,
            test: Target::Files(test),
            storage,
            limit,
            group,
        })
    }

    /// The same for a directory, or for a raw device where `destroy` is given.
    pub(super) fn of(
        path: &Path,
        destroy: &DestroyArgs,
        args: &CommonArgs,
    ) -> anyhow::Result<Self> {
        let Some(device) = destroy.claim(path)? else {
            return Self::open(path, args);
        };
        if args.limit.is_some() {
            let message = "--limit applies only to the disk of a directory, not to a raw device";
            return Err(Blamed::new(Blame::Input, message).into());
        }
        Ok(Self {
            context: terminal::context()?,
            place: Place::of_device(&device),
            storage: storage_of_device(device.path()),
            test: Target::Device(device),
            limit: None,
            group: None,
        })
    }

    /// The test files; only what never takes a raw device calls it.
    pub(super) fn files(&self) -> &TestFile {
        let files = self.test.files();
        files.expect("only suite and steady accept a raw device")
    }

    /// While the returned value lives, the threads of dbdyno are limited, too.
    pub(super) fn limited(&self) -> Result<Option<Entered>, Blamed> {
        let group = self.group.as_deref();
        Ok(group.map(Cgroup::enter).transpose()?)
    }

    /// What the first signal raises.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.context.interrupt
    }

    /// Flushes of the disks behind the place since they were attached.
    pub(super) fn disk_flushes(&self) -> Option<u64> {
        let disks = self.storage.disks();
        let names: Vec<&str> = disks.map(|it| it.name.as_str()).collect();
        disk_flushes(&names)
    }

    /// Writes the test file whole and returns its size; `limit` may make it smaller.
    pub(super) fn fill(&self, bytes: u64, limit: Option<Duration>) -> anyhow::Result<u64> {
        self.place.refuse_unless_room(bytes).map_err(Blamed::from)?;
        let size = units::bytes(bytes);
        let what = match &self.test {
            Target::Files(_) => format!("writing the test file of {size}"),
            Target::Device(_) => format!("writing {size} of the device"),
        };
        let step = self.context.step(&what, Length::Even(bytes));
        let direct = self.place.is_direct();
        let filled = self
            .test
            .fill(bytes, direct, limit, self.interrupt(), |at| step.reach(at));
        Ok(filled.map_err(Blamed::from)?)
    }

    /// The first line of the record.
    pub(super) fn header(&self, plan: &Plan) -> StorageHeader {
        StorageHeader {
            format: STORAGE_FORMAT,
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: plan.mode,
            at: utc_now(),
            directory: self.place.path().display().to_string(),
            storage: self.storage.clone(),
            direct: self.place.is_direct(),
            file_bytes: plan.file_bytes,
            memory_bytes: telemetry::usable_memory_bytes(),
            each_s: plan.each_s as f64,
            engine: plan.engine.clone(),
            fio_version: plan.fio.as_ref().map(|fio| fio.version().to_owned()),
            patterns: plan.patterns.clone(),
            repeats: plan.repeats,
            // Any number will do; the record keeps it, so that a resumed suite continues in the same order.
            order_seed: (plan.repeats > 1).then(|| system_now().as_ns()),
            writers: plan.writers.clone(),
            left_out: plan.left_out.clone(),
            limit: self.limit.clone(),
            imported_from: Vec::new(),
        }
    }
}
