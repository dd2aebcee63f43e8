//! Property tests of skimming: any splitting of the bytes, any content.

use proptest::prelude::*;
use protocol::{
    Error, Outcome, ResultSet,
    testing::{Answer, Feed, parse_greeting},
};

/// One result of an answer, from which the expected outcome is computed.
#[derive(Debug, Clone)]
enum Model {
    Ok {
        affected_rows: u64,
    },
    Rows {
        columns: usize,
        rows: Vec<Vec<Option<String>>>,
    },
}

fn model() -> impl Strategy<Value = Model> {
    let value = prop_oneof![
        1 => Just(None),
        6 => ".{0,12}".prop_map(Some),
        // Lengths with a length field of one byte or three bytes, and beyond the shared buffer.
        1 => (200..70_000_usize).prop_map(|length| Some("v".repeat(length))),
    ];
    prop_oneof![
        any::<u64>().prop_map(|affected_rows| Model::Ok {
            affected_rows: affected_rows >> 20
        }),
        (1..6_usize)
            .prop_flat_map(move |columns| {
                let row = prop::collection::vec(value.clone(), columns);
                (Just(columns), prop::collection::vec(row, 0..5))
            })
            .prop_map(|(columns, rows)| Model::Rows { columns, rows }),
    ]
}

impl Model {
    fn answer(&self) -> Answer {
        match self {
            Self::Ok { affected_rows } => Answer::ok(*affected_rows),
            Self::Rows { columns, rows } => {
                let rows: Vec<Vec<Option<&str>>> = rows
                    .iter()
                    .map(|row| row.iter().map(Option::as_deref).collect())
                    .collect();
                let rows: Vec<&[Option<&str>]> = rows.iter().map(Vec::as_slice).collect();
                Answer::rows(&vec!["name"; *columns], &rows)
            }
        }
    }

    fn add_to(&self, outcome: &mut Outcome, sets: &mut Vec<ResultSet>) {
        match self {
            Self::Ok { affected_rows } => outcome.affected_rows += affected_rows,
            Self::Rows { columns, rows } => {
                outcome.result_sets += 1;
                outcome.rows += rows.len() as u64;
                let bytes = |value: &Option<String>| value.clone().map(String::into_bytes);
                sets.push(ResultSet {
                    columns: vec!["name".to_owned(); *columns],
                    rows: rows
                        .iter()
                        .map(|row| row.iter().map(bytes).collect())
                        .collect(),
                });
            }
        }
    }
}

proptest! {
    // Each of them is read byte by byte, and more than once.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_answer_reads_the_same_however_it_is_cut(
        results in prop::collection::vec(model(), 1..4),
        deprecate_eof: bool,
        pieces in prop::collection::vec(1..5000_usize, 1..8),
    ) {
        let mut expected = (Outcome::default(), Vec::new());
        for result in &results {
            result.add_to(&mut expected.0, &mut expected.1);
        }
        let answers = results.iter().map(Model::answer);
        // Joined in pairs from the end, so that each result but the last announces another one.
        let answer = answers.rev().reduce(|later, earlier| earlier.then(later)).unwrap();
        let bytes = Feed::frame(&answer.payloads(deprecate_eof));
        for pieces in [&[usize::MAX][..], &[1], &[3, 1, 4], &pieces] {
            let keep = Feed { deprecate_eof, keep: true, ..Feed::default() };
            let kept = keep.read(&bytes, pieces).unwrap();
            prop_assert_eq!(kept.as_ref(), Some(&expected));
            let skim = Feed { deprecate_eof, ..Feed::default() };
            let skimmed = skim.read(&bytes, pieces).unwrap();
            prop_assert_eq!(skimmed, Some((expected.0, Vec::new())));
        }
        let cut = &bytes[..bytes.len() - 1];
        prop_assert_eq!(Feed { deprecate_eof, ..Feed::default() }.read(cut, &[7]).unwrap(), None);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        pieces in prop::collection::vec(0..50_usize, 0..4),
        deprecate_eof: bool,
        cache_metadata: bool,
        keep: bool,
    ) {
        let feed = Feed { deprecate_eof, cache_metadata, keep };
        let whole = feed.read(&bytes, &[]).map_err(|error| error.to_string());
        let cut = feed.read(&bytes, &pieces).map_err(|error| error.to_string());
        prop_assert_eq!(whole, cut);
        let _ = parse_greeting(&bytes);
    }

    /// As above, but framed, so that the bytes pass the check of the first header.
    #[test]
    fn arbitrary_payloads_never_panic(
        payloads in prop::collection::vec(
            (prop::sample::select(vec![0_u8, 1, 2, 3, 0xfb, 0xfc, 0xfd, 0xfe, 0xff]),
             prop::collection::vec(any::<u8>(), 0..12)),
            0..12),
        deprecate_eof: bool,
        cache_metadata: bool,
        keep: bool,
    ) {
        let payloads: Vec<Vec<u8>> = payloads
            .into_iter()
            .map(|(first, rest)| [vec![first], rest].concat())
            .collect();
        let bytes = Feed::frame(&payloads);
        let feed = Feed { deprecate_eof, cache_metadata, keep };
        let whole = feed.read(&bytes, &[]).map_err(|error| error.to_string());
        let cut = feed.read(&bytes, &[1]).map_err(|error| error.to_string());
        prop_assert_eq!(whole, cut);
        for payload in &payloads {
            let _ = parse_greeting(payload);
        }
    }
}

