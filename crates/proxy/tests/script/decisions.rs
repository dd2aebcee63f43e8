//! What each hook may return, and what an invalid value does.

use proxy::{Decision, Injection, Level, QueryResult};

use crate::scene::{Scene, done};

fn ok() -> Decision {
    Decision::Answer(vec![vec![0, 0, 0, 2, 0, 0, 0]])
}

/// Sets an OK as the response and returns this.
fn returning(hook: &str, value: &str) -> Scene {
    Scene::new(&format!(
        "function {hook}() proxy.response = {{ type = proxy.MYSQLD_PACKET_OK }} return {value} end"
    ))
}

#[test]
fn connect_server_may_pass_on_answer_or_take_a_pooled_connection() {
    let cases = [
        ("nil", Decision::PassOn, ""),
        ("0", Decision::PassOn, ""),
        ("proxy.PROXY_SEND_RESULT", ok(), ""),
        ("proxy.PROXY_IGNORE_RESULT", Decision::Ignore, ""),
        (
            "99",
            Decision::PassOn,
            "(connect_server) the script returned 99",
        ),
        (
            "'x'",
            Decision::PassOn,
            "(connect_server) the script returned a string",
        ),
    ];
    for (value, expected, complaint) in cases {
        let mut scene = returning("connect_server", value);
        let session = scene.session.clone();
        assert_eq!(scene.hooks.connect_server(&session), expected, "{value}");
        assert!(scene.complaint().starts_with(complaint), "{value}");
        assert_eq!(
            scene.complaint().is_empty(),
            complaint.is_empty(),
            "{value}"
        );
    }
}

#[test]
fn read_handshake_may_pass_on_or_answer_also_by_its_old_name() {
    let cases = [
        ("nil", Decision::PassOn),
        ("proxy.PROXY_SEND_RESULT", ok()),
        ("proxy.PROXY_SEND_QUERY", ok()),
        ("99", Decision::PassOn),
    ];
    for (value, expected) in cases {
        let mut scene = returning("read_handshake", value);
        let session = scene.session.clone();
        assert_eq!(scene.hooks.read_handshake(&session), expected, "{value}");
        assert_eq!(scene.complaint().is_empty(), value != "99", "{value}");
    }
}

#[test]
fn read_auth_may_pass_on_answer_or_replace_the_login() {
    for (value, expected) in [("nil", Decision::PassOn), ("proxy.PROXY_SEND_RESULT", ok())] {
        let mut scene = returning("read_auth", value);
        let session = scene.session.clone();
        assert_eq!(scene.hooks.read_auth(&session), expected, "{value}");
    }
    let mut scene = Scene::new(
        "function read_auth() proxy.queries:prepend(1, 'login') return proxy.PROXY_SEND_QUERY end",
    );
    let session = scene.session.clone();
    assert_eq!(scene.hooks.read_auth(&session), Decision::SendQueue);
    assert_eq!(session.borrow().queries[0].packet, b"login");
    let mut scene = returning("read_auth", "proxy.PROXY_SEND_QUERY");
    let session = scene.session.clone();
    assert_eq!(scene.hooks.read_auth(&session), Decision::PassOn);
    assert!(scene.complaint().contains("proxy.queries is empty"));
}

#[test]
fn read_auth_result_sees_the_packet_and_may_replace_it() {
    let mut scene = Scene::new(
        "function read_auth_result(auth) print(auth.packet:byte(), #auth.packet) if answer then proxy.response.type = proxy.MYSQLD_PACKET_OK return proxy.PROXY_SEND_RESULT end answer = true end",
    );
    let session = scene.session.clone();
    assert_eq!(
        scene.hooks.read_auth_result(&session, &[255, 1, 2]),
        Decision::PassOn
    );
    assert_eq!(scene.hooks.read_auth_result(&session, &[0]), ok());
    assert_eq!(scene.printed(), ["255\t3", "0\t1"]);
}

