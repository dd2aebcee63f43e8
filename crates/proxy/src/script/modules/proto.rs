//! `mysql.proto`: packets to tables, and back.

use lua::{
    bad_argument,
    mlua::{Lua, Result, Table, Value},
    raise,
};

use super::{bytes, bytes::numbers, execute, function::add, login, master_info};
use protocol::relay::{Fields, put_lenenc};

use crate::script::packet;

/// A function that reads a packet into a table; `None` if the packet is malformed.
type Decoder = fn(&Lua, &[u8]) -> Result<Option<Table>>;
/// A function that writes the packet of a table.
type Encoder = fn(&Lua, &Table) -> Result<Vec<u8>>;

const DECODERS: [(&str, Decoder); 9] = [
    ("from_err_packet", from_err),
    ("from_ok_packet", from_ok),
    ("from_eof_packet", from_eof),
    ("from_challenge_packet", login::from_challenge),
    ("from_response_packet", login::from_response),
    ("from_masterinfo_string", master_info::from_string),
    ("from_stmt_prepare_packet", from_prepare),
    ("from_stmt_prepare_ok_packet", from_prepare_ok),
    ("from_stmt_close_packet", from_close),
];

const ENCODERS: [(&str, Encoder); 6] = [
    ("to_err_packet", to_err),
    ("to_ok_packet", to_ok),
    ("to_eof_packet", to_eof),
    ("to_challenge_packet", login::to_challenge),
    ("to_response_packet", login::to_response),
    ("to_masterinfo_string", master_info::to_string),
];

/// First bytes of commands.
const COM_STMT_PREPARE: u8 = 22;
const COM_STMT_CLOSE: u8 = 25;

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    for (name, decode) in DECODERS {
        add(lua, &module, name, move |lua, packet: Value| {
            let packet = bytes::argument(lua, 1, name, &packet)?;
            decode(lua, &packet)?.ok_or_else(|| malformed(lua, name))
        })?;
    }
    for (name, encode) in ENCODERS {
        add(lua, &module, name, move |lua, table: Value| {
            let Value::Table(table) = &table else {
                return Err(bad_argument(lua, 1, name, "table", &table));
            };
            lua.create_string(encode(lua, table)?)
        })?;
    }
    add(
        lua,
        &module,
        "from_stmt_execute_packet",
        |lua, (packet, count): (Value, Value)| {
            let name = "from_stmt_execute_packet";
            let packet = bytes::argument(lua, 1, name, &packet)?;
            let Some(count) = lua.coerce_number(count.clone())? else {
                return Err(bad_argument(lua, 2, name, "number", &count));
            };
            execute::from_execute(lua, &packet, count as usize)?.ok_or_else(|| malformed(lua, name))
        },
    )?;
    add(
        lua,
        &module,
        "stmt_id_from_stmt_execute_packet",
        |lua, packet: Value| {
            let name = "stmt_id_from_stmt_execute_packet";
            let packet = bytes::argument(lua, 1, name, &packet)?;
            execute::statement_id(&packet).ok_or_else(|| malformed(lua, name))
        },
    )?;
    Ok(module)
}

fn malformed(lua: &Lua, function: &str) -> lua::mlua::Error {
    let name = function.trim_start_matches("from_");
    raise(
        lua,
        format!("{function}: not a complete {}", name.replace('_', " ")),
    )
}

fn from_err(lua: &Lua, bytes: &[u8]) -> Result<Option<Table>> {
    let mut reader = Fields(bytes);
    let (Some(0xff), Some(code)) = (reader.u8(), reader.u16()) else {
        return Ok(None);
    };
    let mut sqlstate = &b"07000"[..];
    if let Some(rest) = reader.0.strip_prefix(b"#") {
        let Some((state, message)) = rest.split_at_checked(5) else {
            return Ok(None);
        };
        (sqlstate, reader.0) = (state, message);
    }
    let table = numbers(lua, &[("errcode", code.into())])?;
    table.raw_set("sqlstate", lua.create_string(sqlstate)?)?;
    table.raw_set("errmsg", lua.create_string(reader.0)?)?;
    Ok(Some(table))
}

