//! `inj.resultset`: the answer to an injected command.

use std::rc::Rc;

use lua::{
    mlua::{IntoLua, Lua, MetaMethod, Result, UserData, UserDataMethods, Value},
    raise,
};

use super::{
    field::Field,
    kept_results::KeptResult,
    keys::{place, read_by_name},
    rows,
};
use crate::{QueryResult, Status};

/// The answer to an injected command.
pub(super) struct ResultSet(pub(super) Rc<KeptResult>);

/// The columns of a result.
struct Fields(Rc<[Field]>);

/// One column of a result.
struct FieldObject {
    fields: Rc<[Field]>,
    place: usize,
}

/// The columns of a kept result; `None` if one cannot be read.
fn fields(result: &QueryResult) -> Option<Rc<[Field]>> {
    columns(result)
        .iter()
        .map(|packet| Field::read(packet))
        .collect()
}

/// The packets of the columns of a kept result.
fn columns(result: &QueryResult) -> &[Vec<u8>] {
    let packets = result.packets.as_deref().map_or(&[][..], Vec::as_slice);
    packets.get(1..=result.columns).unwrap_or_default()
}

impl ResultSet {
    fn field(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        let result = &self.0;
        let number = |number: u64| (number as f64).into_lua(lua);
        match key {
            b"query_status" => match result.status {
                Status::Ok { .. } | Status::Rows => number(0),
                Status::Err => number(255),
                Status::Other => Ok(Value::Nil),
            },
            b"affected_rows" => match result.status {
                Status::Ok { affected_rows, .. } => number(affected_rows),
                Status::Err if result.columns == 0 => number(0),
                _ => Ok(Value::Nil),
            },
            b"insert_id" => match result.status {
                Status::Ok { insert_id, .. } => number(insert_id),
                Status::Err if result.columns == 0 => number(0),
                _ => Ok(Value::Nil),
            },
            b"row_count" => number(result.row_count),
            b"bytes" => number(result.bytes),
            b"warning_count" => number(result.warning_count.into()),
            b"flags" => {
                let flags = lua.create_table()?;
                flags.raw_set("in_trans", result.flags.in_trans)?;
                flags.raw_set("auto_commit", result.flags.auto_commit)?;
                flags.raw_set("no_good_index_used", result.flags.no_good_index_used)?;
                flags.raw_set("no_index_used", result.flags.no_index_used)?;
                Ok(Value::Table(flags))
            }
            b"fields" | b"rows" | b"raw" => self.kept(lua, key),
            _ => Ok(Value::Nil),
        }
    }

    /// What only a kept result has.
    fn kept(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        let result = &self.0;
        let Some(packets) = &result.packets else {
            let key = String::from_utf8_lossy(key);
            let text = format!(".resultset.{key} isn't available if 'resultset_is_needed ~= true'");
            return Err(raise(lua, text));
        };
        match key {
            b"raw" => match packets.first() {
                Some(first) => Ok(Value::String(lua.create_string(first)?)),
                None => Ok(Value::Nil),
            },
            _ if result.columns == 0 => Ok(Value::Nil),
            b"fields" => match result.fields.get_or_init(|| fields(result)) {
                Some(fields) => Fields(fields.clone()).into_lua(lua),
                None => Err(raise(
                    lua,
                    "the server sent a column definition that cannot be read",
                )),
            },
            _ if result.is_binary => Err(raise(
                lua,
                ".resultset.rows isn't available for prepared statements",
            )),
            _ => rows::iterator(lua, result.clone()),
        }
    }
}

impl UserData for ResultSet {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        read_by_name(methods, Self::field);
    }
}

impl UserData for Fields {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.len()));
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let fields = this.0.clone();
            match place(lua, key, fields.len())? {
                Some(place) => FieldObject { fields, place }.into_lua(lua),
                None => Ok(Value::Nil),
            }
        });
    }
}

impl FieldObject {
    fn field(&self, lua: &Lua, key: &[u8]) -> Result<Value> {
        let field = &self.fields[self.place];
        let text = match key {
            b"name" => &field.name,
            b"org_name" => &field.org_name,
            b"table" => &field.table,
            b"org_table" => &field.org_table,
            b"type" => return field.kind.into_lua(lua),
            _ => return Ok(Value::Nil),
        };
        Ok(Value::String(lua.create_string(text)?))
    }
}

impl UserData for FieldObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        read_by_name(methods, Self::field);
    }
}
