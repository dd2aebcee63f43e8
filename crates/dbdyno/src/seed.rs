//! The seed of a load whose command line has none.

use std::{process, time::UNIX_EPOCH};

/// A new seed for each call: updates that send the same values again change nothing and are fast.
pub(crate) fn fresh_seed() -> u64 {
    let now = reactor::wall_now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    (now.as_micros() as u64).rotate_left(16) ^ u64::from(process::id())
}
