//! Lua scripts in the relay: what is left of a session when they, a server or a client fail.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
};

use protocol::{
    null_server::OutgoingGreeting,
    relay::{error_packet, ok_packet},
};
use proxy::{
    Address, Backend, BackendKind, Backends, HostOptions, Log, Proxy, ScriptHost, ScriptOptions,
    Service, Settings, StartError,
};
use reactor::Interrupt;
use tempfile::TempDir;

use crate::mock::{
    CAPABILITIES, NOTHING_LEFT, Scene, answers_question, hello, login, open_server, server,
    wait_until,
};

const OK: &[u8] = b"\0\0\0\x02\0\0\0";
const EOF: &[u8] = b"\xfe\0\0\x02\0";

/// A proxy with a script, and the script's directory.
fn scripted(addresses: &[SocketAddr], script: &str) -> (TempDir, Scene) {
    scripted_within(addresses, script, None)
}

/// The same with a limit of the scripts' memory, bytes.
fn scripted_within(
    addresses: &[SocketAddr],
    script: &str,
    memory_limit: Option<usize>,
) -> (TempDir, Scene) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.lua");
    std::fs::write(&path, script).unwrap();
    let options = ScriptOptions {
        script: path,
        lua: HostOptions {
            instruction_limit: Some(10_000_000),
            memory_limit,
            ..HostOptions::default()
        },
    };
    let scene = Scene::with(addresses, None, |settings| {
        let backends = Arc::clone(&settings.backends);
        settings.services[0].hooks = Some(ScriptHost::maker(options, backends));
    });
    (directory, scene)
}

/// A server that says OK to everything.
fn agreeing() -> SocketAddr {
    open_server(|mut end| {
        while let Some((number, _)) = end.packet() {
            end.say(number.wrapping_add(1), OK);
        }
    })
}

/// Sends each command by the queue, so that its result is kept.
const INJECT: &str = "function read_query(packet)
    proxy.queries:append(1, packet, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end ";

const HOOKS: [&str; 7] = [
    "connect_server",
    "read_handshake",
    "read_auth",
    "read_auth_result",
    "read_query",
    "read_query_result",
    "disconnect_client",
];

#[test]
fn a_hook_that_fails_leaves_the_session_as_it_is_without_it() {
    for hook in HOOKS {
        let script = format!("{INJECT} function {hook}() error('boom') end");
        let (_directory, scene) = scripted(&[agreeing()], &script);
        for _ in 0..2 {
            let mut client = scene.user(0);
            for _ in 0..2 {
                client.say(0, b"\x03x");
                assert_eq!(client.expect(1), OK, "{hook}");
            }
            client.close();
            scene.all_left();
        }
    }
}

#[test]
fn a_hook_that_returns_nonsense_leaves_the_session_as_it_is_without_it() {
    let values = [
        "{}",
        "'x'",
        "true",
        "99",
        "-1",
        "0/0",
        "print",
        "coroutine.create(print)",
        "proxy",
        "3",
    ];
    for hook in HOOKS {
        for value in values {
            let script = format!("{INJECT} function {hook}() return {value} end");
            let (_directory, scene) = scripted(&[agreeing()], &script);
            let mut client = scene.user(0);
            client.say(0, b"\x03x");
            let answer = client.expect(1);
            match hook {
                // A result that was kept is dropped, and the client gets an error that says so.
                "read_query_result" if value != "0/0" => {
                    assert_eq!(answer[..3], [0xff, 0x51, 0x04])
                }
                _ => assert_eq!(answer, OK, "{hook} returned {value}"),
            }
            client.close();
            scene.all_left();
        }
    }
}

#[test]
fn a_script_that_does_not_load_refuses_clients_with_the_original_s_text() {
    for (script, what) in [("function(", "load"), ("error('no')", "execute")] {
        let (_directory, scene) = scripted(&[agreeing()], script);
        let mut client = scene.client();
        let text = format!("MySQL Proxy Lua script failed to {what}. Check the error log.");
        assert_eq!(client.expect(0), error_packet(1105, "07000", &text));
        client.expect_end();
    }
}

#[test]
fn a_hook_that_loops_for_ever_is_ended_and_other_clients_are_served() {
    let script = "function read_query(packet) while packet == '\\3loop' do end end";
    let (_directory, scene) = scripted(&[agreeing()], script);
    let (mut first, mut second) = (scene.user(0), scene.user(0));
    first.say(0, b"\x03loop");
    second.say(0, b"\x03x");
    assert_eq!(second.expect(1), OK);
    assert_eq!(first.expect(1), OK);
}

#[test]
fn a_server_that_dies_under_a_script_ends_the_session() {
    let parts: [&'static [&'static [u8]]; 3] = [
        &[],
        &[b"\x02", b"\x03def"],
        &[b"\x01", b"\x03def", EOF, b"\x01a"],
    ];
    for part in parts {
        let address = open_server(move |mut end| {
            end.packet();
            end.say_all(1, part);
        });
        let script = format!("{INJECT} function read_query_result() error('not complete') end");
        let (_directory, scene) = scripted(&[address], &script);
        let mut client = scene.user(0);
        client.say(0, b"\x03select");
        client.expect_end();
        scene.all_left();
    }
}

