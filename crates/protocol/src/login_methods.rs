//! The login methods, which prove the knowledge of a password.

use std::borrow::Cow;

use mysql_common::auth::plugins::{
    ChallengeResponsePlugin, Context, caching_sha2_password::scramble_sha256,
    client_ed25519::ClientEd25519, mysql_native_password::scramble_native, parsec::Parsec,
};
use rsa::{Oaep, RsaPublicKey, rand_core::OsRng};
use sha1::Sha1;
use zeroize::Zeroizing;

use crate::{
    error::Error,
    server_key::{self, ServerKey},
};

/// A login method that this client supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Two rounds of SHA-1: everything up to MySQL 5.7, and MariaDB.
    Native,
    /// SHA-256 with a cache in the server: MySQL 8.
    CachingSha2,
    /// SHA-256 without a cache: MySQL 5.6 and later.
    Sha256,
    /// A signature: MariaDB.
    Ed25519,
    /// A signature with a key stretched from the password and a salt: MariaDB 11.6 and later.
    Parsec,
    /// The operating system's account, over a unix socket.
    Socket,
}

impl Method {
    pub(crate) fn of_plugin(plugin: &[u8]) -> Option<Self> {
        match plugin {
            b"mysql_native_password" => Some(Self::Native),
            b"caching_sha2_password" => Some(Self::CachingSha2),
            b"sha256_password" => Some(Self::Sha256),
            b"client_ed25519" => Some(Self::Ed25519),
            b"parsec" => Some(Self::Parsec),
            b"unix_socket" | b"auth_socket" => Some(Self::Socket),
            _ => None,
        }
    }

    pub(crate) fn plugin(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
            Self::Ed25519 => "client_ed25519",
            Self::Parsec => "parsec",
            Self::Socket => "unix_socket",
        }
    }

    /// The method to begin with if the server proposes this one. A method that would have to be refused is replaced by
    /// one that does not reveal the password, since the account may use another method anyway.
    pub(crate) fn to_begin_with(self, secret: &Secret<'_>) -> Self {
        match self {
            Self::Sha256 if !secret.can_be_sent() => Self::CachingSha2,
            other => other,
        }
    }

    /// The first answer to the server's nonce.
    pub(crate) fn first(self, secret: &Secret<'_>) -> Result<Zeroizing<Vec<u8>>, Error> {
        if secret.password.is_empty() && self != Self::Ed25519 {
            return Ok(Vec::new().into());
        }
        let proof = match self {
            Self::Socket => Some(Vec::new()),
            // Requests the salt.
            Self::Parsec => Some(Vec::new()),
            Self::Native => {
                let nonce = secret.nonce.get(..20);
                nonce
                    .and_then(|nonce| scramble_native(nonce, secret.password))
                    .map(Vec::from)
            }
            Self::CachingSha2 => {
                let nonce = secret.nonce.first_chunk();
                nonce
                    .and_then(|nonce| scramble_sha256(nonce, secret.password))
                    .map(Vec::from)
            }
            Self::Sha256 if secret.tls => return Ok(secret.in_clear()),
            Self::Sha256 => return self.by_key(secret, REQUEST_KEY_SHA256),
            Self::Ed25519 => {
                let nonce = secret.nonce.get(..32).unwrap_or_default();
                let signed = ClientEd25519::default()
                    .run(Signer(secret.password), nonce)
                    .ok();
                signed.and_then(|response| response.data().map(Vec::from))
            }
        };
        // The methods fail only if the nonce is too short.
        proof
            .map(Zeroizing::new)
            .ok_or(Error::Malformed { what: "nonce" })
    }

    /// The answer to the server's next request; `None` if the server only confirms success so far.
    pub(crate) fn next(
        self,
        secret: &Secret<'_>,
        challenge: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        match (self, challenge) {
            (Self::CachingSha2, [FAST_SUCCESS]) => Ok(None),
            (Self::CachingSha2, [FULL_LOGIN]) if secret.tls || secret.socket => {
                Ok(Some(secret.in_clear()))
            }
            (Self::CachingSha2, [FULL_LOGIN]) => self.by_key(secret, REQUEST_KEY_CACHING).map(Some),
            // An unsolicited key is treated like a requested one.
            (Self::CachingSha2 | Self::Sha256, key) if key.starts_with(b"-----BEGIN") => {
                if secret.may_ask_for_key() {
                    self.encrypt(secret, &server_key::received(key)?).map(Some)
                } else {
                    Err(self.exposed())
                }
            }
            (Self::Parsec, salt) => secret.stretch_and_sign(salt).map(Some),
            _ => Err(Error::Malformed {
                what: "login packet",
            }),
        }
    }

    /// The password encrypted with the key that the user trusts, or the request for the server's key.
    fn by_key(self, secret: &Secret<'_>, request: u8) -> Result<Zeroizing<Vec<u8>>, Error> {
        match secret.server_key.read()? {
            Some(key) => self.encrypt(secret, &key),
            None if secret.may_ask_for_key() => Ok(vec![request].into()),
            None => Err(self.exposed()),
        }
    }

    fn exposed(self) -> Error {
        Error::Exposed {
            plugin: self.plugin(),
        }
    }

    /// Encrypts the password, mixed with the nonce, with the server's public RSA key.
    fn encrypt(self, secret: &Secret<'_>, key: &RsaPublicKey) -> Result<Zeroizing<Vec<u8>>, Error> {
        encrypted(key, &secret.nonce, secret.in_clear()).map_err(|error| match error {
            Error::Auth { what, .. } => Error::Auth {
                plugin: self.plugin().to_owned(),
                what,
            },
            other => other,
        })
    }
}