fn to_err(lua: &Lua, table: &Table) -> Result<Vec<u8>> {
    let code = bytes::number(lua, table, "errcode")?.unwrap_or_default();
    let sqlstate = match bytes::field(lua, table, "sqlstate")? {
        state if state.is_empty() => *b"07000",
        state => state
            .try_into()
            .map_err(|_| raise(lua, ".sqlstate has to have 5 characters"))?,
    };
    let message = bytes::field(lua, table, "errmsg")?;
    Ok(packet::error(code as u16, sqlstate, &message))
}

fn from_ok(lua: &Lua, bytes: &[u8]) -> Result<Option<Table>> {
    let mut reader = Fields(bytes);
    let mut read = || {
        let 0 = reader.u8()? else { return None };
        let (affected_rows, insert_id) = (reader.lenenc()?, reader.lenenc()?);
        Some([
            ("affected_rows", affected_rows),
            ("insert_id", insert_id),
            ("server_status", reader.u16()?.into()),
            ("warnings", reader.u16()?.into()),
        ])
    };
    read().map(|fields| numbers(lua, &fields)).transpose()
}

fn to_ok(lua: &Lua, table: &Table) -> Result<Vec<u8>> {
    let number =
        |key| Ok::<_, lua::mlua::Error>(bytes::number(lua, table, key)?.unwrap_or_default());
    let mut out = vec![0];
    put_lenenc(number("affected_rows")?, &mut out);
    put_lenenc(number("insert_id")?, &mut out);
    out.extend_from_slice(&(number("server_status")? as u16).to_le_bytes());
    out.extend_from_slice(&(number("warnings")? as u16).to_le_bytes());
    Ok(out)
}

fn from_eof(lua: &Lua, bytes: &[u8]) -> Result<Option<Table>> {
    let mut reader = Fields(bytes);
    let mut read = || {
        let 0xfe = reader.u8()? else { return None };
        if reader.0.is_empty() {
            // Before 4.1 it said nothing more.
            return Some([("warnings", 0), ("server_status", 0)]);
        }
        Some([
            ("warnings", u64::from(reader.u16()?)),
            ("server_status", u64::from(reader.u16()?)),
        ])
    };
    read().map(|fields| numbers(lua, &fields)).transpose()
}

fn to_eof(lua: &Lua, table: &Table) -> Result<Vec<u8>> {
    let mut out = vec![0xfe];
    for key in ["warnings", "server_status"] {
        let number = bytes::number(lua, table, key)?.unwrap_or_default();
        out.extend_from_slice(&(number as u16).to_le_bytes());
    }
    Ok(out)
}

fn from_prepare(lua: &Lua, bytes: &[u8]) -> Result<Option<Table>> {
    let Some((&COM_STMT_PREPARE, text)) = bytes.split_first() else {
        return Ok(None);
    };
    let table = lua.create_table()?;
    table.raw_set("stmt_text", lua.create_string(text)?)?;
    Ok(Some(table))
}

fn from_prepare_ok(lua: &Lua, bytes: &[u8]) -> Result<Option<Table>> {
    let mut reader = Fields(bytes);
    let mut read = || {
        let 0 = reader.u8()? else { return None };
        let id = reader.u32()?;
        let (columns, params) = (reader.u16()?, reader.u16()?);
        reader.u8()?;
        Some([
            ("stmt_id", u64::from(id)),
            ("num_columns", columns.into()),
            ("num_params", params.into()),
            ("warnings", reader.u16()?.into()),
        ])
    };
    read().map(|fields| numbers(lua, &fields)).transpose()
}

fn from_close(lua: &Lua, bytes: &[u8]) -> Result<Option<Table>> {
    let mut reader = Fields(bytes);
    match (reader.u8(), reader.u32()) {
        (Some(COM_STMT_CLOSE), Some(id)) => numbers(lua, &[("stmt_id", id.into())]).map(Some),
        _ => Ok(None),
    }
}
