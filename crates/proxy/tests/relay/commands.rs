//! Commands and their answers, as they pass.

use std::{
    io::Write,
    net::{Shutdown, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use protocol::relay::{error_packet, ok_packet, old_error_packet};

use crate::mock::{
    CAPABILITIES, DEPRECATE_EOF, End, Scene, hello, login, open_server, server, wait_until,
};

const EOF: &[u8] = b"\xfe\0\0\x02\0";
const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// A server that answers each command with the packets that belong to it.
fn answering(table: &'static [(&'static [u8], &'static [&'static [u8]])]) -> SocketAddr {
    open_server(move |mut end| {
        while let Some((number, command)) = end.packet() {
            let known = table.iter().find(|(known, _)| *known == command);
            let (_, answer) = known.unwrap_or_else(|| panic!("unexpected {command:?}"));
            end.say_all(number.wrapping_add(1), answer);
        }
    })
}

type Exchange = (&'static [u8], &'static [&'static [u8]]);

const CLASSIC: &[Exchange] = &[
    (
        b"\x03select",
        &[b"\x01", b"\x03def", EOF, b"\x01a", b"\xfb", EOF],
    ),
    (
        b"\x03call",
        &[b"\x01", b"\x03def", EOF, b"\x01a", b"\xfe\0\0\x0a\0", OK],
    ),
    (
        // The procedure has a cursor of its own open, which MariaDB says with the columns.
        b"\x03call with a cursor",
        &[
            b"\x01",
            b"\x03def",
            b"\xfe\0\0\x4a\0",
            b"\x01a",
            b"\xfe\0\0\x4a\0",
            OK,
        ],
    ),
    (
        b"\x17\x02\0\0\0\0\x01\0\0\0",
        &[b"\x01", b"\x03def", b"\xfe\0\0\x42\0", b"\0\0a", EOF],
    ),
    (
        b"\x03before 4.1",
        &[b"\x01", b"\x03def", b"\xfe", b"\x01a", b"\xfe"],
    ),
    (b"\x03bad", &[b"\xff\x28\x04#42000no"]),
    (b"\x02other", &[OK]),
    (b"\x04t\0%", &[b"\x03def", b"\x03def", EOF]),
    (b"\x09", &[b"Uptime: 5"]),
    (b"\x0a", &[b"\x01", b"\x03def", EOF, b"\x015", EOF]),
    (b"\x1b\0\0", &[EOF]),
    (
        b"\x16select ?",
        &[
            b"\0\x01\0\0\0\x01\0\x01\0\0\0\0",
            b"\x03def",
            EOF,
            b"\x03def",
            EOF,
        ],
    ),
    (b"\x18\x01\0\0\0\0\0piece", &[]),
    (
        b"\x17\x01\0\0\0\x01\x01\0\0\0",
        &[b"\x01", b"\x03def", b"\xfe\0\0\x42\0"],
    ),
    (
        b"\x1c\x01\0\0\0\x05\0\0\0",
        &[b"\0\0\x01a", b"\xfe\0\0\x82\0"],
    ),
    (b"\x1a\x01\0\0\0", &[OK]),
    (b"\x19\x01\0\0\0", &[]),
    (b"\x1f", &[OK]),
    (b"\x1d", &[b"\xff\x17\x04#08S01Unknown command"]),
    (b"\x99", &[b"\xff\x17\x04#08S01Unknown command"]),
    (b"\x12\x04\0\0\0", &[b"\0event", b"\0event", EOF]),
    (b"\x1e\0\0", &[b"\xff\xd4\x04#HY000no log"]),
    (b"\x0e", &[OK]),
];

fn is_stream((command, _): &&Exchange) -> bool {
    matches!(command[0], 0x12 | 0x1e)
}

const TODAY: &[Exchange] = &[
    (
        b"\x03select",
        &[
            b"\x01",
            b"\x03def",
            b"\x01a",
            b"\xfb",
            b"\xfe\0\0\x02\0\0\0",
        ],
    ),
    (b"\x03alter", &[b"\xff\xff\xff\x01\x01\x02\0\0\0\x01x", OK]),
    (
        b"\x16select ?",
        &[b"\0\x01\0\0\0\x01\0\x01\0\0\0\0", b"\x03def", b"\x03def"],
    ),
    (b"\x04t\0", &[b"\x03def", b"\xfe\0\0\x02\0\0\0"]),
    (b"\x0e", &[OK]),
];

#[test]
fn answers_pass_unchanged_and_end_where_they_end() {
    for (table, capabilities) in [(CLASSIC, 0), (TODAY, DEPRECATE_EOF)] {
        let scene = Scene::of(&[answering(table)]);
        let mut client = scene.user(capabilities);
        for (command, answer) in table.iter().chain(table) {
            client.say(0, command);
            client.expect_all(1, answer);
        }
        // Without waiting for the answers.
        for (command, _) in table.iter().filter(|it| !is_stream(it)) {
            client.say(0, command);
        }
        for (_, answer) in table.iter().filter(|it| !is_stream(it)) {
            client.expect_all(1, answer);
        }
        client.say(0, b"\x01");
        client.expect_end();
        scene.all_left();
    }
}

#[test]
fn a_file_passes_from_the_client_to_the_server() {
    let scene = Scene::of(&[open_server(|mut end| {
        end.expect(0);
        end.say(1, b"\xfb/tmp/x");
        assert_eq!(end.expect(2), b"some rows");
        assert_eq!(end.expect(3).len(), 300_000);
        assert_eq!(end.expect(4), b"");
        end.say(5, OK);
        end.expect(0);
        end.say(1, OK);
    })]);
    let mut client = scene.user(0);
    client.say(0, b"\x03load data");
    assert_eq!(client.expect(1), b"\xfb/tmp/x");
    client.say_all(2, &[b"some rows", &vec![7; 300_000], b""]);
    assert_eq!(client.expect(5), OK);
    client.say(0, b"\x0e");
    assert_eq!(client.expect(1), OK);
}

#[test]
fn packets_of_16_mib_and_more_pass_in_both_directions() {
    let length = 17_000_000;
    let scene = Scene::of(&[open_server(move |mut end| {
        let command = end.expect(1);
        assert_eq!(command.len(), length);
        let mut row = vec![0xfe];
        row.extend_from_slice(&(length as u64).to_le_bytes());
        row.extend_from_slice(&command);
        end.say_all(2, &[b"\x01", b"\x03def", &row, b"\xfe\0\0\x02\0\0\0"]);
        end.expect(0);
        end.say(1, OK);
    })]);
    let mut client = scene.user(DEPRECATE_EOF);
    let mut command = vec![b'x'; length];
    command[0] = 3;
    client.say(0, &command);
    assert_eq!(client.expect(2), b"\x01");
    assert_eq!(client.expect(3), b"\x03def");
    let row = client.expect(5);
    assert_eq!(row.len(), length + 9);
    assert!(row[9..] == command);
    assert_eq!(client.expect(6), b"\xfe\0\0\x02\0\0\0");
    client.say(0, b"\x0e");
    assert_eq!(client.expect(1), OK);
}

#[test]
fn another_user_logs_in_with_rounds() {
    const SWITCH: &[u8] = b"\xfemysql_native_password\0aaaaaaaaaaaaaaaaaaaa\0";
    let scene = Scene::of(&[open_server(|mut end| {
        assert_eq!(end.expect(0)[..5], *b"\x11bob\0");
        end.say(1, SWITCH);
        assert_eq!(end.expect(2), [5; 20]);
        end.say(3, OK);
        end.expect(0);
        end.say(1, OK);
    })]);
    let mut client = scene.user(0);
    client.say(0, b"\x11bob\0\0shop\0\x2d\0mysql_native_password\0");
    assert_eq!(client.expect(1), SWITCH);
    client.say(2, &[5; 20]);
    assert_eq!(client.expect(3), OK);
    client.say(0, b"\x0e");
    assert_eq!(client.expect(1), OK);
}

#[test]
fn a_replica_confirms_events_of_an_endless_stream() {
    let scene = Scene::of(&[open_server(|mut end| {
        end.expect(0);
        for number in 1..=100 {
            end.say(number, b"\0event");
            assert_eq!(end.expect(0), b"\xefack");
        }
    })]);
    let mut client = scene.user(0);
    client.say(0, b"\x12\x04\0\0\0");
    for number in 1..=100 {
        assert_eq!(client.expect(number), b"\0event");
        client.say(0, b"\xefack");
    }
    client.expect_end();
    scene.all_left();
}

#[test]
fn an_idle_server_says_why_it_leaves() {
    let why = error_packet(4031, "HY000", "The client was disconnected");
    let expected = why.clone();
    let scene = Scene::of(&[open_server(move |mut end| end.say(0, &why))]);
    let mut client = scene.user(0);
    assert_eq!(client.expect(0), expected);
    client.expect_end();
    scene.all_left();
}

#[test]
fn a_server_that_dies_ends_the_session() {
    // Before the greeting, after the command, among the columns and among the rows.
    let scene = Scene::of(&[server(|_| {})]);
    let mut client = scene.client();
    let down = old_error_packet(1105, "(proxy) all backends are down");
    assert_eq!(client.expect(0), down);
    client.expect_end();
    scene.all_left();
    let parts: [&'static [&'static [u8]]; 3] = [
        &[],
        &[b"\x02", b"\x03def"],
        &[b"\x01", b"\x03def", EOF, b"\x01a"],
    ];
    for part in parts {
        let scene = Scene::of(&[open_server(move |mut end| {
            end.expect(0);
            end.say_all(1, part);
        })]);
        let mut client = scene.user(0);
        client.say(0, b"\x03select");
        client.expect_all(1, part);
        client.expect_end();
        scene.all_left();
    }
}

#[test]
fn a_server_may_refuse_a_command_that_is_still_coming() {
    let too_large = error_packet(1153, "08S01", "Got a packet bigger than allowed");
    let expected = too_large.clone();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let scene = Scene::of(&[open_server(move |mut end| {
        end.say(1, &too_large);
        let _ = end.stream.shutdown(Shutdown::Write);
        // It takes no more, and does not close either.
        wait_until(|| over.load(SeqCst));
    })]);
    let mut client = scene.user(0);
    let mut sender = End::new(client.stream.try_clone().unwrap());
    let sending = std::thread::spawn(move || sender.say(0, &vec![3; 16_000_000]));
    assert_eq!(client.expect(1), expected);
    client.expect_end();
    is_over.store(true, SeqCst);
    client.close();
    sending.join().unwrap();
    scene.all_left();
}

#[test]
fn a_client_that_leaves_ends_the_session() {
    // While it is idle, while it waits, among the rows that it does not take.
    let came = Arc::new(AtomicUsize::new(0));
    let commands = Arc::clone(&came);
    let scene = Scene::of(&[open_server(move |mut end| {
        while let Some((_, command)) = end.packet() {
            commands.fetch_add(1, SeqCst);
            if command == b"\x03rows" {
                end.say_all(1, &[b"\x01", b"\x03def", EOF]);
                let row = [b'x'; 200];
                for number in 0..1_000_000_u32 {
                    let mut out = Vec::new();
                    protocol::relay::put_packet(&row, number as u8, &mut out);
                    if end.stream.write_all(&out).is_err() {
                        return;
                    }
                }
            }
        }
    })]);
    scene.user(0).close();
    scene.all_left();
    for command in [&b"\x03sleep"[..], b"\x03rows"] {
        let mut client = scene.user(0);
        let before = came.load(SeqCst);
        client.say(0, command);
        wait_until(|| came.load(SeqCst) > before);
        client.close();
        scene.all_left();
    }
}

#[test]
fn silence_ends_after_the_read_timeout() {
    let asked = Arc::new(AtomicUsize::new(0));
    let commands = Arc::clone(&asked);
    let server = open_server(move |mut end| {
        while let Some((_, command)) = end.packet() {
            if command == b"\x03sleep" {
                commands.fetch_add(1, SeqCst);
            }
        }
    });
    let scene = Scene::with(&[server], None, |settings| {
        settings.read_timeout = Duration::from_millis(200);
    });
    // On a busy machine a login may take longer, and so may a command: then once more.
    let logged_in = || {
        loop {
            if let Some(client) = scene.try_user() {
                return client;
            }
        }
    };
    logged_in().expect_end();
    while asked.load(SeqCst) == 0 {
        let mut client = logged_in();
        client.say(0, b"\x03sleep");
        client.expect_end();
    }
    scene.all_left();
}

#[test]
fn several_threads_serve_many_clients() {
    let scene = Scene::with(&[answering(CLASSIC)], None, |settings| settings.threads = 3);
    let mut clients: Vec<End> = (0..30).map(|_| scene.user(0)).collect();
    for _ in 0..3 {
        for client in &mut clients {
            client.say(0, b"\x0e");
        }
        for client in &mut clients {
            assert_eq!(client.expect(1), OK);
        }
    }
    drop(clients);
    scene.all_left();
}

#[test]
fn stopping_ends_sessions() {
    let mut scene = Scene::of(&[answering(CLASSIC)]);
    let mut client = scene.user(0);
    scene.proxy.take().unwrap().stop();
    client.expect_end();
    scene.all_left();
}

#[test]
fn an_unfinished_login_does_not_hang() {
    let address = server(|mut end| {
        end.say(0, &hello().payload());
        end.packet();
    });
    let scene = Scene::of(&[address]);
    let mut client = scene.client();
    client.expect(0);
    client.stream.write_all(&[1, 0]).unwrap();
    client.close();
    scene.all_left();
    let mut client = scene.client();
    client.expect(0);
    client.say(1, &login(CAPABILITIES, b"", ""));
    client.expect_end();
    scene.all_left();
    assert_eq!(ok_packet(), OK);
}
