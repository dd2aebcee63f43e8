//! A script as the hooks of one session.

use std::rc::Rc;

use lua::{
    Error,
    mlua::{AnyUserData, Function, IntoLuaMulti, RegistryKey, Table, Value},
};

use super::{
    connection::Connection,
    constants::{IGNORE_RESULT, SEND_QUERY, SEND_RESULT},
    host::{ScriptHost, State},
    injected::Injected,
    packet,
    queries::{AppendTimes, Queries},
    response,
};
use crate::{Decision, HookMaker, Hooks, Level, QueryResult, SharedSession};

/// The error for a client whose script did not load.
const NOT_LOADED: &str = "MySQL Proxy Lua script failed to load. Check the error log.";
/// The error for a client whose script failed before it had set its hooks.
const NOT_EXECUTED: &str = "MySQL Proxy Lua script failed to execute. Check the error log.";

/// A script as the hooks of one session.
pub struct LuaHooks {
    state: Rc<State>,
    number: u64,
    times: Rc<AppendTimes>,
    /// Why there are no hooks, if that is so.
    script: Result<Running, &'static str>,
}

/// A script that has run in the environment of its session. Its tables are in the registry: a handle of each would take a place
/// on a stack of Lua, which holds eight thousand.
struct Running {
    environment: RegistryKey,
    /// The session's own part of `proxy`.
    own: RegistryKey,
}

enum Returned {
    /// Nothing, also because there is no such hook or because it failed.
    Nothing,
    Number(i64),
    /// A value of another type.
    Nonsense(&'static str),
}

impl LuaHooks {
    pub(super) fn new(state: &Rc<State>, session: &SharedSession) -> Self {
        let number = state.number_session();
        let times = Rc::new(AppendTimes::new(session));
        let script = match state.script() {
            Some(script) => run_or_go_back(state, script, number, session, &times),
            None => Err(NOT_LOADED),
        };
        Self {
            state: state.clone(),
            number,
            times,
            script,
        }
    }

    /// The session's own part of `proxy`.
    fn own(&self, running: &Running) -> Result<Table, Error> {
        Ok(self.state.host.lua().registry_value(&running.own)?)
    }

    /// The hook of this name: of the session, else one that a module has set for all.
    fn hook(&self, name: &str) -> Option<(&Running, Function)> {
        let running = self.script.as_ref().ok()?;
        let lua = self.state.host.lua();
        let environment = lua.registry_value::<Table>(&running.environment).ok()?;
        let of_session = environment.raw_get(name);
        if let Ok(Value::Function(hook)) = of_session {
            return Some((running, hook));
        }
        match self.state.host.lua().globals().raw_get(name) {
            Ok(Value::Function(hook)) => Some((running, hook)),
            _ => None,
        }
    }

    fn call(&self, name: &str, argument: impl IntoLuaMulti) -> Returned {
        match self.hook(name) {
            Some((running, hook)) => self.call_hook(name, running, &hook, argument),
            None => Returned::Nothing,
        }
    }

    /// Calls a hook; an error in it is logged.
    fn call_hook(
        &self,
        name: &str,
        running: &Running,
        hook: &Function,
        argument: impl IntoLuaMulti,
    ) -> Returned {
        let own = self.own(running);
        let shown = own.and_then(|own| self.state.show(self.number, &own));
        let begun = reactor::system_now();
        let value = shown.and_then(|()| self.state.host.call::<Value>(hook, argument));
        self.state.count_call(name, begun, value.is_err());
        match value {
            Ok(Value::Nil) => Returned::Nothing,
            Ok(Value::Integer(number)) => Returned::Number(number),
            Ok(Value::Number(number)) => Returned::Number(number as i64),
            Ok(other) => Returned::Nonsense(other.type_name()),
            Err(error) => {
                self.state
                    .log(Level::Critical, &format!("({name}) {error}"));
                log_traceback(&self.state, &error);
                Returned::Nothing
            }
        }
    }

    /// The argument of `read_query_result`.
    fn injected(&self, mut result: QueryResult) -> Result<AnyUserData, Error> {
        self.times.count_from_append(&mut result);
        let lua = self.state.host.lua();
        let limit = self.state.options.lua.memory_limit;
        let bytes = result.bytes;
        let kept = self.state.kept.keep(lua, result, limit);
        let kept = kept.ok_or_else(|| Error::new(no_memory(&bytes.to_string(), limit)))?;
        Ok(lua.create_userdata(Injected(kept))?)
    }

    /// The answer that `proxy.response` describes.
    fn answer(&self, session: &SharedSession) -> Decision {
        let Ok(running) = &self.script else {
            return Decision::PassOn;
        };
        let own = self.own(running);
        let response = own.and_then(|own| Ok(own.raw_get("response")?));
        let response = response.unwrap_or(Value::Nil);
        let deprecate_eof = session.borrow().client_deprecates_eof;
        let lua = self.state.host.lua();
        Decision::Answer(response::packets(lua, &response, deprecate_eof))
    }

