//! Results as packets: framing, sets of rows, and cached results of generated rows.

use crate::{
    lenenc::put_lenenc,
    packets::{HEADER, PAYLOAD_MAX},
    payloads::{
        AUTOCOMMIT, put_binary_row, put_column, put_end_of_columns, put_end_of_rows, put_text_row,
    },
};

/// Largest size of a generated result.
const RESULT_BYTES_MAX: u64 = 64 << 20;
/// Number of formats: text or binary, with EOF packets or without.
const FORMS: usize = 4;
/// Largest number of columns of a cached result; larger results are rare and are built for each statement.
const CANNED_COLUMNS_MAX: u16 = 64;

/// The format of the values in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Text, in answers to COM_QUERY.
    Text,
    /// Binary, in answers to COM_STMT_EXECUTE.
    Binary,
}

/// Appends packets to a buffer.
pub(super) struct Packets<'a> {
    pub(super) out: &'a mut Vec<u8>,
    /// Sequence number of the next packet.
    pub(super) sequence: u8,
    /// The client expects no EOF packets.
    pub(super) deprecate_eof: bool,
}

impl Packets<'_> {
    /// Appends a packet with a payload shorter than 16 MiB.
    pub(super) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        put(self.out);
        let length = self.out.len() - at - HEADER;
        assert!(length < PAYLOAD_MAX, "nothing that long is ever answered");
        let [a, b, c, ..] = length.to_le_bytes();
        self.out[at..at + HEADER].copy_from_slice(&[a, b, c, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Appends column definitions and the packet after them.
    pub(super) fn push_columns<'b>(&mut self, names: impl Iterator<Item = &'b [u8]>, length: u32) {
        for name in names {
            self.push(|out| put_column(name, length, out));
        }
        self.push_end_of_columns();
    }

    /// Appends the packet after columns, if the client expects one.
    pub(super) fn push_end_of_columns(&mut self) {
        if !self.deprecate_eof {
            self.push(put_end_of_columns);
        }
    }

    /// Appends a complete set of rows, with columns of at most `length` bytes.
    pub(super) fn push_set<'b, R>(
        &mut self,
        names: &[Vec<u8>],
        length: u32,
        rows: impl Iterator<Item = R>,
        format: Format,
        status: u16,
    ) where
        R: ExactSizeIterator<Item = Option<&'b [u8]>>,
    {
        self.push(|out| put_lenenc(names.len() as u64, out));
        self.push_columns(names.iter().map(Vec::as_slice), length);
        for row in rows {
            self.push(|out| match format {
                Format::Text => put_text_row(row, out),
                Format::Binary => put_binary_row(row, out),
            });
        }
        let deprecate_eof = self.deprecate_eof;
        self.push(|out| put_end_of_rows(status, deprecate_eof, out));
    }
}

/// The generated rows of every query on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InventedRows {
    /// Number of rows in each result.
    pub rows: u32,
    /// Length of the value in each column, bytes.
    pub row_bytes: u32,
}

impl InventedRows {
    /// Whether a result with this number of columns is within the limits: a row in one packet, all rows in 64 MiB.
    pub fn fit(self, columns: u16) -> bool {
        let row = u64::from(columns) * (u64::from(self.row_bytes) + 9);
        row < PAYLOAD_MAX as u64 / 2 && row * u64::from(self.rows) <= RESULT_BYTES_MAX
    }

    pub(super) fn push(self, columns: u16, format: Format, status: u16, packets: &mut Packets<'_>) {
        let value = vec![b'7'; self.row_bytes as usize];
        let names = column_names(columns);
        let row = vec![Some(&value[..]); columns.into()];
        let rows = (0..self.rows).map(|_| row.iter().copied());
        // A character has at most four bytes.
        let length = self.row_bytes.saturating_mul(4);
        packets.push_set(&names, length, rows, format, status);
    }
}

/// Column names: `c`, `c2`, `c3`.
pub(super) fn column_names(columns: u16) -> Vec<Vec<u8>> {
    let name = |column| match column {
        1 => b"c".to_vec(),
        _ => format!("c{column}").into_bytes(),
    };
    (1..=columns).map(name).collect()
}

/// Cached results by number of columns; their first packet has the number 1.
pub(super) struct CachedResults {
    rows: InventedRows,
    /// Four formats for each number of columns.
    built: Vec<Option<Box<[u8]>>>,
}

impl CachedResults {
    pub(super) fn new(rows: InventedRows) -> Self {
        let built = vec![None; FORMS * (usize::from(CANNED_COLUMNS_MAX) + 1)];
        Self { rows, built }
    }

    pub(super) fn rows(&self) -> InventedRows {
        self.rows
    }

    /// A complete result; `None` if it is not cached. It has to be within the limits.
    pub(super) fn result(
        &mut self,
        columns: u16,
        format: Format,
        deprecate_eof: bool,
    ) -> Option<&[u8]> {
        let rows = self.rows;
        let form = 2 * usize::from(format == Format::Binary) + usize::from(deprecate_eof);
        let place = self.built.get_mut(FORMS * usize::from(columns) + form)?;
        Some(place.get_or_insert_with(|| {
            let mut out = Vec::new();
            let mut packets = Packets {
                out: &mut out,
                sequence: 1,
                deprecate_eof,
            };
            rows.push(columns, format, AUTOCOMMIT, &mut packets);
            out.into_boxed_slice()
        }))
    }
}