#[test]
fn a_client_that_leaves_while_its_result_is_kept_ends_the_session() {
    let (is_amid, has_left) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (amid, left) = (Arc::clone(&is_amid), Arc::clone(&has_left));
    let address = open_server(move |mut end| {
        end.packet();
        end.say_all(1, &[b"\x01", b"\x03def", EOF]);
        for number in 0..200_u8 {
            if number == 20 {
                amid.store(true, SeqCst);
                wait_until(|| left.load(SeqCst));
            }
            end.say(number.wrapping_add(4), &[7; 100_000]);
        }
        end.packet();
    });
    let (_directory, scene) = scripted(&[address], INJECT);
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    wait_until(|| is_amid.load(SeqCst));
    client.close();
    has_left.store(true, SeqCst);
    scene.all_left();
}

#[test]
fn a_change_of_the_user_is_refused_on_versions_that_break_it() {
    for (version, is_broken) in [
        ("5.1.13", false),
        ("5.1.14", true),
        ("5.1.17", true),
        ("5.1.18", false),
    ] {
        let address = server(move |mut end| {
            let hello = OutgoingGreeting {
                version: version.to_owned(),
                ..hello()
            };
            end.say(0, &hello.payload());
            end.packet();
            end.say(2, OK);
            while let Some((number, _)) = end.packet() {
                end.say(number.wrapping_add(1), OK);
            }
        });
        let scene = Scene::of(&[address]);
        let mut client = scene.user(0);
        client.say(0, b"\x11ann\0\0shop\0");
        let text = "COM_CHANGE_USER is broken on 5.1.14-.17, please upgrade the MySQL Server";
        let expected = if is_broken {
            error_packet(1105, "HY000", text)
        } else {
            OK.to_vec()
        };
        assert_eq!(client.expect(1), expected, "{version}");
    }
}

#[test]
fn an_error_in_place_of_the_greeting_passes_without_the_hook() {
    let address = server(|mut end| end.say(0, b"\xff\x10\x04Too many connections"));
    let script = "function read_handshake() proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = 'hook' }
        return proxy.PROXY_SEND_RESULT end";
    let (_directory, scene) = scripted(&[address], script);
    let mut client = scene.client();
    assert_eq!(client.expect(0), b"\xff\x10\x04Too many connections");
    client.expect_end();
    scene.all_left();
}

#[test]
fn a_script_may_be_the_whole_server() {
    let script = r#"
        local proto = require("mysql.proto")
        function connect_server()
            local hello = proto.to_challenge_packet {
                server_version = 50506, thread_id = 3, capabilities = 0x8200 + 8 + 0x80000, charset = 8,
                challenge = ("x"):rep(20),
            }
            proxy.response = { type = proxy.MYSQLD_PACKET_RAW, packets = { hello } }
            return proxy.PROXY_SEND_RESULT
        end
        function read_query(packet)
            if packet ~= "\3answer" then return end
            proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = "mine", errcode = 42, sqlstate = "42000" }
            return proxy.PROXY_SEND_RESULT
        end"#;
    let (_directory, scene) = scripted(&[], script);
    let mut client = scene.client();
    assert_eq!(client.expect(0)[..9], *b"\x0a5.05.06\0");
    client.say(1, &login(CAPABILITIES, b"", "mysql_native_password"));
    // Without a backend and a decision, the login is accepted.
    assert_eq!(client.expect(2), ok_packet());
    client.say(0, b"\x03answer");
    assert_eq!(client.expect(1), error_packet(42, "42000", "mine"));
    // There is no server for it.
    client.say(0, b"\x03select");
    client.expect_end();
}

#[test]
fn a_backend_of_another_version_serves_after_its_restart() {
    let starts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&starts);
    let address = server(move |mut end| {
        let is_old = count.fetch_add(1, SeqCst) == 0;
        let hello = OutgoingGreeting {
            version: if is_old { "5.6.1" } else { "26.7.0" }.to_owned(),
            deprecate_eof: !is_old,
            ..hello()
        };
        end.say(0, &hello.payload());
        end.packet();
        end.say(2, OK);
        while let Some((number, command)) = end.packet() {
            if command == b"\x03restart" {
                return;
            }
            let last = if is_old { EOF } else { b"\xfe\0\0\x02\0\0\0" };
            let mut packets = vec![
                &b"\x01"[..],
                b"\x03def\0\0\0\x01a\0\x0c\x21\0\0\0\0\0\xfd\0\0\0\0\0",
            ];
            packets.extend(is_old.then_some(EOF));
            packets.extend([&b"\x01x"[..], last]);
            end.say_all(number.wrapping_add(1), &packets);
        }
    });
    let script = format!(
        "{INJECT} function read_query_result(inj)
            local version, cells = proxy.connection.server.mysqld_version, ''
            for row in inj.resultset.rows do cells = cells .. row[1] end
            proxy.response = {{ type = proxy.MYSQLD_PACKET_ERR, errmsg = version .. cells .. inj.resultset.fields[1].name }}
            return proxy.PROXY_SEND_RESULT
        end"
    );
    let (_directory, scene) = scripted(&[address], &script);
    let mut client = scene.user(1 << 24);
    for text in ["50601xa", "260700xa"] {
        client.say(0, b"\x03select");
        assert_eq!(client.expect(1), error_packet(1105, "07000", text));
        client.say(0, b"\x03restart");
        if text.starts_with('5') {
            client.expect_end();
            client = scene.user(1 << 24);
        }
    }
    assert_eq!(starts.load(SeqCst), 2);
}

