//! A directory on the disk that a load without a server uses, with dbdyno's own files below it.

use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use blame::{Blame, Blamed};
use storage::{Place, TestFile};

use crate::{
    claimed_place::claim_place,
    listener::{Context, Length},
};

/// A directory on the disk that a load without a server uses; its files go away with this value.
pub struct TestDirectory {
    place: Place,
    test: TestFile,
    /// Size of the file that was written whole, bytes.
    filled: AtomicU64,
}

impl TestDirectory {
    /// Checks a directory and makes dbdyno's own below it; what a killed dbdyno left there is removed.
    pub(crate) fn claim(path: &Path, context: &Context) -> Result<Self, Blamed> {
        let (place, test, ()) = claim_place(path, context, |_| Ok(()))?;
        Ok(Self {
            place,
            test,
            filled: AtomicU64::new(0),
        })
    }

    /// The directory that the user named, absolute.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Whether requests can go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.place.is_direct()
    }

    pub fn test(&self) -> &TestFile {
        &self.test
    }

    /// Writes the test file whole, unless an earlier run did.
    pub fn fill(&self, bytes: u64, context: &Context) -> Result<(), Blamed> {
        if self.filled.load(Ordering::Relaxed) == bytes {
            return Ok(());
        }
        self.filled.store(0, Ordering::Relaxed);
        let data = self.test.data();
        // A file of another size leaves its room to this one.
        match fs::remove_file(&data) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Blamed::io(Blame::Machine, &data)(error));
            }
            _ => {}
        }
        self.refuse_unless_room(bytes)?;
        let what = format!("writing the test file of {}", units::bytes(bytes));
        let step = context.step(&what, Length::Even(bytes));
        let is_direct = self.place.is_direct();
        self.test
            .fill(bytes, is_direct, None, &context.interrupt, |at| {
                step.reach(at)
            })?;
        self.filled.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// An error where files of this size leave too little free.
    pub fn refuse_unless_room(&self, bytes: u64) -> Result<(), Blamed> {
        Ok(self.place.refuse_unless_room(bytes)?)
    }
}
