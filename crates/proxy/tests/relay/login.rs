//! From the connection to the end of the login.

use std::{net::TcpListener, time::Duration};

use protocol::{
    null_server::OutgoingGreeting,
    relay::{ServerGreeting, error_packet, ok_packet, old_error_packet},
};
use proxy::BackendState;

use crate::mock::{
    CAPABILITIES, DEPRECATE_EOF, End, Scene, closed, hello, login, open_server, server,
};

const DENIED: &str = "Access denied for user 'ann'";

/// A server that expects and says packets in turn: numbers and payloads, `true` for its own.
fn rounds_server(rounds: &'static [(bool, u8, &'static [u8])]) -> std::net::SocketAddr {
    server(move |mut end| {
        end.say(0, &hello().payload());
        end.expect(1);
        for (is_own, number, payload) in rounds {
            if *is_own {
                end.say(*number, payload);
            } else {
                assert_eq!(end.expect(*number), *payload);
            }
        }
        while end.packet().is_some() {}
    })
}

#[track_caller]
fn follow(client: &mut End, rounds: &[(bool, u8, &[u8])]) {
    for (is_servers, number, payload) in rounds {
        if *is_servers {
            assert_eq!(client.expect(*number), *payload);
        } else {
            client.say(*number, payload);
        }
    }
}

#[test]
fn a_login_has_any_number_of_rounds() {
    const OK: &[u8] = b"\0\0\0\x02\0\0\0";
    const SWITCH: &[u8] = b"\xfecaching_sha2_password\0aaaaaaaaaaaaaaaaaaaa\0";
    let cases: [&[(bool, u8, &[u8])]; 5] = [
        // The fast path of caching_sha2_password: the client does not speak in between.
        &[(true, 2, b"\x01\x03"), (true, 3, OK)],
        // The full one: the server's key, and the password in it.
        &[
            (true, 2, b"\x01\x04"),
            (false, 3, b"\x02"),
            (true, 4, b"\x01-----BEGIN PUBLIC KEY-----"),
            (false, 5, &[7; 256]),
            (true, 6, OK),
        ],
        &[
            (true, 2, SWITCH),
            (false, 3, &[9; 32]),
            (true, 4, b"\x01\x03"),
            (true, 5, OK),
        ],
        // Before 5.5 a server asked for the old method by one byte.
        &[(true, 2, b"\xfe"), (false, 3, b"12345678\0"), (true, 4, OK)],
        &[(true, 2, OK)],
    ];
    for rounds in cases {
        let scene = Scene::of(&[rounds_server(rounds)]);
        let mut client = scene.client();
        client.expect(0);
        client.say(1, &login(CAPABILITIES, &[1; 32], "caching_sha2_password"));
        follow(&mut client, rounds);
        client.close();
        scene.all_left();
    }
}

#[test]
fn a_refused_login_ends_the_session() {
    let denied = error_packet(1045, "28000", DENIED);
    let expected = denied.clone();
    let address = server(move |mut end| {
        end.say(0, &hello().payload());
        end.expect(1);
        end.say(2, &denied);
    });
    let scene = Scene::of(&[address]);
    let mut client = scene.client();
    client.expect(0);
    client.say(1, &login(CAPABILITIES, b"", "mysql_native_password"));
    assert_eq!(client.expect(2), expected);
    client.expect_end();
    scene.all_left();
}

#[test]
fn the_greeting_offers_only_what_can_be_relayed() {
    const SSL: u64 = 1 << 11;
    const COMPRESS: u64 = 1 << 5;
    let mut payload = hello().payload();
    let low = 1 + hello().version.len() + 1 + 4 + 8 + 1;
    payload[low] |= 1 << 5;
    payload[low + 1] |= 1 << 3;
    let offered = payload.clone();
    let scene = Scene::of(&[server(move |mut end| {
        end.say(0, &offered);
        let login = end.expect(1);
        // A client may set the flag of answers without EOF although it was not offered.
        assert_eq!(login[3] & 1, 1);
        end.say(2, &ok_packet());
        while end.packet().is_some() {}
    })]);
    let mut client = scene.client();
    let before = ServerGreeting::parse(payload).unwrap();
    let after = ServerGreeting::parse(client.expect(0)).unwrap();
    assert_eq!(before.capabilities & !(SSL | COMPRESS), after.capabilities);
    assert_eq!((after.nonce, after.connection_id), (before.nonce, 7));
    client.say(
        1,
        &login(CAPABILITIES | DEPRECATE_EOF, b"", "mysql_native_password"),
    );
    assert_eq!(client.expect(2), ok_packet());
}

