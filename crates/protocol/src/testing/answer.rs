//! A canned answer of the fake server.

use std::time::Duration;

use crate::{lenenc::put_lenenc, replies::MORE_RESULTS};

/// What the fake server says to one command, and when.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub(super) after: Duration,
    pub(super) parts: Vec<Part>,
    pub(super) close: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A payload, to be framed.
    Packet(Vec<u8>),
    /// The end of a result, whose packet depends on what was agreed: after columns or rows, with this status.
    EndOfColumns,
    EndOfRows {
        status: u16,
    },
    /// Bytes, to be sent as they are.
    Raw(Vec<u8>),
}

impl Answer {
    /// Done; so many rows were changed.
    pub fn ok(affected_rows: u64) -> Self {
        let mut payload = vec![0];
        put_lenenc(affected_rows, &mut payload);
        // No AUTO_INCREMENT value; autocommit; no warning.
        payload.extend_from_slice(&[0, 2, 0, 0, 0]);
        Self {
            parts: vec![Part::Packet(payload)],
            ..Self::default()
        }
    }

    /// A set of rows of text; `None` is NULL.
    pub fn rows(columns: &[&str], rows: &[&[Option<&str>]]) -> Self {
        let mut count = Vec::new();
        put_lenenc(columns.len() as u64, &mut count);
        let mut parts = vec![Part::Packet(count)];
        parts.extend(columns.iter().map(|name| Part::Packet(column(name))));
        parts.push(Part::EndOfColumns);
        parts.extend(rows.iter().map(|row| Part::Packet(text_row(row))));
        parts.push(Part::EndOfRows { status: 2 });
        Self {
            parts,
            ..Self::default()
        }
    }

    /// An error.
    pub fn error(number: u16, sqlstate: &str, message: &str) -> Self {
        let mut payload = vec![0xff];
        payload.extend_from_slice(&number.to_le_bytes());
        payload.extend_from_slice(format!("#{sqlstate}{message}").as_bytes());
        Self {
            parts: vec![Part::Packet(payload)],
            ..Self::default()
        }
    }

    /// A payload, framed but otherwise as it is.
    pub fn packet(payload: &[u8]) -> Self {
        Self {
            parts: vec![Part::Packet(payload.to_vec())],
            ..Self::default()
        }
    }

    /// Bytes as they are, headers and all.
    pub fn raw(bytes: &[u8]) -> Self {
        Self {
            parts: vec![Part::Raw(bytes.to_vec())],
            ..Self::default()
        }
    }

    /// No answer at all.
    pub fn silence() -> Self {
        Self::default()
    }

    /// The same, so much after the command came.
    pub fn after(self, delay: Duration) -> Self {
        Self {
            after: delay,
            ..self
        }
    }

    /// The same, and then the connection is closed.
    pub fn and_close(self) -> Self {
        Self {
            close: true,
            ..self
        }
    }

    /// Another result after this one.
    pub fn then(mut self, next: Self) -> Self {
        match self.parts.last_mut() {
            Some(Part::EndOfRows { status }) => *status |= MORE_RESULTS,
            // The low byte of an OK packet's status is the fourth from its end.
            Some(Part::Packet(payload)) if payload.first() == Some(&0) => {
                let at = payload.len() - 4;
                payload[at] |= MORE_RESULTS.to_le_bytes()[0];
            }
            _ => {}
        }
        self.parts.extend(next.parts);
        self
    }

    /// The payloads as sent to a client that does without EOF packets, or with them; raw bytes are left out.
    pub fn payloads(&self, deprecate_eof: bool) -> Vec<Vec<u8>> {
        let packets = self
            .parts
            .iter()
            .filter_map(|part| part.payload(deprecate_eof));
        packets.collect()
    }
}

impl Part {
    pub(super) fn payload(&self, deprecate_eof: bool) -> Option<Vec<u8>> {
        match self {
            Self::Packet(payload) => Some(payload.clone()),
            Self::EndOfColumns if deprecate_eof => None,
            Self::EndOfColumns => Some(vec![0xfe, 0, 0, 2, 0]),
            Self::EndOfRows { status } => {
                let [low, high] = status.to_le_bytes();
                Some(match deprecate_eof {
                    true => vec![0xfe, 0, 0, low, high, 0, 0],
                    false => vec![0xfe, 0, 0, low, high],
                })
            }
            Self::Raw(_) => None,
        }
    }
}

/// The definition of a text column: catalogue `def`, no schema or tables, the name twice, and its type.
pub(super) fn column(name: &str) -> Vec<u8> {
    let mut payload = b"\x03def\x00\x00\x00".to_vec();
    for _ in 0..2 {
        put_lenenc(name.len() as u64, &mut payload);
        payload.extend_from_slice(name.as_bytes());
    }
    // Character set 45, length 1024, type VARCHAR, no flags, no decimals.
    payload.extend_from_slice(&[0x0c, 45, 0, 0, 4, 0, 0, 0xfd, 0, 0, 0, 0, 0]);
    payload
}

fn text_row(values: &[Option<&str>]) -> Vec<u8> {
    let mut payload = Vec::new();
    for value in values {
        match value {
            None => payload.push(0xfb),
            Some(value) => {
                put_lenenc(value.len() as u64, &mut payload);
                payload.extend_from_slice(value.as_bytes());
            }
        }
    }
    payload
}
