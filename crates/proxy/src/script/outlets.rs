//! Where the texts of a script go: the log and stdout.

use std::rc::Rc;

use lua::mlua::{Function, Lua, LuaString, Result, Value, Variadic};

use crate::{Level, ScriptEnvironment};

/// The environment, where functions of a script find them.
struct EnvironmentHandle(Rc<dyn ScriptEnvironment>);

/// Lets the functions of a state find their environment.
pub(super) fn install(lua: &Lua, environment: Rc<dyn ScriptEnvironment>) {
    lua.set_app_data(EnvironmentHandle(environment));
}

/// The environment of a state to which they were given.
pub(super) fn script_environment(lua: &Lua) -> Rc<dyn ScriptEnvironment> {
    match lua.app_data_ref::<EnvironmentHandle>() {
        Some(around) => around.0.clone(),
        None => Rc::new(NoEnvironment),
    }
}

pub(super) fn log(lua: &Lua, level: Level, text: &str) {
    script_environment(lua).log(level, text);
}

/// `print`: the texts of its arguments, separated by tabs.
pub(super) fn print(lua: &Lua, arguments: Variadic<Value>) -> Result<()> {
    let line = joined(lua, &arguments)?;
    script_environment(lua).print(&line);
    Ok(())
}

/// The texts of values as `print` joins them.
pub(super) fn joined(lua: &Lua, values: &[Value]) -> Result<Vec<u8>> {
    // A script may have replaced it, as for `print` of Lua itself.
    let to_string: Function = lua.globals().get("tostring")?;
    let mut line = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            line.push(b'\t');
        }
        match value {
            Value::String(text) => line.extend_from_slice(&text.as_bytes()),
            value => {
                let text: LuaString = to_string.call(value)?;
                line.extend_from_slice(&text.as_bytes());
            }
        }
    }
    Ok(line)
}

/// The environment of a state without any.
struct NoEnvironment;

impl ScriptEnvironment for NoEnvironment {
    fn log(&self, _: Level, _: &str) {}
    fn print(&self, _: &[u8]) {}
    fn idle_connections(&self, _: usize, _: &[u8]) -> usize {
        0
    }
    fn shut_down(&self) {}
}
