//! Hooks made of a function, in place of a script.

use std::{rc::Rc, sync::Arc};

use proxy::{
    Decision, HookMaker, Hooks, Injection, MakerOfThread, QueryResult, ScriptEnvironment,
    SharedSession,
};

/// Which hook is called, and with what.
pub(crate) enum Event<'a> {
    Connect,
    Handshake,
    Auth,
    AuthResult(&'a [u8]),
    Query(&'a [u8]),
    Result(QueryResult),
    Left,
}

type Script = dyn Fn(Event<'_>, &SharedSession, &dyn ScriptEnvironment) -> Decision + Send + Sync;

/// Hooks that call `script` for everything.
pub(crate) fn hooks(
    script: impl Fn(Event<'_>, &SharedSession, &dyn ScriptEnvironment) -> Decision
    + Send
    + Sync
    + 'static,
) -> Option<Arc<MakerOfThread>> {
    let script: Arc<Script> = Arc::new(script);
    Some(Arc::new(move |environment| {
        Ok(Rc::new(Scripted {
            script: Arc::clone(&script),
            environment,
        }))
    }))
}

#[derive(Clone)]
struct Scripted {
    script: Arc<Script>,
    environment: Rc<dyn ScriptEnvironment>,
}

impl HookMaker for Scripted {
    fn hooks(&self, _: &SharedSession) -> Box<dyn Hooks> {
        Box::new(self.clone())
    }
}

impl Scripted {
    fn call(&self, event: Event<'_>, session: &SharedSession) -> Decision {
        (self.script)(event, session, &*self.environment)
    }
}

impl Hooks for Scripted {
    fn connect_server(&mut self, session: &SharedSession) -> Decision {
        self.call(Event::Connect, session)
    }

    fn read_handshake(&mut self, session: &SharedSession) -> Decision {
        self.call(Event::Handshake, session)
    }

    fn read_auth(&mut self, session: &SharedSession) -> Decision {
        self.call(Event::Auth, session)
    }

    fn read_auth_result(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        self.call(Event::AuthResult(packet), session)
    }

    fn reads_queries(&self) -> bool {
        true
    }

    fn read_query(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        self.call(Event::Query(packet), session)
    }

    fn read_query_result(&mut self, session: &SharedSession, result: QueryResult) -> Decision {
        self.call(Event::Result(result), session)
    }

    fn disconnect_client(&mut self, session: &SharedSession) {
        self.call(Event::Left, session);
    }
}

pub(crate) fn append(session: &SharedSession, id: i64, statement: &str, needs_result: bool) {
    let mut packet = vec![3];
    packet.extend_from_slice(statement.as_bytes());
    append_packet(session, id, packet, needs_result);
}

pub(crate) fn append_packet(session: &SharedSession, id: i64, packet: Vec<u8>, needs_result: bool) {
    session.borrow_mut().queries.push_back(Injection {
        id,
        packet,
        needs_result,
    });
}
