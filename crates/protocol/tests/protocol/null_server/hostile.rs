//! Tests with invalid clients: an error or a closed connection, never a panic, and no effect on other clients.

use proptest::prelude::*;
use protocol::{null_server::Settings, testing::Feed};
use reactor::Stream;

use crate::null_server::{Served, against};

/// Sends these bytes in pieces of this size, instead of a login or after one.
async fn send(served: &Served, login: bool, bytes: &[u8], piece: usize) {
    let mut stream = Stream::connect_unix(&served.path).await.unwrap();
    let mut greeting = [0; 1024];
    assert!(stream.read(&mut greeting).await.unwrap() > 20);
    if login {
        stream.write_all(&login_packet()).await.unwrap();
        assert!(stream.read(&mut greeting).await.unwrap() > 5);
    }
    for piece in bytes.chunks(piece.max(1)) {
        // The server may already have closed.
        if stream.write_all(piece).await.is_err() {
            break;
        }
        reactor::yield_now().await;
    }
    // Once another client has been served, everything has been received.
    let mut connection = served.open().await;
    assert_eq!(connection.query(b"SELECT c FROM t").await.unwrap().rows, 1);
}

/// The login packet of user `u` without a password, with multiple statements and EOF packets.
fn login_packet() -> Vec<u8> {
    // CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION, CLIENT_MULTI_STATEMENTS.
    let capabilities: u32 = 0x0200 | 0x8000 | 0x1_0000;
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend_from_slice(&[0, 0, 0, 1, 45]);
    payload.extend_from_slice(&[0; 23]);
    payload.extend_from_slice(b"u\0\0");
    Feed::frame(&[payload])
}

/// Payloads, each framed as the first packet of a command.
fn commands(payloads: &[Vec<u8>]) -> Vec<u8> {
    let framed = payloads.iter().map(|payload| {
        let mut bytes = Feed::frame(std::slice::from_ref(payload));
        bytes[3] = 0;
        bytes
    });
    framed.collect::<Vec<_>>().concat()
}

/// A payload whose first byte is a command, often one with a statement.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "select",
        "from",
        "insert",
        "values",
        "(",
        ")",
        ",",
        ";",
        "'",
        "\"",
        "`",
        "\\",
        "/*",
        "*/",
        "--",
        "@@",
        "port",
        ".",
        "?",
        "show",
        "variables",
        "like",
        "%",
        "load data",
        "local",
        "infile",
        "use",
        " ",
        "\n",
        "1",
    ]);
    let sql = prop::collection::vec(words, 0..20).prop_map(|words| words.join(" ").into_bytes());
    let command = prop_oneof![Just(3_u8), Just(0x16), Just(0x17), any::<u8>()];
    let argument = prop_oneof![3 => sql, 1 => prop::collection::vec(any::<u8>(), 0..40)];
    (command, argument).prop_map(|(command, argument)| [vec![command], argument].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn bytes_of_any_kind(login: bool, bytes: Vec<u8>, piece in 1..50_usize) {
        against(Settings::default(), async |served| send(served, login, &bytes, piece).await);
    }

    #[test]
    fn commands_of_any_kind(payloads in prop::collection::vec(payload(), 0..20), piece in 1..500_usize) {
        let bytes = commands(&payloads);
        against(Settings::default(), async |served| send(served, true, &bytes, piece).await);
    }

    #[test]
    fn logins_of_any_kind(payload: Vec<u8>, at in 0..64_usize, byte: u8) {
        let mut login = login_packet();
        if let Some(place) = login.get_mut(4 + at) {
            *place = byte;
        }
        let other = Feed::frame(&[payload]);
        against(Settings::default(), async |served| {
            send(served, false, &login, 1000).await;
            send(served, false, &other, 1000).await;
        });
    }
}

#[test]
fn packets_out_of_order_are_told_and_end_the_connection() {
    against(Settings::default(), async |served| {
        let mut stream = Stream::connect_unix(&served.path).await.unwrap();
        let mut buffer = [0; 1024];
        stream.read(&mut buffer).await.unwrap();
        stream.write_all(&login_packet()).await.unwrap();
        stream.read(&mut buffer).await.unwrap();
        stream.write_all(b"\x01\x00\x00\x05\x0e").await.unwrap();
        let count = stream.read(&mut buffer).await.unwrap();
        assert_eq!(buffer[4..7], [0xff, 0x84, 0x04]);
        assert!(count > 7);
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 0);
    });
}

#[test]
fn commands_sent_together_are_answered_together() {
    against(Settings::default(), async |served| {
        let mut stream = Stream::connect_unix(&served.path).await.unwrap();
        let mut buffer = [0; 1024];
        stream.read(&mut buffer).await.unwrap();
        stream.write_all(&login_packet()).await.unwrap();
        stream.read(&mut buffer).await.unwrap();
        let pings = commands(&[vec![0x0e], b"\x03BEGIN".to_vec(), vec![0x0e]]);
        stream.write_all(&pings).await.unwrap();
        let ok = b"\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00";
        let count = stream.read(&mut buffer).await.unwrap();
        assert_eq!(buffer[..count], ok.repeat(3));
    });
}
