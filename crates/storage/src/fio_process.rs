//! A process of fio: how it is ended, and what it said.

use std::{
    io::Read,
    process::Child,
    thread::{self, JoinHandle},
    time::Duration,
};

use reactor::end_child;

/// What a pattern may take longer than its time: a disk may owe many requests.
pub(crate) const GRACE: Duration = Duration::from_secs(120);
/// What an interrupted fio gets to end by itself.
const TO_END: Duration = Duration::from_secs(2);
/// Output of one pattern with all bins is a tenth of this.
const OUTPUT_AT_MOST: u64 = 64 << 20;

/// Asks it to end, and ends it where it does not.
pub(crate) fn end(child: &mut Child) {
    // Nothing depends on how it ended.
    let _ = end_child(child, TO_END, || {});
}

/// Reads a pipe to its end on a thread of its own, so that fio never waits for it.
pub(crate) fn drain(pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || files::read_within(pipe, OUTPUT_AT_MOST).unwrap_or_default())
}

pub(crate) fn joined(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|it| it.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What fio says of a failure: its first line that is no blank.
pub(crate) fn complaint(stderr: &str, stdout: &str) -> String {
    let mut lines = stderr.lines().chain(stdout.lines());
    let line = lines.find(|line| !line.trim().is_empty() && !line.starts_with('{'));
    line.map_or("it failed without a message".to_owned(), |line| {
        line.trim().trim_start_matches("fio: ").to_owned()
    })
}
