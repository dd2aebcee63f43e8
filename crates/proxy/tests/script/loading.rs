//! How a script becomes the hooks of a session: environments, changes of its file, scripts that fail.

use proxy::{Decision, HookMaker as _, Level};

use crate::scene::{Scene, session};

fn error(message: &str) -> Decision {
    let packet = [b"\xff\x51\x04#07000", message.as_bytes()].concat();
    Decision::Answer(vec![packet])
}

#[test]
fn globals_are_a_session_s_own_and_proxy_global_is_shared() {
    let mut scene = Scene::new(
        "count = 0
         function read_query()
             count = count + 1
             proxy.global.count = (proxy.global.count or 0) + 1
             proxy.mine = proxy.mine or count
             print(count, proxy.global.count, proxy.mine, rawget(_G, 'count'))
         end",
    );
    let other_session = session();
    let mut other = scene.host.hooks(&other_session);
    scene.query("x");
    scene.query("x");
    other.read_query(&other_session, b"\x03x");
    scene.query("x");
    let expected = [
        "1\t1\t1\tnil",
        "2\t2\t1\tnil",
        "1\t3\t1\tnil",
        "3\t4\t1\tnil",
    ];
    assert_eq!(scene.printed(), expected);
}

#[test]
fn more_sessions_than_a_stack_of_lua_has_places_live_at_a_time() {
    let scene = Scene::new(
        "function read_query(packet)
             proxy.response.type = proxy.MYSQLD_PACKET_OK
             return proxy.PROXY_SEND_RESULT
         end",
    );
    let sessions: Vec<_> = (0..5000).map(|_| session()).collect();
    let mut all: Vec<_> = sessions.iter().map(|it| scene.host.hooks(it)).collect();
    let last = all.last_mut().unwrap();
    let decision = last.read_query(&sessions[4999], b"\x03x");
    assert!(matches!(decision, Decision::Answer(_)), "{decision:?}");
    assert_eq!(scene.logged(Level::Critical), [""; 0]);
}

#[test]
fn a_module_sees_the_session_whose_hook_runs() {
    let mut scene = Scene::new(
        "local m = require('who') function read_query() print(m.user(), proxy.queries ~= nil) end",
    );
    let module =
        "module('who', package.seeall) function user() return proxy.connection.client.username end";
    std::fs::write(scene.directory.path().join("who.lua"), module).unwrap();
    scene.hooks = scene.host.hooks(&scene.session);
    let other_session = session();
    other_session.borrow_mut().client.username = b"you".to_vec();
    let mut other = scene.host.hooks(&other_session);
    scene.query("x");
    other.read_query(&other_session, b"\x03x");
    drop(other);
    scene.query("x");
    assert_eq!(scene.printed(), ["me\ttrue", "you\ttrue", "me\ttrue"]);
}