/// Encrypts a password with its final zero, mixed with the nonce.
pub(crate) fn encrypted(
    key: &RsaPublicKey,
    nonce: &[u8],
    mut clear: Zeroizing<Vec<u8>>,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let nonce = nonce.get(..20).ok_or(Error::Malformed { what: "nonce" })?;
    for (byte, mask) in clear.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
    key.encrypt(&mut OsRng, Oaep::new::<Sha1>(), &clear)
        .map(Zeroizing::new)
        .map_err(|_| Error::Auth {
            plugin: "RSA".to_owned(),
            what: "the password is too long for the server's public key",
        })
}

/// Messages of the two SHA-256 methods.
const REQUEST_KEY_SHA256: u8 = 1;
const REQUEST_KEY_CACHING: u8 = 2;
const FAST_SUCCESS: u8 = 3;
const FULL_LOGIN: u8 = 4;

/// The inputs of a proof.
pub(crate) struct Secret<'a> {
    pub(crate) password: &'a [u8],
    pub(crate) nonce: Cow<'a, [u8]>,
    pub(crate) tls: bool,
    /// A unix socket: safe from eavesdropping, which `sha256_password` does not take into account.
    pub(crate) socket: bool,
    pub(crate) server_key: &'a ServerKey,
}

impl Secret<'_> {
    /// Whether the password may be encrypted with a key sent by the server: if the user allows it, and over a unix
    /// socket, whose other end the file system authenticates.
    fn may_ask_for_key(&self) -> bool {
        self.socket || *self.server_key == ServerKey::Asked
    }

    /// Whether the password itself may be sent.
    fn can_be_sent(&self) -> bool {
        self.tls || self.socket || *self.server_key != ServerKey::Refused
    }

    fn in_clear(&self) -> Zeroizing<Vec<u8>> {
        let mut password = Zeroizing::new(Vec::with_capacity(self.password.len() + 1));
        password.extend_from_slice(self.password);
        password.push(0);
        password
    }

    /// Answers the salt of parsec: `P`, the binary logarithm of the iterations / 1024, and 18 random bytes.
    fn stretch_and_sign(&self, salt: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut parsec = Parsec::default();
        let nonce = self.nonce.get(..32).unwrap_or_default();
        let signed = parsec
            .run(Signer(self.password), nonce)
            .and_then(|_| parsec.run(Signer(self.password), salt))
            .ok();
        signed
            .and_then(|response| response.data().map(|data| data.to_vec().into()))
            .ok_or(Error::Malformed {
                what: "salt of parsec",
            })
    }
}

/// The password in the form required by the library's signatures.
struct Signer<'a>(&'a [u8]);

impl Context for Signer<'_> {
    fn pass(&self) -> &[u8] {
        self.0
    }

    fn is_ipc_transport(&self) -> bool {
        false
    }

    fn is_tls_transport(&self) -> bool {
        false
    }

    fn scramble(&self) -> &[u8] {
        &[]
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}
