//! The server's challenge and the client's response to it.

use lua::{
    mlua::{Lua, Result, Table},
    raise,
};

use super::{bytes, bytes::numbers};
use protocol::relay::Fields;

/// Without it, MariaDB's own capabilities are those above the lower 32.
const MYSQL: u64 = 1;
const CONNECT_WITH_DB: u64 = 1 << 3;
const PROTOCOL_41: u64 = 1 << 9;
const SECURE_CONNECTION: u64 = 1 << 15;
const PLUGIN_AUTH: u64 = 1 << 19;

/// Bytes of a challenge that lie before, and at least behind, the server's properties.
const CHALLENGE_HEAD: usize = 8;
const CHALLENGE_TAIL: usize = 12;
/// The longest challenge whose length, with a zero byte behind it, has room in one byte.
const CHALLENGE_MAX: usize = 254;
/// That of a script which names none.
const CHALLENGE: &[u8] = b"01234567890123456789";

/// The number of a version: 50506 for 5.5.6.
fn version_number(text: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(text);
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    let mut part = || {
        let part: Option<u64> = parts.next().and_then(|part| part.parse().ok());
        part.unwrap_or_default().min(99)
    };
    let (major, minor, patch) = (part(), part(), part());
    major * 10_000 + minor * 100 + patch
}

pub(super) fn from_challenge(lua: &Lua, packet: &[u8]) -> Result<Option<Table>> {
    let Some(greeting) = Challenge::read(packet) else {
        return Ok(None);
    };
    let table = numbers(lua, &greeting.numbers)?;
    table.raw_set("challenge", lua.create_string(greeting.challenge)?)?;
    if let Some(name) = greeting.plugin {
        table.raw_set("auth_plugin_name", lua.create_string(name)?)?;
    }
    Ok(Some(table))
}