#[test]
fn what_was_not_offered_is_not_asked_for() {
    let scene = Scene::of(&[server(move |mut end| {
        let hello = OutgoingGreeting {
            deprecate_eof: false,
            ..hello()
        };
        end.say(0, &hello.payload());
        let login = end.expect(1);
        assert_eq!(login[3] & 1, 0);
        end.say(2, &ok_packet());
        assert_eq!(end.expect(0), b"\x03select 1");
        end.say_all(
            1,
            &[
                b"\x01",
                b"\x03def",
                b"\xfe\0\0\x02\0",
                b"\x011",
                b"\xfe\0\0\x02\0",
            ],
        );
        assert_eq!(end.expect(0), b"\x0e");
        end.say(1, &ok_packet());
    })]);
    let mut client = scene.user(DEPRECATE_EOF);
    client.say(0, b"\x03select 1");
    client.expect_all(
        1,
        &[
            b"\x01",
            b"\x03def",
            b"\xfe\0\0\x02\0",
            b"\x011",
            b"\xfe\0\0\x02\0",
        ],
    );
    client.say(0, b"\x0e");
    assert_eq!(client.expect(1), ok_packet());
}

#[test]
fn a_client_without_4_1_or_with_tls_is_told_so() {
    let address = open_server(|_| {});
    let scene = Scene::of(&[address]);
    let mut client = scene.client();
    client.expect(0);
    client.say(1, b"\x85\x24\0\0\0ann\0");
    let refused = error_packet(2007, "HY000", "4.0 protocol is not supported");
    assert_eq!(client.expect(2), refused);
    client.expect_end();

    let mut client = scene.client();
    client.expect(0);
    let mut request = (CAPABILITIES | 1 << 11).to_le_bytes().to_vec();
    request.extend_from_slice(&[0; 28]);
    client.say(1, &request);
    // Clients take numbers from 2000 on in an error packet for a malformed one.
    assert_eq!(client.expect(2)[..3], [0xff, 0x13, 0x04]);
    client.expect_end();
    scene.all_left();
}

#[test]
fn an_error_instead_of_a_greeting_is_passed_on() {
    let too_many = old_error_packet(1040, "Too many connections");
    let expected = too_many.clone();
    let scene = Scene::of(&[server(move |mut end| end.say(0, &too_many))]);
    let mut client = scene.client();
    assert_eq!(client.expect(0), expected);
    client.expect_end();
    scene.all_left();
}

#[test]
fn without_a_backend_the_client_is_told_so() {
    let closed = closed();
    let scene = Scene::of(&[closed]);
    for _ in 0..2 {
        let mut client = scene.client();
        let down = old_error_packet(1105, "(proxy) all backends are down");
        assert_eq!(client.expect(0), down);
        client.expect_end();
        assert_eq!(scene.backends.0[0].state(), BackendState::Down);
    }
    scene.all_left();
}

#[test]
fn another_backend_serves_when_one_is_down() {
    let closed = closed();
    let address = open_server(|mut end| while end.packet().is_some() {});
    let scene = Scene::of(&[closed, address]);
    let first = scene.user(0);
    assert_eq!(scene.backends.0[0].state(), BackendState::Down);
    assert_eq!(scene.backends.0[1].state(), BackendState::Up);
    first.close();
    scene.all_left();
}

#[test]
fn another_backend_serves_when_one_says_nothing_or_leaves_before_its_greeting() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let leaving = server(drop);
    let serving = open_server(|mut end| while end.packet().is_some() {});
    let addresses = [silent.local_addr().unwrap(), leaving, serving];
    // On a busy machine the last one may greet too late, too: then again, with more time for it.
    let limits = [200, 20_000].map(Duration::from_millis);
    let is_served = limits.into_iter().any(|limit| {
        let scene = Scene::with(&addresses, None, |settings| {
            settings.connect_timeout = limit;
        });
        let mut client = scene.client();
        if client.expect(0)[0] != 10 {
            return false;
        }
        client.say(1, &login(CAPABILITIES, b"", "mysql_native_password"));
        assert_eq!(client.expect(2), ok_packet());
        let states = scene.backends.0.iter().map(|it| it.state());
        let expected = [BackendState::Down, BackendState::Down, BackendState::Up];
        assert_eq!(states.collect::<Vec<_>>(), expected);
        client.close();
        scene.all_left();
        true
    });
    assert!(is_served);
}

#[test]
fn a_backend_that_cannot_be_reached_in_time_is_down() {
    // A full queue: connections to it wait.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(move || {
                std::net::TcpStream::connect_timeout(&address, Duration::from_secs(1))
            })
        })
        .collect();
    let connected: Vec<_> = waiting.into_iter().map(|it| it.join().unwrap()).collect();
    let scene = Scene::with(&[address], None, |settings| {
        settings.connect_timeout = Duration::from_millis(100);
    });
    let mut client = scene.client();
    assert_eq!(
        client.expect(0),
        old_error_packet(1105, "backend timed out")
    );
    client.expect_end();
    drop(connected);
}
