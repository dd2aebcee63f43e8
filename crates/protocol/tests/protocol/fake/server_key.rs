//! Tests that on an unencrypted connection only the owner of a trusted key receives the password.

use std::{cell::RefCell, path::Path, rc::Rc};

use protocol::{
    Address, Connection, Endpoint, Error, ServerKey,
    testing::{Answer, Peer, endpoint},
};
use reactor::{Clock, Listener, Reactor, spawn};
use rsa::{
    Oaep, RsaPrivateKey,
    pkcs8::{DecodePrivateKey, EncodePublicKey, LineEnding},
};

use crate::fake::sha2::{FULL_LOGIN, PASSWORD, accept, hello, is_proof, with_password, xor};

/// A key of 2048 bits, for these tests only.
const KEY: &str = include_str!("server_key.pem");
/// The public half of a key of 1024 bits, and of one of 512.
const SHORT: &str = include_str!("short_key.pem");
const SHORTER: &str = "-----BEGIN PUBLIC KEY-----\n\
    MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMs5WpN1vNxvwCZbs/NZYZeYATIKmrzJ\n\
    i+V+gX2cFhvX0GeZ00fCHo1/BgdiIcTZ2n7wPfsmgxgPqOveofu/mn0CAwEAAQ==\n\
    -----END PUBLIC KEY-----\n";

/// The packets that a client sent to a server over TCP, and the result.
struct Talk {
    said: Vec<Vec<u8>>,
    came: Result<(), Error>,
}

/// Connects to a server that proposes this plugin, requests the password itself from caching_sha2_password, and sends
/// this key with and without a request. It accepts any password.
fn talk(plugin: &'static str, escape: &'static [u8], key: &str, trusts: ServerKey) -> Talk {
    let said = Rc::new(RefCell::new(Vec::new()));
    let (theirs, key) = (Rc::clone(&said), key.to_owned());
    let came = Reactor::new(Clock::System).unwrap().run(async move {
        let listener = Listener::bind_tcp(([127, 0, 0, 1], 0).into()).unwrap();
        let port = listener.tcp_address().unwrap().port();
        let said = Rc::clone(&theirs);
        spawn(async move {
            let mut peer = Peer::new(listener.accept().await.unwrap());
            let hear = |packet: Vec<u8>| said.borrow_mut().push(packet);
            hear(peer.greet(&hello(plugin)).await.unwrap());
            if plugin == "caching_sha2_password" {
                peer.send(FULL_LOGIN).await.unwrap();
                match peer.receive().await {
                    Ok(Some(packet)) => hear(packet),
                    _ => return,
                }
            }
            if said.borrow().last().is_none_or(|last| last.len() < 256) {
                let _ = peer.send(&[escape, key.as_bytes()].concat()).await;
                match peer.receive().await {
                    Ok(Some(packet)) => hear(packet),
                    _ => return,
                }
            }
            accept(&mut peer).await;
        });
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port,
        };
        let endpoint = Endpoint {
            address,
            server_key: trusts,
            ..with_password(endpoint("".as_ref()))
        };
        Connection::open(&endpoint).await.map(drop)
    });
    Talk {
        said: said.take(),
        came,
    }
}

fn public(key: &RsaPrivateKey) -> String {
    key.to_public_key()
        .to_public_key_pem(LineEnding::LF)
        .unwrap()
}

/// The inverse of the client's encryption: decrypts with the private key, then removes the nonce.
fn decrypt(key: &RsaPrivateKey, encrypted: &[u8], nonce: &[u8]) -> Vec<u8> {
    let mixed = key.decrypt(Oaep::new::<sha1::Sha1>(), encrypted).unwrap();
    let mask: Vec<u8> = nonce.iter().copied().cycle().take(mixed.len()).collect();
    xor(&mixed, &mask)
}

/// Whether a packet contains the password, or is long enough to be the encrypted password.
fn shows_the_password(said: &[Vec<u8>]) -> bool {
    let plain = PASSWORD.as_bytes();
    said.iter().any(|packet| {
        packet.len() >= 64 || packet.windows(plain.len()).any(|window| window == plain)
    })
}

// Servers before MySQL 8 only escape data that could be mistaken for another packet.
const WAYS: [(&str, &[u8]); 3] = [
    ("caching_sha2_password", b"\x01"),
    ("sha256_password", b"\x01"),
    ("sha256_password", b""),
];

