//! The rows of a kept result, one table each.

use std::{cell::Cell, rc::Rc};

use lua::{
    mlua::{Lua, Result, Value},
    raise,
};

use super::kept_results::KeptResult;
use protocol::relay::Fields;

/// Columns above which a row's table is not made at once; a result set has at most 4096.
const COLUMNS_AT_ONCE: usize = 4096;

/// A function that returns the next row at each call, and nil after the last. It begins with the first row.
pub(super) fn iterator(lua: &Lua, result: Rc<KeptResult>) -> Result<Value> {
    // The count of columns, the columns, and the EOF packet after them.
    let first = 1 + result.columns + usize::from(!result.deprecate_eof);
    let next = Cell::new(first);
    let function = lua.create_function(move |lua, ()| {
        let packets = result.packets.as_deref().map_or(&[][..], Vec::as_slice);
        let Some(packet) = packets.get(next.get()) else {
            return Ok(Value::Nil);
        };
        if ends_rows(packet, result.deprecate_eof) {
            return Ok(Value::Nil);
        }
        next.set(next.get() + 1);
        row(lua, packet, result.columns)
    });
    Ok(Value::Function(function?))
}

/// Whether a packet is no row, but the EOF, OK or error packet after the rows.
fn ends_rows(packet: &[u8], deprecate_eof: bool) -> bool {
    match packet.first() {
        Some(0xff) => true,
        // A row begins with this byte only if its first value has 16 MiB or more.
        Some(0xfe) if deprecate_eof => packet.len() < 0xff_ffff,
        Some(0xfe) => packet.len() < 9,
        _ => false,
    }
}

fn row(lua: &Lua, packet: &[u8], columns: usize) -> Result<Value> {
    let row = lua.create_table_with_capacity(columns.min(COLUMNS_AT_ONCE), 0)?;
    let mut reader = Fields(packet);
    for column in 1..=columns {
        match reader.text_value() {
            Some(Some(value)) => row.raw_set(column, lua.create_string(value)?)?,
            Some(None) => {}
            None => return Err(raise(lua, "the server sent a row that cannot be read")),
        }
    }
    Ok(Value::Table(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_rows_depends_on_the_form_of_the_result() {
        let long = [0xfe; 20];
        assert!(ends_rows(&[0xff, 1], false));
        assert!(ends_rows(&[0xfe, 0, 0, 2, 0], false));
        assert!(!ends_rows(&long, false));
        assert!(ends_rows(&long, true));
        assert!(!ends_rows(&[], true));
        assert!(!ends_rows(&[0xfb], false));
    }
}
