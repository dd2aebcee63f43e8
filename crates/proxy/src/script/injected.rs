//! The argument of `read_query_result`: an injected command with its answer.

use std::rc::Rc;

use lua::mlua::{IntoLua, Lua, Result, UserData, UserDataMethods, Value};

use super::{kept_results::KeptResult, keys::read_by_name, outlets::log, resultset::ResultSet};
use crate::Level;

/// An injected command with its answer.
pub(super) struct Injected(pub(super) Rc<KeptResult>);

impl UserData for Injected {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        read_by_name(methods, Self::field);
    }
}

impl Injected {
    fn field(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        let result = &self.0;
        match key {
            b"id" | b"type" => (result.injection.id as f64).into_lua(lua),
            b"query" => Ok(Value::String(lua.create_string(&result.injection.packet)?)),
            b"query_time" => (result.query_time_us as f64).into_lua(lua),
            b"response_time" => (result.response_time_us as f64).into_lua(lua),
            b"resultset" => ResultSet(result.clone()).into_lua(lua),
            other => {
                let key = String::from_utf8_lossy(other);
                log(lua, Level::Critical, &format!("inj.{key} is not known"));
                Ok(Value::Nil)
            }
        }
    }
}
