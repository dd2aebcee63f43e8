//! Rows of the behaviour reference that no other file of these tests has.

use std::{fs, os::unix::fs::MetadataExt};

use proxy::{Decision, HookMaker as _, Level};

use crate::scene::{Scene, check, done, error_of, rows, session};

#[test]
fn shared_globals_and_modules_are_those_of_all_sessions() {
    let mut scene = Scene::new(
        "local m = require('counter')
         function read_query()
             m.count = m.count + 1
             _G.shared = (_G.shared or 0) + 1
             print(m.count, shared, package.loaded.counter == m)
         end",
    );
    fs::write(
        scene.directory.path().join("counter.lua"),
        "return { count = 0 }",
    )
    .expect("a module");
    scene.hooks = scene.host.hooks(&scene.session);
    let other_session = session();
    let mut other = scene.host.hooks(&other_session);
    scene.query("x");
    other.read_query(&other_session, b"\x03x");
    assert_eq!(scene.printed(), ["1\t1\ttrue", "2\t2\ttrue"]);
}

#[test]
fn each_session_has_a_coroutine_of_its_own() {
    let mut scene = Scene::new(
        "local first = coroutine.running()
         function read_query()
             assert(type(first) == 'thread' and coroutine.running() == first)
             local inner = coroutine.wrap(function() return coroutine.running() end)()
             assert(inner ~= first)
             _G.seen = _G.seen or {}
             seen[coroutine.running()] = true
             local count = 0
             for _ in pairs(seen) do count = count + 1 end
             -- It cannot be left, as there.
             print(count, (pcall(coroutine.yield, 1)))
         end",
    );
    let other_session = session();
    let mut other = scene.host.hooks(&other_session);
    scene.query("x");
    other.read_query(&other_session, b"\x03x");
    scene.query("x");
    assert_eq!(scene.printed(), ["1\tfalse", "2\tfalse", "2\tfalse"]);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn old_style_modules_are_members_of_proxy() {
    let mut scene =
        Scene::in_query("require('proxy.mine') print(proxy.mine.answer(), rawget(_G, 'mine'))");
    let directory = scene.directory.path().join("proxy");
    fs::create_dir(&directory).expect("a directory");
    fs::write(
        directory.join("mine.lua"),
        "module('proxy.mine') function answer() return 42 end",
    )
    .expect("a module");
    scene.query("x");
    assert_eq!(scene.printed(), ["42\tnil"], "{}", scene.complaint());
}

#[test]
fn a_hook_does_not_see_the_response_of_the_command_before() {
    let mut scene = Scene::new(
        "function read_query(packet)
             if packet == '\\3first' then proxy.response.errmsg = 'x' end
             assert(packet == '\\3first' or proxy.response.errmsg == nil)
             proxy.queries:append(1, packet)
             return proxy.PROXY_SEND_QUERY
         end
         function read_query_result() proxy.response.affected_rows = 1 end",
    );
    scene.query("first");
    scene.result(done());
    assert_eq!(scene.query("second"), Decision::SendQueue);
    assert_eq!(scene.session.borrow().queries.len(), 1);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn unknown_keys_of_every_object_are_nil() {
    check(
        "for _, object in ipairs {
             proxy.connection, proxy.connection.client.src, proxy.global.backends[1], proxy.global.backends[1].pool,
             proxy.global.backends[1].pool.users.me, proxy.global.backends, proxy.queries,
         } do
             assert(object.nothing == nil and object[99] == nil)
         end
         assert(proxy.nothing == nil)",
    );
}

#[test]
fn what_cannot_be_written_says_so() {
    let cases = [
        (
            "proxy.global.backends[1].type = 1",
            "proxy.global.backends[...].type is not writable",
        ),
        (
            "proxy.global.backends[1].nothing = 1",
            "proxy.global.backends[...].nothing is not writable",
        ),
        (
            "proxy.global.backends[1].uuid = {}",
            "proxy.global.backends[...].uuid has to be a string, is table",
        ),
        (
            "proxy.global.backends[1].state = 'x'",
            "bad argument #3 to '__newindex' (number expected, got string)",
        ),
        (
            "proxy.global.backends[1].pool.users = 1",
            "proxy.global.backends[...].pool.users is not writable",
        ),
        (
            "proxy.connection.client = 1",
            "proxy.connection.client is not writable",
        ),
        (
            "proxy.connection.backend_ndx = {}",
            "bad argument #3 to '__newindex' (number expected, got table)",
        ),
    ];
    for (expression, expected) in cases {
        assert_eq!(error_of(expression), expected, "{expression}");
    }
    assert!(error_of("proxy.global.backends[1].state = 9").contains("BACKEND_STATE_UNKNOWN"));
}

#[test]
fn values_of_results_are_texts_and_null() {
    let mut scene = Scene::new(
        "function read_query_result(inj)
             for row in inj.resultset.rows do print(type(row[1]), type(row[2]), #row) end
             print(tostring(inj.resultset.affected_rows), inj.resultset.bytes)
         end",
    );
    scene.result(rows(true));
    assert_eq!(
        scene.printed(),
        ["string\tstring\t2", "string\tnil\t1", "nil\t11"]
    );
}

#[test]
fn each_function_of_chassis_has_its_level() {
    let mut scene = Scene::in_query(
        "local chassis = require('chassis')
         for _, level in ipairs { 'critical', 'warning', 'message', 'info', 'debug' } do
             chassis[level]('by name')
             chassis.log(level, 'by log')
         end
         chassis.log('error', 'by log')",
    );
    scene.query("x");
    let lines = scene.recorder.lines.borrow().clone();
    let of = |wanted: Level| lines.iter().filter(|(level, _)| *level == wanted).count();
    assert_eq!(of(Level::Error), 1, "{lines:?}");
    for level in [
        Level::Critical,
        Level::Warning,
        Level::Message,
        Level::Info,
        Level::Debug,
    ] {
        assert_eq!(of(level), 2, "{level:?} in {lines:?}");
    }
}

#[test]
fn parameters_of_every_type_are_read() {
    check(
        r#"
        local p = require("mysql.proto")
        -- Each type with its sign, its bytes and its value.
        local cases = {
            { 1, 0, "\255", -1 }, { 1, 128, "\255", 255 }, { 2, 0, "\254\255", -2 }, { 2, 128, "\254\255", 65534 },
            { 13, 128, "\218\7", 2010 }, { 3, 128, "\255\255\255\255", 4294967295 }, { 9, 0, "\5\0\0\0", 5 },
            { 8, 0, ("\255"):rep(8), -1 }, { 4, 0, "\0\0\192\63", 1.5 }, { 5, 0, "\0\0\0\0\0\0\248\63", 1.5 },
            { 0, 0, "\3" .. "1.5", "1.5" }, { 246, 0, "\3" .. "2.5", "2.5" }, { 252, 0, "\2\0\1", "\0\1" },
            { 253, 0, "\1a", "a" }, { 254, 0, "\0", "" }, { 250, 0, "\1b", "b" }, { 16, 0, "\1\7", "\7" },
            { 10, 0, "\4\218\7\10\26", "2010-10-26" }, { 7, 0, "\0", "0000-00-00 00:00:00" },
            { 12, 0, "\11\218\7\10\26\1\2\3\64\66\15\0", "2010-10-26 01:02:03.001000000" },
            { 11, 0, "\0", "00:00:00" }, { 11, 0, "\8\0\0\0\0\0\1\2\3", "01:02:03" },
        }
        for i, case in ipairs(cases) do
            local head = "\23\1\0\0\0\0\1\0\0\0" .. "\0\1"
            local packet = head .. string.char(case[1], case[2]) .. case[3]
            local param = p.from_stmt_execute_packet(packet, 1).params[1]
            assert(param.type == case[1] and param.value == case[4], i .. ": " .. tostring(param.value))
        end
        local null = p.from_stmt_execute_packet("\23\1\0\0\0\0\1\0\0\0" .. "\1\1" .. "\3\0", 1).params[1]
        assert(null.type == 3 and null.value == nil)
        "#,
    );
}

#[test]
fn files_of_options_that_cannot_be_used_are_errors() {
    let mut scene = Scene::new(
        "require('proxy.auto-config')
         function read_query(packet)
             local decision = proxy.global.config:handle(require('proxy.commands').parse(packet))
             print(decision, proxy.response.errmsg)
             return decision
         end",
    );
    let directory = scene.directory.path().to_owned();
    fs::write(directory.join("broken"), "return {").expect("a file");
    fs::write(directory.join("number"), "return 1").expect("a file");
    let place = directory.display();
    for statement in [
        format!("proxy load config from \"{place}/none\""),
        format!("proxy load config from \"{place}/broken\""),
        format!("proxy load config from \"{place}/number\""),
        format!("proxy save config into \"{place}/no/such\""),
    ] {
        assert!(
            matches!(scene.query(&statement), Decision::Answer(_)),
            "{statement}"
        );
    }
    assert_eq!(scene.printed().len(), 4);
    assert!(
        scene
            .printed()
            .iter()
            .all(|line| line.starts_with("2\t") && !line.ends_with("nil")),
        "{:?}",
        scene.printed()
    );
}

/// The locks of this process on a file, as `READ start end` or `WRITE start end`.
fn locks(path: &std::path::Path) -> Vec<String> {
    let inode = fs::metadata(path).expect("a file").ino().to_string();
    let own = std::process::id().to_string();
    let all = fs::read_to_string("/proc/locks").unwrap_or_default();
    let of_file = all.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX", _, kind, pid, place, start, end] = words[..] else {
            return None;
        };
        let is_it = pid == own && place.rsplit(':').next() == Some(inode.as_str());
        is_it.then(|| format!("{kind} {start} {end}"))
    });
    of_file.collect()
}

