//! Results as packets: framing, sets of rows, and the invented rows that are built once and sent often.

use crate::{
    lenenc::put_lenenc,
    packets::{HEADER, PAYLOAD_MAX},
    payloads::{
        AUTOCOMMIT, put_binary_row, put_column, put_end_of_columns, put_end_of_rows, put_text_row,
    },
};

/// The longest result that is invented.
const RESULT_BYTES_MAX: u64 = 64 << 20;
/// Text or binary, with EOF packets or without.
const FORMS: usize = 4;
/// Results of more columns are built anew each time: they are rare, and the client says how many there are.
const CANNED_COLUMNS_MAX: u16 = 64;

/// How the values of a row are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// To COM_QUERY.
    Text,
    /// To COM_STMT_EXECUTE.
    Binary,
}

/// Packets that are appended to a buffer one after the other.
pub(super) struct Packets<'a> {
    pub(super) out: &'a mut Vec<u8>,
    /// Number of the next one.
    pub(super) sequence: u8,
    /// The client does without EOF packets.
    pub(super) deprecate_eof: bool,
}

impl Packets<'_> {
    /// Appends a packet, whose payload is shorter than 16 MiB.
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

    /// Appends the definitions of columns, and the packet after them.
    pub(super) fn push_columns<'b>(&mut self, names: impl Iterator<Item = &'b [u8]>, length: u32) {
        for name in names {
            self.push(|out| put_column(name, length, out));
        }
        self.push_end_of_columns();
    }

    /// Appends the packet after columns, where the client wants one.
    pub(super) fn push_end_of_columns(&mut self) {
        if !self.deprecate_eof {
            self.push(put_end_of_columns);
        }
    }

    /// Appends a whole set of rows, of columns of at most so many bytes.
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

/// The rows that are invented for every question about a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InventedRows {
    /// Rows of each result.
    pub rows: u32,
    /// Bytes of the value in each column.
    pub row_bytes: u32,
}

impl InventedRows {
    /// Whether a result of so many columns is of a length that is ever sent: the row in one packet, all in 64 MiB.
    pub fn fit(self, columns: u16) -> bool {
        let row = u64::from(columns) * (u64::from(self.row_bytes) + 9);
        row < PAYLOAD_MAX as u64 / 2 && row * u64::from(self.rows) <= RESULT_BYTES_MAX
    }

    /// Appends a result of so many columns.
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

/// Names of so many columns: `c`, `c2`, `c3`.
pub(super) fn column_names(columns: u16) -> Vec<Vec<u8>> {
    let name = |column| match column {
        1 => b"c".to_vec(),
        _ => format!("c{column}").into_bytes(),
    };
    (1..=columns).map(name).collect()
}

/// Results that were built once, by number of columns; the first packet has the number 1.
pub(super) struct CachedResults {
    rows: InventedRows,
    /// Four forms for each number of columns.
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

    /// The whole result; `None` for one that is not kept. It has to fit.
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
