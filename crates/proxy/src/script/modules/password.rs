//! `mysql.password`: the arithmetic of mysql_native_password.

use lua::{
    mlua::{Lua, Result, Table, Value},
    raise,
};
use sha1::{Digest, Sha1};

use super::{bytes, function::add};

type Hash = [u8; 20];

fn sha1(parts: &[&[u8]]) -> Hash {
    let mut hash = Sha1::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Bytes of a challenge that count: a server sends a zero byte behind them.
const CHALLENGE_BYTES: usize = 20;

/// Hides or finds a hash: the operation is its own inverse.
fn xor(hash: Hash, challenge: &[u8], double_hashed: &[u8]) -> Hash {
    let challenge = &challenge[..challenge.len().min(CHALLENGE_BYTES)];
    let mask = sha1(&[challenge, double_hashed]);
    std::array::from_fn(|place| hash[place] ^ mask[place])
}

fn hash_argument(lua: &Lua, position: usize, function: &str, value: &Value) -> Result<Hash> {
    let bytes = bytes::argument(lua, position, function, value)?;
    bytes.as_slice().try_into().map_err(|_| {
        let length = bytes.len();
        raise(
            lua,
            format!("bad argument #{position} to '{function}' (20 bytes expected, got {length})"),
        )
    })
}

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    add(lua, &module, "hash", |lua, password: Value| {
        let password = bytes::argument(lua, 1, "hash", &password)?;
        lua.create_string(sha1(&[&password]))
    })?;
    add(
        lua,
        &module,
        "scramble",
        |lua, (challenge, hashed): (Value, Value)| {
            let challenge = bytes::argument(lua, 1, "scramble", &challenge)?;
            let hashed = hash_argument(lua, 2, "scramble", &hashed)?;
            lua.create_string(xor(hashed, &challenge, &sha1(&[&hashed])))
        },
    )?;
    type Three = (Value, Value, Value);
    let unscrambled = |lua: &Lua, function: &str, (challenge, response, double): &Three| {
        let challenge = bytes::argument(lua, 1, function, challenge)?;
        let response = hash_argument(lua, 2, function, response)?;
        let double = hash_argument(lua, 3, function, double)?;
        Ok::<_, lua::mlua::Error>((xor(response, &challenge, &double), double))
    };
    add(lua, &module, "unscramble", move |lua, arguments: Three| {
        let (hashed, _) = unscrambled(lua, "unscramble", &arguments)?;
        lua.create_string(hashed)
    })?;
    add(lua, &module, "check", move |lua, arguments: Three| {
        let (hashed, double) = unscrambled(lua, "check", &arguments)?;
        Ok(sha1(&[&hashed]) == double)
    })?;
    Ok(module)
}