struct Challenge<'a> {
    numbers: [(&'static str, u64); 6],
    challenge: Vec<u8>,
    plugin: Option<&'a [u8]>,
}

impl<'a> Challenge<'a> {
    fn read(packet: &'a [u8]) -> Option<Self> {
        let mut reader = Fields(packet);
        let protocol = reader.u8()?;
        let version = version_number(reader.until_nul()?);
        let thread_id = reader.u32()?;
        let mut challenge = reader.bytes(CHALLENGE_HEAD)?.to_vec();
        reader.u8()?;
        let mut capabilities = u64::from(reader.u16()?);
        let (mut charset, mut status, mut plugin) = (0, 0, None);
        // Servers before 4.1 end here.
        if !reader.0.is_empty() {
            (charset, status) = (reader.u8()?, reader.u16()?);
            capabilities |= u64::from(reader.u16()?) << 16;
            let length = usize::from(reader.u8()?);
            reader.bytes(10)?;
            if capabilities & PLUGIN_AUTH != 0 {
                // The length counts the zero byte that servers send behind it: a script gets 21 bytes.
                let tail = length.saturating_sub(CHALLENGE_HEAD);
                challenge.extend_from_slice(reader.bytes(tail)?);
                challenge.truncate(length);
                reader.bytes(CHALLENGE_TAIL.saturating_sub(tail))?;
            } else if capabilities & SECURE_CONNECTION != 0 {
                challenge.extend_from_slice(reader.bytes(CHALLENGE_TAIL)?);
                reader.u8()?;
            }
            if capabilities & PLUGIN_AUTH != 0 {
                // Some servers leave out the zero byte at the end.
                let rest = reader.0;
                plugin = Some(reader.until_nul().unwrap_or(rest));
            }
        }
        Some(Self {
            numbers: [
                ("protocol_version", protocol.into()),
                ("server_version", version),
                ("thread_id", thread_id.into()),
                ("capabilities", capabilities),
                ("charset", charset.into()),
                ("server_status", status.into()),
            ],
            challenge,
            plugin,
        })
    }
}

pub(super) fn to_challenge(lua: &Lua, table: &Table) -> Result<Vec<u8>> {
    let number = |key, default| {
        Ok::<_, lua::mlua::Error>(bytes::number(lua, table, key)?.unwrap_or(default))
    };
    let version = number("server_version", 0)?;
    let capabilities = number("capabilities", PROTOCOL_41 | SECURE_CONNECTION)?;
    let mut challenge = bytes::field(lua, table, "challenge")?;
    if challenge.is_empty() {
        challenge = CHALLENGE.to_vec();
    }
    if !(CHALLENGE_HEAD..=CHALLENGE_MAX).contains(&challenge.len()) {
        let range = format!("{CHALLENGE_HEAD} to {CHALLENGE_MAX}");
        return Err(raise(lua, format!(".challenge has to have {range} bytes")));
    }
    let is_with_plugin = capabilities & PLUGIN_AUTH != 0;
    // Clients read 13 bytes behind the properties, whatever the length says.
    if is_with_plugin && challenge.len() <= CHALLENGE_HEAD + CHALLENGE_TAIL {
        challenge.resize(CHALLENGE_HEAD + CHALLENGE_TAIL + 1, 0);
    }
    let (head, tail) = challenge.split_at(CHALLENGE_HEAD);

    let mut out = vec![number("protocol_version", 10)? as u8];
    let (major, minor, patch) = (version / 10_000, version / 100 % 100, version % 100);
    // Two digits, as MySQL Proxy writes them.
    out.extend_from_slice(format!("{major}.{minor:02}.{patch:02}\0").as_bytes());
    out.extend_from_slice(&(number("thread_id", 0)? as u32).to_le_bytes());
    out.extend_from_slice(head);
    out.push(0);
    out.extend_from_slice(&(capabilities as u16).to_le_bytes());
    out.push(number("charset", 0)? as u8);
    out.extend_from_slice(&(number("server_status", 0)? as u16).to_le_bytes());
    out.extend_from_slice(&((capabilities >> 16) as u16).to_le_bytes());
    let length = if is_with_plugin { challenge.len() } else { 0 };
    out.push(length as u8);
    out.extend_from_slice(&[0; 10]);
    if is_with_plugin {
        out.extend_from_slice(tail);
    } else if capabilities & SECURE_CONNECTION != 0 {
        out.extend_from_slice(tail);
        out.push(0);
    }
    if is_with_plugin {
        let name = bytes::field(lua, table, "auth_plugin_name")?;
        out.extend_from_slice(if name.is_empty() {
            b"mysql_native_password"
        } else {
            &name
        });
        out.push(0);
    }
    Ok(out)
}

pub(super) fn from_response(lua: &Lua, packet: &[u8]) -> Result<Option<Table>> {
    let Some(login) = Response::read(packet) else {
        return Ok(None);
    };
    let table = numbers(lua, &login.numbers)?;
    let texts = [
        ("username", Some(login.username)),
        ("response", Some(login.response)),
        ("database", login.database),
        ("auth_plugin_name", login.plugin),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            table.raw_set(name, lua.create_string(text)?)?;
        }
    }
    Ok(Some(table))
}

