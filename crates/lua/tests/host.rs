//! What the host promises to its scripts, and to those who run them.

use lua::{Error, Host, HostOptions, mlua, raise};
use mlua::{Function, Table, Value};

fn host() -> Host {
    Host::new(&HostOptions::default()).expect("a Lua state")
}

/// Runs a text in a fresh environment, and returns that.
fn run(host: &Host, text: &str) -> Result<Table, Error> {
    let environment = host.environment()?;
    host.run(&host.load("/path/x.lua", text.as_bytes())?, &environment)?;
    Ok(environment)
}

#[test]
fn it_is_lua_5_1_with_what_scripts_of_it_use() {
    let host = host();
    let environment = run(
        &host,
        r#"
        version = _VERSION
        for _, name in ipairs{"setfenv", "getfenv", "module", "loadstring", "unpack"} do
            assert(type(_G[name]) == "function", name)
        end
        assert(table.getn{1, 2} == 2)
        local words = 0
        for _ in string.gfind("a b", "%a") do words = words + 1 end
        assert(words == 2)
        assert(debug.traceback() and bit.band(6, 3) == 2)
        assert(not pcall(require, "ffi"))
        "#,
    );
    assert_eq!(
        environment.unwrap().get::<String>("version").unwrap(),
        "Lua 5.1"
    );
}

#[test]
fn each_user_has_globals_of_its_own_and_shares_the_rest() {
    let host = host();
    let text = "count = (count or 0) + 1; _G.shared = (_G.shared or 0) + 1; function f() inside = 1 end f()";
    let script = host.load("s", text.as_bytes()).unwrap();
    for users in 1..=2 {
        let environment = host.environment().unwrap();
        host.run(&script, &environment).unwrap();
        assert_eq!(environment.raw_get::<i64>("count").unwrap(), 1);
        assert_eq!(environment.raw_get::<i64>("inside").unwrap(), 1);
        assert_eq!(host.lua().globals().get::<i64>("shared").unwrap(), users);
    }
    let globals = host.lua().globals();
    assert_eq!(globals.get::<Value>("count").unwrap(), Value::Nil);
    assert_eq!(globals.get::<Value>("inside").unwrap(), Value::Nil);
}

#[test]
fn errors_name_file_and_line_as_lua_5_1_does() {
    let host = host();
    let environment = run(
        &host,
        "#!/usr/bin/lua\nfunction f()\n  error('boom')\nend\nfunction g()\n  f()\nend",
    )
    .unwrap();
    let function: Function = environment.get("g").unwrap();
    let error = host.call::<()>(&function, ()).unwrap_err();
    assert_eq!(error.message, "[string \"/path/x.lua\"]:3: boom");
    assert!(
        error.traceback.contains("[string \"/path/x.lua\"]:6:"),
        "{error:?}"
    );
    let error = run(&host, "x = = 1").unwrap_err();
    assert!(
        error.message.starts_with("[string \"/path/x.lua\"]:1: "),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = host().load_file("/no/such/file.lua".as_ref()).unwrap_err();
    assert!(
        error.message.starts_with("cannot read /no/such/file.lua: "),
        "{error}"
    );
}

#[test]
fn errors_of_host_functions_are_texts_with_the_place_of_the_call() {
    let host = host();
    let fails = host
        .lua()
        .create_function(|lua, ()| -> mlua::Result<()> { Err(raise(lua, "no such thing")) });
    host.lua().globals().set("fails", fails.unwrap()).unwrap();
    let environment = run(
        &host,
        "function f()\n  fails()\nend\nok, err = pcall(f)\n_, err2 = xpcall(f, function(e) return 'seen ' .. e end)\n_, err3 = coroutine.resume(coroutine.create(f))",
    )
    .unwrap();
    let expected = "[string \"/path/x.lua\"]:2: no such thing";
    assert_eq!(environment.get::<String>("err").unwrap(), expected);
    assert_eq!(
        environment.get::<String>("err2").unwrap(),
        format!("seen {expected}")
    );
    assert_eq!(environment.get::<String>("err3").unwrap(), expected);
    let function: Function = environment.get("f").unwrap();
    assert_eq!(
        host.call::<()>(&function, ()).unwrap_err().message,
        expected
    );
}

#[test]
fn coroutines_yield_inside_of_pcall() {
    let text = "co = coroutine.wrap(function() pcall(function() coroutine.yield(1) end) return 2 end) a, b = co(), co()";
    let host = host();
    let environment = run(&host, text).unwrap();
    assert_eq!(environment.get::<i64>("a").unwrap(), 1);
    assert_eq!(environment.get::<i64>("b").unwrap(), 2);
}

#[test]
fn escapes_of_lua_5_1_are_accepted_wherever_a_file_is_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.lua");
    std::fs::write(&path, "#!shebang\nreturn { name = 'a\\.b', chunk = ... }").unwrap();
    let options = HostOptions {
        path: Some(format!(
            "/nowhere/?.lua;{}/?.lua",
            directory.path().display()
        )),
        ..HostOptions::default()
    };
    let host = Host::new(&options).unwrap();
    let text = format!(
        "own = '\\%d' required = require('old').name done = dofile('{0}').name loaded = loadfile('{0}')().name",
        path.display()
    );
    let environment = run(&host, &text).unwrap();
    assert_eq!(environment.get::<String>("own").unwrap(), "%d");
    for name in ["required", "done", "loaded"] {
        assert_eq!(environment.get::<String>(name).unwrap(), "a.b");
    }
}

