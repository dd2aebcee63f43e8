//! `proxy.global.backends`, its members and their pools.

use std::sync::{
    Arc, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use lua::{
    bad_argument,
    mlua::{IntoLua, Lua, MetaMethod, Result, UserData, UserDataMethods, Value},
    raise,
};

use super::{
    address::AddressObject,
    keys::{place, read_by_name, write_by_name},
    outlets::script_environment,
};
use crate::{Backend, BackendKind, BackendState, Backends};

/// All backends, from 1.
pub(super) struct BackendList(pub(super) Arc<Backends>);

struct BackendObject {
    backends: Arc<Backends>,
    place: usize,
}

struct Pool {
    backends: Arc<Backends>,
    place: usize,
}

struct PoolUsers {
    place: usize,
}

/// The connections of a user in a pool.
struct PoolUser {
    place: usize,
    name: Vec<u8>,
}

impl UserData for BackendList {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.0.len()));
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let Some(place) = place(lua, key, this.0.0.len())? else {
                return Ok(Value::Nil);
            };
            let backends = this.0.clone();
            BackendObject { backends, place }.into_lua(lua)
        });
    }
}

impl BackendObject {
    fn backend(&self) -> &Backend {
        &self.backends.0[self.place]
    }

    fn field(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        let backend = self.backend();
        match key {
            b"connected_clients" => backend.connected_clients.load(Relaxed).into_lua(lua),
            b"dst" => AddressObject(backend.address.clone()).into_lua(lua),
            b"state" => (backend.state() as i64).into_lua(lua),
            b"type" => {
                let kind: i64 = match backend.kind {
                    BackendKind::ReadWrite => 1,
                    BackendKind::ReadOnly => 2,
                };
                kind.into_lua(lua)
            }
            b"uuid" => {
                let uuid = backend.uuid.lock().unwrap_or_else(PoisonError::into_inner);
                if uuid.is_empty() {
                    return Ok(Value::Nil);
                }
                Ok(Value::String(lua.create_string(&*uuid)?))
            }
            b"pool" => Pool {
                backends: self.backends.clone(),
                place: self.place,
            }
            .into_lua(lua),
            _ => Ok(Value::Nil),
        }
    }

    fn assign(&self, lua: &Lua, key: &[u8], value: &Value) -> Result<()> {
        match (key, value) {
            (b"state", value) => {
                let state = match lua.coerce_number(value.clone())? {
                    Some(0.0) => BackendState::Unknown,
                    Some(1.0) => BackendState::Up,
                    Some(2.0) => BackendState::Down,
                    Some(other) => {
                        let text = format!(
                            "proxy.global.backends[...].state = {other}: use proxy.BACKEND_STATE_UNKNOWN, _UP or _DOWN"
                        );
                        return Err(raise(lua, text));
                    }
                    None => return Err(bad_argument(lua, 3, "__newindex", "number", value)),
                };
                self.backend().set_state(state);
                Ok(())
            }
            (b"uuid", Value::String(_) | Value::Nil) => {
                let text = match value {
                    Value::String(text) => text.as_bytes().to_vec(),
                    _ => Vec::new(),
                };
                let uuid = &self.backend().uuid;
                *uuid.lock().unwrap_or_else(PoisonError::into_inner) = text;
                Ok(())
            }
            (b"uuid", other) => {
                let got = other.type_name();
                let text = format!("proxy.global.backends[...].uuid has to be a string, is {got}");
                Err(raise(lua, text))
            }
            (other, _) => {
                let key = String::from_utf8_lossy(other);
                let text = format!("proxy.global.backends[...].{key} is not writable");
                Err(raise(lua, text))
            }
        }
    }
}

impl UserData for BackendObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        read_by_name(methods, Self::field);
        write_by_name(methods, Self::assign);
    }
}

impl Pool {
    fn limit(&self, key: &[u8]) -> Option<&AtomicU32> {
        let backend = &self.backends.0[self.place];
        match key {
            b"max_idle_connections" => Some(&backend.max_idle),
            b"min_idle_connections" => Some(&backend.min_idle),
            _ => None,
        }
    }
}

impl UserData for Pool {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let Value::String(key) = &key else {
                return Ok(Value::Nil);
            };
            if key.as_bytes() == *b"users" {
                return PoolUsers { place: this.place }.into_lua(lua);
            }
            match this.limit(&key.as_bytes()) {
                Some(limit) => limit.load(Relaxed).into_lua(lua),
                None => Ok(Value::Nil),
            }
        });
        methods.add_meta_method(
            MetaMethod::NewIndex,
            |lua, this, (key, value): (Value, Value)| {
                let key = key.to_string()?;
                let Some(limit) = this.limit(key.as_bytes()) else {
                    let text = format!("proxy.global.backends[...].pool.{key} is not writable");
                    return Err(raise(lua, text));
                };
                let number = lua
                    .coerce_number(value.clone())?
                    .ok_or_else(|| bad_argument(lua, 3, "__newindex", "number", &value))?;
                limit.store(number as u32, Relaxed);
                Ok(())
            },
        );
    }
}

impl UserData for PoolUsers {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| match &key {
            Value::String(name) => PoolUser {
                place: this.place,
                name: name.as_bytes().to_vec(),
            }
            .into_lua(lua),
            other => Err(bad_argument(lua, 2, "__index", "string", other)),
        });
    }
}

impl UserData for PoolUser {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| match &key {
            Value::String(key) if key.as_bytes() == *b"cur_idle_connections" => {
                let count = script_environment(lua).idle_connections(this.place, &this.name);
                count.into_lua(lua)
            }
            _ => Ok(Value::Nil),
        });
    }
}