struct Response<'a> {
    numbers: [(&'static str, u64); 4],
    username: &'a [u8],
    response: &'a [u8],
    database: Option<&'a [u8]>,
    plugin: Option<&'a [u8]>,
}

impl<'a> Response<'a> {
    fn read(packet: &'a [u8]) -> Option<Self> {
        let mut reader = Fields(packet);
        let low = Fields(packet).u16()?;
        let is_new = u64::from(low) & PROTOCOL_41 != 0;
        let (capabilities, max_packet_size, charset) = if is_new {
            let mut capabilities = u64::from(reader.u32()?);
            let (size, charset) = (reader.u32()?.into(), reader.u8()?);
            reader.bytes(19)?;
            let mariadb = u64::from(reader.u32()?);
            if capabilities & MYSQL == 0 {
                capabilities |= mariadb << 32;
            }
            (capabilities, size, charset)
        } else {
            reader.u16()?;
            let [a, b, c] = reader.array()?;
            (
                u64::from(low),
                u64::from(u32::from_le_bytes([a, b, c, 0])),
                0,
            )
        };
        let username = reader.until_nul()?;
        let response = if is_new && capabilities & SECURE_CONNECTION != 0 {
            let length = reader.u8()?;
            reader.bytes(length.into())?
        } else {
            to_end(&mut reader)
        };
        let database = capabilities & CONNECT_WITH_DB != 0 && !reader.0.is_empty();
        let database = database.then(|| to_end(&mut reader));
        let plugin = capabilities & PLUGIN_AUTH != 0 && !reader.0.is_empty();
        let plugin = plugin.then(|| to_end(&mut reader));
        Some(Self {
            numbers: [
                ("capabilities", capabilities),
                ("server_capabilities", capabilities),
                ("max_packet_size", max_packet_size),
                ("charset", charset.into()),
            ],
            username,
            response,
            database,
            plugin,
        })
    }
}

/// The bytes up to a zero byte, or all.
fn to_end<'a>(reader: &mut Fields<'a>) -> &'a [u8] {
    let rest = reader.0;
    reader.until_nul().unwrap_or_else(|| {
        reader.0 = &[];
        rest
    })
}

pub(super) fn to_response(lua: &Lua, table: &Table) -> Result<Vec<u8>> {
    let Some(server) = bytes::number(lua, table, "server_capabilities")? else {
        return Err(raise(lua, ".server_capabilities has to be set"));
    };
    let username = bytes::field(lua, table, "username")?;
    let response = bytes::field(lua, table, "response")?;
    let database = bytes::field(lua, table, "database")?;
    let plugin = bytes::field(lua, table, "auth_plugin_name")?;
    let capabilities = match bytes::number(lua, table, "capabilities")? {
        Some(capabilities) => capabilities,
        None => {
            let mut wanted = PROTOCOL_41 | SECURE_CONNECTION;
            if !database.is_empty() {
                wanted |= CONNECT_WITH_DB;
            }
            if !plugin.is_empty() {
                wanted |= PLUGIN_AUTH;
            }
            wanted & server
        }
    };
    let size = bytes::number(lua, table, "max_packet_size")?.unwrap_or_default();
    let mut out = Vec::new();
    let put_text = |out: &mut Vec<u8>, text: &[u8]| {
        out.extend_from_slice(text);
        out.push(0);
    };
    if capabilities & PROTOCOL_41 == 0 {
        out.extend_from_slice(&(capabilities as u16).to_le_bytes());
        out.extend_from_slice(&size.to_le_bytes()[..3]);
        put_text(&mut out, &username);
        put_text(&mut out, &response);
        if capabilities & CONNECT_WITH_DB != 0 {
            put_text(&mut out, &database);
        }
        return Ok(out);
    }
    out.extend_from_slice(&(capabilities as u32).to_le_bytes());
    out.extend_from_slice(&(size as u32).to_le_bytes());
    out.push(bytes::number(lua, table, "charset")?.unwrap_or_default() as u8);
    out.extend_from_slice(&[0; 19]);
    let mariadb = if capabilities & MYSQL == 0 {
        (capabilities >> 32) as u32
    } else {
        0
    };
    out.extend_from_slice(&mariadb.to_le_bytes());
    put_text(&mut out, &username);
    if capabilities & SECURE_CONNECTION != 0 {
        let length = u8::try_from(response.len())
            .map_err(|_| raise(lua, ".response has to have at most 255 bytes"))?;
        out.push(length);
        out.extend_from_slice(&response);
    } else {
        put_text(&mut out, &response);
    }
    if capabilities & CONNECT_WITH_DB != 0 {
        put_text(&mut out, &database);
    }
    if capabilities & PLUGIN_AUTH != 0 {
        put_text(&mut out, &plugin);
    }
    Ok(out)
}