#[test]
fn a_module_that_is_missing_or_broken_is_explained() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("broken.lua"), "x = = 1").unwrap();
    let options = HostOptions {
        path: Some(format!("{}/?.lua", directory.path().display())),
        ..HostOptions::default()
    };
    let host = Host::new(&options).unwrap();
    let missing = run(&host, "require 'not.there'").unwrap_err().message;
    assert!(
        missing.contains("module 'not.there' not found"),
        "{missing}"
    );
    assert!(missing.contains("/not/there.lua'"), "{missing}");
    let broken = run(&host, "require 'broken'").unwrap_err().message;
    assert!(
        broken.contains("error loading module 'broken' from file"),
        "{broken}"
    );
    assert!(broken.contains("broken.lua:1:"), "{broken}");
}

#[test]
fn a_built_in_module_hides_no_file() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("mine.lua"), "return 'file'").unwrap();
    let options = HostOptions {
        path: Some(format!("{}/?.lua", directory.path().display())),
        ..HostOptions::default()
    };
    let host = Host::new(&options).unwrap();
    for name in ["mine", "other"] {
        let loader = host.lua().create_function(|_, ()| Ok("built in"));
        host.build_in(name, loader.unwrap()).unwrap();
    }
    let text = "assert(require('mine') == 'file' and require('other') == 'built in')";
    run(&host, text).unwrap();
}

#[test]
fn c_modules_need_a_path() {
    // The loaders of preloaded modules, of Lua files and of built-in modules.
    let text = "assert(package.cpath == '' and package.loadlib == nil and #package.loaders == 3)";
    run(&host(), text).unwrap();
    let options = HostOptions {
        cpath: Some("/lib/?.so".to_owned()),
        ..HostOptions::default()
    };
    run(
        &Host::new(&options).unwrap(),
        "assert(package.cpath == '/lib/?.so' and package.loadlib)",
    )
    .unwrap();
}

#[test]
fn endless_loops_end_however_they_are_written() {
    let options = HostOptions {
        instruction_limit: Some(200_000),
        ..HostOptions::default()
    };
    let host = Host::new(&options).unwrap();
    for text in [
        "while true do end",
        "local x = 0 for i = 1, 1e12 do x = x + i end",
        "while true do pcall(function() while true do end end) end",
        "local function f() return f() end f()",
        "coroutine.wrap(function() while true do end end)()",
        "local co = coroutine.create(function() while true do end end) while true do coroutine.resume(co) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "require('jit').on() while true do end",
    ] {
        let error = run(&host, text).unwrap_err();
        let expected = error.message.contains("stopped after 200000 instructions")
            || error.message.contains("module 'jit' not found");
        assert!(expected, "{text}: {error}");
        // The next call has its whole limit again.
        run(&host, "for i = 1, 10000 do end").unwrap();
    }
}

#[test]
fn memory_is_limited() {
    let options = HostOptions {
        memory_limit: Some(16 << 20),
        ..HostOptions::default()
    };
    let host = Host::new(&options).unwrap();
    for text in [
        "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end",
        "local s = 'x' while true do s = s .. s end",
    ] {
        let error = run(&host, text).unwrap_err();
        assert!(
            error.message.contains("not enough memory"),
            "{text}: {error}"
        );
    }
    // What the failed call left behind is freed.
    run(&host, "x = string.rep('x', 8000000)").unwrap();
}

#[test]
fn ffi_is_there_for_those_who_ask() {
    let options = HostOptions {
        ffi: true,
        ..HostOptions::default()
    };
    run(
        &Host::new(&options).unwrap(),
        "assert(require('ffi').sizeof('int') == 4)",
    )
    .unwrap();
}
