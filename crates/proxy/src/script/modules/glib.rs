//! `glib2`: time and digests.

use std::time::{Duration, UNIX_EPOCH};

use lua::{
    bad_argument,
    mlua::{Lua, Result, Table, Value},
};

use super::{bytes, function::add};

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    add(lua, &module, "usleep", |lua, time: Value| {
        let micros = lua
            .coerce_number(time.clone())?
            .ok_or_else(|| bad_argument(lua, 1, "usleep", "number", &time))?;
        // As in the original, the whole event thread waits.
        std::thread::sleep(Duration::from_micros(micros as u64));
        Ok(())
    })?;
    add(lua, &module, "get_current_time", |lua, ()| {
        let since = reactor::wall_now().duration_since(UNIX_EPOCH);
        let since = since.unwrap_or_default();
        let time = lua.create_table()?;
        time.raw_set("tv_sec", since.as_secs())?;
        time.raw_set("tv_usec", since.subsec_micros())?;
        Ok(time)
    })?;
    add(lua, &module, "md5", |lua, text: Value| {
        let text = bytes::argument(lua, 1, "md5", &text)?;
        Ok(format!("{:x}", md5::compute(text)))
    })?;
    Ok(module)
}
