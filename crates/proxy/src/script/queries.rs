//! `proxy.queries`: the commands that a hook has sent to the server.

use lua::{
    bad_argument,
    mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value},
    raise,
};

use crate::{Injection, SharedSession};

/// The queue of a session.
pub(super) struct Queries(pub(super) SharedSession);

impl UserData for Queries {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("append", |lua, this, arguments| {
            let injection = injection(lua, "append", arguments)?;
            this.0.borrow_mut().queries.push_back(injection);
            Ok(())
        });
        methods.add_method("prepend", |lua, this, arguments| {
            let injection = injection(lua, "prepend", arguments)?;
            this.0.borrow_mut().queries.push_front(injection);
            Ok(())
        });
        methods.add_method("reset", |_, this, ()| {
            this.0.borrow_mut().queries.clear();
            Ok(())
        });
        methods.add_method("len", |_, this, ()| Ok(this.0.borrow().queries.len()));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| {
            Ok(this.0.borrow().queries.len())
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
