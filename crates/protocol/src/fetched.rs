//! Rows of prepared statements, kept for the next step of a transaction.

use crate::{
    error::Error,
    lenenc::Fields,
    packets::CONTROL_BYTES_MAX,
    row_sink::{COLUMN, KEPT_BYTES_MAX, ROW, RowSink, too_much},
    value::Value,
};

/// The rows of one answer; after the first uses, keeping them does not allocate.
#[derive(Debug, Default)]
pub struct Fetched {
    columns: Vec<Column>,
    /// Positions of the values in `bytes`, row by row.
    cells: Vec<Cell>,
    bytes: Vec<u8>,
    rows: usize,
    /// The names of the columns of a statement sent as text, one behind the other, and their ends.
    names: String,
    name_ends: Vec<usize>,
}

/// The encoding of a date or a time in the rows of a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporal {
    /// DATE, DATETIME or TIMESTAMP.
    Date,
    Time,
}

/// The properties of a column that are needed to read its values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    kind: Kind,
    unsigned: bool,
    is_text: bool,
}

/// The encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An integer of this many bytes, lowest first.
    Int(u8),
    Float,
    Double,
    /// One byte of length, then this number of bytes.
    Temporal(Temporal),
    /// A length-encoded string.
    Bytes,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    start: u32,
    length: u32,
    is_null: bool,
}

impl Fetched {
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A value; `None` if there is no such row or column.
    ///
    /// Decimals are text; dates and times are in the protocol's binary encoding.
    pub fn value(&self, row: usize, column: usize) -> Option<Value<'_>> {
        let Column {
            kind,
            unsigned,
            is_text,
        } = *self.columns.get(column)?;
        let cell = self.cells.get(row * self.columns.len() + column)?;
        if cell.is_null {
            return Some(Value::Null);
        }
        let bytes = &self.bytes[cell.start as usize..][..cell.length as usize];
        if is_text {
            return Some(kind.of_text(bytes));
        }
        Some(match kind {
            Kind::Int(_) => int(bytes, unsigned),
            Kind::Float => Value::Float(f32::from_le_bytes(bytes.try_into().ok()?).into()),
            Kind::Double => Value::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
            Kind::Temporal(_) | Kind::Bytes => Value::Bytes(bytes),
        })
    }

    /// The encoding of a column's values in the protocol; `None` if they are no dates or times, or are text.
    pub fn temporal(&self, column: usize) -> Option<Temporal> {
        let column = self.columns.get(column)?;
        match column.kind {
            Kind::Temporal(temporal) if !column.is_text => Some(temporal),
            _ => None,
        }
    }

    /// The name of a column of a statement that was sent as text; `None` if there is no such column, or for a prepared
    /// statement ([`crate::Connection::column_names`]).
    pub fn name(&self, column: usize) -> Option<&str> {
        let end = *self.name_ends.get(column)?;
        let start = match column {
            0 => 0,
            column => self.name_ends[column - 1],
        };
        self.names.get(start..end)
    }

    /// An integer, also one sent as text; `None` if there is no such value or it has another type.
    pub fn int(&self, row: usize, column: usize) -> Option<i64> {
        match self.value(row, column)? {
            Value::Int(value) => Some(value),
            Value::Uint(value) => value.try_into().ok(),
            Value::Bytes(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// A text or a decimal; `None` if there is no such value or it has another type.
    pub fn text(&self, row: usize, column: usize) -> Option<&[u8]> {
        match self.value(row, column)? {
            Value::Bytes(value) => Some(value),
            _ => None,
        }
    }

    /// Removes the rows and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.columns.clear();
        self.cells.clear();
        self.bytes.clear();
        self.rows = 0;
        self.names.clear();
        self.name_ends.clear();
    }
}

/// Keeps the rows of a statement sent as text, with the names of their columns.
pub(crate) struct TextFetched<'a>(pub(crate) &'a mut Fetched);

impl RowSink for TextFetched<'_> {
    fn begin_set(&mut self, _: bool) {
        self.0.clear();
    }

    fn column(&mut self, payload: &[u8]) -> Result<(), Error> {
        let name = name_of_column(payload).ok_or(COLUMN)?;
        for chunk in name.utf8_chunks() {
            self.0.names.push_str(chunk.valid());
        }
        self.0.name_ends.push(self.0.names.len());
        let column = Column::parse(payload).ok_or(COLUMN)?;
        self.0.columns.push(Column {
            is_text: true,
            ..column
        });
        Ok(())
    }

    fn row(&mut self, payload: &[u8]) -> Result<(), Error> {
        let fetched = &mut *self.0;
        fetched.charge(payload)?;
        let base = fetched.bytes.len();
        fetched.bytes.extend_from_slice(payload);
        let mut fields = Fields(payload);
        for _ in 0..fetched.columns.len() {
            let value = fields.text_value().ok_or(ROW)?;
            let end = payload.len() - fields.0.len();
            let length = value.map_or(0, <[u8]>::len);
            fetched.cells.push(Cell {
                start: (base + end - length) as u32,
                length: length as u32,
                is_null: value.is_none(),
            });
        }
        if !fields.0.is_empty() {
            return Err(ROW);
        }
        fetched.rows += 1;
        Ok(())
    }

    fn bytes_left(&self) -> usize {
        KEPT_BYTES_MAX - self.0.bytes.len().min(KEPT_BYTES_MAX)
    }
}