/// A row with one value of this length, between a first and a last small row.
fn long_row(length: usize) -> Vec<u8> {
    let long = "v".repeat(length);
    let answer = Answer::rows(&["a"], &[&[Some("1")], &[Some(&long)], &[None]]);
    Feed::frame(&answer.payloads(true))
}

#[test]
fn rows_are_cut_at_16_mb_and_put_together_again() {
    const PART: usize = 0xff_ffff;
    // The value's length takes 4 bytes below 16 MiB and 9 above: rows just below, at and above one and two parts.
    for length in [
        PART - 5,
        PART - 4,
        PART - 3,
        PART + 1,
        2 * PART - 9,
        2 * PART - 8,
    ] {
        let bytes = long_row(length);
        for pieces in [[usize::MAX, usize::MAX], [65_521, 16_381]] {
            let skim = Feed {
                deprecate_eof: true,
                ..Feed::default()
            };
            let (outcome, _) = skim.read(&bytes, &pieces).unwrap().unwrap();
            assert_eq!(outcome.rows, 3, "{length}");
            let keep = Feed {
                deprecate_eof: true,
                keep: true,
                ..Feed::default()
            };
            let (_, sets) = keep.read(&bytes, &pieces).unwrap().unwrap();
            let value = sets[0].rows[1][0].as_ref().unwrap();
            assert!(value.len() == length && value.iter().all(|&byte| byte == b'v'));
            assert_eq!(sets[0].rows[2], [None]);
        }
    }
}

#[test]
fn what_the_protocol_does_not_allow_is_an_error() {
    let frame = |payloads: &[&[u8]]| {
        Feed::frame(
            &payloads
                .iter()
                .map(|payload| payload.to_vec())
                .collect::<Vec<_>>(),
        )
    };
    let column =
        b"\x03def\x00\x00\x00\x01a\x01a\x0c\x2d\x00\x00\x04\x00\x00\xfd\x00\x00\x00\x00\x00";
    let cases: [(Vec<u8>, &str); 9] = [
        (frame(&[&[]]), "unexpected kind"),
        (frame(&[&[0xfc, 0, 0]]), "number of columns"),
        (
            frame(&[&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]]),
            "number of columns",
        ),
        (frame(&[&[0xfd, 0, 0, 1]]), "number of columns"),
        (frame(&[&[1], column, &[3, 0]]), "unexpected kind"),
        (
            frame(&[&[0xfb, b'x'], &[], &[0xfb, b'y']]),
            "second file request",
        ),
        (vec![1, 0, 0, 5, 0], "out of sequence"),
        // Longer than any OK packet.
        (vec![0xff, 0xff, 0xfe, 1, 0], "longer than 65536 bytes"),
        (frame(&[&[0xff, 1]]), "error packet"),
    ];
    for (mut bytes, expected) in cases {
        // The second answer to a file request comes after our empty packet.
        if expected.starts_with("second") {
            bytes = vec![2, 0, 0, 1, 0xfb, b'x', 2, 0, 0, 3, 0xfb, b'y'];
        }
        let error = Feed::default().read(&bytes, &[]).unwrap_err();
        assert!(error.to_string().contains(expected), "{bytes:?}: {error}");
        assert!(error.is_connection_lost());
    }
}

#[test]
fn an_error_may_come_out_of_turn_and_in_the_middle() {
    let rows = Answer::rows(&["a"], &[&[Some("1")]]).payloads(true);
    let mut bytes = Feed::frame(&rows[..3]);
    let error = Answer::error(1317, "70100", "interrupted")
        .payloads(true)
        .remove(0);
    bytes.extend_from_slice(&[error.len() as u8, 0, 0, 0]);
    bytes.extend_from_slice(&error);
    let error = Feed {
        deprecate_eof: true,
        ..Feed::default()
    }
    .read(&bytes, &[1])
    .unwrap_err();
    assert!(
        matches!(&error, Error::Server(error) if error.number == 1317),
        "{error}"
    );
}
