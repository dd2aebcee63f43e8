//! Answers byte by byte, cut everywhere.

use proptest::prelude::*;

use super::*;
use crate::relay::put_packet;

const CLASSIC: AnswerFormat = AnswerFormat {
    deprecate_eof: false,
    cache_metadata: false,
};
const TODAY: AnswerFormat = AnswerFormat {
    deprecate_eof: true,
    cache_metadata: false,
};
const EOF: &[u8] = b"\xfe\0\0\x02\0";
const MORE: &[u8] = b"\xfe\0\0\x0a\0";
const OK: &[u8] = b"\0\x03\x07\x02\0\x01\0";
const END: &[u8] = b"\xfe\0\0\x02\0\x05\0";
const ERR: &[u8] = b"\xff\x51\x04#07000no";

fn stream(payloads: &[&[u8]]) -> Vec<u8> {
    let (mut out, mut number) = (Vec::new(), 1);
    for payload in payloads {
        number = put_packet(payload, number, &mut out);
    }
    out
}

/// Feeds an answer in pieces of every length, followed by other bytes; returns its summary.
#[track_caller]
fn ends(kind: AnswerKind, wording: AnswerFormat, payloads: &[&[u8]]) -> Summary {
    let bytes = stream(payloads);
    let mut last = None;
    for cut in 1..=bytes.len() {
        let mut answer = Answer::new(kind, wording, 0);
        let mut left = bytes.clone();
        left.extend_from_slice(b"\x07\0\0\0beyond");
        let mut used = 0;
        loop {
            let end = left.len().min(used + cut);
            let fed = answer.feed(&mut left[used..end]).unwrap();
            used += fed.used;
            match fed.step {
                Step::More => assert!(used < bytes.len(), "continues after its end, cut {cut}"),
                Step::Done => break,
                Step::File => panic!("no file was asked for"),
            }
        }
        assert_eq!(used, bytes.len(), "cut {cut}");
        let summary = *answer.summary();
        assert!(last.is_none_or(|last| last == summary), "cut {cut}");
        last = Some(summary);
    }
    last.unwrap()
}

#[test]
fn results_end_where_the_server_ends_them() {
    let summary = ends(AnswerKind::Results, CLASSIC, &[OK]);
    assert_eq!((summary.begin, summary.affected_rows), (Begin::Ok, 3));
    assert_eq!((summary.insert_id, summary.warnings), (7, 1));

    let rows: &[&[u8]] = &[b"\x01", b"\x03def", EOF, b"\x01a", b"\xfb", EOF];
    let summary = ends(AnswerKind::Results, CLASSIC, rows);
    assert_eq!(
        (summary.begin, summary.rows, summary.columns),
        (Begin::Rows, 2, 1)
    );

    let rows: &[&[u8]] = &[b"\x02", b"\x03def", b"\x03def", b"\x01a\x01b", END];
    let summary = ends(AnswerKind::Results, TODAY, rows);
    assert_eq!((summary.rows, summary.columns, summary.warnings), (1, 2, 5));

    let several: &[&[u8]] = &[b"\x01", b"\x03def", EOF, b"\x01a", MORE, OK];
    assert_eq!(ends(AnswerKind::Results, CLASSIC, several).rows, 1);

    let failed: &[&[u8]] = &[b"\x01", b"\x03def", EOF, b"\x01a", ERR];
    assert_eq!(ends(AnswerKind::Results, CLASSIC, failed).begin, Begin::Err);
}

#[test]
fn a_cursor_has_no_rows_yet() {
    let opened: &[&[u8]] = &[b"\x01", b"\x03def", b"\xfe\0\0\x42\0"];
    assert_eq!(ends(AnswerKind::Cursor, CLASSIC, opened).rows, 0);
    let opened: &[&[u8]] = &[b"\x01", b"\x03def", b"\xfe\0\0\x42\0\0\0"];
    assert_eq!(ends(AnswerKind::Cursor, TODAY, opened).rows, 0);
    let fetched: &[&[u8]] = &[b"\0\0\x01", b"\0\0\x02", b"\xfe\0\0\x82\0"];
    assert_eq!(ends(AnswerKind::Rows, CLASSIC, fetched).rows, 2);
}

