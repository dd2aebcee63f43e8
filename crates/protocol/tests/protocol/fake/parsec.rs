//! Tests of MariaDB's parsec login: a signature with a key derived from the password and a salt.

use ed25519_dalek::{Signature, VerifyingKey};
use protocol::{
    Endpoint,
    testing::{Answer, OutgoingGreeting, Peer},
};

use crate::fake::{against, open};

const PASSWORD: &str = "correct horse \u{e4}";
const NONCE: &[u8; 32] = b"thirty-two bytes from the server";
/// 2048 iterations, and the salt itself.
const SALT: &[u8; 20] = b"P\x01eighteen bytes, ok";
/// The server's copy, which replaces the password: the public key of the seed from Python's
/// `pbkdf2_hmac("sha512", password, salt, 2048, 32)`, computed with openssl.
const PUBLIC: [u8; 32] = [
    0x2f, 0x59, 0xb3, 0x76, 0x3a, 0x17, 0x3c, 0x16, 0xf9, 0x2d, 0x37, 0x6c, 0x3e, 0x20, 0x64, 0x74,
    0xe3, 0xd4, 0xa7, 0x4c, 0x36, 0xc6, 0x1a, 0x9a, 0x72, 0xfa, 0xbc, 0xff, 0x00, 0xbb, 0x35, 0x2a,
];

fn with_password(endpoint: Endpoint) -> Endpoint {
    Endpoint {
        password: Some(PASSWORD.into()),
        ..endpoint
    }
}

/// Sends the greeting, switches to parsec, and sends a salt on request.
async fn send_salt(peer: &mut Peer, salt: &[u8]) {
    peer.greet(&OutgoingGreeting::default()).await.unwrap();
    peer.send(&[b"\xfeparsec\0", &NONCE[..]].concat())
        .await
        .unwrap();
    assert_eq!(peer.receive().await.unwrap().unwrap(), b"");
    peer.send(salt).await.unwrap();
}

#[test]
fn both_nonces_are_signed() {
    for escape in [&b""[..], b"\x01"] {
        let server = async move |mut peer: Peer| {
            send_salt(&mut peer, &[escape, SALT].concat()).await;
            let answer = peer.receive().await.unwrap().unwrap();
            let (nonce, signature) = answer.split_at(32);
            let key = VerifyingKey::from_bytes(&PUBLIC).unwrap();
            let signature = Signature::from_slice(signature).unwrap();
            key.verify_strict(&[&NONCE[..], nonce].concat(), &signature)
                .unwrap();
            peer.answer(&Answer::ok(0)).await.unwrap();
        };
        against(server, |endpoint| open(with_password(endpoint))).unwrap();
    }
}

#[test]
fn a_salt_that_is_none_is_an_error() {
    let too_long = [&SALT[..], b"!"].concat();
    let wrong = [
        &b""[..],
        b"P\x01short",
        &too_long,
        b"Q\x01eighteen bytes, ok",
        // 2^40 iterations would take days.
        b"P\x1eeighteen bytes, ok",
    ];
    for salt in wrong {
        let salt = salt.to_vec();
        let server = async move |mut peer: Peer| send_salt(&mut peer, &salt).await;
        let error = against(server, |endpoint| open(with_password(endpoint))).unwrap_err();
        assert!(error.to_string().contains("salt of parsec"), "{error}");
    }
}
