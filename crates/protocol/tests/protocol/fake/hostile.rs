//! Tests with broken or hostile servers: an error, never a panic, a hang, or a byte that was not offered.

use std::{io, time::Duration};

use protocol::{
    Connection, Endpoint, Error, LocalSource,
    testing::{Answer, OutgoingGreeting, Peer},
};
use reactor::{now, sleep};

use crate::fake::{against, open};

/// The error of a client that receives these bytes instead of a greeting.
fn greeted_with(bytes: Vec<u8>, close: bool) -> Error {
    let server = async move |mut peer: Peer| {
        peer.send_raw(&bytes).await.unwrap();
        if !close {
            sleep(Duration::from_secs(3600)).await;
        }
    };
    against(server, open).unwrap_err()
}

fn framed(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[0], payload].concat()
}

#[test]
fn greetings_that_are_none() {
    let good = OutgoingGreeting::default().payload();
    // The length of the nonce is 4 + 8 + 1 + 2 + 1 + 2 + 2 bytes after the version.
    let at = 1 + "8.0.0-fake".len() + 1 + 20;
    assert_eq!(good[at], 21);
    let with_nonce_length = |length: u8| {
        let mut payload = good.clone();
        payload[at] = length;
        framed(&payload)
    };
    let mut too_old = good.clone();
    too_old[at - 6] = 0;
    too_old[at - 7] = 0;
    let cases = [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            "out of sequence",
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), "out of sequence"),
        (framed(b""), "not from a MySQL server"),
        (framed(&[9, 0]), "not from a MySQL server"),
        (framed(&[10, b'8', b'.']), "greeting"),
        (framed(&good[..at]), "greeting"),
        (with_nonce_length(255), "greeting"),
        (with_nonce_length(128), "greeting"),
        (
            framed(b"\xff\x10\x04Too many connections"),
            "error 1040 (HY000): Too many connections",
        ),
        (
            framed(b"\xff\x69\x04#HY000Host 'x' is not allowed"),
            "error 1129 (HY000)",
        ),
        (framed(&too_old), "too old"),
        (vec![0xff, 0xff, 0xff, 0, 10], "longer than 65536 bytes"),
    ];
    for (bytes, expected) in cases {
        for close in [true, false] {
            let error = greeted_with(bytes.clone(), close);
            assert!(error.to_string().contains(expected), "{bytes:?}: {error}");
        }
    }
    let error = greeted_with(framed(&good)[..20].to_vec(), true);
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    let error = greeted_with(framed(&good)[..20].to_vec(), false);
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}

/// The error of a client with a password whose login continues with these packets.
fn logged_in_with(packets: &'static [&'static [u8]]) -> Error {
    let server = async move |mut peer: Peer| {
        peer.greet(&OutgoingGreeting::default()).await.unwrap();
        for packet in packets {
            if peer.send(packet).await.is_err() {
                return;
            }
            // Answers of the client count in the sequence.
            if packet.first() == Some(&0xfe) && peer.receive().await.is_err() {
                return;
            }
        }
    };
    let client = |endpoint| {
        open(Endpoint {
            password: Some("secret".into()),
            ..endpoint
        })
    };
    against(server, client).unwrap_err()
}

#[test]
fn logins_that_go_astray() {
    let cases: [(&[&[u8]], &str); 9] = [
        (&[b"\xfe"], "\"mysql_old_password\": not safe"),
        (
            &[b"\xfemysql_clear_password\0"],
            "would hand out the password",
        ),
        (&[b"\xfedialog\0Password: "], "\"dialog\": not supported"),
        (&[b"\xfeno zero at the end"], "login packet"),
        (&[b"\xfemysql_native_password\0short"], "nonce"),
        (&[b"\xfeclient_ed25519\0short"], "nonce"),
        (&[b"\x01\x04"], "login packet"),
        (&[b""], "login packet"),
        (&[b"\xff\x15\x04#28000Access denied"], "Access denied"),
    ];
    for (packets, expected) in cases {
        let error = logged_in_with(packets);
        assert!(error.to_string().contains(expected), "{packets:?}: {error}");
    }
}

#[test]
fn a_login_without_end_ends() {
    let server = async |mut peer: Peer| {
        peer.greet(&OutgoingGreeting::default()).await.unwrap();
        loop {
            let switch = b"\xfemysql_native_password\0another nonce, 20 by\0";
            if peer.send(switch).await.is_err() || !matches!(peer.receive().await, Ok(Some(_))) {
                return;
            }
        }
    };
    let error = against(server, open).unwrap_err();
    assert!(error.to_string().contains("login without end"), "{error}");
}

#[test]
fn a_login_that_drips_runs_into_the_timeout() {
    let server = async |mut peer: Peer| {
        for byte in framed(&OutgoingGreeting::default().payload()) {
            // New data all the time, but never enough.
            sleep(Duration::from_secs(1)).await;
            if peer.send_raw(&[byte]).await.is_err() {
                return;
            }
        }
    };
    let client = async |endpoint: Endpoint| {
        let start = now();
        let error = open(endpoint).await.unwrap_err();
        (error, now() - start)
    };
    let (error, waited) = against(server, client);
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert_eq!(waited, Duration::from_secs(10));
}

