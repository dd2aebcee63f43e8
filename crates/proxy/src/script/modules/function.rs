//! Functions of native modules.

use lua::mlua::{self, Function, Lua, Table};

/// Adds a function to a module.
pub(super) fn add<A, R>(
    lua: &Lua,
    module: &Table,
    name: &str,
    function: impl Fn(&Lua, A) -> mlua::Result<R> + 'static,
) -> mlua::Result<()>
where
    A: mlua::FromLuaMulti,
    R: mlua::IntoLuaMulti,
{
    let function: Function = lua.create_function(function)?;
    module.raw_set(name, function)
}
