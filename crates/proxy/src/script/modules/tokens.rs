//! `mysql.tokenizer`: the tokens of a text as an array.

use std::{cell::RefCell, rc::Rc};

use lua::{
    mlua::{IntoLua, Lua, MetaMethod, Result, Table, UserData, UserDataMethods, Value},
    raise,
};

use super::{
    bytes,
    function::add,
    token::{self, Token},
};
use crate::script::keys;

/// The tokens of a text; a script can free single ones.
struct Tokens(RefCell<Vec<Option<Rc<Token>>>>);

struct TokenObject(Rc<Token>);

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    add(lua, &module, "tokenize", |lua, text: Value| {
        let text = bytes::argument(lua, 1, "tokenize", &text)?;
        let tokens = token::tokenize(&text);
        let tokens = tokens.into_iter().map(|token| Some(Rc::new(token)));
        Ok(Tokens(RefCell::new(tokens.collect())))
    })?;
    Ok(module)
}

impl Tokens {
    /// The place of a token by its number from 1.
    fn place(&self, lua: &Lua, key: Value) -> Result<Option<usize>> {
        let count = self.0.borrow().len();
        keys::place(lua, key, count)
    }
}

impl UserData for Tokens {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.borrow().len()));
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let token = match this.place(lua, key)? {
                Some(place) => this.0.borrow()[place].clone(),
                None => None,
            };
            match token {
                Some(token) => TokenObject(token).into_lua(lua),
                None => Ok(Value::Nil),
            }
        });
        methods.add_meta_method(
            MetaMethod::NewIndex,
            |lua, this, (key, value): (Value, Value)| {
                if !value.is_nil() {
                    return Err(raise(
                        lua,
                        "tokens can only be set to nil, which frees them",
                    ));
                }
                if let Some(place) = this.place(lua, key)? {
                    this.0.borrow_mut()[place] = None;
                }
                Ok(())
            },
        );
    }
}

impl UserData for TokenObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let Value::String(key) = &key else {
                return Err(raise(
                    lua,
                    "a token has only the fields .token_id, .token_name and .text",
                ));
            };
            match &*key.as_bytes() {
                b"text" => Ok(Value::String(lua.create_string(&this.0.text)?)),
                b"token_id" => this.0.id.into_lua(lua),
                b"token_name" => token::name(this.0.id).into_lua(lua),
                other => {
                    let name = String::from_utf8_lossy(other);
                    let text = format!(
                        "a token has no field {name}; it has .token_id, .token_name and .text"
                    );
                    Err(raise(lua, text))
                }
            }
        });
    }
}
