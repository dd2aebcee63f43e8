//! The packets at the end of an answer: OK, EOF and error.

use crate::{
    error::{Error, ServerError},
    lenenc::Fields,
};

/// Status flag: another result follows.
pub(crate) const MORE_RESULTS: u16 = 0x0008;
/// Status flag: the session's SQL mode has NO_BACKSLASH_ESCAPES.
pub(crate) const NO_BACKSLASH_ESCAPES: u16 = 0x0200;

/// An OK packet; also the one with the first byte 0xfe, which ends rows in place of an EOF.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OkReply<'a> {
    pub(crate) affected_rows: u64,
    pub(crate) last_insert_id: u64,
    pub(crate) status: u16,
    pub(crate) warnings: u16,
    /// Such as `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub(crate) info: &'a [u8],
}

impl<'a> OkReply<'a> {
    pub(crate) fn parse(payload: &'a [u8]) -> Result<Self, Error> {
        match Self::fields(payload) {
            Some(ok) => Ok(ok),
            None => Err(Error::Malformed { what: "OK packet" }),
        }
    }

    fn fields(payload: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        fields.u8()?;
        Some(Self {
            affected_rows: fields.lenenc()?,
            last_insert_id: fields.lenenc()?,
            status: fields.u16()?,
            warnings: fields.u16()?,
            // Servers send a length although the manual has none.
            info: fields.lenenc_bytes().unwrap_or_default(),
        })
    }
}

/// The EOF packet after a set of rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EndOfRows {
    pub(crate) warnings: u16,
    pub(crate) status: u16,
}

/// Parses an EOF packet, which before 4.1 was its first byte alone.
pub(crate) fn end_of_rows(payload: &[u8]) -> Result<EndOfRows, Error> {
    if payload == [0xfe] {
        return Ok(EndOfRows {
            warnings: 0,
            status: 0,
        });
    }
    let mut fields = Fields(payload);
    match (fields.u8(), fields.u16(), fields.u16()) {
        (Some(_), Some(warnings), Some(status)) => Ok(EndOfRows { warnings, status }),
        _ => Err(Error::Malformed { what: "EOF packet" }),
    }
}

/// Parses an error packet: `ff 15 04 "#28000" "Access denied for user ..."`.
///
/// Before the login a server may omit the SQLSTATE.
pub(crate) fn server_error(payload: &[u8]) -> Error {
    let mut fields = Fields(payload);
    let Some((_, number)) = fields.u8().zip(fields.u16()) else {
        return Error::Malformed {
            what: "error packet",
        };
    };
    let (sqlstate, message) = match fields.0 {
        [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
        rest => (&b"HY000"[..], rest),
    };
    Error::Server(ServerError {
        number,
        sqlstate: String::from_utf8_lossy(sqlstate).into_owned(),
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_packets() {
        let cases: [(&[u8], Option<OkReply<'_>>); 5] = [
            (
                &[0, 3, 0xfc, 0, 1, 2, 0, 1, 0],
                Some(OkReply {
                    affected_rows: 3,
                    last_insert_id: 256,
                    status: 2,
                    warnings: 1,
                    info: b"",
                }),
            ),
            (
                b"\x00\x01\x00\x02\x00\x00\x00\x02hi",
                Some(OkReply {
                    affected_rows: 1,
                    status: 2,
                    info: b"hi",
                    ..OkReply::default()
                }),
            ),
            (
                b"\xfe\x00\x00\x08\x00\x00\x00",
                Some(OkReply {
                    status: 8,
                    ..OkReply::default()
                }),
            ),
            (&[0, 3], None),
            (&[0, 0xfe, 1], None),
        ];
        for (payload, expected) in cases {
            assert_eq!(OkReply::parse(payload).ok(), expected, "{payload:?}");
        }
    }

    #[test]
    fn error_packets() {
        let cases: [(&[u8], &str); 5] = [
            (
                b"\xff\x15\x04#28000Access denied",
                "error 1045 (28000): Access denied",
            ),
            (
                b"\xff\x10\x04Too many connections",
                "error 1040 (HY000): Too many connections",
            ),
            (b"\xff\x10\x04#4", "error 1040 (HY000): #4"),
            (b"\xff\x10\x04#42S02\xff", "error 1040 (42S02): \u{fffd}"),
            (
                b"\xff\x10",
                "malformed answer from the server: error packet",
            ),
        ];
        for (payload, expected) in cases {
            assert_eq!(server_error(payload).to_string(), expected);
        }
    }
}
