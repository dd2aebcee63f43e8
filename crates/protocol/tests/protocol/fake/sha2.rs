//! Tests of MySQL 8's SHA-256 login methods, with an independent implementation of the server's part.

use protocol::{
    Endpoint,
    testing::{Answer, OutgoingGreeting, Peer},
};
use sha2::{Digest, Sha256};

use crate::fake::{against, open};

pub(crate) const PASSWORD: &str = "correct horse \u{e4}";
const FAST_SUCCESS: &[u8] = &[1, 3];
pub(crate) const FULL_LOGIN: &[u8] = &[1, 4];

pub(crate) fn with_password(endpoint: Endpoint) -> Endpoint {
    Endpoint {
        password: Some(PASSWORD.into()),
        ..endpoint
    }
}

pub(crate) fn hello(plugin: &str) -> OutgoingGreeting {
    OutgoingGreeting {
        plugin: plugin.into(),
        ..OutgoingGreeting::default()
    }
}

fn sha256(parts: &[&[u8]]) -> Vec<u8> {
    Sha256::digest(parts.concat()).to_vec()
}

pub(crate) fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The server's check: it knows only the hash of the password's hash, and computes the hash from the proof.
pub(crate) fn is_proof(proof: &[u8], nonce: &[u8]) -> bool {
    let stored = sha256(&[&sha256(&[PASSWORD.as_bytes()])]);
    let hash = xor(proof, &sha256(&[&stored, nonce]));
    proof.len() == 32 && sha256(&[&hash]) == stored
}

pub(crate) async fn accept(peer: &mut Peer) {
    peer.answer(&Answer::ok(0)).await.unwrap();
}

#[test]
fn a_cached_password_is_proved_by_its_hash() {
    let server = async |mut peer: Peer| {
        let hello = hello("caching_sha2_password");
        let proof = peer.greet(&hello).await.unwrap();
        assert!(is_proof(&proof, &hello.nonce));
        peer.send(FAST_SUCCESS).await.unwrap();
        accept(&mut peer).await;
    };
    against(server, |endpoint| open(with_password(endpoint))).unwrap();
}

#[test]
fn an_empty_password_sends_nothing() {
    for plugin in [
        "caching_sha2_password",
        "sha256_password",
        "mysql_native_password",
    ] {
        let server = async move |mut peer: Peer| {
            assert_eq!(peer.greet(&hello(plugin)).await.unwrap(), b"");
            accept(&mut peer).await;
        };
        against(server, open).unwrap();
    }
}

#[test]
fn over_a_unix_socket_the_password_goes_in_clear() {
    let server = async |mut peer: Peer| {
        peer.greet(&hello("caching_sha2_password")).await.unwrap();
        peer.send(FULL_LOGIN).await.unwrap();
        let answer = peer.receive().await.unwrap().unwrap();
        assert_eq!(answer, format!("{PASSWORD}\0").as_bytes());
        accept(&mut peer).await;
    };
    against(server, |endpoint| open(with_password(endpoint))).unwrap();
}

#[test]
fn to_sha256_password_a_unix_socket_is_as_open_as_tcp() {
    let server = async |mut peer: Peer| {
        let answer = peer.greet(&hello("sha256_password")).await.unwrap();
        assert_eq!(answer, [1], "asks for the key");
        let refusal = Answer::error(1045, "28000", "no key");
        peer.answer(&refusal).await.unwrap();
    };
    let error = against(server, |endpoint| open(with_password(endpoint))).unwrap_err();
    assert_eq!(error.server_number(), Some(1045), "{error}");
}

#[test]
fn a_switch_brings_a_new_nonce() {
    let server = async |mut peer: Peer| {
        peer.greet(&hello("mysql_native_password")).await.unwrap();
        let nonce = b"another nonce, 20 by";
        peer.send(&[b"\xfecaching_sha2_password\0", &nonce[..], b"\0"].concat())
            .await
            .unwrap();
        assert!(is_proof(&peer.receive().await.unwrap().unwrap(), nonce));
        peer.send(FAST_SUCCESS).await.unwrap();
        accept(&mut peer).await;
    };
    against(server, |endpoint| open(with_password(endpoint))).unwrap();
}

#[test]
fn a_plugin_with_an_endless_name_is_named_by_its_beginning() {
    let server = async |mut peer: Peer| {
        peer.greet(&hello("mysql_native_password")).await.unwrap();
        let name = [b'x'; 60_000];
        peer.send(&[&b"\xfe"[..], &name, b"\0nonce\0"].concat())
            .await
            .unwrap();
    };
    let error = against(server, |endpoint| open(with_password(endpoint))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("xxx") && text.len() < 200, "{text}");
}
