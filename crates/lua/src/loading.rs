//! Compiling Lua texts and files, also those that scripts require.

use std::path::Path;

use mlua::{Function, IntoLua, Lua, MultiValue, Table, Value};

use crate::{Error, escapes::without_unknown_escapes, raise};

/// Where the modules that the program brings are kept.
const BUILT_IN: &str = "dbdyno.modules";

/// Size limit of a Lua file.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Reads a Lua file; an error names it.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    files::read_handed_over(path, FILE_BYTES_MAX)
        .map_err(|error| Error::new(format!("cannot read {}: {error}", path.display())))
}

/// Hides a first line that begins with `#`, and keeps the numbers of all lines.
pub(crate) fn without_shebang(text: &[u8]) -> &[u8] {
    if !text.starts_with(b"#") {
        return text;
    }
    let end = text.iter().position(|&byte| byte == b'\n');
    &text[end.unwrap_or(text.len())..]
}

/// Compiles a text. If LuaJIT refuses it, it is tried once more without the escapes that only Lua 5.1 accepts.
pub(crate) fn compile(lua: &Lua, name: &str, text: &[u8]) -> mlua::Result<Function> {
    let load = |text: &[u8]| {
        let chunk = lua.load(text).set_name(name);
        chunk.set_mode(mlua::chunk::ChunkMode::Text).into_function()
    };
    let refused = match load(text) {
        Err(error @ mlua::Error::SyntaxError { .. }) => error,
        other => return other,
    };
    match without_unknown_escapes(text) {
        Some(cleaned) => load(&cleaned),
        None => Err(refused),
    }
}

/// Replaces the functions that read Lua files, so that all of them accept what Lua 5.1 does, and `require` finds no C
/// modules unless `cpath` names their place.
pub(crate) fn install(lua: &Lua, path: Option<&str>, cpath: Option<&str>) -> mlua::Result<()> {
    let globals = lua.globals();
    let package: Table = globals.get("package")?;
    if let Some(path) = path {
        package.set("path", path)?;
    }
    let loaders: Table = package.get("loaders")?;
    loaders.raw_set(2, lua.create_function(search)?)?;
    match cpath {
        Some(cpath) => package.set("cpath", cpath)?,
        None => {
            package.set("cpath", "")?;
            package.set("loadlib", Value::Nil)?;
            loaders.raw_set(4, Value::Nil)?;
            loaders.raw_set(3, Value::Nil)?;
        }
    }
    // Behind all files: a module of the user's own is not hidden by one that is built in.
    lua.set_named_registry_value(BUILT_IN, lua.create_table()?)?;
    loaders.raw_push(lua.create_function(search_built_in)?)?;
    globals.set("loadfile", lua.create_function(load_file)?)?;
    globals.set("dofile", lua.create_function(do_file)?)
}

/// The loader of `require` for modules that the program brings.
fn search_built_in(lua: &Lua, name: String) -> mlua::Result<Value> {
    let modules: Table = lua.named_registry_value(BUILT_IN)?;
    match modules.raw_get(name.as_str())? {
        Value::Nil => format!("\n\tno built-in module '{name}'").into_lua(lua),
        loader => Ok(loader),
    }
}

/// Makes a function the loader of a module of which `require` finds no file.
pub(crate) fn build_in(lua: &Lua, name: &str, loader: Function) -> mlua::Result<()> {
    let modules: Table = lua.named_registry_value(BUILT_IN)?;
    modules.raw_set(name, loader)
}

/// The loader of `require` for Lua files: a function, or the text that says where none was found.
fn search(lua: &Lua, name: String) -> mlua::Result<Value> {
    let package: Table = lua.globals().get("package")?;
    let Ok(templates) = package.get::<String>("path") else {
        return Err(raise(lua, "'package.path' must be a string"));
    };
    let file_name = name.replace('.', "/");
    let mut missing = String::new();
    for template in templates.split(';').filter(|template| !template.is_empty()) {
        let path = template.replace('?', &file_name);
        if !Path::new(&path).is_file() {
            missing.push_str(&format!("\n\tno file '{path}'"));
            continue;
        }
        return match compile_file(lua, &path) {
            Ok(function) => function.into_lua(lua),
            Err(error) => Err(mlua::Error::RuntimeError(format!(
                "error loading module '{name}' from file '{path}':\n\t{error}"
            ))),
        };
    }
    missing.into_lua(lua)
}

fn compile_file(lua: &Lua, path: &str) -> Result<Function, Error> {
    let text = read(Path::new(path))?;
    let compiled = compile(lua, &format!("@{path}"), without_shebang(&text));
    compiled.map_err(|error| without_quotation(Path::new(path), error.into()))
}

/// The error of a file that does not compile, without the text that LuaJIT quotes (`'=' expected near 'x'`) if the file
/// is not to be quoted.
pub(crate) fn without_quotation(path: &Path, mut error: Error) -> Error {
    if !files::is_quotable(path)
        && let Some(at) = error.message.find(" near '")
    {
        error.message.truncate(at);
        error.message.push_str(&format!(" ({})", files::WITHHELD));
    }
    error
}

fn load_file(lua: &Lua, path: Option<String>) -> mlua::Result<(Option<Function>, Option<String>)> {
    let Some(path) = path else {
        return Err(raise(
            lua,
            "loadfile: give the name of a file; stdin is not read",
        ));
    };
    Ok(match compile_file(lua, &path) {
        Ok(function) => (Some(function), None),
        Err(error) => (None, Some(error.message)),
    })
}

fn do_file(lua: &Lua, path: Option<String>) -> mlua::Result<MultiValue> {
    match load_file(lua, path)? {
        (Some(function), _) => function.call(()),
        (None, message) => Err(mlua::Error::RuntimeError(message.unwrap_or_default())),
    }
}