/// The name in a column's definition: catalogue, schema, table and original table come before it.
pub(crate) fn name_of_column(payload: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields(payload);
    for _ in 0..4 {
        fields.lenenc_bytes()?;
    }
    fields.lenenc_bytes()
}

/// Keeps the columns of a prepared statement, which a server may define only once, and its rows if requested.
pub(crate) struct Described<'a> {
    pub(crate) columns: &'a mut Vec<Column>,
    pub(crate) rows: Option<&'a mut Fetched>,
}

impl RowSink for Described<'_> {
    fn begin_set(&mut self, defined: bool) {
        if defined {
            self.columns.clear();
        }
        if let Some(rows) = &mut self.rows {
            rows.clear();
            rows.columns.extend_from_slice(self.columns);
        }
    }

    fn column(&mut self, payload: &[u8]) -> Result<(), Error> {
        let column = Column::parse(payload).ok_or(COLUMN)?;
        self.columns.push(column);
        if let Some(rows) = &mut self.rows {
            rows.columns.push(column);
        }
        Ok(())
    }

    fn keeps_rows(&self) -> bool {
        self.rows.is_some()
    }

    fn row(&mut self, payload: &[u8]) -> Result<(), Error> {
        match &mut self.rows {
            Some(rows) => rows.row(payload),
            None => Ok(()),
        }
    }

    fn bytes_left(&self) -> usize {
        match &self.rows {
            Some(rows) => KEPT_BYTES_MAX - rows.bytes.len().min(KEPT_BYTES_MAX),
            None => CONTROL_BYTES_MAX,
        }
    }
}

impl Fetched {
    /// An error if another row would exceed the limit.
    fn charge(&self, payload: &[u8]) -> Result<(), Error> {
        let cells_bytes = (self.cells.len() + self.columns.len()) * size_of::<Cell>();
        if self.bytes.len() + payload.len() + cells_bytes > KEPT_BYTES_MAX {
            return Err(too_much());
        }
        Ok(())
    }

    /// A row: `00`, one NULL bit per column after two unused bits, then the values that are not NULL.
    fn row(&mut self, payload: &[u8]) -> Result<(), Error> {
        self.charge(payload)?;
        let base = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        let mut fields = Fields(payload);
        let nulls = (fields.u8() == Some(0))
            .then(|| fields.bytes((self.columns.len() + 2).div_ceil(8)))
            .flatten()
            .ok_or(ROW)?;
        for (index, column) in self.columns.iter().enumerate() {
            let bit = index + 2;
            let is_null = nulls[bit / 8] & (1 << (bit % 8)) != 0;
            let value = if is_null {
                &[][..]
            } else {
                column.kind.take(&mut fields).ok_or(ROW)?
            };
            let end = payload.len() - fields.0.len();
            self.cells.push(Cell {
                start: (base + end - value.len()) as u32,
                length: value.len() as u32,
                is_null,
            });
        }
        if !fields.0.is_empty() {
            return Err(ROW);
        }
        self.rows += 1;
        Ok(())
    }
}

impl Column {
    /// A definition: six names, the length of the rest, character set, length of the column, type and flags.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        for _ in 0..6 {
            fields.lenenc_bytes()?;
        }
        fields.lenenc()?;
        fields.u16()?;
        fields.u32()?;
        let kind = match fields.u8()? {
            // TINYINT; SMALLINT and YEAR; INT and MEDIUMINT; BIGINT.
            1 => Kind::Int(1),
            2 | 13 => Kind::Int(2),
            3 | 9 => Kind::Int(4),
            8 => Kind::Int(8),
            4 => Kind::Float,
            5 => Kind::Double,
            // TIMESTAMP, DATE, DATETIME; TIME.
            7 | 10 | 12 => Kind::Temporal(Temporal::Date),
            11 => Kind::Temporal(Temporal::Time),
            _ => Kind::Bytes,
        };
        Some(Self {
            kind,
            unsigned: fields.u16()? & 0x20 != 0,
            is_text: false,
        })
    }
}

impl Kind {
    /// A value that was sent as text; one that is no number of its column's type stays a text.
    fn of_text(self, bytes: &[u8]) -> Value<'_> {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let number = match self {
            Self::Int(_) => {
                (text.parse().map(Value::Int).ok()).or_else(|| text.parse().map(Value::Uint).ok())
            }
            Self::Float | Self::Double => text.parse().map(Value::Float).ok(),
            Self::Temporal(_) | Self::Bytes => None,
        };
        number.unwrap_or(Value::Bytes(bytes))
    }

    fn take<'a>(self, fields: &mut Fields<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Int(length) => fields.bytes(length.into()),
            Self::Float => fields.bytes(4),
            Self::Double => fields.bytes(8),
            Self::Temporal(_) => {
                let length = fields.u8()?;
                fields.bytes(length.into())
            }
            Self::Bytes => fields.lenenc_bytes(),
        }
    }
}

