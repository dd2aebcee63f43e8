//! Answers of rules, as packets without headers.

use protocol::relay::{
    AUTOCOMMIT, error_packet, put_column, put_end_of_rows, put_lenenc, put_text_row,
};

/// The length that a column announces, bytes.
const COLUMN_LENGTH: u32 = 1024;

/// An answer that no server is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    Error {
        number: u16,
        sqlstate: String,
        message: String,
    },
    /// OK.
    Done { affected_rows: u64, insert_id: u64 },
    /// Rows of texts; `None` is NULL.
    Rows {
        columns: Vec<String>,
        rows: Vec<Vec<Option<String>>>,
    },
}

impl Reply {
    /// The packets, for a client that reads EOF packets or leaves them out.
    pub(super) fn packets(&self, deprecate_eof: bool) -> Vec<Vec<u8>> {
        match self {
            Self::Error {
                number,
                sqlstate,
                message,
            } => vec![error_packet(*number, sqlstate, message)],
            Self::Done {
                affected_rows,
                insert_id,
            } => vec![put(&|out| {
                out.push(0);
                put_lenenc(*affected_rows, out);
                put_lenenc(*insert_id, out);
                out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
                out.extend_from_slice(&[0, 0]);
            })],
            Self::Rows { columns, rows } => result(columns, rows, deprecate_eof),
        }
    }
}

fn put(put: &dyn Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out);
    out
}

fn result(columns: &[String], rows: &[Vec<Option<String>>], deprecate_eof: bool) -> Vec<Vec<u8>> {
    let mut packets = vec![put(&|out| put_lenenc(columns.len() as u64, out))];
    for name in columns {
        packets.push(put(&|out| put_column(name.as_bytes(), COLUMN_LENGTH, out)));
    }
    if !deprecate_eof {
        packets.push(put(&|out| put_end_of_rows(AUTOCOMMIT, false, out)));
    }
    for row in rows {
        let values = || row.iter().map(|value| value.as_deref().map(str::as_bytes));
        packets.push(put(&|out| put_text_row(values(), out)));
    }
    packets.push(put(&|out| {
        put_end_of_rows(AUTOCOMMIT, deprecate_eof, out);
    }));
    packets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_as_the_client_reads_them() {
        let reply = Reply::Rows {
            columns: vec!["a".into(), "b".into()],
            rows: vec![vec![Some("1".into()), None]],
        };
        let packets = reply.packets(false);
        assert_eq!(packets.len(), 6);
        assert_eq!(packets[3], b"\xfe\0\0\x02\0");
        assert_eq!(packets[4], b"\x011\xfb");
        let packets = reply.packets(true);
        assert_eq!(packets.len(), 5);
        assert_eq!(packets[3], b"\x011\xfb");
        assert_eq!(packets[4][0], 0xfe);
    }

    #[test]
    fn counts_and_errors() {
        let done = Reply::Done {
            affected_rows: 3,
            insert_id: 300,
        };
        assert_eq!(done.packets(true), [b"\0\x03\xfc\x2c\x01\x02\0\0\0"]);
        let error = Reply::Error {
            number: 1213,
            sqlstate: "40001".into(),
            message: "x".into(),
        };
        assert_eq!(error.packets(true), [b"\xff\xbd\x04#40001x"]);
    }
}
