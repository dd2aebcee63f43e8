//! Passwords and their proofs on the way between two sides of different safety.

use std::sync::OnceLock;

use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use rsa::{
    Oaep, RsaPrivateKey,
    pkcs8::{EncodePublicKey, LineEnding},
    rand_core::OsRng,
};
use sha1::{Digest as _, Sha1};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::{error::Error, login_methods::encrypted, server_key};

/// Bits of a key of our own; MySQL makes keys of this length, too.
const BITS: usize = 2048;

/// Encrypts a password with its final zero by the key that a server sent, for the login with this challenge.
pub fn encrypt_for_server(pem: &[u8], nonce: &[u8], clear: &[u8]) -> Result<Vec<u8>, Error> {
    let key = server_key::received(pem)?;
    let secret = encrypted(&key, nonce, Zeroizing::new(clear.to_vec()))?;
    Ok(secret.to_vec())
}

/// An RSA key of our own, with which clients encrypt passwords.
pub struct OwnKey {
    key: RsaPrivateKey,
    pem: String,
}

impl OwnKey {
    /// The key of this process, once it is made; it takes up to some seconds, in a thread of its own.
    pub async fn get() -> Option<&'static Self> {
        static KEY: OnceLock<Option<OwnKey>> = OnceLock::new();
        static START: OnceLock<()> = OnceLock::new();
        /// Interval at which it checks for the key.
        const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(5);
        START.get_or_init(|| {
            let make = || KEY.set(Self::make()).is_ok();
            if std::thread::Builder::new()
                .name("rsa-key".to_owned())
                .spawn(make)
                .is_err()
            {
                // Without threads the login fails instead of waiting.
                let _ = KEY.set(None);
            }
        });
        loop {
            if let Some(key) = KEY.get() {
                return key.as_ref();
            }
            reactor::sleep(LOOK_EVERY).await;
        }
    }

    fn make() -> Option<Self> {
        let key = RsaPrivateKey::new(&mut OsRng, BITS).ok()?;
        let pem = key.to_public_key().to_public_key_pem(LineEnding::LF).ok()?;
        Some(Self { key, pem })
    }

    /// The public key, as a server sends it.
    pub fn pem(&self) -> &[u8] {
        self.pem.as_bytes()
    }

    /// The password with its final zero that a client has encrypted for the login with this challenge; `None` if it was
    /// encrypted with another key.
    pub fn decrypt(&self, nonce: &[u8], encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let nonce = nonce.get(..20)?;
        let clear = self
            .key
            .decrypt_blinded(&mut OsRng, Oaep::new::<Sha1>(), encrypted);
        let mut clear = Zeroizing::new(clear.ok()?);
        for (byte, mask) in clear.iter_mut().zip(nonce.iter().cycle()) {
            *byte ^= mask;
        }
        (clear.last() == Some(&0)).then_some(clear)
    }
}

/// Whether a client's proof is that of this password, by caching_sha2_password.
pub fn sha2_proof_fits(password: &[u8], nonce: &[u8], proof: &[u8]) -> bool {
    let right = nonce
        .first_chunk()
        .and_then(|nonce| scramble_sha256(nonce, password));
    // Every byte is compared, so that the time says nothing about the place of a difference.
    right.is_some_and(|right| {
        right.len() == proof.len()
            && right.iter().zip(proof).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    })
}

/// The text in the OK packet of a login by mysql_native_password from which a client of MariaDB 11.4 or later sees that a
/// self-signed certificate is that of a server which knows the password.
///
/// Source: MariaDB Connector/C 3.4, `run_plugin_auth` and `native_password_hash`: the SHA-256, in capital hexadecimal
/// digits behind a byte 1, of the double SHA-1 of the password, the challenge and the certificate's SHA-256.
pub fn certificate_proof(password: &[u8], nonce: &[u8], fingerprint: &[u8; 32]) -> String {
    let stored = Sha1::digest(Sha1::digest(password));
    let digest = Sha256::new()
        .chain_update(stored)
        .chain_update(nonce)
        .chain_update(fingerprint)
        .finalize();
    let digits: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("\u{1}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_survives_both_keys() {
        let key = OwnKey::make().unwrap();
        let nonce = b"0123456789abcdefghij";
        let secret =
            encrypt_for_server(key.pem(), nonce, b"a long password, longer than 20\0").unwrap();
        let clear = key.decrypt(nonce, &secret).unwrap();
        assert_eq!(&clear[..], b"a long password, longer than 20\0");
        assert!(key.decrypt(nonce, &secret[1..]).is_none());
        let other = OwnKey::make().unwrap();
        assert!(other.decrypt(nonce, &secret).is_none());
    }

    #[test]
    fn a_proof_by_sha2_fits_its_password_and_challenge() {
        let nonce = b"0123456789abcdefghij";
        let proof = scramble_sha256(nonce, b"secret").unwrap();
        assert!(sha2_proof_fits(b"secret", nonce, &proof));
        assert!(!sha2_proof_fits(b"other", nonce, &proof));
        assert!(!sha2_proof_fits(b"secret", nonce, &proof[..31]));
        assert!(!sha2_proof_fits(b"", nonce, b""));
    }
}
