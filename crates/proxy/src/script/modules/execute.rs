//! The command that executes a prepared statement, with its parameters.

use lua::mlua::{IntoLua, Lua, Result, Table, Value};

use super::bytes::numbers;
use protocol::relay::Fields;

const COM_STMT_EXECUTE: u8 = 23;

/// The statement's number; `None` if the packet is no such command.
pub(super) fn statement_id(packet: &[u8]) -> Option<u32> {
    let mut reader = Fields(packet);
    if reader.u8()? != COM_STMT_EXECUTE {
        return None;
    }
    reader.u32()
}

enum Param<'a> {
    Null,
    Number(f64),
    Bytes(&'a [u8]),
    Text(String),
}

pub(super) fn from_execute(lua: &Lua, packet: &[u8], count: usize) -> Result<Option<Table>> {
    let Some(command) = Command::read(packet, count) else {
        return Ok(None);
    };
    let table = numbers(
        lua,
        &[
            ("stmt_id", command.id.into()),
            ("flags", command.flags.into()),
            ("iteration_count", command.iterations.into()),
        ],
    )?;
    table.raw_set("new_params_bound", command.params.is_some())?;
    if let Some(params) = command.params {
        let list = lua.create_table()?;
        for (kind, value) in params {
            let param = lua.create_table()?;
            param.raw_set("type", kind)?;
            let value = match value {
                Param::Null => Value::Nil,
                Param::Number(number) => Value::Number(number),
                Param::Bytes(bytes) => Value::String(lua.create_string(bytes)?),
                Param::Text(text) => text.into_lua(lua)?,
            };
            param.raw_set("value", value)?;
            list.raw_push(param)?;
        }
        table.raw_set("params", list)?;
    }
    Ok(Some(table))
}

struct Command<'a> {
    id: u32,
    flags: u8,
    iterations: u32,
    /// Types and values; `None` if the types are those of the last execution.
    params: Option<Vec<(u8, Param<'a>)>>,
}

impl<'a> Command<'a> {
    fn read(packet: &'a [u8], count: usize) -> Option<Self> {
        let id = statement_id(packet)?;
        let mut reader = Fields(&packet[5..]);
        let (flags, iterations) = (reader.u8()?, reader.u32()?);
        let mut command = Self {
            id,
            flags,
            iterations,
            params: None,
        };
        if count == 0 {
            return Some(command);
        }
        let nulls = reader.bytes(count.div_ceil(8))?;
        if reader.u8()? != 1 {
            return Some(command);
        }
        let types = reader.bytes(count.checked_mul(2)?)?;
        let mut params = Vec::new();
        for (place, kind) in types.chunks_exact(2).enumerate() {
            let is_null = nulls[place / 8] & (1 << (place % 8)) != 0;
            let value = if is_null {
                Param::Null
            } else {
                value(&mut reader, kind[0], kind[1] & 0x80 != 0)?
            };
            params.push((kind[0], value));
        }
        command.params = Some(params);
        Some(command)
    }
}

fn value<'a>(reader: &mut Fields<'a>, kind: u8, is_unsigned: bool) -> Option<Param<'a>> {
    Some(match kind {
        1 => integer(reader.array::<1>()?, is_unsigned),
        2 | 13 => integer(reader.array::<2>()?, is_unsigned),
        3 | 9 => integer(reader.array::<4>()?, is_unsigned),
        8 => integer(reader.array::<8>()?, is_unsigned),
        4 => Param::Number(f32::from_le_bytes(reader.array()?).into()),
        5 => Param::Number(f64::from_le_bytes(reader.array()?)),
        6 => Param::Null,
        7 | 10 | 12 => Param::Text(date(reader)?),
        11 => Param::Text(time(reader)?),
        0 | 15 | 16 | 245..=255 => Param::Bytes(reader.lenenc_bytes()?),
        _ => return None,
    })
}

/// A whole number of up to 8 bytes.
fn integer<'a, const N: usize>(bytes: [u8; N], is_unsigned: bool) -> Param<'a> {
    let is_negative = !is_unsigned && bytes[N - 1] & 0x80 != 0;
    let mut whole = [if is_negative { 0xff } else { 0 }; 8];
    whole[..N].copy_from_slice(&bytes);
    Param::Number(if is_unsigned {
        u64::from_le_bytes(whole) as f64
    } else {
        i64::from_le_bytes(whole) as f64
    })
}

/// A date, with the time of day and the fraction that are sent.
fn date(reader: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(reader.u8()?);
    let mut fields = Fields(reader.bytes(length)?);
    if length == 0 {
        return Some("0000-00-00 00:00:00".to_owned());
    }
    let (year, month, day) = (fields.u16()?, fields.u8()?, fields.u8()?);
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if length > 4 {
        text.push_str(&clock(&mut fields, " ")?);
    }
    Some(text)
}

/// A span of time, with the days as hours.
fn time(reader: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(reader.u8()?);
    let mut fields = Fields(reader.bytes(length)?);
    if length == 0 {
        return Some("00:00:00".to_owned());
    }
    let sign = if fields.u8()? == 0 { "" } else { "-" };
    let days = u64::from(fields.u32()?);
    let hours = days * 24 + u64::from(fields.u8()?);
    let (minutes, seconds) = (fields.u8()?, fields.u8()?);
    let fraction = fraction(&mut fields)?;
    Some(format!(
        "{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"
    ))
}

fn clock(fields: &mut Fields<'_>, separator: &str) -> Option<String> {
    let (hour, minute, second) = (fields.u8()?, fields.u8()?, fields.u8()?);
    let fraction = fraction(fields)?;
    Some(format!(
        "{separator}{hour:02}:{minute:02}:{second:02}{fraction}"
    ))
}

/// The microseconds, if they are sent; MySQL Proxy writes them with nine digits.
fn fraction(fields: &mut Fields<'_>) -> Option<String> {
    if fields.0.is_empty() {
        return Some(String::new());
    }
    Some(format!(".{:09}", fields.u32()?))
}
