//! What passes a relay from a server: found to end at the same place however it is cut, and numbered anew alike.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::relay::{Answer, AnswerKind, Step, Summary, AnswerFormat};

/// The answer's end, what it said, and the bytes as they are passed on.
fn follow(kind: AnswerKind, wording: AnswerFormat, shift: u8, bytes: &[u8], pieces: &[u8]) -> (Option<(usize, Step, Summary)>, Vec<u8>) {
    let mut answer = Answer::new(kind, wording, shift);
    let (mut passed, mut at) = (bytes.to_vec(), 0);
    let mut pieces = pieces.iter().cycle();
    while at < bytes.len() {
        let piece = pieces.next().map_or(bytes.len(), |&piece| usize::from(piece).max(1));
        let end = bytes.len().min(at + piece);
        let Ok(fed) = answer.feed(&mut passed[at..end]) else {
            return (None, Vec::new());
        };
        at += fed.used;
        if fed.step != Step::More {
            // What follows is not the answer's.
            assert_eq!(passed[at..], bytes[at..]);
            return (Some((at, fed.step, *answer.summary())), passed);
        }
    }
    (Some((at, Step::More, *answer.summary())), passed)
}

fuzz_target!(|input: (u8, bool, bool, u8, Vec<u8>, &[u8])| {
    let (command, deprecate_eof, cache_metadata, shift, pieces, bytes) = input;
    let wording = AnswerFormat { deprecate_eof, cache_metadata };
    let kind = AnswerKind::of(command);
    let whole = follow(kind, wording, shift, bytes, &[]);
    let cut = follow(kind, wording, shift, bytes, &pieces);
    assert_eq!(whole, cut);
});
