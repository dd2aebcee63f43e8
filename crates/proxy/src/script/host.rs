//! One Lua state with the proxy's interface, for the sessions of one event thread.

use std::{
    cell::{Cell, RefCell},
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    time::SystemTime,
};

use lua::{Error, Host, HostOptions, Script, mlua::Table};

use super::{backends::BackendList, constants, kept_results::KeptMemory, modules, outlets};
use crate::{Backends, HookMaker, Level, MakerOfThread, ScriptEnvironment};

/// What a host of scripts runs, and within which limits.
#[derive(Debug, Clone)]
pub struct ScriptOptions {
    pub script: PathBuf,
    /// Limits, and where modules are found.
    pub lua: HostOptions,
}

/// One Lua state with the proxy's interface, for the sessions of one event thread.
#[derive(Clone)]
pub struct ScriptHost(pub(super) Rc<State>);

/// What all sessions of a host share.
pub(super) struct State {
    pub(super) host: Host,
    pub(super) options: ScriptOptions,
    pub(super) kept: Rc<KeptMemory>,
    pub(super) backends: Arc<Backends>,
    /// What `proxy` falls back to: first a session's own table, then the constants.
    redirect: Table,
    constants: Table,
    /// The session whose table `proxy` shows.
    shown: Cell<u64>,
    last_session: Cell<u64>,
    loaded: RefCell<Option<Loaded>>,
}

/// A version of the script's file.
struct Loaded {
    stamp: Option<(SystemTime, u64)>,
    /// `None` if it could not be loaded.
    script: Option<Script>,
    /// The version before, until this one has run.
    before: Option<Script>,
}

impl ScriptHost {
    /// The maker of hooks of a script, with one Lua state for each event thread.
    pub fn maker(options: ScriptOptions, backends: Arc<Backends>) -> Arc<MakerOfThread> {
        Arc::new(move |environment| {
            let host = Self::new(options.clone(), Arc::clone(&backends), environment);
            let host = host.map_err(|error| format!("{}: {error}", options.script.display()))?;
            Ok(Rc::new(host) as Rc<dyn HookMaker>)
        })
    }

    /// A Lua state with the proxy's interface. The script is loaded, too; if that fails, it is logged, and clients get
    /// an error until the file has changed.
    pub fn new(
        options: ScriptOptions,
        backends: Arc<Backends>,
        environment: Rc<dyn ScriptEnvironment>,
    ) -> Result<Self, Error> {
        let host = Host::new(&options.lua)?;
        let lua = host.lua();
        outlets::install(lua, environment);
        lua.globals()
            .raw_set("print", lua.create_function(outlets::print)?)?;

        let constants = lua.create_table()?;
        constants::add_to(&constants)?;
        let global = lua.create_table()?;
        global.raw_set("config", lua.create_table()?)?;
        global.raw_set(
            "backends",
            lua.create_userdata(BackendList(backends.clone()))?,
        )?;
        constants.raw_set("global", global)?;
        let redirect = lua.create_table()?;
        redirect.raw_set("__index", &constants)?;
        redirect.raw_set("__newindex", &constants)?;
        let proxy = lua.create_table()?;
        proxy.set_metatable(Some(redirect.clone()))?;
        let running = lua.load(include_str!("lua/running.lua"));
        running.set_name("=running").call::<()>(&redirect)?;
        lua.globals().raw_set("proxy", proxy)?;
        modules::install(&host)?;

        let state = State {
            host,
            options,
            kept: Rc::default(),
            backends,
            redirect,
            constants,
            shown: Cell::new(0),
            last_session: Cell::new(0),
            loaded: RefCell::default(),
        };
        state.script();
        Ok(Self(Rc::new(state)))
    }

    /// Memory of the Lua state and of the results that its scripts keep, bytes, after everything unused was freed.
    pub fn used_memory(&self) -> usize {
        let lua = self.0.host.lua();
        // Twice: the first round runs the finalizers of objects.
        for _ in 0..2 {
            if lua.gc_collect().is_err() {
                break;
            }
        }
        lua.used_memory() + self.0.kept.bytes()
    }

    /// Whether the script's file, as it is now, can be loaded.
    pub fn is_loaded(&self) -> bool {
        self.0.script().is_some()
    }
}

impl State {
    /// The script as its file is now, or as it was when it last loaded; `None` if it never did.
    pub(super) fn script(&self) -> Option<Script> {
        let path = &self.options.script;
        let stamp = std::fs::metadata(path)
            .and_then(|meta| Ok((meta.modified()?, meta.len())))
            .ok();
        if let Some(loaded) = &*self.loaded.borrow()
            && loaded.stamp == stamp
            && stamp.is_some()
        {
            return loaded.script.clone();
        }
        let before = self
            .loaded
            .borrow()
            .as_ref()
            .and_then(|it| it.script.clone());
        let mut kept = None;
        let script = match self.host.load_file(path) {
            Ok(script) => {
                kept = before;
                Some(script)
            }
            Err(error) => {
                let stays = match before {
                    Some(_) => "; the previous version stays in effect",
                    None => "",
                };
                let text = format!(
                    "lua script {} does not load{stays}: {error}",
                    path.display()
                );
                self.log(Level::Critical, &text);
                before
            }
        };
        *self.loaded.borrow_mut() = Some(Loaded {
            stamp,
            script: script.clone(),
            before: kept,
        });
        script
    }

    /// The script has run: it is a version that stays.
    pub(super) fn has_run(&self) {
        if let Some(loaded) = &mut *self.loaded.borrow_mut() {
            loaded.before = None;
        }
    }

    /// The script failed when it ran: the version before it, which stays until the file changes again; `None` if there is
    /// none.
    pub(super) fn go_back(&self) -> Option<Script> {
        let mut loaded = self.loaded.borrow_mut();
        let loaded = loaded.as_mut()?;
        let before = loaded.before.take()?;
        loaded.script = Some(before.clone());
        Some(before)
    }

    /// A number for a new session, never 0.
    pub(super) fn number_session(&self) -> u64 {
        let number = self.last_session.get() + 1;
        self.last_session.set(number);
        number
    }

    /// A session's own part of `proxy`, which falls back to the constants.
    pub(super) fn own_table(&self) -> Result<Table, Error> {
        let lua = self.host.lua();
        let own = lua.create_table()?;
        let fallback = lua.create_table()?;
        fallback.raw_set("__index", &self.constants)?;
        own.set_metatable(Some(fallback))?;
        Ok(own)
    }

    /// Lets `proxy` show a session's table, also to modules that were loaded for another.
    pub(super) fn show(&self, number: u64, own: &Table) -> Result<(), Error> {
        if self.shown.replace(number) != number {
            self.redirect.raw_set("__index", own)?;
            self.redirect.raw_set("__newindex", own)?;
        }
        Ok(())
    }

    /// Forgets a session that has ended.
    pub(super) fn hide(&self, number: u64) {
        if self.shown.get() == number {
            self.shown.set(0);
            for key in ["__index", "__newindex"] {
                // Without memory for it, the old table stays until the next session shows its own.
                let _ = self.redirect.raw_set(key, &self.constants);
            }
        }
    }

    pub(super) fn count_call(&self, name: &str, begun: reactor::Instant, is_error: bool) {
        let took = reactor::system_now() - begun;
        outlets::script_environment(self.host.lua()).hook_called(name, took, is_error);
    }

    pub(super) fn log(&self, level: Level, text: &str) {
        outlets::log(self.host.lua(), level, text);
    }
}
