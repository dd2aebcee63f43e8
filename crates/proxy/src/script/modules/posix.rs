//! `posix`: processes and users.

use lua::{
    bad_argument,
    mlua::{Lua, Result, Table, Value},
};
use rustix::process::{Pid, Signal, getpid, getuid, kill_process, test_kill_process};

use super::function::add;

/// The file of users. Users of a directory service are not in it, and not found.
const USERS: &str = "/etc/passwd";

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    add(lua, &module, "getpid", |_, ()| {
        Ok(getpid().as_raw_nonzero().get())
    })?;
    add(lua, &module, "getuid", |_, ()| Ok(getuid().as_raw()))?;
    add(lua, &module, "getpwuid", |lua, uid: Value| {
        let uid = whole(lua, 1, "getpwuid", &uid)?;
        let users = std::fs::read_to_string(USERS).unwrap_or_default();
        for line in users.lines() {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, id, gid, _, dir, shell] = fields[..] else {
                continue;
            };
            if id.parse() != Ok(uid) {
                continue;
            }
            let user = lua.create_table()?;
            user.raw_set("name", name)?;
            user.raw_set("uid", uid)?;
            user.raw_set("gid", gid.parse::<i64>().unwrap_or_default())?;
            user.raw_set("dir", dir)?;
            user.raw_set("shell", shell)?;
            return Ok(Value::Table(user));
        }
        Ok(Value::Nil)
    })?;
    add(
        lua,
        &module,
        "kill",
        |lua, (pid, signal): (Value, Value)| {
            let pid = whole(lua, 1, "kill", &pid)?;
            let signal = whole(lua, 2, "kill", &signal)?;
            Ok(match kill(pid, signal) {
                Ok(()) => (0, None),
                Err(problem) => (-1, Some(problem)),
            })
        },
    )?;
    Ok(module)
}

fn whole(lua: &Lua, position: usize, function: &str, value: &Value) -> Result<i64> {
    let number = lua.coerce_number(value.clone())?;
    let number = number.ok_or_else(|| bad_argument(lua, position, function, "number", value))?;
    Ok(number as i64)
}

/// Sends a signal to one process; 0 only asks whether it exists.
fn kill(pid: i64, signal: i64) -> std::result::Result<(), String> {
    let process = i32::try_from(pid).ok().filter(|&pid| pid > 0);
    let process = process
        .and_then(Pid::from_raw)
        .ok_or_else(|| format!("{pid} is not the number of a process"))?;
    let sent = if signal == 0 {
        test_kill_process(process)
    } else {
        let signal = i32::try_from(signal)
            .ok()
            .and_then(Signal::from_named_raw)
            .ok_or_else(|| format!("{signal} is not the number of a signal"))?;
        kill_process(process, signal)
    };
    sent.map_err(|error| error.to_string())
}
