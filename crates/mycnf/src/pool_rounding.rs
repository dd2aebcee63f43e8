//! How MySQL rounds the size of the buffer pool up: to whole chunks in each of its instances.
//!
//! Source: MySQL Reference Manual, "Configuring InnoDB Buffer Pool Size"; tried on 8.0.33.

use crate::catalogue::Family;
use crate::subject::Subject;
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

/// A buffer pool that a version makes larger than the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoundedPool {
    /// Size that the server allocates, bytes.
    pub(crate) pool_bytes: i128,
    pub(crate) chunk_bytes: i128,
    pub(crate) instances: i128,
}

impl RoundedPool {
    /// Size of one chunk in each instance, bytes: the pool is a multiple of it.
    pub(crate) fn step_bytes(&self) -> i128 {
        self.chunk_bytes.saturating_mul(self.instances)
    }
}

/// The pool that a file sets, where the version rounds its size up; `None` where it keeps the size, or where the number
/// of instances depends on the CPUs.
pub(crate) fn rounded_pool(subject: &Subject<'_>) -> Option<RoundedPool> {
    subject.set("innodb_buffer_pool_size")?;
    if !rounds_pool(subject.target) {
        return None;
    }
    let set = |option: &str| subject.set(option).and(subject.number(option));
    let pool = subject.number("innodb_buffer_pool_size")?;
    let instances = match set("innodb_buffer_pool_instances") {
        _ if pool < SEVERAL_FROM_BYTES => 1,
        Some(number) => number.clamp(1, 64),
        None if !subject.target.is_at_least(Family::MySql, &[8, 4]) => INSTANCES,
        None => return None,
    };
    let chunk_bytes = set("innodb_buffer_pool_chunk_size").unwrap_or(CHUNK_BYTES);
    let step = chunk_bytes
        .checked_mul(instances)
        .filter(|step| *step > 0)?;
    // If a chunk is too large for the pool, MySQL uses smaller chunks.
    if pool <= step || pool % step == 0 {
        return None;
    }
    Some(RoundedPool {
        pool_bytes: (pool / step + 1).checked_mul(step)?,
        chunk_bytes,
        instances,
    })
}
