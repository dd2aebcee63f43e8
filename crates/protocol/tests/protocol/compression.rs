//! Property tests of compressed packets: any splitting, any content.

use proptest::prelude::*;
use protocol::testing::{Answer, Feed, pack, unpack};

/// Bytes that compress well or badly, or are too short for compression.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        (any::<u8>(), 0..300_000_usize).prop_map(|(byte, length)| vec![byte; length]),
        prop::collection::vec(prop::sample::select(vec![b'a', b'b', 0xff]), 0..5000),
    ]
}

proptest! {
    #[test]
    fn what_is_packed_is_read_as_it_was(
        sent in prop::collection::vec(bytes(), 0..5),
        pieces in prop::collection::vec(1..70_000_usize, 1..6),
    ) {
        let packed = pack(sent.iter().map(Vec::as_slice));
        let expected = sent.concat();
        prop_assert!(packed.len() <= expected.len() + 7 * (sent.len() + expected.len() / (256 << 10)));
        for pieces in [&[usize::MAX][..], &[1, 6, 7, 8, 4096], &pieces] {
            prop_assert!(unpack(&packed, pieces).unwrap() == expected);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        pieces in prop::collection::vec(0..50_usize, 0..4),
    ) {
        let whole = unpack(&bytes, &[]).map_err(|error| error.to_string());
        let cut = unpack(&bytes, &pieces).map_err(|error| error.to_string());
        prop_assert_eq!(whole, cut);
    }

    /// As above, with headers that pass more checks: a frame with the correct length and a possibly correct inflated
    /// length.
    #[test]
    fn arbitrary_frames_never_panic(
        frames in prop::collection::vec(
            (any::<bool>(), 0..400_usize, bytes()), 0..5),
    ) {
        let mut received = Vec::new();
        for (number, (is_deflated, promised, content)) in frames.iter().enumerate() {
            let content = match is_deflated {
                true => pack([content.as_slice()]).split_off(7.min(content.len())),
                false => content[..content.len().min(70_000)].to_vec(),
            };
            let [a, b, c, ..] = content.len().to_le_bytes();
            let [d, e, f, ..] = promised.to_le_bytes();
            received.extend_from_slice(&[a, b, c, number as u8, d, e, f]);
            received.extend_from_slice(&content);
        }
        let whole = unpack(&received, &[]).map_err(|error| error.to_string());
        let cut = unpack(&received, &[3, 1000]).map_err(|error| error.to_string());
        prop_assert!(whole == cut);
    }

    /// Changing one byte leads to an error, other content, or none; never to a panic or to more data than announced.
    #[test]
    fn a_broken_byte_is_no_panic(sent in bytes(), at: prop::sample::Index, to: u8) {
        let mut packed = pack([sent.as_slice()]);
        if !packed.is_empty() {
            let at = at.index(packed.len());
            packed[at] = to;
            let _ = unpack(&packed, &[1000]);
        }
    }
}

#[test]
fn an_answer_spans_frames_and_a_frame_holds_packets() {
    let long = "v".repeat(300_000);
    let answer = Answer::rows(&["a"], &[&[Some("1")], &[Some(&long)], &[None]]);
    let bytes = Feed::frame(&answer.payloads(true));
    let content = unpack(&pack(bytes.chunks(100_000)), &[8191]).unwrap();
    assert!(content == bytes);
    let skim = Feed {
        deprecate_eof: true,
        ..Feed::default()
    };
    assert_eq!(skim.read(&content, &[]).unwrap().unwrap().0.rows, 3);
}
