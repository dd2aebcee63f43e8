//! `proxy.queries`: the commands that a hook has sent to the server.

use lua::{
    bad_argument,
    mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value, Variadic},
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

/// The command that the arguments of `append` and `prepend` describe.
fn injection(lua: &Lua, function: &str, arguments: Variadic<Value>) -> Result<Injection> {
    let argument = |position: usize| arguments.get(position - 1).unwrap_or(&Value::Nil);
    let wrong =
        |position, expected| bad_argument(lua, position, function, expected, argument(position));
    // As in C, a fraction is cut off.
    let id = lua
        .coerce_number(argument(1).clone())?
        .ok_or_else(|| wrong(1, "number"))? as i64;
    let packet = match argument(2) {
        Value::String(packet) => packet.as_bytes().to_vec(),
        number @ (Value::Integer(_) | Value::Number(_)) => number.to_string()?.into_bytes(),
        _ => return Err(wrong(2, "string")),
    };
    let needs_result = match argument(3) {
        Value::Nil => false,
        Value::Table(options) => match options.get("resultset_is_needed")? {
            Value::Nil => false,
            Value::Boolean(is_needed) => is_needed,
            // The original's text, in which the type was never filled in; scripts may match it.
            _ => {
                let text = format!(":{function}(..., {{ resultset_is_needed = boolean }} ), is %s");
                return Err(raise(lua, text));
            }
        },
        _ => return Err(wrong(3, "table")),
    };
    Ok(Injection {
        id,
        packet,
        needs_result,
    })
}
