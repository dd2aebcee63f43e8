//! The fields of a CSV file, as the columns of a table take them.

use std::io;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    /// Numbers, times and members of a list, of which an empty field is none.
    Other,
    /// A whole number, loaded as its bytes.
    Bits,
}

impl FieldKind {
    pub(super) fn of(data_type: &str) -> Self {
        match data_type {
            "bit" => Self::Bits,
            it if it.contains("char") || it.contains("text") || it.ends_with("blob") => Self::Text,
            "binary" | "varbinary" => Self::Text,
            _ => Self::Other,
        }
    }
}

/// A field without quotation marks that is NULL in any column.
pub(super) const NULL: &[u8] = b"\\N";

/// Appends a field, `None` for NULL, as LOAD DATA reads it.
pub(super) fn write_field(
    field: Option<&[u8]>,
    kind: FieldKind,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    match (field, kind) {
        (None, _) | (Some(b""), FieldKind::Other | FieldKind::Bits) => out.extend_from_slice(NULL),
        (Some(field), FieldKind::Bits) => {
            let number = str::from_utf8(field)
                .ok()
                .and_then(|text| text.trim().parse::<u64>().ok());
            let bytes = number.unwrap_or(u64::MAX).to_be_bytes();
            if !bytes.is_ascii() || number.is_none() {
                let text = String::from_utf8_lossy(field);
                return Err(io::Error::other(format!(
                    "{text:?} is not a number for a BIT column, or has a byte above 127"
                )));
            }
            let from = bytes.iter().position(|byte| *byte != 0).unwrap_or(7);
            escape(&bytes[from..], out);
        }
        (Some(field), _) => escape(field, out),
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