/// Runs a client against a server that follows a script after the login.
fn after_login<C: Future>(
    script: impl AsyncFnOnce(&mut Peer) + 'static,
    client: impl FnOnce(Connection) -> C,
) -> C::Output {
    let server = async move |mut peer: Peer| {
        peer.greet(&OutgoingGreeting::default()).await.unwrap();
        peer.answer(&Answer::ok(0)).await.unwrap();
        peer.receive_command().await.unwrap();
        script(&mut peer).await;
    };
    against(server, async |endpoint| {
        client(Connection::open(&endpoint).await.unwrap()).await
    })
}

#[test]
fn an_answer_that_is_too_long_is_not_taken_for_the_next() {
    let server = async |peer: &mut Peer| {
        peer.answer(&Answer::ok(1)).await.unwrap();
        peer.send_raw(&[1, 0, 0, 1, 0]).await.unwrap();
        peer.receive_command().await.unwrap();
    };
    after_login(server, async |mut connection| {
        connection.query(b"one").await.unwrap();
        // Both arrived in one read, or the second is still in the socket and is out of sequence or not an answer.
        let error = connection.query(b"two").await.unwrap_err();
        assert!(error.is_connection_lost(), "{error}");
        assert!(matches!(
            connection.query(b"three").await,
            Err(Error::Lost { .. })
        ));
    });
}

#[test]
fn the_reason_for_a_close_is_found() {
    let server = async |peer: &mut Peer| {
        peer.answer(&Answer::ok(1)).await.unwrap();
        // MySQL sends this error, without a request, to a client that was idle for too long.
        let reason = Answer::error(4031, "HY000", "disconnected because of inactivity");
        let payload = reason.payloads(true).remove(0);
        let header = [payload.len() as u8, 0, 0, 0];
        peer.send_raw(&[&header[..], &payload].concat())
            .await
            .unwrap();
    };
    after_login(server, async |mut connection| {
        connection.query(b"one").await.unwrap();
        sleep(Duration::from_secs(1)).await;
        let error = connection.query(b"two").await.unwrap_err();
        assert_eq!(error.server_number(), Some(4031), "{error}");
        assert!(error.is_connection_lost());
    });
}

/// A source that counts its calls.
#[derive(Default)]
struct Counting(usize);

impl LocalSource for Counting {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        self.0 += 1;
        buffer.extend_from_slice(b"data\n");
        Ok(self.0 < 3)
    }
}

#[test]
fn a_file_is_asked_for_in_vain() {
    let server = async |peer: &mut Peer| {
        peer.send(b"\xfb/etc/shadow").await.unwrap();
        assert_eq!(
            peer.receive().await.unwrap().unwrap(),
            b"",
            "nothing is sent"
        );
        peer.answer(&Answer::ok(0)).await.unwrap();
        peer.receive_command().await.unwrap();
        peer.answer(&Answer::ok(7)).await.unwrap();
    };
    after_login(server, async |mut connection| {
        let error = connection.query(b"SELECT 1").await.unwrap_err();
        assert!(matches!(&error, Error::FileRequested { name } if name == "/etc/shadow"));
        assert_eq!(
            connection.query(b"SELECT 2").await.unwrap().affected_rows,
            7
        );
    });
}

#[test]
fn data_is_given_once_per_statement() {
    let server = async |peer: &mut Peer| {
        peer.send(b"\xfbdata").await.unwrap();
        for _ in 0..3 {
            assert_eq!(peer.receive().await.unwrap().unwrap(), b"data\n");
        }
        assert_eq!(peer.receive().await.unwrap().unwrap(), b"");
        peer.send(b"\xfb/etc/shadow").await.unwrap();
        assert_eq!(peer.receive().await.unwrap(), None, "the client leaves");
    };
    let mut source = Counting::default();
    after_login(server, async |mut connection| {
        let error = connection
            .load_local("LOAD DATA", &mut source)
            .await
            .unwrap_err();
        assert!(error.to_string().contains("second file request"), "{error}");
        drop(connection);
        sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(source.0, 3);
}

#[test]
fn a_server_that_breaks_off_a_load_is_heard() {
    struct Endless;
    impl LocalSource for Endless {
        fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
            buffer.resize(buffer.len() + 1_000_000, b'x');
            Ok(true)
        }
    }
    let server = async |peer: &mut Peer| {
        peer.send(b"\xfbdata").await.unwrap();
        peer.receive().await.unwrap();
        peer.answer(&Answer::error(
            1153,
            "08S01",
            "Got a packet bigger than allowed",
        ))
        .await
        .unwrap();
    };
    after_login(server, async |mut connection| {
        let error = connection
            .load_local("LOAD DATA", &mut Endless)
            .await
            .unwrap_err();
        assert_eq!(error.server_number(), Some(1153), "{error}");
        assert!(matches!(error, Error::Ended(_)) && error.is_connection_lost());
    });
}