#[test]
fn read_query_may_pass_on_send_the_queue_or_answer() {
    let mut scene = Scene::in_query(
        r#"
        if packet == string.char(proxy.COM_QUERY) .. "inject" then
            proxy.queries:append(1, "\3one", { resultset_is_needed = true })
            proxy.queries:append(2, packet, { resultset_is_needed = false })
            proxy.queries:prepend(0, "\3first", {})
            assert(#proxy.queries == 3 and proxy.queries:len() == 3)
            return proxy.PROXY_SEND_QUERY
        elseif packet == "\3answer" then
            proxy.response.type = proxy.MYSQLD_PACKET_OK
            return proxy.PROXY_SEND_RESULT
        end
        "#,
    );
    assert!(scene.hooks.reads_queries());
    assert_eq!(scene.query("select 1"), Decision::PassOn);
    assert_eq!(scene.query("answer"), ok());
    assert_eq!(scene.query("inject"), Decision::SendQueue);
    let injection = |id, packet: &[u8], needs_result| Injection {
        id,
        packet: packet.to_vec(),
        needs_result,
    };
    let expected = [
        injection(0, b"\x03first", false),
        injection(1, b"\x03one", true),
        injection(2, b"\x03inject", false),
    ];
    assert_eq!(scene.session.borrow().queries, expected);
    // The queue is empty at the next command.
    assert_eq!(scene.query("select 1"), Decision::PassOn);
    assert!(scene.session.borrow().queries.is_empty());
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn a_queue_and_a_decision_that_do_not_fit_are_reported() {
    let cases = [
        ("return proxy.PROXY_SEND_QUERY", "proxy.queries is empty"),
        (
            "proxy.queries:append(1, packet)",
            "proxy.queries has 1 entries",
        ),
        ("return proxy.PROXY_IGNORE_RESULT", "returned 4"),
        ("return {}", "returned a table"),
        ("return true", "returned a boolean"),
        ("error('boom')", "(read_query) [string \""),
    ];
    for (body, complaint) in cases {
        let mut scene = Scene::in_query(body);
        assert_eq!(scene.query("select 1"), Decision::PassOn, "{body}");
        assert!(
            scene.complaint().contains(complaint),
            "{body}: {}",
            scene.complaint()
        );
        assert!(scene.session.borrow().queries.is_empty(), "{body}");
    }
}

#[test]
fn reset_empties_the_queue_also_by_an_answer() {
    let mut scene = Scene::in_query(
        "proxy.queries:append(1, packet) proxy.queries:reset() assert(#proxy.queries == 0)
         proxy.queries:append(1, packet) proxy.response.type = proxy.MYSQLD_PACKET_OK return proxy.PROXY_SEND_RESULT",
    );
    assert_eq!(scene.query("x"), ok());
    assert!(scene.session.borrow().queries.is_empty());
}

#[test]
fn read_query_result_may_pass_on_answer_or_drop_what_was_kept() {
    let cases = [
        ("nil", Decision::PassOn, ""),
        ("0", Decision::PassOn, ""),
        ("proxy.PROXY_SEND_RESULT", ok(), ""),
        ("proxy.PROXY_IGNORE_RESULT", Decision::Ignore, ""),
        (
            "proxy.PROXY_SEND_QUERY",
            Decision::Ignore,
            "the result is dropped",
        ),
        ("99", Decision::Ignore, "the result is dropped"),
    ];
    for (value, expected, complaint) in cases {
        let mut scene = returning("read_query_result", value);
        assert_eq!(scene.result(done()), expected, "{value}");
        assert!(scene.complaint().contains(complaint), "{value}");
        let mut scene = returning("read_query_result", value);
        let passed = QueryResult {
            packets: None,
            ..done()
        };
        assert_eq!(scene.result(passed), Decision::PassOn, "{value}");
        let is_decision = !matches!(value, "nil" | "0");
        assert_eq!(
            scene.complaint().contains("resultset_is_needed"),
            is_decision,
            "{value}"
        );
    }
}

#[test]
fn every_hook_that_fails_is_reported_by_its_name_and_decides_nothing() {
    let names = [
        "connect_server",
        "read_handshake",
        "read_auth",
        "read_auth_result",
        "read_query",
        "read_query_result",
        "disconnect_client",
    ];
    let script: String = names
        .iter()
        .map(|name| format!("function {name}() error('boom') end\n"))
        .collect();
    let mut scene = Scene::new(&script);
    let session = scene.session.clone();
    assert_eq!(scene.hooks.connect_server(&session), Decision::PassOn);
    assert_eq!(scene.hooks.read_handshake(&session), Decision::PassOn);
    assert_eq!(scene.hooks.read_auth(&session), Decision::PassOn);
    assert_eq!(
        scene.hooks.read_auth_result(&session, &[0]),
        Decision::PassOn
    );
    assert_eq!(scene.hooks.read_query(&session, b"\x03x"), Decision::PassOn);
    assert_eq!(scene.result(done()), Decision::PassOn);
    scene.hooks.disconnect_client(&session);
    let path = scene.directory.path().join("x.lua");
    let logged = scene.logged(Level::Critical);
    assert_eq!(logged.len(), names.len());
    for (line, (name, text)) in names.iter().zip(&logged).enumerate() {
        // Lua shortens a long path.
        assert!(
            text.starts_with(&format!("({name}) [string \"/tmp")),
            "{text} {path:?}"
        );
        assert!(text.ends_with(&format!("\"]:{}: boom", line + 1)), "{text}");
    }
}

#[test]
fn a_hook_that_loops_for_ever_or_takes_all_memory_is_ended() {
    for body in [
        "while true do end",
        "local t = {} while true do t[#t + 1] = {} end",
    ] {
        let mut scene = Scene::in_query(body);
        assert_eq!(scene.query("select 1"), Decision::PassOn);
        assert!(
            scene.complaint().starts_with("(read_query) "),
            "{}",
            scene.complaint()
        );
    }
}

#[test]
fn without_hooks_everything_passes() {
    let mut scene = Scene::new("");
    let session = scene.session.clone();
    assert!(!scene.hooks.reads_queries());
    assert_eq!(scene.hooks.connect_server(&session), Decision::PassOn);
    assert_eq!(scene.query("x"), Decision::PassOn);
    assert_eq!(scene.result(done()), Decision::PassOn);
    scene.hooks.disconnect_client(&session);
    assert_eq!(scene.logged(Level::Debug), [""; 0]);
}

#[test]
fn a_packet_of_many_megabytes_reaches_the_script() {
    let mut scene = Scene::in_query("print(#packet)");
    let packet = vec![b'x'; 20 << 20];
    let session = scene.session.clone();
    assert_eq!(scene.hooks.read_query(&session, &packet), Decision::PassOn);
    assert_eq!(scene.printed(), [packet.len().to_string()]);
}
