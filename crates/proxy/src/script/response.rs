//! `proxy.response`: the packets of the answer that a script describes.

use lua::mlua::{Lua, Result, Table, Value};
use protocol::relay::{put_lenenc, put_text_row};

use super::{
    constants::{PACKET_ERR, PACKET_OK, PACKET_RAW},
    outlets::log,
    packet,
};
use crate::Level;

/// The type of a column without one, `MYSQL_TYPE_STRING`.
const DEFAULT_TYPE: u8 = 254;
/// The most columns that a server sends.
const COLUMNS_MAX: usize = 4096;

/// The packets that the response describes, or an error packet if it does not describe any.
pub(super) fn packets(lua: &Lua, response: &Value, deprecate_eof: bool) -> Vec<Vec<u8>> {
    let described = match response {
        Value::Table(response) => described(lua, response, deprecate_eof),
        _ => Ok(Err("proxy.response is not a table".to_owned())),
    };
    let problem = match described {
        Ok(Ok(packets)) => return packets,
        Ok(Err(problem)) => problem,
        Err(error) => lua::Error::from(error).message,
    };
    log(
        lua,
        Level::Critical,
        &format!("(lua) proxy.response: {problem}"),
    );
    vec![packet::script_error(
        "(lua) handling proxy.response failed, check error-log",
    )]
}

type Described = std::result::Result<Vec<Vec<u8>>, String>;

fn described(lua: &Lua, response: &Table, deprecate_eof: bool) -> Result<Described> {
    let kind = match response.get("type")? {
        Value::Nil => {
            return Ok(Err(
                ".type is nil: set it to proxy.MYSQLD_PACKET_OK, _ERR or _RAW".to_owned(),
            ));
        }
        kind => number(lua, kind)?,
    };
    match kind.map(|kind| kind as i64) {
        Some(PACKET_OK) => match response.get("resultset")? {
            Value::Table(resultset) => result_set(lua, &resultset, deprecate_eof),
            _ => {
                let affected_rows = number(lua, response.get("affected_rows")?)?;
                let insert_id = number(lua, response.get("insert_id")?)?;
                let count = |number: Option<f64>| number.unwrap_or_default() as u64;
                Ok(Ok(vec![packet::ok(count(affected_rows), count(insert_id))]))
            }
        },
        Some(PACKET_ERR) => Ok(Ok(vec![error(lua, response)?])),
        Some(PACKET_RAW) => raw(response),
        _ => Ok(Err(
            ".type is none of proxy.MYSQLD_PACKET_OK, _ERR and _RAW".to_owned(),
        )),
    }
}

/// A number, or a text that is one.
fn number(lua: &Lua, value: Value) -> Result<Option<f64>> {
    match value {
        Value::Integer(_) | Value::Number(_) | Value::String(_) => lua.coerce_number(value),
        _ => Ok(None),
    }
}

/// A text, or a number as Lua writes it. As in the original, whose texts are those of C, it ends at a zero byte.
fn text(lua: &Lua, value: Value) -> Result<Option<Vec<u8>>> {
    let text = match value {
        Value::Integer(_) | Value::Number(_) | Value::String(_) => lua.coerce_string(value)?,
        _ => None,
    };
    Ok(text.map(|text| {
        let bytes = text.as_bytes();
        let end = bytes.iter().position(|&byte| byte == 0);
        bytes[..end.unwrap_or(bytes.len())].to_vec()
    }))
}

fn error(lua: &Lua, response: &Table) -> Result<Vec<u8>> {
    let message = text(lua, response.get("errmsg")?)?;
    let message = message.unwrap_or_else(|| b"(lua) proxy.response.errmsg is nil".to_vec());
    let code = number(lua, response.get("errcode")?)?.unwrap_or(1105.0) as u16;
    let given = text(lua, response.get("sqlstate")?)?;
    let mut sqlstate = *b"07000";
    if let Some(given) = given {
        match given.try_into() {
            Ok(given) => sqlstate = given,
            Err(_) => log(
                lua,
                Level::Warning,
                "(lua) proxy.response.sqlstate does not have 5 characters; 07000 is sent",
            ),
        }
    }
    Ok(packet::error(code, sqlstate, &message))
}

fn raw(response: &Table) -> Result<Described> {
    let Value::Table(packets) = response.get("packets")? else {
        return Ok(Err(".packets has to be a table of strings".to_owned()));
    };
    let mut out = Vec::new();
    for (index, value) in packets.sequence_values::<Value>().enumerate() {
        let Value::String(packet) = value? else {
            let place = index + 1;
            return Ok(Err(format!(".packets[{place}] has to be a string")));
        };
        out.push(packet.as_bytes().to_vec());
    }
    if out.is_empty() {
        return Ok(Err(".packets is empty".to_owned()));
    }
    Ok(Ok(out))
}

fn result_set(lua: &Lua, resultset: &Table, deprecate_eof: bool) -> Result<Described> {
    let Value::Table(fields) = resultset.get("fields")? else {
        return Ok(Err(".resultset.fields has to be a table".to_owned()));
    };
    let mut columns = Vec::new();
    for field in fields.sequence_values::<Value>() {
        let Value::Table(field) = field? else {
            let place = columns.len() + 1;
            return Ok(Err(format!(".resultset.fields[{place}] has to be a table")));
        };
        let name = text(lua, field.get("name")?)?.unwrap_or_else(|| {
            let message = "(lua) proxy.response.resultset.fields: a field without name";
            log(lua, Level::Warning, message);
            b"no-field-name".to_vec()
        });
        let kind = number(lua, field.get("type")?)?.map_or(DEFAULT_TYPE, |kind| kind as u8);
        columns.push(packet::column(&name, kind));
    }
    let width = columns.len();
    if width == 0 || width > COLUMNS_MAX {
        return Ok(Err(format!(
            ".resultset.fields has {width} fields; 1 to {COLUMNS_MAX} are possible"
        )));
    }
    let mut count = Vec::new();
    put_lenenc(width as u64, &mut count);
    let mut out = vec![count];
    out.append(&mut columns);
    if !deprecate_eof {
        out.push(packet::end_of_rows(false));
    }
    if let Value::Table(rows) = resultset.get("rows")? {
        for row in rows.sequence_values::<Value>() {
            let Value::Table(row) = row? else {
                return Ok(Err(".resultset.rows has to be a table of tables".to_owned()));
            };
            out.push(row_packet(lua, &row, width)?);
        }
    }
    out.push(packet::end_of_rows(deprecate_eof));
    Ok(Ok(out))
}

fn row_packet(lua: &Lua, row: &Table, width: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for column in 1..=width {
        let value = text(lua, row.get(column)?)?;
        put_text_row([value.as_deref()], &mut out);
    }
    Ok(out)
}