    /// Reports a returned value that means nothing in this hook.
    fn refuse(&self, name: &str, returned: &Returned, consequence: &str) {
        let what = match returned {
            Returned::Nothing => return,
            Returned::Number(number) => number.to_string(),
            Returned::Nonsense(kind) => format!("a {kind}"),
        };
        let text = format!(
            "({name}) the script returned {what}, not nil or a proxy.PROXY_* constant of this hook; {consequence}"
        );
        self.state.log(Level::Critical, &text);
    }

    /// A hook that can only pass on or answer.
    fn answering(
        &self,
        name: &str,
        session: &SharedSession,
        argument: impl IntoLuaMulti,
    ) -> Decision {
        match self.call(name, argument) {
            Returned::Nothing | Returned::Number(0) => Decision::PassOn,
            Returned::Number(SEND_RESULT) => self.answer(session),
            other => {
                self.refuse(name, &other, "the packet is passed on");
                Decision::PassOn
            }
        }
    }

    /// Sends the queue, if there is one.
    fn send_queue(&self, name: &str, session: &SharedSession) -> Decision {
        if session.borrow().queries.is_empty() {
            let text = format!(
                "({name}) the script returned proxy.PROXY_SEND_QUERY, but proxy.queries is empty; the packet is passed on"
            );
            self.state.log(Level::Critical, &text);
            return Decision::PassOn;
        }
        Decision::SendQueue
    }

    /// An empty `proxy.response`; the last one is used again if it is still empty.
    fn reset_response(&self, running: &Running) -> Result<(), Error> {
        let own = self.own(running)?;
        if let Ok(Value::Table(response)) = own.raw_get("response")
            && response.is_empty()
            && !response.has_metatable()
        {
            return Ok(());
        }
        let fresh = self.state.host.lua().create_table()?;
        Ok(own.raw_set("response", fresh)?)
    }
}

/// Runs a script for a new session; the version before it if this one fails and has never run.
fn run_or_go_back(
    state: &Rc<State>,
    mut script: lua::Script,
    number: u64,
    session: &SharedSession,
    times: &Rc<AppendTimes>,
) -> Result<Running, &'static str> {
    loop {
        let error = match run(state, &script, number, session, times) {
            Ok(running) => {
                state.has_run();
                return Ok(running);
            }
            Err(error) => error,
        };
        let before = state.go_back();
        let stays = match before {
            Some(_) => "; the previous version stays in effect",
            None => "",
        };
        state.log(Level::Critical, &format!("(lua-error) {error}{stays}"));
        log_traceback(state, &error);
        match before {
            Some(before) => script = before,
            None => return Err(NOT_EXECUTED),
        }
    }
}

/// Runs a script for a new session.
fn run(
    state: &Rc<State>,
    script: &lua::Script,
    number: u64,
    session: &SharedSession,
    times: &Rc<AppendTimes>,
) -> Result<Running, Error> {
    let lua = state.host.lua();
    let own = state.own_table()?;
    let queries = Queries::new(session, times);
    own.raw_set("queries", lua.create_userdata(queries)?)?;
    let connection = Connection::new(lua, session, &state.backends)?;
    own.raw_set("connection", lua.create_userdata(connection)?)?;
    own.raw_set("response", lua.create_table()?)?;
    let environment = state.host.environment()?;
    state.show(number, &own)?;
    state.host.run(script, &environment)?;
    Ok(Running {
        environment: lua.create_registry_value(environment)?,
        own: lua.create_registry_value(own)?,
    })
}

fn log_traceback(state: &State, error: &Error) {
    if !error.traceback.is_empty() {
        state.log(Level::Message, &format!("traceback:\n{}", error.traceback));
    }
}

impl HookMaker for ScriptHost {
    fn hooks(&self, session: &SharedSession) -> Box<dyn Hooks> {
        Box::new(LuaHooks::new(&self.0, session))
    }
}

fn no_memory(bytes: &str, limit: Option<usize>) -> String {
    format!(
        "not enough memory: the result has {bytes} bytes, and the limit for scripts and the results that they keep is \
         {} bytes; the hook is not called",
        limit.unwrap_or_default()
    )
}

impl Hooks for LuaHooks {
    fn may_keep(&mut self, bytes: usize) -> Result<(), String> {
        let limit = self.state.options.lua.memory_limit;
        if self
            .state
            .kept
            .has_room(self.state.host.lua(), bytes, limit)
        {
            return Ok(());
        }
        let why = no_memory(&format!("more than {bytes}"), limit);
        Err(format!("(read_query_result) {why}"))
    }

