//! A server's public RSA key: its parsing, and its use for encrypting a password.

use std::path::PathBuf;

use rsa::{RsaPublicKey, pkcs8::DecodePublicKey, traits::PublicKeyParts};

use crate::error::Error;

/// Bits of the shortest accepted key. MySQL generates keys of this length.
const BITS_MIN: usize = 2048;
/// Largest size of a key file: 16,384 bits need less than 3 KB.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The RSA key that encrypts a password if a login method needs the password itself and the connection is neither
/// encrypted nor a unix socket. As in MySQL's clients, no key is used unless the user chooses one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ServerKey {
    /// No key: such a login is refused.
    #[default]
    Refused,
    /// The key that the server sends. An impostor that answers in the server's place would receive the password.
    Asked,
    /// The key in this PEM file, a copy of the server's `public_key.pem`.
    File(PathBuf),
}

impl ServerKey {
    /// The key of the file; `None` if no file is used.
    pub(crate) fn read(&self) -> Result<Option<RsaPublicKey>, Error> {
        let Self::File(path) = self else {
            return Ok(None);
        };
        let wrong = |what: String| Error::ServerKey {
            from: path.display().to_string(),
            what,
        };
        let text = files::read_regular(path, FILE_BYTES_MAX);
        let text = text.map_err(|error| wrong(error.to_string()))?;
        parse(&text).map(Some).map_err(wrong)
    }
}

/// Parses a key sent by a server.
pub(crate) fn received(pem: &[u8]) -> Result<RsaPublicKey, Error> {
    parse(pem).map_err(|what| Error::ServerKey {
        from: "the server's public key".to_owned(),
        what,
    })
}

fn parse(pem: &[u8]) -> Result<RsaPublicKey, String> {
    let text = std::str::from_utf8(pem).map_err(|_| "no PEM text".to_owned())?;
    let key = RsaPublicKey::from_public_key_pem(text.trim_matches(['\0', '\n', '\r', ' ']))
        .map_err(|error| format!("cannot be read as a public key: {error}"))?;
    let bits = key.n().bits();
    if bits < BITS_MIN {
        Err(format!(
            "has {bits} bits, and a password is only encrypted with {BITS_MIN} or more"
        ))
    } else {
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_from_a_regular_file_of_a_sensible_size() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, huge) = (dir.path().join("fifo"), dir.path().join("huge"));
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let file = std::fs::File::create(&huge).unwrap();
        file.set_len(1 << 40).unwrap();
        for (path, why) in [(fifo, "a FIFO"), (huge, "longer than 64.0 KiB")] {
            let shown = ServerKey::File(path).read().unwrap_err().to_string();
            assert!(shown.contains(why), "{shown}");
        }
    }
}
