//! What a server sends is read to an end or an error, the same however it is cut into pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::testing::{Feed, parse_greeting};

fuzz_target!(|input: (bool, bool, bool, Vec<u8>, &[u8])| {
    let (deprecate_eof, cache_metadata, keep, pieces, bytes) = input;
    let feed = Feed { deprecate_eof, cache_metadata, keep };
    let pieces: Vec<usize> = pieces.into_iter().map(usize::from).collect();
    let whole = feed.read(bytes, &[]).map_err(|error| error.to_string());
    let cut = feed.read(bytes, &pieces).map_err(|error| error.to_string());
    assert_eq!(whole, cut);

    // Framed, the same bytes get further: each piece a payload.
    let mut rest = bytes;
    let mut payloads = Vec::new();
    for piece in pieces {
        let (payload, later) = rest.split_at(piece.min(rest.len()));
        payloads.push(payload.to_vec());
        rest = later;
    }
    let _ = feed.read(&Feed::frame(&payloads), &[]);
    let _ = parse_greeting(bytes);
});
