//! The plan of a measurement of a disk.

use samples::{Pattern, StorageMode};
use storage::Fio;

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
