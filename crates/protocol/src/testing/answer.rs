//! A canned answer of the fake server.

use std::time::Duration;

use crate::{
    lenenc::put_lenenc,
    payloads::{
        AUTOCOMMIT, put_binary_row, put_column, put_end_of_columns, put_end_of_rows, put_error,
        put_ok, put_text_row,
    },
    replies::MORE_RESULTS,
};

/// The answer of the fake server to one command, with its delay.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub(super) after: Duration,
    pub(super) parts: Vec<Fragment>,
    pub(super) close: bool,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fragment {
    /// A payload that is sent as a packet.
    Packet(Vec<u8>),
    /// The end of columns or rows, whose packet depends on the negotiated capabilities; with this status.
    EndOfColumns,
    EndOfRows {
        status: u16,
    },
    /// Bytes sent without framing.
    Raw(Vec<u8>),
}

impl Answer {
    pub fn of_status(status: u16) -> Self {
        Self::of_packet(|payload| put_ok(0, status, "", payload))
    }

    pub fn ok(affected_rows: u64) -> Self {
        Self::of_packet(|payload| put_ok(affected_rows, AUTOCOMMIT, "", payload))
    }

    /// A set of text rows; `None` is NULL.
    pub fn rows(columns: &[&str], rows: &[&[Option<&str>]]) -> Self {
        Self::set(columns, rows.iter().map(|row| text_row(row)))
    }

    /// A set of rows of a prepared statement, with columns of text; `None` is NULL.
    pub fn binary_rows(columns: &[&str], rows: &[&[Option<&str>]]) -> Self {
        Self::set(columns, rows.iter().map(|row| binary_row(row)))
    }

    fn set(columns: &[&str], rows: impl Iterator<Item = Vec<u8>>) -> Self {
        let count = built(|out| put_lenenc(columns.len() as u64, out));
        let mut parts = vec![Fragment::Packet(count)];
        parts.extend(columns.iter().map(|name| Fragment::Packet(column(name))));
        parts.push(Fragment::EndOfColumns);
        parts.extend(rows.map(Fragment::Packet));
        parts.push(Fragment::EndOfRows { status: AUTOCOMMIT });
        Self {
            parts,
            ..Self::default()
        }
    }

    pub fn error(number: u16, sqlstate: &str, message: &str) -> Self {
        Self::of_packet(|payload| put_error(number, sqlstate, message, payload))
    }

    /// A packet with this payload, which is not checked.
    pub fn packet(payload: &[u8]) -> Self {
        Self::of_packet(|out| out.extend_from_slice(payload))
    }

    fn of_packet(put: impl FnOnce(&mut Vec<u8>)) -> Self {
        Self {
            parts: vec![Fragment::Packet(built(put))],
            ..Self::default()
        }
    }

    /// Bytes including packet headers, sent unchanged.
    pub fn raw(bytes: &[u8]) -> Self {
        Self {
            parts: vec![Fragment::Raw(bytes.to_vec())],
            ..Self::default()
        }
    }

    pub fn silence() -> Self {
        Self::default()
    }

    /// The same answer, sent `delay` after the command was received.
    pub fn after(self, delay: Duration) -> Self {
        Self {
            after: delay,
            ..self
        }
    }

    pub fn and_close(self) -> Self {
        Self {
            close: true,
            ..self
        }
    }

    /// Appends another result to this one.
    pub fn then(mut self, next: Self) -> Self {
        match self.parts.last_mut() {
            Some(Fragment::EndOfRows { status }) => *status |= MORE_RESULTS,
            // The low byte of an OK packet's status is the fourth from its end.
            Some(Fragment::Packet(payload)) if payload.first() == Some(&0) => {
                let at = payload.len() - 4;
                payload[at] |= MORE_RESULTS.to_le_bytes()[0];
            }
            _ => {}
        }
        self.parts.extend(next.parts);
        self
    }

    /// The payloads for a client without EOF packets, or with them; raw bytes are omitted.
    pub fn payloads(&self, deprecate_eof: bool) -> Vec<Vec<u8>> {
        let packets = self
            .parts
            .iter()
            .filter_map(|part| part.payload(deprecate_eof));
        packets.collect()
    }
}

impl Fragment {
    pub(super) fn payload(&self, deprecate_eof: bool) -> Option<Vec<u8>> {
        match self {
            Self::Packet(payload) => Some(payload.clone()),
            Self::EndOfColumns if deprecate_eof => None,
            Self::EndOfColumns => Some(built(put_end_of_columns)),
            Self::EndOfRows { status } => Some(built(|out| {
                put_end_of_rows(*status, deprecate_eof, out);
            })),
            Self::Raw(_) => None,
        }
    }
}

/// The definition of a text column of at most 1024 bytes.
pub(super) fn column(name: &str) -> Vec<u8> {
    built(|out| put_column(name.as_bytes(), 1024, out))
}

fn text_row(values: &[Option<&str>]) -> Vec<u8> {
    built(|out| put_text_row(values.iter().map(|value| value.map(str::as_bytes)), out))
}

fn binary_row(values: &[Option<&str>]) -> Vec<u8> {
    built(|out| put_binary_row(values.iter().map(|value| value.map(str::as_bytes)), out))
}

fn built(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut payload = Vec::new();
    put(&mut payload);
    payload
}
