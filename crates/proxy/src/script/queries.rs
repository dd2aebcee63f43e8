//! `proxy.queries`: the commands that a hook has sent to the server.

use std::{
    cell::{RefCell, RefMut},
    collections::VecDeque,
    rc::Rc,
};

use lua::{
    bad_argument,
    mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value},
    raise,
};
use reactor::{Instant, system_now};

use crate::{Injection, QueryResult, SharedSession};

/// The queue of a session.
pub(super) struct Queries {
    session: SharedSession,
    times: Rc<AppendTimes>,
}

/// When the script appended the commands of the queue. `query_time` and `response_time` count from then: a command that
/// waits for those before it has waited all the same.
pub(super) struct AppendTimes {
    session: SharedSession,
    /// Of the commands at the end of the queue, which the relay takes from its front, and of the last one taken.
    times: RefCell<VecDeque<Instant>>,
}

impl AppendTimes {
    /// The times of a session whose queue is empty.
    pub(super) fn new(session: &SharedSession) -> Self {
        Self {
            session: session.clone(),
            times: RefCell::default(),
        }
    }

    /// The times, without those of commands before the last `count` in the queue.
    fn of_last(&self, count: usize) -> RefMut<'_, VecDeque<Instant>> {
        let mut times = self.times.borrow_mut();
        let taken = times.len().saturating_sub(count);
        times.drain(..taken);
        times
    }

    /// The times of the commands that wait.
    fn waiting(&self) -> RefMut<'_, VecDeque<Instant>> {
        self.of_last(self.session.borrow().queries.len())
    }

    /// Lets the times of the answer to the command that was taken last count from its append.
    pub(super) fn count_from_append(&self, result: &mut QueryResult) {
        let waiting = self.session.borrow().queries.len();
        let mut times = self.of_last(waiting + 1);
        if times.len() <= waiting {
            return;
        }
        if let Some(appended) = times.pop_front() {
            // The hook is called with the answer's last packet.
            let whole_us = u64::try_from((system_now() - appended).as_micros()).unwrap_or(u64::MAX);
            let waited_us = whole_us.saturating_sub(result.response_time_us);
            result.query_time_us += waited_us;
            result.response_time_us += waited_us;
        }
    }
}

impl Queries {
    pub(super) fn new(session: &SharedSession, times: &Rc<AppendTimes>) -> Self {
        Self {
            session: session.clone(),
            times: times.clone(),
        }
    }
}

impl UserData for Queries {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("append", |lua, this, arguments| {
            let injection = injection(lua, "append", arguments)?;
            this.times.waiting().push_back(system_now());
            this.session.borrow_mut().queries.push_back(injection);
            Ok(())
        });
        methods.add_method("prepend", |lua, this, arguments| {
            let injection = injection(lua, "prepend", arguments)?;
            this.times.waiting().push_front(system_now());
            this.session.borrow_mut().queries.push_front(injection);
            Ok(())
        });
        methods.add_method("reset", |_, this, ()| {
            this.session.borrow_mut().queries.clear();
            Ok(())
        });
        methods.add_method("len", |_, this, ()| Ok(this.session.borrow().queries.len()));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| {
            Ok(this.session.borrow().queries.len())
        });
    }
}

/// The arguments of `append` and `prepend`.
type Arguments = (Value, Value, Value);

/// The command that the arguments describe.
fn injection(lua: &Lua, function: &str, arguments: Arguments) -> Result<Injection> {
    let (id, packet, options) = &arguments;
    let wrong = |position, expected, got| bad_argument(lua, position, function, expected, got);
    let id = match id {
        Value::Integer(id) => *id,
        // As in C, a fraction is cut off.
        other => lua
            .coerce_number(other.clone())?
            .ok_or_else(|| wrong(1, "number", other))? as i64,
    };
    let packet = match packet {
        Value::String(packet) => packet.as_bytes().to_vec(),
        number @ (Value::Integer(_) | Value::Number(_)) => number.to_string()?.into_bytes(),
        other => return Err(wrong(2, "string", other)),
    };
    let needs_result = match options {
        Value::Nil => false,
        Value::Table(options) => match options.raw_get("resultset_is_needed")? {
            Value::Nil => false,
            Value::Boolean(is_needed) => is_needed,
            // The original's text, in which the type was never filled in; scripts may match it.
            _ => {
                let text = format!(":{function}(..., {{ resultset_is_needed = boolean }} ), is %s");
                return Err(raise(lua, text));
            }
        },
        other => return Err(wrong(3, "table", other)),
    };
    Ok(Injection {
        id,
        packet,
        needs_result,
    })
}
