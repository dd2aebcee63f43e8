//! Any bytes, and what the mutations of the torture test make of them, as a run record: read or refused, never a panic.

#![no_main]

#[path = "../../crates/dbdyno/tests/suite/torture/chance.rs"]
mod chance;
#[path = "../../crates/dbdyno/tests/suite/torture/mischief.rs"]
mod mischief;
#[path = "../../crates/dbdyno/tests/suite/torture/mutation.rs"]
mod mutation;

use chance::Chance;
use libfuzzer_sys::fuzz_target;
use samples::Record;

fuzz_target!(|input: (u64, &[u8])| {
    let (seed, text) = input;
    let _ = Record::read(text);
    let mut chance = Chance::new(seed, "mutated_records", 0);
    let _ = Record::read(&mutation::mutated(text, &mut chance)[..]);
});
