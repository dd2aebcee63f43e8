//! Compressed packets are read to an end or an error, the same however they are cut; what we pack is read as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::testing::{pack, unpack};

fuzz_target!(|input: (Vec<u8>, &[u8])| {
    let (pieces, bytes) = input;
    let pieces: Vec<usize> = pieces.into_iter().map(usize::from).collect();
    let whole = unpack(bytes, &[]).map_err(|error| error.to_string());
    let cut = unpack(bytes, &pieces).map_err(|error| error.to_string());
    assert_eq!(whole, cut);

    let packed = pack(bytes.chunks(pieces.first().copied().unwrap_or(0).max(1)));
    assert_eq!(unpack(&packed, &pieces).ok().as_deref(), Some(bytes));
});
