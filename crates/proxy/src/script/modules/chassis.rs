//! `chassis`: the log, and the program around the script.

use lua::{
    mlua::{Lua, MultiValue, Result, Table, Value, Variadic},
    raise,
};

use super::function::add;
use crate::{
    Level,
    script::outlets::{joined, log, print, script_environment},
};

/// The levels by the names that scripts use.
const LEVELS: [(&str, Level); 6] = [
    ("error", Level::Error),
    ("critical", Level::Critical),
    ("warning", Level::Warning),
    ("message", Level::Message),
    ("info", Level::Info),
    ("debug", Level::Debug),
];

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    for (name, level) in LEVELS {
        // An error of a script does not end the program: that level exists only for log().
        if level != Level::Error {
            add(lua, &module, name, move |lua, message: Variadic<Value>| {
                log_here(lua, level, &message)
            })?;
        }
    }
    add(
        lua,
        &module,
        "log",
        |lua, (level, message): (Value, Variadic<Value>)| {
            let name = level.to_string()?;
            let Some((_, level)) = LEVELS.iter().find(|(known, _)| *known == name) else {
                let text = format!(
                    "chassis.log: {name} is not a level; use error, critical, warning, message, info or debug"
                );
                return Err(raise(lua, text));
            };
            log_here(lua, *level, &message)
        },
    )?;
    add(lua, &module, "set_shutdown", |lua, _: MultiValue| {
        script_environment(lua).shut_down();
        Ok(())
    })?;
    add(lua, &module, "mem_profile", |lua, _: MultiValue| {
        let bytes = lua.used_memory();
        log(
            lua,
            Level::Message,
            &format!("Lua uses {bytes} bytes of memory"),
        );
        Ok(())
    })?;
    add(lua, &module, "get_stats", |lua, plugin: Option<String>| {
        let chassis = lua.create_table()?;
        chassis.raw_set("lua_mem_bytes", lua.used_memory())?;
        match plugin.as_deref() {
            Some("chassis") => Ok(Value::Table(chassis)),
            Some(_) => Ok(Value::Nil),
            None => {
                let all = lua.create_table()?;
                all.raw_set("chassis", chassis)?;
                Ok(Value::Table(all))
            }
        }
    })?;
    remap_print(lua)?;
    Ok(module)
}

/// Lets `print` write to the log from now on; `os.print` still writes to stdout.
fn remap_print(lua: &Lua) -> Result<()> {
    let os: Table = lua.globals().get("os")?;
    os.raw_set("print", lua.create_function(print)?)?;
    let to_log = lua
        .create_function(|lua, message: Variadic<Value>| log_here(lua, Level::Message, &message))?;
    lua.globals().raw_set("print", to_log)
}

/// Logs a message after the place of the call.
fn log_here(lua: &Lua, level: Level, message: &[Value]) -> Result<()> {
    let place = lua.inspect_stack(1, |frame| {
        let source = frame.source().source?.into_owned();
        Some((source, frame.current_line()?))
    });
    let message = joined(lua, message)?;
    let message = String::from_utf8_lossy(&message);
    let text = match place.flatten() {
        Some((source, line)) => {
            let file = source.trim_start_matches(['@', '=']);
            format!("({file}:{line}) {message}")
        }
        None => message.into_owned(),
    };
    log(lua, level, &text);
    Ok(())
}