    fn connect_server(&mut self, session: &SharedSession) -> Decision {
        if let Err(message) = &self.script {
            return Decision::Answer(vec![packet::script_error(message)]);
        }
        match self.call("connect_server", ()) {
            Returned::Nothing | Returned::Number(0) => Decision::PassOn,
            Returned::Number(IGNORE_RESULT) => Decision::Ignore,
            Returned::Number(SEND_RESULT) => self.answer(session),
            other => {
                self.refuse(
                    "connect_server",
                    &other,
                    "the backend is chosen as without the hook",
                );
                Decision::PassOn
            }
        }
    }

    fn read_handshake(&mut self, session: &SharedSession) -> Decision {
        match self.call("read_handshake", ()) {
            // The older name of "send the response" in this hook.
            Returned::Number(SEND_QUERY | SEND_RESULT) => self.answer(session),
            Returned::Nothing | Returned::Number(0) => Decision::PassOn,
            other => {
                self.refuse("read_handshake", &other, "the packet is passed on");
                Decision::PassOn
            }
        }
    }

    fn read_auth(&mut self, session: &SharedSession) -> Decision {
        match self.call("read_auth", ()) {
            Returned::Nothing | Returned::Number(0) => Decision::PassOn,
            Returned::Number(SEND_RESULT) => self.answer(session),
            Returned::Number(SEND_QUERY) => self.send_queue("read_auth", session),
            other => {
                self.refuse("read_auth", &other, "the packet is passed on");
                Decision::PassOn
            }
        }
    }

    fn read_auth_result(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        let name = "read_auth_result";
        if self.hook(name).is_none() {
            return Decision::PassOn;
        }
        let lua = self.state.host.lua();
        let argument = lua.create_table().and_then(|auth| {
            auth.raw_set("packet", lua.create_string(packet)?)?;
            Ok(auth)
        });
        match argument {
            Ok(auth) => self.answering(name, session, auth),
            Err(error) => {
                self.state
                    .log(Level::Critical, &format!("({name}) {}", Error::from(error)));
                Decision::PassOn
            }
        }
    }

    fn reads_queries(&self) -> bool {
        self.hook("read_query").is_some()
    }

    fn read_query(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        let name = "read_query";
        let Some((running, hook)) = self.hook(name) else {
            return Decision::PassOn;
        };
        session.borrow_mut().queries.clear();
        let text = match self.reset_response(running) {
            Ok(()) => self
                .state
                .host
                .lua()
                .create_string(packet)
                .map_err(Error::from),
            Err(error) => Err(error),
        };
        let returned = match text {
            Ok(text) => self.call_hook(name, running, &hook, text),
            Err(error) => {
                self.state
                    .log(Level::Critical, &format!("({name}) {error}"));
                Returned::Nothing
            }
        };
        match returned {
            Returned::Number(SEND_QUERY) => return self.send_queue(name, session),
            Returned::Number(SEND_RESULT) => {
                session.borrow_mut().queries.clear();
                return self.answer(session);
            }
            Returned::Nothing | Returned::Number(0) => {
                let waiting = session.borrow().queries.len();
                if waiting > 0 {
                    let text = format!(
                        "({name}) proxy.queries has {waiting} entries, but the script did not return proxy.PROXY_SEND_QUERY; they are discarded"
                    );
                    self.state.log(Level::Critical, &text);
                }
            }
            other => self.refuse(name, &other, "the command is passed on"),
        }
        session.borrow_mut().queries.clear();
        Decision::PassOn
    }

    fn read_query_result(&mut self, session: &SharedSession, result: QueryResult) -> Decision {
        let name = "read_query_result";
        let Some((running, hook)) = self.hook(name) else {
            return Decision::PassOn;
        };
        let is_kept = result.packets.is_some();
        let returned = match self.injected(result) {
            Ok(injected) => self.call_hook(name, running, &hook, injected),
            Err(error) => {
                self.state
                    .log(Level::Critical, &format!("({name}) {error}"));
                Returned::Nothing
            }
        };
        match returned {
            Returned::Nothing | Returned::Number(0) => Decision::PassOn,
            other if !is_kept => {
                self.refuse(
                    name,
                    &other,
                    "it is ignored, because the query was sent without { resultset_is_needed = true }",
                );
                Decision::PassOn
            }
            Returned::Number(SEND_RESULT) => self.answer(session),
            Returned::Number(IGNORE_RESULT) => Decision::Ignore,
            other => {
                self.refuse(name, &other, "the result is dropped");
                Decision::Ignore
            }
        }
    }

    fn disconnect_client(&mut self, _: &SharedSession) {
        // What it returns means nothing.
        let _ = self.call("disconnect_client", ());
    }
}

impl Drop for LuaHooks {
    fn drop(&mut self) {
        self.state.hide(self.number);
    }
}
