//! Arguments of native modules that are strings of bytes.

use lua::{
    bad_argument,
    mlua::{Lua, Result, Table, Value},
    raise,
};

/// The bytes of an argument, which is a string or a number.
pub(super) fn argument(
    lua: &Lua,
    position: usize,
    function: &str,
    value: &Value,
) -> Result<Vec<u8>> {
    match value {
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        Value::Integer(_) | Value::Number(_) => Ok(value.to_string()?.into_bytes()),
        other => Err(bad_argument(lua, position, function, "string", other)),
    }
}

/// A text in a table; empty if it is missing.
pub(super) fn field(lua: &Lua, table: &Table, key: &str) -> Result<Vec<u8>> {
    match table.get(key)? {
        Value::Nil => Ok(Vec::new()),
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        value @ (Value::Integer(_) | Value::Number(_)) => Ok(value.to_string()?.into_bytes()),
        _ => Err(raise(lua, format!(".{key} has to be a string"))),
    }
}

/// A whole number in a table; `None` if it is missing.
pub(super) fn number(lua: &Lua, table: &Table, key: &str) -> Result<Option<u64>> {
    match table.get(key)? {
        Value::Nil => Ok(None),
        Value::Boolean(_) => Err(raise(lua, format!(".{key} has to be a number"))),
        value => match lua.coerce_number(value)? {
            Some(number) => Ok(Some(number as u64)),
            None => Err(raise(lua, format!(".{key} has to be a number"))),
        },
    }
}

/// A table of numbers.
pub(super) fn numbers(lua: &Lua, fields: &[(&str, u64)]) -> Result<Table> {
    let table = lua.create_table()?;
    for &(name, number) in fields {
        table.raw_set(name, number as f64)?;
    }
    Ok(table)
}