#[test]
fn a_server_that_hands_out_its_own_key_gets_no_password() {
    let key = public(&RsaPrivateKey::from_pkcs8_pem(KEY).unwrap());
    for (plugin, escape) in WAYS {
        for key in [key.as_str(), SHORT, SHORTER] {
            let talk = talk(plugin, escape, key, ServerKey::Refused);
            let error = talk.came.unwrap_err();
            assert!(matches!(error, Error::Exposed { .. }), "{plugin}: {error}");
            assert!(error.is_login_refused());
            let hint = error.hint().unwrap();
            assert!(hint.contains("--get-server-public-key"), "{hint}");
            assert!(!shows_the_password(&talk.said), "{plugin}: {:?}", talk.said);
        }
    }
}

#[test]
fn a_key_that_was_asked_for_encrypts_the_password() {
    let key = RsaPrivateKey::from_pkcs8_pem(KEY).unwrap();
    for (plugin, escape) in WAYS {
        let talk = talk(plugin, escape, &public(&key), ServerKey::Asked);
        talk.came.unwrap();
        let nonce = hello(plugin).nonce;
        let encrypted = match &talk.said[..] {
            [proof, request, encrypted] => {
                assert!(is_proof(proof, &nonce));
                assert_eq!(request[..], [2]);
                encrypted
            }
            [request, encrypted] => {
                assert_eq!(request[..], [1]);
                encrypted
            }
            other => panic!("{plugin}: {other:?}"),
        };
        let password = decrypt(&key, encrypted, &nonce);
        assert_eq!(password, format!("{PASSWORD}\0").as_bytes());
    }
}

#[test]
fn a_key_from_a_file_encrypts_without_asking() {
    let key = RsaPrivateKey::from_pkcs8_pem(KEY).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("public_key.pem");
    std::fs::write(&file, public(&key)).unwrap();
    for (plugin, escape) in WAYS {
        // The key sent by the server is ignored.
        let talk = talk(plugin, escape, SHORTER, ServerKey::File(file.clone()));
        talk.came.unwrap();
        assert!(talk.said.iter().all(|packet| packet.len() > 1));
        let encrypted = talk.said.last().unwrap();
        let password = decrypt(&key, encrypted, &hello(plugin).nonce);
        assert_eq!(password, format!("{PASSWORD}\0").as_bytes());
    }
}

#[test]
fn a_short_key_gets_no_password() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("short.pem");
    std::fs::write(&file, SHORT).unwrap();
    let cases = [
        (ServerKey::Asked, SHORT, "has 1024 bits"),
        (ServerKey::Asked, SHORTER, "has 512 bits"),
        (ServerKey::File(file), SHORT, "has 1024 bits"),
    ];
    for (trusts, key, expected) in cases {
        for (plugin, escape) in WAYS {
            let talk = talk(plugin, escape, key, trusts.clone());
            let error = talk.came.unwrap_err();
            assert!(error.to_string().contains(expected), "{plugin}: {error}");
            assert!(error.is_login_refused());
            assert!(!shows_the_password(&talk.said), "{plugin}: {:?}", talk.said);
        }
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
        let error = talk("sha256_password", b"\x01", key, ServerKey::Asked).came;
        let error = error.unwrap_err();
        assert!(matches!(error, Error::ServerKey { .. }), "{error}");
    }
    let nowhere = ServerKey::File(Path::new("/nowhere/key.pem").to_owned());
    let error = talk("caching_sha2_password", b"\x01", SHORT, nowhere).came;
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/key.pem: "), "{error}");
}

#[test]
fn a_server_that_only_prefers_such_a_method_is_answered_by_another() {
    let came = Reactor::new(Clock::System).unwrap().run(async {
        let listener = Listener::bind_tcp(([127, 0, 0, 1], 0).into()).unwrap();
        let port = listener.tcp_address().unwrap().port();
        spawn(async move {
            let mut peer = Peer::new(listener.accept().await.unwrap());
            let hello = hello("sha256_password");
            let proof = peer.greet(&hello).await.unwrap();
            assert!(is_proof(&proof, &hello.nonce));
            // The account uses another method.
            peer.send(b"\xfemysql_native_password\0another nonce, 20 by\0")
                .await
                .unwrap();
            assert_eq!(peer.receive().await.unwrap().unwrap().len(), 20);
            peer.answer(&Answer::ok(0)).await.unwrap();
        });
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port,
        };
        let endpoint = Endpoint {
            address,
            ..with_password(endpoint("".as_ref()))
        };
        Connection::open(&endpoint).await.map(drop)
    });
    came.unwrap();
}