#[test]
fn a_port_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let service = Service {
        address: Address::Tcp(address),
        hooks: None,
    };
    let backend = Backend::new(Address::Tcp(address), BackendKind::ReadWrite);
    let settings = Settings::new(vec![service], Arc::new(Backends(vec![backend])));
    let log = Log::new(proxy::Level::Debug, Box::new(std::io::stderr()));
    match Proxy::start(settings, Arc::new(log), &Interrupt::default()) {
        Err(error @ StartError::Listen { .. }) => {
            assert!(error.to_string().contains(&address.to_string()), "{error}");
        }
        other => panic!("{:?}", other.map(|_| "started")),
    }
}

#[test]
fn a_script_sees_the_server_as_soon_as_it_has_chosen_a_backend() {
    // As the scripts for splitting of reads and writes do: they compare the databases at once.
    let script = r#"
        function connect_server()
            if proxy.global.backends[1].pool.users[""].cur_idle_connections == 0 then
                proxy.connection.backend_ndx = 1
            else
                proxy.connection.backend_ndx = 2
            end
        end
        function read_auth_result() proxy.connection.backend_ndx = 0 end
        function read_query(packet)
            local seen = {}
            for _, place in ipairs { 2, 0, 1 } do
                proxy.connection.backend_ndx = place
                local server = proxy.connection.server
                seen[#seen + 1] = server and server.default_db .. server.thread_id or "none"
            end
            proxy.queries:append(1, "\3" .. table.concat(seen, " "), { resultset_is_needed = true })
            return proxy.PROXY_SEND_QUERY
        end
        function read_query_result()
            proxy.connection.backend_ndx = 0
        end"#;
    let servers = [7, 8].map(|connection_id| {
        server(move |mut end| {
            let hello = OutgoingGreeting {
                connection_id,
                ..hello()
            };
            end.say(0, &hello.payload());
            end.packet();
            end.say(2, OK);
            while let Some((number, command)) = end.packet() {
                if answers_question(&mut end, number, &command, &NOTHING_LEFT) {
                    continue;
                }
                let answer = match command.strip_prefix(b"\x03") {
                    Some(text) => error_packet(1, "HY000", &String::from_utf8_lossy(text)),
                    None => OK.to_vec(),
                };
                end.say(number.wrapping_add(1), &answer);
            }
        })
    });
    let (_directory, scene) = scripted(&servers, script);
    let mut first = scene.user(0);
    scene.all_left();
    let _second = scene.user(0);
    scene.all_left();
    for _ in 0..2 {
        first.say(0, b"\x03x");
        let expected = error_packet(1, "HY000", "shop8 none shop7");
        assert_eq!(first.expect(1), expected);
    }
}

#[test]
fn a_result_above_the_memory_of_scripts_reaches_the_client_as_it_comes() {
    let row = [&b"\xfc\xe8\x03"[..], &[b'x'; 1000]].concat();
    let rows = vec![row.as_slice(); 24_000];
    let begin: [&[u8]; 3] = [b"\x01", b"\x03def", EOF];
    let (go, may_go) = mpsc::channel();
    let may_go = Mutex::new(may_go);
    let all = row.clone();
    let address = open_server(move |mut end| {
        while let Some((number, _)) = end.packet() {
            let rows = vec![all.as_slice(); 24_000];
            end.say_all(number.wrapping_add(1), &[&begin[..], &rows].concat());
            // The rest only after the client has seen the beginning.
            if may_go.lock().unwrap().recv().is_err() {
                return;
            }
            let next = number.wrapping_add(4 + (rows.len() % 256) as u8);
            end.say_all(next, &[&all, EOF]);
        }
    });
    let script =
        format!("{INJECT} function read_query_result() return proxy.PROXY_IGNORE_RESULT end");
    let (_directory, scene) = scripted_within(&[address], &script, Some(8 << 20));
    let mut client = scene.user(0);
    for _ in 0..2 {
        client.say(0, b"\x03x");
        client.expect_all(1, &begin);
        client.expect_all(4, &rows);
        go.send(()).unwrap();
        client.expect_all(4_u8.wrapping_add((rows.len() % 256) as u8), &[&row, EOF]);
    }
}
