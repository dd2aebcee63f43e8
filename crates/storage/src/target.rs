//! What is written and read: files in a directory of dbdyno's own, or a raw device.

use std::{path::PathBuf, time::Duration};

use reactor::Interrupt;

use crate::{error::Error, raw_device::RawDevice, test_file::TestFile};

/// What is written and read.
#[derive(Debug)]
pub enum Target {
    /// Files below the directory that is measured.
    Files(TestFile),
    /// The begin of a device.
    Device(RawDevice),
}

impl Target {
    /// The file of the patterns, or the device.
    pub fn data(&self) -> PathBuf {
        match self {
            Self::Files(files) => files.data(),
            Self::Device(device) => device.path().to_owned(),
        }
    }

    /// The files; `None` for a device.
    pub fn files(&self) -> Option<&TestFile> {
        match self {
            Self::Files(files) => Some(files),
            Self::Device(_) => None,
        }
    }

    /// As [`TestFile::fill`].
    pub fn fill(
        &self,
        bytes: u64,
        direct: bool,
        limit: Option<Duration>,
        interrupt: &Interrupt,
        progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        match self {
            Self::Files(files) => files.fill(bytes, direct, limit, interrupt, progress),
            Self::Device(device) => device.fill(bytes, limit, interrupt, progress),
        }
    }
}
