//! Addresses as scripts see them.

use lua::mlua::{IntoLua, Lua, Result, UserData, UserDataMethods, Value};

use super::keys::read_by_name;
use crate::Address;

/// One end of a connection: `.type`, `.name`, `.address`, `.port`.
pub(super) struct AddressObject(pub(super) Address);

/// The numbers of address families on Linux.
const AF_UNIX: i64 = 1;
const AF_INET: i64 = 2;
const AF_INET6: i64 = 10;

impl UserData for AddressObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        read_by_name(methods, Self::field);
    }
}

impl AddressObject {
    fn field(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        match (key, &self.0) {
            (b"type", Address::Tcp(address)) if address.is_ipv6() => AF_INET6.into_lua(lua),
            (b"type", Address::Tcp(_)) => AF_INET.into_lua(lua),
            (b"type", Address::Unix(_)) => AF_UNIX.into_lua(lua),
            (b"name", address) => address.to_string().into_lua(lua),
            (b"address", Address::Tcp(address)) => address.ip().to_string().into_lua(lua),
            (b"address", address) => address.to_string().into_lua(lua),
            (b"port", Address::Tcp(address)) => address.port().into_lua(lua),
            _ => Ok(Value::Nil),
        }
    }
}
