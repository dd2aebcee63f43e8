//! Packets that a script answers with, without their headers.

/// `SERVER_STATUS_AUTOCOMMIT`.
const AUTOCOMMIT: u16 = 2;
/// Flag of a column, `PRI_KEY_FLAG`.
const PRIMARY_KEY: u16 = 2;
/// The character set of a script's columns, latin1.
const CHARSET: u16 = 8;
/// The length that a script's columns announce.
const COLUMN_LENGTH: u32 = 32;

/// Appends a length-encoded integer.
pub(crate) fn put_lenenc(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_le_bytes();
    let (mark, length) = match value {
        0..=0xfa => return out.push(bytes[0]),
        0xfb..=0xffff => (0xfc, 2),
        0x1_0000..=0xff_ffff => (0xfd, 3),
        _ => (0xfe, 8),
    };
    out.push(mark);
    out.extend_from_slice(&bytes[..length]);
}

/// Appends a length-encoded string.
pub(crate) fn put_lenenc_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_lenenc(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// An OK packet.
pub(crate) fn ok(affected_rows: u64, insert_id: u64) -> Vec<u8> {
    let mut out = vec![0];
    put_lenenc(affected_rows, &mut out);
    put_lenenc(insert_id, &mut out);
    out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out
}

/// An error packet.
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

/// The definition of a column.
pub(crate) fn column(name: &[u8], kind: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + name.len());
    put_lenenc_bytes(b"def", &mut out);
    // Database, table, original table.
    out.extend_from_slice(&[0, 0, 0]);
    put_lenenc_bytes(name, &mut out);
    out.push(0);
    out.push(0x0c);
    out.extend_from_slice(&CHARSET.to_le_bytes());
    out.extend_from_slice(&COLUMN_LENGTH.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&PRIMARY_KEY.to_le_bytes());
    out.extend_from_slice(&[0, 0, 0]);
    out
}

/// The EOF packet.
pub(crate) fn eof() -> Vec<u8> {
    let [low, high] = AUTOCOMMIT.to_le_bytes();
    vec![0xfe, 0, 0, low, high]
}

/// The OK packet that ends the rows for a client without EOF packets.
pub(crate) fn ok_after_rows() -> Vec<u8> {
    let mut out = ok(0, 0);
    out[0] = 0xfe;
    out
}