#[test]
fn the_cursor_of_a_procedure_does_not_hold_its_rows_back() {
    // What MariaDB answers to CALL while the procedure has a cursor open: the flag of the cursor, and that more follows.
    let in_procedure: &[u8] = b"\xfe\0\0\x4a\0";
    let called: &[&[u8]] = &[
        b"\x01",
        b"\x03def",
        in_procedure,
        b"\x01a",
        in_procedure,
        b"\x01",
        b"\x03def",
        in_procedure,
        b"\x01b",
        MORE,
        OK,
    ];
    for kind in [AnswerKind::Results, AnswerKind::Cursor] {
        assert_eq!(ends(kind, CLASSIC, called).rows, 2, "{kind:?}");
    }
    // Without a wish for a cursor there is none, whatever else is said.
    let alone: &[&[u8]] = &[
        b"\x01",
        b"\x03def",
        b"\xfe\0\0\x42\0",
        b"\x01a",
        b"\xfe\0\0\x42\0",
    ];
    assert_eq!(ends(AnswerKind::Results, CLASSIC, alone).rows, 1);
}

#[test]
fn an_end_of_one_byte_is_an_end_everywhere() {
    let short: &[u8] = b"\xfe";
    let rows: &[&[u8]] = &[b"\x01", b"\x03def", short, b"\x01a", short];
    let summary = ends(AnswerKind::Results, CLASSIC, rows);
    assert_eq!((summary.rows, summary.status), (1, 0));
    ends(AnswerKind::Results, CLASSIC, &[short]);
    ends(AnswerKind::Packet, CLASSIC, &[short]);
    ends(AnswerKind::Rows, CLASSIC, &[b"\x03def", short]);
    ends(AnswerKind::Stream, CLASSIC, &[b"\0event", short]);
}

#[test]
fn prepared_statements_describe_parameters_and_columns() {
    let both: &[&[u8]] = &[
        b"\0\x01\0\0\0\x01\0\x02\0\0\0\0",
        b"\x03def?",
        b"\x03def?",
        EOF,
        b"\x03def",
        EOF,
    ];
    assert_eq!(ends(AnswerKind::Prepared, CLASSIC, both).columns, 1);
    let no_eof: Vec<&[u8]> = both.iter().copied().filter(|it| *it != EOF).collect();
    ends(AnswerKind::Prepared, TODAY, &no_eof);
    ends(
        AnswerKind::Prepared,
        CLASSIC,
        &[b"\0\x01\0\0\0\0\0\0\0\0\0\0"],
    );
    ends(
        AnswerKind::Prepared,
        CLASSIC,
        &[b"\0\x01\0\0\0\x01\0\0\0\0\0\0", b"\x03def", EOF],
    );
    ends(AnswerKind::Prepared, CLASSIC, &[ERR]);
    // MySQL 8.0.33: a parameter of ORDER BY is announced, and not defined; with and without a column, alone and as the second.
    let column: &[u8] = b"\x03def\x01a";
    for (announced, packets) in [
        (
            &b"\0\x01\0\0\0\x01\0\x01\0\0\0\0"[..],
            &[EOF, column, EOF][..],
        ),
        (b"\0\x01\0\0\0\0\0\x01\0\0\0\0", &[EOF]),
        (
            b"\0\x01\0\0\0\x01\0\x02\0\0\0\0",
            &[b"\x03def?", EOF, column, EOF],
        ),
    ] {
        let all = [&[announced], packets].concat();
        ends(AnswerKind::Prepared, CLASSIC, &all);
    }
}

