//! The secret that client and observer share, and the proof of knowing it without revealing it.
//!
//! Each side sends random bytes; the proof of a side is HMAC-SHA-256 under the secret over its role and the bytes of
//! both. A recorded proof, of an earlier login or of the other side, is therefore useless. Source: RFC 2104 for the
//! code, ISO/IEC 9798-4 for the exchange with two nonces.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Minimum length of a secret, bytes: a shorter one could be guessed from a recorded proof.
pub const SECRET_BYTES_AT_LEAST: usize = 16;

/// Length of the random part of a login, bytes.
const NONCE_BYTES: usize = 32;

/// A secret that client and observer share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the secret has {0} bytes, and at least {SECRET_BYTES_AT_LEAST} are required")]
pub struct SecretTooShort(usize);

/// The side that makes a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Observer,
}

/// The random bytes of both sides, as sent.
#[derive(Debug, Clone)]
pub(crate) struct Nonces {
    pub(crate) client: String,
    pub(crate) observer: String,
}

impl Secret {
    /// The secret with these bytes; an error if it is too short.
    pub fn new(text: &str) -> Result<Self, SecretTooShort> {
        match text.len() {
            short if short < SECRET_BYTES_AT_LEAST => Err(SecretTooShort(short)),
            _ => Ok(Self(text.as_bytes().to_vec())),
        }
    }

    /// The proof of one side, base64.
    pub(crate) fn proof(&self, role: Role, nonces: &Nonces) -> String {
        STANDARD.encode(self.code(role, nonces).finalize().into_bytes())
    }

    /// Whether a proof is correct; every wrong proof takes the same time.
    pub(crate) fn is_proven(&self, role: Role, nonces: &Nonces, proof: &str) -> bool {
        let proof = STANDARD.decode(proof).unwrap_or_default();
        self.code(role, nonces).verify_slice(&proof).is_ok()
    }

    fn code(&self, role: Role, nonces: &Nonces) -> Hmac<Sha256> {
        let mut code =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("this code takes keys of every length");
        code.update(match role {
            Role::Client => b"dbdyno observe 1, client\n".as_slice(),
            Role::Observer => b"dbdyno observe 1, observer\n".as_slice(),
        });
        // Base64 contains no blank, so that the separation of the parts is unambiguous.
        code.update(nonces.client.as_bytes());
        code.update(b" ");
        code.update(nonces.observer.as_bytes());
        code
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// New random bytes, base64; an error when the system provides none.
pub(crate) fn nonce() -> std::io::Result<String> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(STANDARD.encode(bytes))
}

/// Whether the other side's random bytes have the required length and are valid.
pub(crate) fn is_nonce(text: &str) -> bool {
    STANDARD
        .decode(text)
        .is_ok_and(|bytes| bytes.len() == NONCE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text).unwrap()
    }

    fn nonces() -> Nonces {
        Nonces {
            client: nonce().unwrap(),
            observer: nonce().unwrap(),
        }
    }

    #[test]
    fn a_proof_holds_for_its_secret_its_role_and_its_login_only() {
        let ours = secret("0123456789abcdef");
        let login = nonces();
        let proof = ours.proof(Role::Client, &login);
        assert!(ours.is_proven(Role::Client, &login, &proof));
        assert!(!ours.is_proven(Role::Observer, &login, &proof));
        assert!(!ours.is_proven(Role::Client, &nonces(), &proof));
        assert!(!secret("0123456789abcdeF").is_proven(Role::Client, &login, &proof));
        let swapped = Nonces {
            client: login.observer.clone(),
            observer: login.client.clone(),
        };
        assert!(!ours.is_proven(Role::Client, &swapped, &proof));
        for wrong in ["", "AAAA", "?", &proof[..proof.len() - 4]] {
            assert!(!ours.is_proven(Role::Client, &login, wrong), "{wrong}");
        }
    }

    /// An HMAC of RFC 2104 over SHA-256, computed with OpenSSL.
    #[test]
    fn the_proof_is_the_published_code() {
        let login = Nonces {
            client: "Y2xpZW50".to_owned(),
            observer: "b2JzZXJ2ZXI=".to_owned(),
        };
        assert_eq!(
            secret("0123456789abcdef").proof(Role::Client, &login),
            "LkMejrtlgq0F1fYbQ8XncNjOXscn1HtOci0tPxM7cXE="
        );
    }

    #[test]
    fn a_short_secret_is_refused_and_none_is_shown() {
        assert_eq!(Secret::new("short"), Err(SecretTooShort(5)));
        let shown = format!("{:?}", secret("0123456789abcdef"));
        assert_eq!(shown, "Secret(..)");
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(nonce().unwrap(), nonce().unwrap());
        assert!(is_nonce(&nonce().unwrap()));
        for wrong in ["", "AAAA", "not base64!"] {
            assert!(!is_nonce(wrong), "{wrong}");
        }
    }
}
