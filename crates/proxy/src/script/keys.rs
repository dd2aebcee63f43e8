//! How the keys of Lua reach the fields and members of our objects.

use lua::mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value};

/// Reads fields by their names; any other key is nil.
pub(super) fn read_by_name<T, M>(methods: &mut M, field: fn(&T, &Lua, &[u8]) -> Result<Value>)
where
    T: UserData + 'static,
    M: UserDataMethods<T>,
{
    methods.add_meta_method(MetaMethod::Index, move |lua, this, key: Value| match &key {
        Value::String(key) => field(this, lua, &key.as_bytes()),
        _ => Ok(Value::Nil),
    });
}

pub(super) fn write_by_name<T, M>(
    methods: &mut M,
    assign: fn(&T, &Lua, &[u8], &Value) -> Result<()>,
) where
    T: UserData + 'static,
    M: UserDataMethods<T>,
{
    methods.add_meta_method(
        MetaMethod::NewIndex,
        move |lua, this, (key, value): (Value, Value)| {
            let key = key.to_string()?;
            assign(this, lua, key.as_bytes(), &value)
        },
    );
}

/// The place of a member by its number from 1; `None` for a number of none of `count`, such as NaN.
pub(super) fn place(lua: &Lua, key: Value, count: usize) -> Result<Option<usize>> {
    let number = lua.coerce_number(key)?.unwrap_or_default();
    let is_inside = number >= 1.0 && number <= count as f64;
    Ok(is_inside.then(|| number as usize - 1))
}
