//! A server side by side that fills its disk: its figures, and those of the servers beside it, are then no results.

use std::path::Path;

use blame::{Blame, Blamed};
use samples::ErrorCount;

use crate::{run::load_outcome::LoadOutcome, stage::disk_room::free_bytes};

/// The server waits for space (`ER_DISK_FULL`).
const DISK_FULL: u16 = 1021;
/// A table cannot grow (`ER_RECORD_FILE_FULL`), because of its disk or because of a limit of its own.
const TABLE_FULL: u16 = 1114;
/// Errors of files, whose messages contain the number of the operating system's error: `EE_WRITE`, `ER_ERROR_ON_WRITE` and
/// `ER_GET_ERRNO`.
const OF_FILES: [u16; 3] = [3, 1026, 1030];
/// How these messages name ENOSPC.
const NO_SPACE: [&str; 4] = ["error 28", "errcode: 28", "errno: 28", "errno 28"];

/// Free bytes below which a table of InnoDB cannot grow: the system tablespace grows in steps of 64 MiB.
const ROOM_TO_GROW_BYTES: u64 = 64 << 20;

/// A load that has ended is an error if its server, whose data is in this directory, had no disk space.
pub(super) fn refuse_full_disk(driven: &mut LoadOutcome, datadir: Option<&Path>) {
    let is_interrupted = matches!(&driven.ended, Err(error) if error.blame == Blame::Interrupted);
    let errors = driven.outcome.iter().flat_map(|it| &it.errors);
    let free_bytes = datadir.and_then(free_bytes);
    let mut of_disk = errors.filter(|error| is_of_full_disk(error, free_bytes));
    let Some(first) = of_disk.next().filter(|_| !is_interrupted) else {
        return;
    };
    let place = datadir.map_or_else(String::new, |datadir| format!(" in {}", datadir.display()));
    let message = format!(
        "the disk of its server is full: {}: {}",
        first.in_words(),
        first.message
    );
    let hint = format!("free disk space{place}, load fewer rows, or use a shorter duration");
    driven.ended = Err(Blamed::new(Blame::Machine, message)
        .hint(hint)
        .caused_by(first.number));
}

/// True if an error is due to a disk that has this space left, as far as that is known.
fn is_of_full_disk(error: &ErrorCount, free_bytes: Option<u64>) -> bool {
    let message = error.message.to_lowercase();
    match error.number {
        DISK_FULL => true,
        TABLE_FULL => free_bytes.is_some_and(|free| free < ROOM_TO_GROW_BYTES),
        number if OF_FILES.contains(&number) => NO_SPACE.iter().any(|it| message.contains(it)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_full_disk_are_told_from_others() {
        let (full, empty) = (Some(1 << 20), Some(1 << 40));
        for (number, message, free_bytes, expected) in [
            (
                1021,
                "Disk full (x); waiting for someone to free some space...",
                None,
                true,
            ),
            (1114, "The table 'sbtest1' is full", full, true),
            // A table in memory.
            (1114, "The table 'sbtest1' is full", empty, false),
            (1114, "The table 'sbtest1' is full", None, false),
            (
                1030,
                "Got error 28 \"No space left on device\" from storage engine",
                None,
                true,
            ),
            (
                3,
                "Error writing file './a' (OS errno 28 - No space left on device)",
                None,
                true,
            ),
            (1026, "Error writing file './a' (Errcode: 28)", None, true),
            (1030, "Got error 168 from storage engine", full, false),
            (1062, "Duplicate entry '28' for key 'PRIMARY'", full, false),
        ] {
            let error = ErrorCount {
                number,
                message: message.to_owned(),
                ..ErrorCount::default()
            };
            assert_eq!(is_of_full_disk(&error, free_bytes), expected, "{message}");
        }
    }
}
