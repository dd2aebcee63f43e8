//! Tests of answers as the servers' manuals describe them, in each dialect.

use protocol::{Outcome, testing::Feed};

const COLUMN: &[u8] =
    b"\x03def\x00\x00\x00\x01a\x01a\x0c\x2d\x00\x00\x04\x00\x00\xfd\x00\x00\x00\x00\x00";
/// Ends of rows: EOF, EOF with three warnings, EOF with a further result; and the OK packets that replace them.
const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
const EOF_WARNINGS: &[u8] = &[0xfe, 3, 0, 2, 0];
const EOF_MORE: &[u8] = &[0xfe, 0, 0, 0x0a, 0];
const OK_END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
const OK_END_WARNINGS: &[u8] = &[0xfe, 0, 0, 2, 0, 3, 0];
const OK_END_MORE: &[u8] = &[0xfe, 0, 0, 0x0a, 0, 0, 0];
const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];

const ROW: Outcome = Outcome {
    rows: 1,
    affected_rows: 0,
    last_insert_id: 0,
    warnings: 0,
    result_sets: 1,
};

struct Case {
    name: &'static str,
    /// Negotiated capabilities: no EOF packets, and cached metadata.
    agreed: (bool, bool),
    payloads: &'static [&'static [u8]],
    expected: Result<Outcome, &'static str>,
}

const CASES: &[Case] = &[
    Case {
        name: "text row, MySQL 5.6",
        agreed: (false, false),
        payloads: &[&[1], COLUMN, EOF, b"\x011", EOF],
        expected: Ok(ROW),
    },
    Case {
        name: "text row, MySQL 8 and MariaDB 10.2",
        agreed: (true, false),
        payloads: &[&[1], COLUMN, b"\x011", OK_END],
        expected: Ok(ROW),
    },
    Case {
        name: "prepared, MariaDB 10.6: definitions left out",
        agreed: (true, true),
        payloads: &[&[1, 0], b"\x00\x00\x011", OK_END],
        expected: Ok(ROW),
    },
    Case {
        name: "prepared, MariaDB 10.6 with EOF packets: definitions left out",
        agreed: (false, true),
        payloads: &[&[1, 0], EOF, b"\x00\x00\x011", EOF],
        expected: Ok(ROW),
    },
    Case {
        name: "prepared, MariaDB 10.6: definitions sent",
        agreed: (true, true),
        payloads: &[&[1, 1], COLUMN, b"\x00\x00\x011", OK_END],
        expected: Ok(ROW),
    },
    Case {
        name: "no row at all",
        agreed: (true, false),
        payloads: &[&[2], COLUMN, COLUMN, OK_END],
        expected: Ok(Outcome { rows: 0, ..ROW }),
    },
    Case {
        name: "rows that begin like an OK packet (empty text), like a NULL, like lengths of 2 and 3 bytes",
        agreed: (true, false),
        payloads: &[
            &[1],
            COLUMN,
            &[0],
            &[0xfb],
            &[0xfc, 1, 0, b'x'],
            &[0xfd, 1, 0, 0, b'x'],
            OK_END,
        ],
        expected: Ok(Outcome { rows: 4, ..ROW }),
    },
    Case {
        name: "warnings of an EOF packet",
        agreed: (false, false),
        payloads: &[&[1], COLUMN, EOF, b"\x011", EOF_WARNINGS],
        expected: Ok(Outcome { warnings: 3, ..ROW }),
    },
    Case {
        name: "warnings of the OK packet in its place",
        agreed: (true, false),
        payloads: &[&[1], COLUMN, b"\x011", OK_END_WARNINGS],
        expected: Ok(Outcome { warnings: 3, ..ROW }),
    },
    Case {
        name: "three results, EOF packets",
        agreed: (false, false),
        payloads: &[
            &[1],
            COLUMN,
            EOF,
            b"\x011",
            EOF_MORE,
            &[1],
            COLUMN,
            EOF,
            EOF_MORE,
            OK,
        ],
        expected: Ok(Outcome {
            affected_rows: 1,
            result_sets: 2,
            ..ROW
        }),
    },
    Case {
        name: "three results, no EOF packets",
        agreed: (true, false),
        payloads: &[
            &[1],
            COLUMN,
            b"\x011",
            OK_END_MORE,
            &[1],
            COLUMN,
            OK_END_MORE,
            OK,
        ],
        expected: Ok(Outcome {
            affected_rows: 1,
            result_sets: 2,
            ..ROW
        }),
    },
    Case {
        name: "definitions of the second result only",
        agreed: (true, true),
        payloads: &[
            &[1, 0],
            b"\x00\x00\x011",
            OK_END_MORE,
            &[1, 1],
            COLUMN,
            b"\x00\x00\x012",
            OK_END,
        ],
        expected: Ok(Outcome {
            rows: 2,
            result_sets: 2,
            ..ROW
        }),
    },
    Case {
        name: "numbers of every length in an OK packet, and text behind",
        agreed: (true, false),
        payloads: &[&[0, 0xfc, 0, 1, 0xfd, 0, 0, 1, 2, 0, 4, 0, 2, b'h', b'i']],
        expected: Ok(Outcome {
            rows: 0,
            result_sets: 0,
            affected_rows: 256,
            last_insert_id: 65536,
            warnings: 4,
        }),
    },
    Case {
        name: "error at once",
        agreed: (true, false),
        payloads: &[b"\xff\x28\x04#42000You have an error"],
        expected: Err("error 1064 (42000): You have an error"),
    },
    Case {
        name: "error after rows, EOF packets",
        agreed: (false, false),
        payloads: &[
            &[1],
            COLUMN,
            EOF,
            b"\x011",
            b"\xff\x25\x05#70100interrupted",
        ],
        expected: Err("error 1317 (70100): interrupted"),
    },
    Case {
        name: "error after rows, no EOF packets",
        agreed: (true, true),
        payloads: &[&[1, 0], b"\x00\x00\x011", b"\xff\x25\x05#70100interrupted"],
        expected: Err("error 1317 (70100): interrupted"),
    },
    Case {
        name: "error in place of a column",
        agreed: (true, false),
        payloads: &[&[2], COLUMN, b"\xff\x25\x05#70100interrupted"],
        expected: Err("error 1317 (70100): interrupted"),
    },
    Case {
        name: "error in place of the second result",
        agreed: (true, false),
        payloads: &[
            &[1],
            COLUMN,
            b"\x011",
            OK_END_MORE,
            b"\xff\x25\x05#70100interrupted",
        ],
        expected: Err("error 1317 (70100): interrupted"),
    },
    Case {
        name: "rows where the columns should have ended",
        agreed: (false, true),
        payloads: &[&[1, 0], b"\x00\x00\x011"],
        expected: Err("malformed answer from the server: packet of an unexpected kind"),
    },
];

#[test]
fn answers_read_as_the_manuals_say() {
    for case in CASES {
        let (deprecate_eof, cache_metadata) = case.agreed;
        let payloads: Vec<Vec<u8>> = case
            .payloads
            .iter()
            .map(|payload| payload.to_vec())
            .collect();
        let bytes = Feed::frame(&payloads);
        let feed = Feed {
            deprecate_eof,
            cache_metadata,
            keep: false,
        };
        for piece in [usize::MAX, 1, 7] {
            let found = feed.read(&bytes, &[piece]);
            match case.expected {
                Ok(expected) => assert_eq!(found.unwrap().unwrap().0, expected, "{}", case.name),
                Err(expected) => {
                    assert_eq!(found.unwrap_err().to_string(), expected, "{}", case.name);
                }
            }
        }
    }
}
