//! `proxy.connection.client` and `.server`.

use lua::{
    mlua::{IntoLua, Lua, MetaMethod, Result, UserData, UserDataMethods, Value},
    raise,
};

use super::{address::AddressObject, outlets::log};
use crate::{Level, Peer, SharedSession};

/// Which end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// One end of a session; nothing is known of a server that is not connected any more.
pub(super) struct PeerObject {
    pub(super) session: SharedSession,
    pub(super) side: Side,
}

impl UserData for PeerObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let Value::String(key) = &key else {
                return Ok(Value::Nil);
            };
            let session = this.session.borrow();
            let peer = match this.side {
                Side::Client => Some(&session.client),
                Side::Server => session.server.as_ref(),
            };
            match peer {
                Some(peer) => field(lua, peer, &key.as_bytes()),
                None => Ok(Value::Nil),
            }
        });
    }
}

fn field(lua: &Lua, peer: &Peer, key: &[u8]) -> Result<Value> {
    let text = |bytes: &[u8]| Ok(Value::String(lua.create_string(bytes)?));
    match key {
        b"default_db" => text(&peer.default_db),
        b"username" => text(&peer.username),
        b"scrambled_password" => text(&peer.scrambled_password),
        b"auth_plugin_name" => text(&peer.auth_plugin_name),
        b"scramble_buffer" => text(&peer.scramble_buffer),
        b"mysqld_version" => peer.mysqld_version.into_lua(lua),
        b"thread_id" => peer.thread_id.into_lua(lua),
        b"src" => AddressObject(peer.src.clone()).into_lua(lua),
        b"dst" => AddressObject(peer.dst.clone()).into_lua(lua),
        b"address" => Err(raise(
            lua,
            ".address is deprecated. Use .src.name or .dst.name instead",
        )),
        other => {
            let other = String::from_utf8_lossy(other);
            let text = format!("proxy.connection.{{client,server}}.{other} is not known");
            log(lua, Level::Critical, &text);
            Ok(Value::Nil)
        }
    }
}
