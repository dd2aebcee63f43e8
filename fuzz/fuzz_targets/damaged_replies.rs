//! A good reply whose packets are damaged as the torture test damages them: read to an end or an error, the same however
//! it is cut into pieces.

#![no_main]

#[path = "../../crates/dbdyno/tests/suite/torture/chance.rs"]
mod chance;
#[path = "../../crates/dbdyno/tests/suite/torture/mischief.rs"]
mod mischief;

use chance::Chance;
use libfuzzer_sys::fuzz_target;
use protocol::testing::{Answer, Feed};

fuzz_target!(|input: (u64, bool, bool, Vec<String>, u8)| {
    let (seed, deprecate_eof, keep, values, pieces) = input;
    let feed = Feed {
        deprecate_eof,
        cache_metadata: false,
        keep,
    };
    let row: Vec<Option<&str>> = values.iter().map(|value| Some(value.as_str())).collect();
    let columns: Vec<&str> = values.iter().map(|_| "c").collect();
    let answer = match values.is_empty() {
        true => Answer::ok(1).then(Answer::error(1064, "42000", "no")),
        false => Answer::rows(&columns, &[&row, &row]).then(Answer::ok(0)),
    };
    let mut chance = Chance::new(seed, "damaged_replies", 0);
    let mut payloads = answer.payloads(deprecate_eof);
    for _ in 0..1 + chance.below(3) {
        let at = chance.below(payloads.len());
        let damaged = chance.one_of(&mischief::ALL).damage(&payloads[at], &mut chance.clone());
        payloads[at] = damaged;
    }
    let mut bytes = Feed::frame(&payloads);
    if chance.one_in(4) {
        mischief::flip(&mut bytes, &mut chance);
    }
    let whole = feed.read(&bytes, &[]).map_err(|error| error.to_string());
    let cut = feed.read(&bytes, &[usize::from(pieces)]).map_err(|error| error.to_string());
    assert_eq!(whole, cut);
});
