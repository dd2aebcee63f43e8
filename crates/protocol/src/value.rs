//! Values of prepared statements: parameters, and columns of rows.

use crate::lenenc::put_lenenc;

/// A parameter's type and its unsigned flag, as sent.
pub(crate) type WireType = [u8; 2];

/// A value of a placeholder or of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Uint(u64),
    Float(f64),
    /// A decimal number as text, such as `-10.00`, with which the server calculates exactly.
    Decimal(&'a [u8]),
    /// Text in UTF-8, or bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// The column type (8 BIGINT, 5 DOUBLE, 246 DECIMAL, 253 VARCHAR, 6 NULL) and the unsigned flag.
    pub(crate) fn wire_type(self) -> WireType {
        match self {
            Self::Null => [0x06, 0],
            Self::Int(_) => [0x08, 0],
            Self::Uint(_) => [0x08, 0x80],
            Self::Float(_) => [0x05, 0],
            Self::Decimal(_) => [0xf6, 0],
            Self::Bytes(_) => [0xfd, 0],
        }
    }

    pub(crate) fn put(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => {}
            Self::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Uint(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Decimal(value) | Self::Bytes(value) => {
                put_lenenc(value.len() as u64, out);
                out.extend_from_slice(value);
            }
        }
    }
}