#[test]
fn other_answers() {
    ends(AnswerKind::Packet, CLASSIC, &[b"Uptime: 1"]);
    ends(AnswerKind::Packet, CLASSIC, &[EOF]);
    ends(AnswerKind::Rows, CLASSIC, &[b"\x03def", b"\x03def", EOF]);
    ends(AnswerKind::Stream, CLASSIC, &[b"\0event", b"\0event", EOF]);
    ends(AnswerKind::Stream, TODAY, &[b"\0event", ERR]);
    // MariaDB tells its progress with error packets that are none.
    let progress = b"\xff\xff\xff\x01\x01\x02\0\0\0\x04copy";
    let summary = ends(AnswerKind::Results, CLASSIC, &[progress, progress, OK]);
    assert_eq!(summary.begin, Begin::Ok);
    // A result whose columns the client has already.
    let cached = AnswerFormat {
        deprecate_eof: true,
        cache_metadata: true,
    };
    ends(AnswerKind::Results, cached, &[b"\x01\0", b"\0\0\x01", END]);
    ends(
        AnswerKind::Results,
        cached,
        &[b"\x01\x01", b"\x03def", b"\0\0\x01", END],
    );
    // Before 4.1 an EOF has no status.
    ends(AnswerKind::Rows, CLASSIC, &[b"\x01a", b"\xfe"]);
}

#[test]
fn a_row_may_begin_like_an_end() {
    let mut row = vec![0xfe, 0, 0, 0, 1, 0, 0, 0, 0];
    row.resize(9 + (1 << 24), b'x');
    let bytes = stream(&[b"\x01", b"\x03def", &row, END]);
    let mut answer = Answer::new(AnswerKind::Results, TODAY, 0);
    let fed = answer.feed(&mut bytes.clone()).unwrap();
    assert_eq!(
        fed,
        Consumed {
            used: bytes.len(),
            step: Step::Done
        }
    );
    assert_eq!(answer.summary().rows, 1);
}

#[test]
fn a_file_is_asked_for_and_the_answer_goes_on() {
    let mut answer = Answer::new(AnswerKind::Results, CLASSIC, 0);
    let mut bytes = stream(&[b"\xfb/tmp/x"]);
    assert_eq!(answer.feed(&mut bytes).unwrap().step, Step::File);
    let mut bytes = stream(&[OK]);
    assert_eq!(answer.feed(&mut bytes).unwrap().step, Step::Done);
    assert_eq!(answer.summary().affected_rows, 3);
}

#[test]
fn numbers_are_changed_on_the_way() {
    let mut bytes = stream(&[b"\x01", b"\x03def", EOF, b"\x01a", b"\x01b", EOF]);
    let mut answer = Answer::new(AnswerKind::Results, CLASSIC, 4);
    answer.feed(&mut bytes).unwrap();
    assert_eq!(answer.number(), 10);
    assert_eq!(bytes[3], 5);
    assert_eq!(bytes[bytes.len() - EOF.len() - 1], 10);
}

#[test]
fn malformed_answers_are_errors() {
    let cases: [&[&[u8]]; 6] = [
        &[b"\0\x01"],
        &[b""],
        &[b"\xfd\xff\xff\xff"],
        &[b"\x01", b"\x03def", b"\x01"],
        &[b"\x01", b"\x03def", EOF, b"\xfe\0"],
        &[b"\x01", b"\x03def", EOF, b""],
    ];
    for payloads in cases {
        let mut answer = Answer::new(AnswerKind::Results, CLASSIC, 0);
        assert!(answer.feed(&mut stream(payloads)).is_err(), "{payloads:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_end_or_fail_and_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        kind in 0..6u8, today: bool, cached: bool, cut in 1..50usize,
    ) {
        let kind = [AnswerKind::Results, AnswerKind::Rows, AnswerKind::Prepared, AnswerKind::Packet,
            AnswerKind::Stream, AnswerKind::Login][usize::from(kind)];
        let wording = AnswerFormat { deprecate_eof: today, cache_metadata: cached };
        let mut answer = Answer::new(kind, wording, 1);
        let mut whole = Answer::new(kind, wording, 1);
        let mut other = bytes.clone();
        let at_once = whole.feed(&mut other).map(|fed| fed.used).ok();
        let mut used = Some(0);
        for piece in bytes.chunks(cut) {
            let mut piece = piece.to_vec();
            match answer.feed(&mut piece) {
                Ok(fed) => {
                    used = used.map(|used| used + fed.used);
                    if fed.step != Step::More { break }
                }
                Err(_) => { used = None; break }
            }
        }
        prop_assert_eq!(used, at_once);
    }
}
