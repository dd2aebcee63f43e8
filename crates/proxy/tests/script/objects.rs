//! The objects of `proxy`, with their error texts.

use proxy::{BackendState, Decision, Level};

use crate::scene::{Scene, check, error_of};

#[test]
fn constants_have_their_numbers() {
    check(
        r#"
        local numbers = {
            PROXY_SEND_QUERY = 1, PROXY_SEND_RESULT = 2, PROXY_IGNORE_RESULT = 4,
            MYSQLD_PACKET_OK = 0, MYSQLD_PACKET_ERR = 255, MYSQLD_PACKET_RAW = 250,
            BACKEND_STATE_UNKNOWN = 0, BACKEND_STATE_UP = 1, BACKEND_STATE_DOWN = 2,
            BACKEND_TYPE_UNKNOWN = 0, BACKEND_TYPE_RW = 1, BACKEND_TYPE_RO = 2,
            PROXY_VERSION = 0x000805,
            COM_SLEEP = 0, COM_QUIT = 1, COM_INIT_DB = 2, COM_QUERY = 3, COM_FIELD_LIST = 4, COM_CREATE_DB = 5,
            COM_DROP_DB = 6, COM_REFRESH = 7, COM_SHUTDOWN = 8, COM_STATISTICS = 9, COM_PROCESS_INFO = 10,
            COM_CONNECT = 11, COM_PROCESS_KILL = 12, COM_DEBUG = 13, COM_PING = 14, COM_TIME = 15,
            COM_DELAYED_INSERT = 16, COM_CHANGE_USER = 17, COM_BINLOG_DUMP = 18, COM_TABLE_DUMP = 19,
            COM_CONNECT_OUT = 20, COM_REGISTER_SLAVE = 21, COM_STMT_PREPARE = 22, COM_STMT_EXECUTE = 23,
            COM_STMT_SEND_LONG_DATA = 24, COM_STMT_CLOSE = 25, COM_STMT_RESET = 26, COM_SET_OPTION = 27,
            COM_STMT_FETCH = 28, COM_DAEMON = 29,
            MYSQL_TYPE_DECIMAL = 0, MYSQL_TYPE_TINY = 1, MYSQL_TYPE_SHORT = 2, MYSQL_TYPE_LONG = 3,
            MYSQL_TYPE_FLOAT = 4, MYSQL_TYPE_DOUBLE = 5, MYSQL_TYPE_NULL = 6, MYSQL_TYPE_TIMESTAMP = 7,
            MYSQL_TYPE_LONGLONG = 8, MYSQL_TYPE_INT24 = 9, MYSQL_TYPE_DATE = 10, MYSQL_TYPE_TIME = 11,
            MYSQL_TYPE_DATETIME = 12, MYSQL_TYPE_YEAR = 13, MYSQL_TYPE_NEWDATE = 14, MYSQL_TYPE_BIT = 16,
            MYSQL_TYPE_NEWDECIMAL = 246, MYSQL_TYPE_ENUM = 247, MYSQL_TYPE_SET = 248,
            MYSQL_TYPE_TINY_BLOB = 249, MYSQL_TYPE_MEDIUM_BLOB = 250, MYSQL_TYPE_LONG_BLOB = 251,
            MYSQL_TYPE_BLOB = 252, MYSQL_TYPE_VAR_STRING = 253, MYSQL_TYPE_STRING = 254, MYSQL_TYPE_GEOMETRY = 255,
        }
        for name, number in pairs(numbers) do
            assert(proxy[name] == number, name)
        end
        assert(proxy.MYSQLD_PACKET_EOF == nil and proxy.MYSQL_TYPE_VARCHAR == nil and proxy.MYSQL_TYPE_JSON == nil)
        assert(_VERSION == "Lua 5.1")
        "#,
    );
}

#[test]
fn the_queue_s_errors_have_the_original_s_texts() {
    let cases = [
        (
            "proxy.queries:append()",
            "bad argument #1 to 'append' (number expected, got nil)",
        ),
        (
            "proxy.queries:append('x', '')",
            "bad argument #1 to 'append' (number expected, got string)",
        ),
        (
            "proxy.queries:prepend(1)",
            "bad argument #2 to 'prepend' (string expected, got nil)",
        ),
        (
            "proxy.queries:append(1, {})",
            "bad argument #2 to 'append' (string expected, got table)",
        ),
        (
            "proxy.queries:append(1, '', 1)",
            "bad argument #3 to 'append' (table expected, got number)",
        ),
        (
            "proxy.queries:append(1, '', { resultset_is_needed = 1 })",
            ":append(..., { resultset_is_needed = boolean } ), is %s",
        ),
        (
            "proxy.queries:prepend(1, '', { resultset_is_needed = 'x' })",
            ":prepend(..., { resultset_is_needed = boolean } ), is %s",
        ),
    ];
    for (expression, expected) in cases {
        assert_eq!(error_of(expression), expected, "{expression}");
    }
}

