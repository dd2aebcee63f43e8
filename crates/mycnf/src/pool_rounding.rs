//! How MySQL rounds the size of the buffer pool up: to whole chunks in each of its instances.
//!
//! Source: MySQL Reference Manual, "Configuring InnoDB Buffer Pool Size"; tried on 8.0.33.

use crate::catalogue::Family;
use crate::target::Target;

/// Size of a chunk by default, bytes.
pub(crate) const CHUNK_BYTES: i128 = 128 << 20;

/// Size from which the pool has several instances, bytes.
pub(crate) const SEVERAL_FROM_BYTES: i128 = 1 << 30;

/// Several instances by default; from 8.4 on at most, as the CPUs decide.
pub(crate) const INSTANCES: i128 = 8;

/// Whether a version rounds the size up.
pub(crate) fn rounds_pool(target: &Target) -> bool {
    target.is_at_least(Family::MySql, &[5, 7])
}
