//! The server's side of TLS: a certificate with its key.

use std::{fmt, io, path::Path, sync::Arc};

use reactor::Stream;
use rustls::{
    ServerConfig, ServerConnection,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
};
use sha2::{Digest, Sha256};

use super::Session;
use crate::error::Error;

/// Largest size of a file with certificates or a key.
const BYTES_MAX: u64 = 1 << 20;

/// The certificate with which a server proves itself, and its key.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    fingerprint: [u8; 32],
}

impl ServerTls {
    /// The certificate, with those between it and its authority, and the key of two PEM files.
    pub fn of_files(certificate: &Path, key: &Path) -> Result<Self, Error> {
        let wrong = |path: &Path, what: String| Error::Certificate {
            path: path.to_owned(),
            what,
        };
        let read = |path: &Path| {
            files::read_regular(path, BYTES_MAX).map_err(|error| wrong(path, error.to_string()))
        };
        let text = read(certificate)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let chain = chain.map_err(|error| wrong(certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(wrong(certificate, "contains no certificate".to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| {
            wrong(
                key,
                "contains no private key without a passphrase".to_owned(),
            )
        })?;
        Self::of(chain, secret).map_err(|error| wrong(key, error.to_string()))
    }

    /// A new certificate for these names that no authority has signed.
    pub fn self_signed(names: Vec<String>) -> Result<Self, Error> {
        let failed = |what: String| Error::Certificate {
            path: "self-signed".into(),
            what,
        };
        let made = rcgen::generate_simple_self_signed(names);
        let made = made.map_err(|error| failed(error.to_string()))?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Self::of(vec![made.cert.der().clone()], key.into())
            .map_err(|error| failed(error.to_string()))
    }

    fn of(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, rustls::Error> {
        let fingerprint = chain
            .first()
            .map_or([0; 32], |own| Sha256::digest(own).into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring's provider has ciphers for TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Self {
            config: Arc::new(config),
            fingerprint,
        })
    }

    /// The SHA-256 of the certificate.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// Negotiates TLS with a client of which these bytes have been received.
    pub(crate) async fn agree(
        &self,
        stream: &mut Stream,
        received: Vec<u8>,
    ) -> io::Result<Session> {
        let server = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        let mut session = Session::of_server(server, received);
        session.agree(stream).await?;
        Ok(session)
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_do_not_fit_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let made = |name: &str| rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let (one, two) = (made("one"), made("two"));
        let certificate = file("cert.pem", &one.cert.pem());
        let key = file("key.pem", &one.signing_key.serialize_pem());
        let other = file("other.pem", &two.signing_key.serialize_pem());
        let loaded = ServerTls::of_files(&certificate, &key).unwrap();
        let expected: [u8; 32] = Sha256::digest(one.cert.der()).into();
        assert_eq!(loaded.fingerprint(), &expected);
        let shown = |certificate: &Path, key: &Path| {
            let error = ServerTls::of_files(certificate, key).unwrap_err();
            error.to_string()
        };
        assert!(shown(&certificate, &other).contains("other.pem"));
        assert!(shown(&key, &key).contains("contains no certificate"));
        assert!(shown(&certificate, &certificate).contains("contains no private key"));
        assert!(shown(&dir.path().join("none"), &key).contains("none"));
    }
}