#[test]
fn the_connection_s_ends_are_described() {
    check(
        r#"
        local c, s = proxy.connection.client, proxy.connection.server
        assert(c.username == "me" and c.default_db == "test" and c.scrambled_password == "\1\2")
        assert(c.auth_plugin_name == "mysql_native_password")
        assert(c.src.name == "127.0.0.1:1000" and c.src.address == "127.0.0.1" and c.src.port == 1000 and c.src.type == 2)
        assert(c.dst.port == 4040 and c.dst.nothing == nil)
        assert(s.mysqld_version == 50506 and s.thread_id == 17 and #s.scramble_buffer == 20)
        assert(s.dst.name == "127.0.0.1:3307")
        assert(proxy.connection.backend_ndx == 2 and proxy.connection.nothing == nil)
        "#,
    );
}

#[test]
fn the_connection_s_errors_have_the_original_s_texts() {
    let cases = [
        (
            "return proxy.connection.client.address",
            ".address is deprecated. Use .src.name or .dst.name instead",
        ),
        (
            "proxy.connection.thing = 1",
            "proxy.connection.thing is not writable",
        ),
        (
            "proxy.connection.connection_close = 1",
            "bad argument #3 to '__newindex' (boolean expected, got number)",
        ),
    ];
    for (expression, expected) in cases {
        assert_eq!(error_of(expression), expected, "{expression}");
    }
    for key in ["default_db", "thread_id", "mysqld_version"] {
        let error = error_of(&format!("return proxy.connection.{key}"));
        let expected = format!("proxy.connection.{key} is deprecated, use ");
        assert!(error.starts_with(&expected), "{error}");
    }
    let mut scene = Scene::in_query("assert(proxy.connection.client.nothing == nil)");
    scene.query("x");
    assert_eq!(
        scene.logged(Level::Critical).len(),
        1,
        "{}",
        scene.complaint()
    );
    assert!(scene.complaint().contains(".nothing is not known"));
}

#[test]
fn a_script_can_park_swap_and_close() {
    let mut scene = Scene::in_query(
        "local n = tonumber(packet:match('%d+')) if n then proxy.connection.backend_ndx = n else proxy.connection.connection_close = true end",
    );
    scene.query("0");
    assert_eq!(scene.session.borrow().backend, None);
    scene.query("3");
    assert_eq!(scene.session.borrow().backend, Some(2));
    scene.query("4");
    assert_eq!(scene.session.borrow().backend, Some(2));
    assert!(
        scene.complaint().contains("there are 3 backends"),
        "{}",
        scene.complaint()
    );
    assert!(!scene.session.borrow().close);
    scene.query("close");
    assert!(scene.session.borrow().close);
}

#[test]
fn without_a_server_there_is_no_server_object() {
    let mut scene = Scene::in_query(
        "assert(proxy.connection.server == nil and proxy.connection.backend_ndx == 0) kept = kept or 1",
    );
    scene.session.borrow_mut().server = None;
    scene.session.borrow_mut().backend = None;
    assert_eq!(scene.query("x"), Decision::PassOn);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn backends_and_their_pools_are_described() {
    let mut scene = Scene::in_query(
        r#"
        local b = proxy.global.backends
        assert(#b == 3 and b[0] == nil and b[4] == nil and b.x == nil)
        assert(b[1].type == proxy.BACKEND_TYPE_RW and b[3].type == proxy.BACKEND_TYPE_RO)
        assert(b[1].dst.name == "127.0.0.1:3306" and b[1].dst.port == 3306)
        assert(b[3].dst.name == "/tmp/ro.sock" and b[3].dst.port == nil and b[3].dst.type == 1)
        assert(b[1].state == proxy.BACKEND_STATE_UNKNOWN and b[1].connected_clients == 0 and b[1].nothing == nil)
        b[2].state = proxy.BACKEND_STATE_DOWN
        assert(b[2].state == proxy.BACKEND_STATE_DOWN)
        assert(b[1].uuid == nil)
        b[1].uuid = "u" assert(b[1].uuid == "u")
        b[1].uuid = nil assert(b[1].uuid == nil)
        local pool = b[1].pool
        pool.max_idle_connections, pool.min_idle_connections = 8, 4
        assert(b[1].pool.max_idle_connections == 8 and b[1].pool.min_idle_connections == 4)
        assert(pool.users.me.cur_idle_connections == 2 and pool.users[""].cur_idle_connections == 5)
        assert(pool.users.you.cur_idle_connections == 0)
        "#,
    );
    let idle = [((0, b"me".to_vec()), 2), ((0, Vec::new()), 5)];
    scene.recorder.idle.borrow_mut().extend(idle);
    scene.query("x");
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
    assert_eq!(scene.backends.0[1].state(), BackendState::Down);
    assert_eq!(
        error_of("assert(proxy.global.backends[0/0] == nil); proxy.global.backends[1].dst = 1"),
        "proxy.global.backends[...].dst is not writable"
    );
}

#[test]
fn proxy_global_is_a_free_table_with_a_table_of_options() {
    check(
        "assert(type(proxy.global.config) == 'table') proxy.global.anything = { 1 } assert(proxy.global.anything[1] == 1)",
    );
}
