//! A column of a result, from the packet that defines it.

use protocol::relay::Fields;

/// A column.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) table: Vec<u8>,
    pub(super) org_table: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) org_name: Vec<u8>,
    pub(super) kind: u8,
}

impl Field {
    /// Reads a column's definition; `None` if it is none.
    pub(super) fn read(packet: &[u8]) -> Option<Self> {
        let mut reader = Fields(packet);
        let _catalog = reader.lenenc_bytes()?;
        let _db = reader.lenenc_bytes()?;
        let mut text = || Some(reader.lenenc_bytes()?.to_vec());
        let (table, org_table, name, org_name) = (text()?, text()?, text()?, text()?);
        // MariaDB's extended metadata, if any, lie between the names and the fixed part; that part is the packet's end.
        let fixed = reader.0.last_chunk::<13>()?;
        let [0x0c, _, _, _, _, _, _, kind, ..] = *fixed else {
            return None;
        };
        Some(Self {
            table,
            org_table,
            name,
            org_name,
            kind,
        })
    }
}
