//! The SHA-256 login methods of MySQL 8, with the server's half computed by independent means.

use std::rc::Rc;

use protocol::{
    Address, Connection, Endpoint,
    testing::{Answer, Hello, Peer, endpoint},
};
use reactor::{Clock, Listener, Reactor, spawn};
use rsa::{
    Oaep, RsaPrivateKey,
    pkcs8::{EncodePublicKey, LineEnding},
    rand_core::OsRng,
};
use sha2::{Digest, Sha256};

use crate::{against, open};

const PASSWORD: &str = "correct horse \u{e4}";
const FAST_SUCCESS: &[u8] = &[1, 3];
const FULL_LOGIN: &[u8] = &[1, 4];

fn with_password(endpoint: Endpoint) -> Endpoint {
    Endpoint {
        password: Some(PASSWORD.into()),
        ..endpoint
    }
}

fn hello(plugin: &str) -> Hello {
    Hello {
        plugin: plugin.into(),
        ..Hello::default()
    }
}

fn sha256(parts: &[&[u8]]) -> Vec<u8> {
    Sha256::digest(parts.concat()).to_vec()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The server's check: it knows only the hash of the hash of the password, and finds the hash in the proof.
fn is_proof(proof: &[u8], nonce: &[u8]) -> bool {
    let stored = sha256(&[&sha256(&[PASSWORD.as_bytes()])]);
    let hash = xor(proof, &sha256(&[&stored, nonce]));
    proof.len() == 32 && sha256(&[&hash]) == stored
}

async fn accept(peer: &mut Peer) {
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

/// Undoes what the client does: decrypts with the private key, then takes the nonce off.
fn decrypt(key: &RsaPrivateKey, encrypted: &[u8], nonce: &[u8]) -> Vec<u8> {
    let mixed = key.decrypt(Oaep::new::<sha1::Sha1>(), encrypted).unwrap();
    let mask: Vec<u8> = nonce.iter().copied().cycle().take(mixed.len()).collect();
    xor(&mixed, &mask)
}

#[test]
fn over_plain_tcp_the_password_goes_encrypted() {
    let key = Rc::new(RsaPrivateKey::new(&mut OsRng, 1024).unwrap());
    let public = key
        .to_public_key()
        .to_public_key_pem(LineEnding::LF)
        .unwrap();
    // Servers before MySQL 8 only escape what could be taken for another packet.
    for (plugin, escape) in [
        ("caching_sha2_password", &b"\x01"[..]),
        ("sha256_password", b"\x01"),
        ("sha256_password", b""),
    ] {
        let (key, public) = (Rc::clone(&key), public.clone());
        Reactor::new(Clock::System).unwrap().run(async {
            let listener = Listener::bind_tcp(([127, 0, 0, 1], 0).into()).unwrap();
            let port = listener.tcp_address().unwrap().port();
            spawn(async move {
                let mut peer = Peer::new(listener.accept().await.unwrap());
                let hello = hello(plugin);
                let mut answer = peer.greet(&hello).await.unwrap();
                if plugin == "caching_sha2_password" {
                    assert!(is_proof(&answer, &hello.nonce));
                    peer.send(FULL_LOGIN).await.unwrap();
                    answer = peer.receive().await.unwrap().unwrap();
                    assert_eq!(answer, [2], "asks for the key");
                } else {
                    assert_eq!(answer, [1], "asks for the key");
                }
                peer.send(&[escape, public.as_bytes()].concat())
                    .await
                    .unwrap();
                let encrypted = peer.receive().await.unwrap().unwrap();
                assert_eq!(encrypted.len(), 128);
                let password = decrypt(&key, &encrypted, &hello.nonce);
                assert_eq!(password, format!("{PASSWORD}\0").as_bytes());
                accept(&mut peer).await;
            });
            let address = Address::Tcp {
                host: "127.0.0.1".into(),
                port,
            };
            let endpoint = Endpoint {
                address,
                ..with_password(endpoint("".as_ref()))
            };
            Connection::open(&endpoint).await.unwrap();
        });
    }
}

#[test]
fn a_key_that_is_none_is_an_error() {
    let keys = [
        "-----BEGIN PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n",
        // A modulus and an exponent of zero.
        "-----BEGIN PUBLIC KEY-----\nMBowDQYJKoZIhvcNAQEBBQADCQAwBgIBAAIBAA==\n-----END PUBLIC KEY-----\n",
    ];
    for key in keys {
        Reactor::new(Clock::System).unwrap().run(async {
            let listener = Listener::bind_tcp(([127, 0, 0, 1], 0).into()).unwrap();
            let port = listener.tcp_address().unwrap().port();
            spawn(async move {
                let mut peer = Peer::new(listener.accept().await.unwrap());
                peer.greet(&hello("sha256_password")).await.unwrap();
                peer.send(&[b"\x01", key.as_bytes()].concat())
                    .await
                    .unwrap();
            });
            let address = Address::Tcp {
                host: "127.0.0.1".into(),
                port,
            };
            let endpoint = Endpoint {
                address,
                ..with_password(endpoint("".as_ref()))
            };
            let error = Connection::open(&endpoint).await.unwrap_err();
            assert!(
                error.to_string().contains("public key cannot be read"),
                "{error}"
            );
        });
    }
}