fn int(bytes: &[u8], unsigned: bool) -> Value<'_> {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = u64::from_le_bytes(wide);
    if unsigned {
        return Value::Uint(value);
    }
    let unused_bits = 64 - 8 * bytes.len() as u32;
    // Shifting left and back right extends the sign.
    Value::Int((value << unused_bits) as i64 >> unused_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of a column with this type and these flags.
    fn definition(kind: u8, flags: u16) -> Vec<u8> {
        let mut payload = b"\x03def\x00\x00\x00\x01c\x00\x0c\x21\x00\x00\x00\x00\x00".to_vec();
        payload.push(kind);
        payload.extend_from_slice(&flags.to_le_bytes());
        payload.extend_from_slice(&[0, 0, 0]);
        payload
    }

    fn fetched(columns: &[(u8, u16)]) -> Fetched {
        let mut fetched = Fetched::default();
        let mut described = Described {
            columns: &mut Vec::new(),
            rows: Some(&mut fetched),
        };
        described.begin_set(true);
        for (kind, flags) in columns {
            described.column(&definition(*kind, *flags)).unwrap();
        }
        // The same columns again, which are not defined a second time.
        described.begin_set(false);
        fetched
    }

    #[test]
    fn values_of_all_kinds() {
        let kinds = [
            (1, 0),
            (2, 0x20),
            (3, 0),
            (8, 0),
            (246, 0),
            (253, 0),
            (12, 0),
            (5, 0),
            (4, 0),
            (253, 0),
        ];
        let mut fetched = fetched(&kinds);
        let mut row = vec![0, 0b0000_0000, 0b0000_1000];
        row.extend_from_slice(&[0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff]);
        row.extend_from_slice(&7_i64.to_le_bytes());
        row.extend_from_slice(b"\x0512.50\x02ab\x04\xea\x07\x01\x02");
        row.extend_from_slice(&1.5_f64.to_le_bytes());
        row.extend_from_slice(&0.5_f32.to_le_bytes());
        fetched.row(&row).unwrap();
        fetched.row(&row).unwrap();
        assert_eq!(fetched.rows(), 2);
        for at in 0..2 {
            let found: Vec<Value<'_>> = (0..10).map(|c| fetched.value(at, c).unwrap()).collect();
            assert_eq!(
                found,
                [
                    Value::Int(-1),
                    Value::Uint(0xffff),
                    Value::Int(-2),
                    Value::Int(7),
                    Value::Bytes(b"12.50"),
                    Value::Bytes(b"ab"),
                    Value::Bytes(&[0xea, 7, 1, 2]),
                    Value::Float(1.5),
                    Value::Float(0.5),
                    Value::Null,
                ]
            );
        }
        assert_eq!((fetched.int(1, 1), fetched.int(0, 5)), (Some(0xffff), None));
        assert_eq!(fetched.text(0, 4), Some(&b"12.50"[..]));
        assert_eq!((fetched.value(2, 0), fetched.value(0, 10)), (None, None));
    }

    #[test]
    fn rows_sent_as_text_have_the_types_of_their_columns() {
        let mut fetched = Fetched::default();
        let mut text = TextFetched(&mut fetched);
        text.begin_set(true);
        for kind in [3, 8, 5, 253, 12, 246] {
            text.column(&definition(kind, 0)).unwrap();
        }
        let row = b"\x01-\x0218446744073709551615\x032.5\xfb\x0a2026-01-02\x041.50";
        assert!(text.row(row).is_err());
        text.begin_set(true);
        for kind in [3, 8, 5, 253, 12, 246] {
            text.column(&definition(kind, 0)).unwrap();
        }
        let row = b"\x02-7\x1418446744073709551615\x032.5\xfb\x0a2026-01-02\x041.50";
        text.row(row).unwrap();
        let found: Vec<Value<'_>> = (0..6).map(|c| fetched.value(0, c).unwrap()).collect();
        assert_eq!(
            found,
            [
                Value::Int(-7),
                Value::Uint(u64::MAX),
                Value::Float(2.5),
                Value::Null,
                Value::Bytes(b"2026-01-02"),
                Value::Bytes(b"1.50"),
            ]
        );
        assert_eq!((fetched.name(0), fetched.name(6)), (Some("c"), None));
        assert_eq!(fetched.temporal(4), None);
    }

    #[test]
    fn broken_rows_are_errors() {
        for row in [
            &b""[..],
            b"\x00",
            b"\x01\x00\x01\x00",
            b"\x00\x00\x01",
            b"\x00\x00\x01\x00\x05ab",
            b"\x00\x00\x01\x00\x02abc",
        ] {
            let mut fetched = fetched(&[(2, 0), (253, 0)]);
            assert!(fetched.row(row).is_err(), "{row:?}");
        }
        for end in 0..definition(3, 0).len() - 3 {
            assert!(Column::parse(&definition(3, 0)[..end]).is_none(), "{end}");
        }
    }
}
