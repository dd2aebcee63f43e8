//! Packets that a script answers with, without their headers.

use protocol::relay::{AUTOCOMMIT, put_bytes, put_end_of_rows, put_lenenc};

/// Flag of a column, `PRI_KEY_FLAG`.
const PRIMARY_KEY: u16 = 2;
/// The character set of a script's columns, latin1.
const CHARSET: u16 = 8;
/// The length that a script's columns announce.
const COLUMN_LENGTH: u32 = 32;

pub(crate) fn ok(affected_rows: u64, insert_id: u64) -> Vec<u8> {
    let mut out = vec![0];
    put_lenenc(affected_rows, &mut out);
    put_lenenc(insert_id, &mut out);
    out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out
}

pub(crate) fn error(code: u16, sqlstate: [u8; 5], message: &[u8]) -> Vec<u8> {
    let mut out = vec![0xff];
    out.extend_from_slice(&code.to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(&sqlstate);
    out.extend_from_slice(message);
    out
}

/// The error that says that a script is to blame.
pub(crate) fn script_error(message: &str) -> Vec<u8> {
    error(1105, *b"07000", message.as_bytes())
}

pub(crate) fn column(name: &[u8], kind: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + name.len());
    put_bytes(b"def", &mut out);
    // Database, table, original table.
    out.extend_from_slice(&[0, 0, 0]);
    put_bytes(name, &mut out);
    out.push(0);
    out.push(0x0c);
    out.extend_from_slice(&CHARSET.to_le_bytes());
    out.extend_from_slice(&COLUMN_LENGTH.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&PRIMARY_KEY.to_le_bytes());
    out.extend_from_slice(&[0, 0, 0]);
    out
}

/// The packet after rows, and after columns for a client that expects EOF packets.
pub(crate) fn end_of_rows(deprecate_eof: bool) -> Vec<u8> {
    let mut out = Vec::new();
    put_end_of_rows(AUTOCOMMIT, deprecate_eof, &mut out);
    out
}
