//! The modules that scripts can require without any file.

mod bytes;
mod chassis;
mod execute;
mod function;
mod glib;
mod keywords;
mod lfs;
mod login;
mod master_info;
mod password;
mod posix;
mod proto;
pub(crate) mod token;
mod tokens;

use lua::{
    Error, Host,
    mlua::{self, Lua, Table, Value},
};

use super::included::SCRIPTS;

/// Makes a module's table.
type Maker = fn(&Lua) -> mlua::Result<Table>;

/// Modules in Rust. Each also sets a global of its name's last part, as modules of Lua 5.1 do.
const NATIVE: &[(&str, Maker)] = &[
    ("mysql.proto", proto::module),
    ("mysql.password", password::module),
    ("mysql.tokenizer", tokens::module),
    ("lfs", lfs::module),
    ("glib2", glib::module),
    ("posix", posix::module),
    ("chassis", chassis::module),
];

/// Modules in Lua. Each is also a member of `proxy`.
const IN_LUA: &[(&str, &str)] = &[
    ("tokenizer", include_str!("lua/tokenizer.lua")),
    ("parser", include_str!("lua/parser.lua")),
    ("commands", include_str!("lua/commands.lua")),
    ("balance", include_str!("lua/balance.lua")),
    ("auto-config", include_str!("lua/auto-config.lua")),
    ("test", include_str!("lua/test.lua")),
];

/// Registers all modules; each is made when a script requires it.
pub(super) fn install(host: &Host) -> Result<(), Error> {
    let lua = host.lua();
    for &(name, make) in NATIVE {
        let loader = lua.create_function(move |lua, ()| {
            let module = make(lua)?;
            let last = name.rsplit('.').next().unwrap_or(name);
            lua.globals().raw_set(last, &module)?;
            Ok(module)
        })?;
        host.preload(name, loader)?;
    }
    for &(name, text) in IN_LUA {
        let whole = format!("proxy.{name}");
        let loader = lua.create_function(move |lua, ()| {
            let chunk = lua.load(text).set_name(format!("=proxy/{name}.lua"));
            let module: Table = chunk.call(())?;
            let proxy: Table = lua.globals().raw_get("proxy")?;
            proxy.raw_set(name, &module)?;
            Ok(module)
        })?;
        host.build_in(&whole, loader)?;
    }
    for &(name, text) in SCRIPTS {
        let loader = lua.create_function(move |lua, ()| {
            let chunk = lua.load(text).set_name(format!("={name}.lua"));
            chunk.call::<Value>(())
        })?;
        host.build_in(name, loader)?;
    }
    host.preload("lpeg", lua.create_function(no_lpeg)?)
}

fn no_lpeg(lua: &Lua, _: mlua::Variadic<Value>) -> mlua::Result<()> {
    Err(lua::raise(
        lua,
        "lpeg is not built in, and C modules are not loaded",
    ))
}
