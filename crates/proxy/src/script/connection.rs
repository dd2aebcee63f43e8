//! `proxy.connection`: the session whose hook runs.

use std::sync::Arc;

use lua::{
    bad_argument,
    mlua::{IntoLua, Lua, RegistryKey, Result, UserData, UserDataMethods, Value},
    raise,
};

use super::{
    keys::{read_by_name, write_by_name},
    outlets::{log, script_environment},
    peer::{PeerObject, Side},
};
use crate::{Backends, Level, SharedSession};

/// The session, with the objects of its two ends, which are made once and are in the registry.
pub(super) struct Connection {
    session: SharedSession,
    backends: Arc<Backends>,
    client: RegistryKey,
    server: RegistryKey,
}

impl Connection {
    pub(super) fn new(
        lua: &Lua,
        session: &SharedSession,
        backends: &Arc<Backends>,
    ) -> Result<Self> {
        let end = |side| {
            let end = lua.create_userdata(PeerObject {
                session: session.clone(),
                side,
            })?;
            lua.create_registry_value(end)
        };
        Ok(Self {
            session: session.clone(),
            backends: backends.clone(),
            client: end(Side::Client)?,
            server: end(Side::Server)?,
        })
    }

    fn field(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        let instead = match key {
            b"client" => return lua.registry_value(&self.client),
            b"server" if self.session.borrow().server.is_none() => return Ok(Value::Nil),
            b"server" => return lua.registry_value(&self.server),
            b"backend_ndx" => {
                let place = self.session.borrow().backend;
                return place.map_or(0, |place| place + 1).into_lua(lua);
            }
            b"default_db" => {
                "proxy.connection.client.default_db or proxy.connection.server.default_db"
            }
            b"thread_id" => "proxy.connection.server.thread_id",
            b"mysqld_version" => "proxy.connection.server.mysqld_version",
            _ => return Ok(Value::Nil),
        };
        let key = String::from_utf8_lossy(key);
        let text = format!("proxy.connection.{key} is deprecated, use {instead} instead");
        Err(raise(lua, text))
    }

    fn assign(&self, lua: &Lua, key: &[u8], value: &Value) -> Result<()> {
        match key {
            b"backend_ndx" => {
                let number = lua
                    .coerce_number(value.clone())?
                    .ok_or_else(|| bad_argument(lua, 3, "__newindex", "number", value))?;
                self.choose(lua, number as i64);
                Ok(())
            }
            b"connection_close" => match value {
                Value::Boolean(is_closed) => {
                    self.session.borrow_mut().close = *is_closed;
                    Ok(())
                }
                other => Err(bad_argument(lua, 3, "__newindex", "boolean", other)),
            },
            other => {
                let key = String::from_utf8_lossy(other);
                let text = format!("proxy.connection.{key} is not writable");
                Err(raise(lua, text))
            }
        }
    }

    /// Chooses a backend by its number from 1; 0 parks the server's connection.
    fn choose(&self, lua: &Lua, number: i64) {
        let count = self.backends.0.len();
        let place = match usize::try_from(number) {
            Ok(0) => None,
            Ok(number) if number <= count => Some(number - 1),
            _ => {
                let text = format!(
                    "proxy.connection.backend_ndx = {number}: there are {count} backends; the backend stays as it is"
                );
                return log(lua, Level::Critical, &text);
            }
        };
        // The preview looks at the session, which is not borrowed meanwhile.
        let server = place.and_then(|place| script_environment(lua).idle_server(place));
        self.session.borrow_mut().choose(place, server);
    }
}

impl UserData for Connection {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        read_by_name(methods, Self::field);
        write_by_name(methods, Self::assign);
    }
}
