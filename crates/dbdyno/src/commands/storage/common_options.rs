//! The options that all measurements of a disk have, and the disk that they name.

use std::path::{Path, PathBuf};

use benchmarks::storage::{MeasuredDisk, ResultsPlace};
use blame::{Blame, Blamed};
use settings::DiskLimits;

use super::destroy::DestroyArgs;
use crate::terminal;

#[derive(Debug, clap::Args)]
pub(super) struct CommonArgs {
    /// Limits on the disk during the measurement, set through a control group: read_iops and write_iops in requests
    /// per second, read_mb and write_mb in MiB per second [default: none]
    #[arg(long, value_name = "KEY=N,...", value_parser = DiskLimits::parse)]
    limit: Option<DiskLimits>,
    /// Directory for the results [default: results/storage-COMMAND-N]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl CommonArgs {
    /// The disk below a directory.
    pub(super) fn disk(&self, directory: &Path) -> anyhow::Result<MeasuredDisk> {
        let context = terminal::context()?;
        Ok(MeasuredDisk::open(directory, self.limit, context)?)
    }

    /// The disk below a directory, or a raw device where `destroy` is given.
    pub(super) fn disk_or_device(
        &self,
        path: &Path,
        destroy: &DestroyArgs,
    ) -> anyhow::Result<MeasuredDisk> {
        let Some(device) = destroy.claim(path)? else {
            return self.disk(path);
        };
        if self.limit.is_some() {
            let message = "--limit applies only to the disk of a directory, not to a raw device";
            return Err(Blamed::new(Blame::Input, message).into());
        }
        Ok(MeasuredDisk::of_device(device, terminal::context()?))
    }

    /// The named directory for new results.
    pub(super) fn results(&self) -> Option<&Path> {
        self.results.as_deref()
    }

    /// The results to begin or to continue.
    pub(super) fn results_place(&self, is_resumed: bool) -> ResultsPlace<'_> {
        if is_resumed {
            ResultsPlace::Interrupted(self.results())
        } else {
            ResultsPlace::New(self.results())
        }
    }
}
