//! The fields of a CSV file, as the columns of a table take them.

use std::io;

/// What a field can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    /// Numbers and times, of which an empty field is none.
    Other,
    /// A whole number, loaded as its bytes.
    Bits,
}

impl FieldKind {
    pub(super) fn of(data_type: &str) -> Self {
        match data_type {
            "bit" => Self::Bits,
            it if it.contains("char") || it.contains("text") || it.ends_with("blob") => Self::Text,
            "binary" | "varbinary" | "enum" | "set" => Self::Text,
            _ => Self::Other,
        }
    }
}

/// Appends a field as LOAD DATA reads it.
pub(super) fn write_field(field: &[u8], kind: FieldKind, out: &mut Vec<u8>) -> io::Result<()> {
    match (field, kind) {
        (b"\\N", _) | (b"", FieldKind::Other | FieldKind::Bits) => out.extend_from_slice(b"\\N"),
        (_, FieldKind::Bits) => {
            let number = str::from_utf8(field)
                .ok()
                .and_then(|text| text.trim().parse::<u64>().ok());
            let bytes = number.unwrap_or(u64::MAX).to_be_bytes();
            if !bytes.is_ascii() || number.is_none() {
                let text = String::from_utf8_lossy(field);
                return Err(io::Error::other(format!(
                    "{text:?} is no number for a BIT column, or has a byte above 127"
                )));
            }
            let from = bytes.iter().position(|byte| *byte != 0).unwrap_or(7);
            escape(&bytes[from..], out);
        }
        _ => escape(field, out),
    }
    Ok(())
}

fn escape(field: &[u8], out: &mut Vec<u8>) {
    for byte in field {
        if matches!(byte, b'\\' | b'\t' | b'\n') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}
