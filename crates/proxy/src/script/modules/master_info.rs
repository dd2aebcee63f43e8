//! The file `master.info` of a replica.

use lua::mlua::{Lua, Result, Table};

use super::bytes;

/// The lines of the file after the first, which counts all; numbers are numbers in Lua, too.
const LINES: [(&str, bool); 14] = [
    ("master_log_file", false),
    ("master_log_pos", true),
    ("master_host", false),
    ("master_user", false),
    ("master_password", false),
    ("master_port", true),
    ("master_connect_retry", true),
    ("master_ssl", true),
    ("master_ssl_ca", false),
    ("master_ssl_capath", false),
    ("master_ssl_cert", false),
    ("master_ssl_cipher", false),
    ("master_ssl_key", false),
    ("master_ssl_verify_server_cert", true),
];

/// Lines that every version of the file has.
const LINES_MIN: usize = 14;

pub(super) fn from_string(lua: &Lua, text: &[u8]) -> Result<Option<Table>> {
    let mut lines = text.split(|&byte| byte == b'\n');
    let number = |line: &[u8]| String::from_utf8_lossy(line).trim().parse::<u64>().ok();
    let Some(count) = lines.next().and_then(number) else {
        return Ok(None);
    };
    let table = lua.create_table()?;
    table.raw_set("master_lines", count as f64)?;
    for (place, (name, is_number)) in LINES.into_iter().enumerate() {
        let is_needed = place + 1 < LINES_MIN || place + 1 < count as usize;
        let line = match lines.next() {
            Some(line) => line,
            None if is_needed => return Ok(None),
            None => break,
        };
        if !is_number {
            table.raw_set(name, lua.create_string(line)?)?;
            continue;
        }
        match number(line) {
            Some(number) => table.raw_set(name, number as f64)?,
            None if is_needed => return Ok(None),
            None => {}
        }
    }
    Ok(Some(table))
}

pub(super) fn to_string(lua: &Lua, table: &Table) -> Result<Vec<u8>> {
    let all = LINES.len() as u64 + 1;
    let count = bytes::number(lua, table, "master_lines")?.unwrap_or(all);
    let mut out = format!("{count}\n").into_bytes();
    let places = LINES.into_iter().take(if count < all {
        LINES_MIN - 1
    } else {
        LINES.len()
    });
    for (name, is_number) in places {
        if is_number {
            let number = bytes::number(lua, table, name)?.unwrap_or_default();
            out.extend_from_slice(number.to_string().as_bytes());
        } else {
            out.append(&mut bytes::field(lua, table, name)?);
        }
        out.push(b'\n');
    }
    Ok(out)
}