#[test]
fn proxy_response_is_empty_at_each_command() {
    let mut scene = Scene::in_query(
        "assert(next(proxy.response) == nil) proxy.response.type = 1 if packet == '\\3b' then proxy.response = nil end",
    );
    for text in ["a", "b", "c"] {
        scene.query(text);
    }
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn a_script_that_does_not_load_is_reported_and_told_to_clients() {
    let mut scene = Scene::new("function read_query( end");
    assert!(!scene.host.is_loaded());
    let session = scene.session.clone();
    let expected = error("MySQL Proxy Lua script failed to load. Check the error log.");
    assert_eq!(scene.hooks.connect_server(&session), expected);
    assert_eq!(scene.query("x"), Decision::PassOn);
    let logged = scene.logged(Level::Critical);
    assert_eq!(logged.len(), 1, "{logged:?}");
    assert!(
        logged[0].contains("x.lua does not load: [string "),
        "{logged:?}"
    );
}

#[test]
fn a_script_that_fails_when_it_runs_is_reported_and_told_to_clients() {
    let mut scene = Scene::new("\nerror('not today')");
    let session = scene.session.clone();
    let expected = error("MySQL Proxy Lua script failed to execute. Check the error log.");
    assert_eq!(scene.hooks.connect_server(&session), expected);
    assert!(
        scene.complaint().ends_with("\"]:2: not today"),
        "{}",
        scene.complaint()
    );
}

#[test]
fn a_changed_script_is_for_new_sessions() {
    let mut scene = Scene::new("function read_query() print('old') end");
    let path = scene.directory.path().join("x.lua");
    std::fs::write(&path, "function read_query() print('newer') end").unwrap();
    let session = session();
    let mut newer = scene.host.hooks(&session);
    newer.read_query(&session, b"\x03x");
    scene.query("x");
    assert_eq!(scene.printed(), ["newer", "old"]);

    // A version that does not load is reported once, and new sessions get the one before.
    std::fs::write(&path, "function read_query( print('broken') end").unwrap();
    for _ in 0..2 {
        let mut kept = scene.host.hooks(&session);
        assert_eq!(kept.connect_server(&session), Decision::PassOn);
        kept.read_query(&session, b"\x03x");
    }
    assert_eq!(scene.logged(Level::Critical).len(), 1);
    assert_eq!(scene.printed()[2..], ["newer", "newer"]);
    std::fs::write(&path, "function read_query() print('repaired again') end").unwrap();
    let mut repaired = scene.host.hooks(&session);
    assert_eq!(repaired.connect_server(&session), Decision::PassOn);
}

#[test]
fn a_changed_script_that_fails_when_it_runs_is_not_taken() {
    let mut scene = Scene::in_query("print('first')");
    let path = scene.directory.path().join("x.lua");
    scene.query("x");
    // It loads, and fails behind its first hook.
    std::fs::write(
        &path,
        "function read_query() print('second') end error('no table')",
    )
    .expect("a script");
    for _ in 0..2 {
        scene.hooks = scene.host.hooks(&scene.session);
        let connected = scene.hooks.connect_server(&scene.session);
        assert_eq!(connected, Decision::PassOn);
        scene.query("x");
    }
    assert_eq!(scene.printed(), ["first", "first", "first"]);
    let complaints = scene.logged(Level::Critical);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(
        complaints[0].contains("no table; the previous version stays in effect"),
        "{complaints:?}"
    );
    std::fs::write(
        &path,
        "function read_query() print('third, without a fault') end",
    )
    .expect("a script");
    scene.hooks = scene.host.hooks(&scene.session);
    scene.query("x");
    // A version that has run for one session is kept for all: what fails later is that session's own.
    std::fs::write(
        &path,
        "runs = (runs or 0) + 1 _G.runs = runs assert(runs < 3, 'fails later')",
    )
    .expect("a script");
    for at in 0..3 {
        scene.hooks = scene.host.hooks(&scene.session);
        let connected = scene.hooks.connect_server(&scene.session);
        assert_eq!(connected == Decision::PassOn, at < 2, "{at}");
    }
    assert_eq!(scene.printed()[3], "third, without a fault");
}

#[test]
fn a_missing_script_is_named() {
    let scene = Scene::new("");
    std::fs::remove_file(scene.directory.path().join("x.lua")).unwrap();
    let mut hooks = scene.host.hooks(&scene.session);
    assert_eq!(hooks.connect_server(&scene.session), Decision::PassOn);
    assert!(
        scene.complaint().contains("cannot read "),
        "{}",
        scene.complaint()
    );
}

#[test]
fn escapes_and_print_are_those_of_lua_5_1() {
    let mut scene = Scene::in_query("print('\\%d', 1, nil, true, 1.5)");
    scene.query("x");
    assert_eq!(scene.printed(), ["%d\t1\tnil\ttrue\t1.5"]);
}

#[test]
fn sessions_leave_nothing_behind() {
    let scene =
        Scene::new("t = {} for i = 1, 100 do t[i] = ('x'):rep(i) end function read_query() end");
    let used = || {
        let session = session();
        let mut hooks = scene.host.hooks(&session);
        hooks.read_query(&session, b"\x03collectgarbage");
        drop(hooks);
        scene.host.used_memory()
    };
    for _ in 0..20 {
        used();
    }
    let before = used();
    for _ in 0..200 {
        used();
    }
    let after = used();
    assert!(
        after < before + before / 4 + 100_000,
        "{before} bytes, then {after}"
    );
}
