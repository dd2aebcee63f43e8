//! One Lua state, and the limits of the scripts in it.

use std::{path::Path, rc::Rc};

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, LuaOptions, StdLib, Table, Value};

use crate::{Error, Script, file, instruction_budget::Budget, loading};

/// What a host offers to its scripts, and where it stops them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// Limit of all memory of the Lua state, bytes; a script that needs more gets an error.
    pub memory_limit: Option<usize>,
    /// Limit of instructions per call. With it, scripts are interpreted and not compiled to machine code. A single call
    /// of a library function, such as a search for a costly pattern, counts as one instruction.
    pub instruction_limit: Option<u64>,
    /// Where `require` finds Lua modules, `package.path`; Lua's default without it.
    pub path: Option<String>,
    /// Where `require` finds C modules, `package.cpath`; without it, none are loaded.
    pub cpath: Option<String>,
    /// Whether scripts may use LuaJIT's `ffi`, which reads and writes any memory.
    pub ffi: bool,
}

/// One Lua state, used by one thread.
#[derive(Debug)]
pub struct Host {
    lua: Lua,
    budget: Option<Rc<Budget>>,
}

impl Host {
    /// A Lua state with the standard libraries of Lua 5.1, and `bit`.
    pub fn new(options: &HostOptions) -> Result<Self, Error> {
        let mut libs = StdLib::ALL;
        libs &= !StdLib::FFI;
        if options.ffi {
            libs |= StdLib::FFI;
        }
        if options.instruction_limit.is_some() {
            // The compiler is off unless this library is opened; the limit holds only without it.
            libs &= !StdLib::JIT;
        }
        // SAFETY: C modules and `ffi` can only be reached if the options allow it; `debug` is what scripts of Lua 5.1
        // expect, and they come from the user who starts the program.
        let lua = unsafe { Lua::unsafe_new_with(libs, LuaOptions::default()) };
        file::install(&lua)?;
        loading::install(&lua, options.path.as_deref(), options.cpath.as_deref())?;
        let budget = match options.instruction_limit {
            Some(limit) => {
                // It would remove the counter.
                let debug: Table = lua.globals().get("debug")?;
                debug.set("sethook", Value::Nil)?;
                Some(Budget::install(&lua, limit)?)
            }
            None => None,
        };
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude");
        let text_of = lua.create_function(text_of)?;
        let of_call = budget.clone();
        let is_stopped = lua.create_function(move |_, ()| {
            Ok(of_call.as_ref().is_some_and(|budget| budget.is_spent()))
        })?;
        prelude.call::<()>((text_of, is_stopped))?;
        if let Some(limit) = options.memory_limit {
            lua.set_memory_limit(limit)?;
        }
        Ok(Self { lua, budget })
    }

    pub fn lua(&self) -> &Lua {
        &self.lua
    }

    /// Compiles a script. Tracebacks call it `[string "name"]`.
    pub fn load(&self, name: &str, text: &[u8]) -> Result<Script, Error> {
        let body = loading::without_shebang(text);
        let mut wrapped = Vec::with_capacity(body.len() + 32);
        wrapped.extend_from_slice(b"return function(...) ");
        wrapped.extend_from_slice(body);
        wrapped.extend_from_slice(b"\nend\n");
        let factory = loading::compile(&self.lua, name, &wrapped)?;
        Ok(Script { factory })
    }

    /// A fresh function of a script whose globals, and those of all functions in it, are `environment`.
    pub fn instantiate(&self, script: &Script, environment: &Table) -> Result<Function, Error> {
        let function: Function = self.call(&script.factory, ())?;
        function.set_environment(environment.clone())?;
        Ok(function)
    }

    /// Runs a script in `environment`, within the limits.
    pub fn run(&self, script: &Script, environment: &Table) -> Result<(), Error> {
        self.call(&self.instantiate(script, environment)?, ())
    }

    /// Compiles a file; its name in tracebacks is its path.
    pub fn load_file(&self, path: &Path) -> Result<Script, Error> {
        let text = loading::read(path)?;
        let loaded = self.load(&path.to_string_lossy(), &text);
        loaded.map_err(|error| loading::without_quotation(path, error))
    }

    /// An empty environment that falls back to the shared globals: what a script in it assigns stays there.
    pub fn environment(&self) -> Result<Table, Error> {
        let fallback = self.lua.create_table()?;
        fallback.raw_set("__index", self.lua.globals())?;
        let environment = self.lua.create_table()?;
        environment.set_metatable(Some(fallback))?;
        Ok(environment)
    }

    /// Calls a function with the whole limit of instructions.
    pub fn call<R: FromLuaMulti>(
        &self,
        function: &Function,
        arguments: impl IntoLuaMulti,
    ) -> Result<R, Error> {
        if let Some(budget) = &self.budget {
            budget.refill();
        }
        let result = function.call(arguments);
        if let Some(budget) = &self.budget {
            budget.relax(&self.lua)?;
        }
        if let Err(mlua::Error::MemoryError(_)) = &result {
            // LuaJIT frees nothing by itself when it meets the limit: the next call would meet it, too.
            self.lua.gc_collect()?;
        }
        Ok(result?)
    }

    /// Makes `require(name)` call this function for the module's value, if there is no file of such a module.
    pub fn build_in(&self, name: &str, loader: Function) -> Result<(), Error> {
        Ok(loading::build_in(&self.lua, name, loader)?)
    }

    /// Makes `require(name)` call this function for the module's value.
    pub fn preload(&self, name: &str, loader: Function) -> Result<(), Error> {
        let package: Table = self.lua.globals().get("package")?;
        let preload: Table = package.get("preload")?;
        Ok(preload.raw_set(name, loader)?)
    }
}

/// The text of an error that a function of the host raised.
fn text_of(lua: &Lua, value: Value) -> mlua::Result<Value> {
    match value {
        Value::Error(error) => {
            let text = Error::from(&*error).message;
            Ok(Value::String(lua.create_string(text)?))
        }
        other => Ok(other),
    }
}
