//! Room on the file system of the scenes: a test that makes servers waits until those of other tests leave enough.
//!
//! How many tests run at the same time follows from the processors, whatever the disk is: on one of 3 GiB, the servers of
//! eight tests need more.

use std::{
    sync::{Condvar, LazyLock, Mutex, PoisonError},
    thread::{self, ThreadId},
};

use rustix::fs::statvfs;

use crate::scene::in_memory;

/// A server: its redo log of 96 or 100 MiB, its system tables and some rows, in MiB.
pub(crate) const OF_A_SERVER: u64 = 180;
/// A server of an experiment: its initialised data, the data as loaded, and those of the run, in MiB.
pub(crate) const OF_AN_EXPERIMENT: u64 = 480;
/// An experiment with two servers, or one with a MySQL, in MiB.
pub(crate) const OF_TWO_SERVERS: u64 = 800;
/// What the server that tests share and the scenes without servers need, in MiB.
const BESIDE: u64 = 300;

/// What the tests of this process have taken, in MiB, each entry until its guard is dropped.
static TAKEN: Mutex<Vec<(ThreadId, u64)>> = Mutex::new(Vec::new());
static LEFT: Condvar = Condvar::new();
/// What they may take at the same time, in MiB.
static FREE: LazyLock<u64> = LazyLock::new(|| {
    let free = statvfs(in_memory()).expect("the temporary directory exists");
    (free.f_bavail * free.f_frsize / (1 << 20)).saturating_sub(BESIDE)
});

/// Room that a test has taken, until it is dropped.
pub(crate) struct Room(ThreadId, u64);

impl Room {
    /// Waits until there is so much room. A test that already has some does not wait, as others may wait for that.
    pub(crate) fn take(mib: u64) -> Self {
        let this = Self(thread::current().id(), mib);
        let must_wait = |taken: &mut Vec<(ThreadId, u64)>| {
            let sum: u64 = taken.iter().map(|(_, mib)| mib).sum();
            let has_some = taken.iter().any(|(thread, _)| *thread == this.0);
            sum > 0 && sum + mib > *FREE && !has_some
        };
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        LEFT.wait_while(taken, must_wait)
            .unwrap_or_else(PoisonError::into_inner)
            .push((this.0, mib));
        this
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.iter().position(|it| *it == (self.0, self.1));
        taken.swap_remove(own.expect("it was taken"));
        LEFT.notify_all();
    }
}