#[test]
fn parts_of_files_are_locked() {
    let mut scene = Scene::in_query(
        r#"
        local lfs = require("lfs")
        file = file or io.open(packet:match("^.(%S+)"), "w")
        assert(loadstring("local lfs, file = ... " .. packet:match(" (.*)")))(lfs, file)
        "#,
    );
    let path = scene.directory.path().join("locked");
    let steps: [(&str, &[&str]); 5] = [
        (
            "assert(lfs.lock(file, 'w', 10, 5) == true)",
            &["WRITE 10 14"],
        ),
        ("assert(lfs.unlock(file, 10, 5) == true)", &[]),
        ("assert(lfs.lock(file, 'w'))", &["WRITE 0 EOF"]),
        // The file is open for writing only.
        (
            "lfs.unlock(file) local ok, why = lfs.lock(file, 'r') assert(ok == nil and type(why) == 'string')",
            &[],
        ),
        ("file:close() assert(not pcall(lfs.lock, file, 'w'))", &[]),
    ];
    for (step, expected) in steps {
        scene.query(&format!("{} {step}", path.display()));
        assert_eq!(scene.logged(Level::Warning), [""; 0], "{step}");
        assert_eq!(locks(&path), expected, "{step}");
    }
    for (call, expected) in [
        ("lock(io.stdout, 'x')", "lock: invalid mode"),
        (
            "lock(io.stdout)",
            "bad argument #2 to 'lock' (string expected, got nil)",
        ),
        (
            "lock('x', 'w')",
            "bad argument #1 to 'lock' (FILE* expected, got string)",
        ),
        (
            "unlock(proxy.connection)",
            "bad argument #1 to 'unlock' (FILE* expected, got userdata)",
        ),
        (
            "unlock((function() local f = io.tmpfile() f:close() return f end)())",
            "unlock: closed file",
        ),
    ] {
        assert_eq!(
            error_of(&format!("require('lfs').{call}")),
            expected,
            "{call}"
        );
    }
}
