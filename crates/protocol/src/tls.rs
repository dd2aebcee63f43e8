//! TLS over a stream, with the certificate checks of each ssl-mode.

mod certificate;
mod session;

use std::{io, path::Path, sync::Arc};

use reactor::Stream;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, InvalidMessage,
    PeerIncompatible, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};

use crate::{
    endpoint::{Address, SslMode},
    error::Error,
};
pub use certificate::ServerTls;
pub(crate) use session::Session;

/// The client's side of TLS: the requirement and the trusted authorities.
#[derive(Debug, Clone)]
pub struct ClientTls {
    pub mode: SslMode,
    config: Arc<ClientConfig>,
}

impl ClientTls {
    /// Reads the file of the authorities if the mode needs it.
    pub fn new(mode: SslMode, ssl_ca: Option<&Path>) -> Result<Self, Error> {
        let config = Arc::new(config(mode, ssl_ca)?);
        Ok(Self { mode, config })
    }

    /// Negotiates TLS with the server at this address.
    pub(crate) async fn agree(
        &self,
        stream: &mut Stream,
        address: &Address,
    ) -> Result<Session, Error> {
        let failed = |what: String| Error::Tls {
            address: address.to_string(),
            what,
        };
        let name = server_name(address).map_err(|error| failed(error.to_string()))?;
        let client = ClientConnection::new(Arc::clone(&self.config), name)
            .map_err(|error| failed(error.to_string()))?;
        let mut session = Session::of_client(client);
        let agreed = session.agree(stream).await;
        agreed.map_err(|error| failed(explain(&error)))?;
        Ok(session)
    }
}

fn server_name(
    address: &Address,
) -> Result<ServerName<'static>, rustls::pki_types::InvalidDnsNameError> {
    match address {
        Address::Tcp { host, .. } => ServerName::try_from(host.clone()),
        Address::Unix(_) => ServerName::try_from("localhost"),
    }
}

/// The most likely cause of a failed handshake.
fn explain(error: &io::Error) -> String {
    use rustls::{AlertDescription, Error as Tls};
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Tls>());
    match inner {
        Some(
            Tls::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            )
            // As sent by yaSSL in MySQL 5.
            | Tls::InvalidMessage(InvalidMessage::UnknownProtocolVersion)
            | Tls::AlertReceived(
                AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
            ),
        ) => "the server does not offer TLS 1.2 or later with a secure cipher".to_owned(),
        Some(Tls::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => "the server's certificate does not come from an authority in the CA file".to_owned(),
        Some(other) => other.to_string(),
        None => error.to_string(),
    }
}

fn config(ssl_mode: SslMode, ssl_ca: Option<&Path>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match ssl_mode {
        SslMode::Disabled | SslMode::Preferred | SslMode::Required => {
            Arc::new(Unverified(Arc::clone(&provider)))
        }
        SslMode::VerifyCa => Arc::new(AnyName(chain_verifier(ssl_ca, &provider)?)),
        SslMode::VerifyIdentity => chain_verifier(ssl_ca, &provider)?,
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring's provider has ciphers for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

const CA_BYTES_MAX: u64 = 16 << 20;

fn chain_verifier(
    ssl_ca: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let Some(path) = ssl_ca else {
        return Err(Error::SslCaMissing);
    };
    let failed = |what: String| Error::SslCa {
        path: path.to_owned(),
        what,
    };
    let mut roots = RootCertStore::empty();
    let text = files::read_regular(path, CA_BYTES_MAX);
    let text = text.map_err(|error| failed(error.to_string()))?;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| failed(error.to_string()))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|_| failed("contains no certificate".to_owned()))
}

/// Accepts any certificate: this protects against passive eavesdropping only.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    // A signature by an untrusted key proves nothing, and checking it would reject the version 1 certificates that
    // MySQL 5.7 generates for itself.
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Verifies the issuer of a certificate, but not the host name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified =
            self.0
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is checked last, so all other checks have passed.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_come_from_a_regular_file_of_a_sensible_size() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, huge) = (dir.path().join("fifo"), dir.path().join("huge"));
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let file = std::fs::File::create(&huge).unwrap();
        file.set_len(1 << 40).unwrap();
        for (path, why) in [(fifo, "a FIFO"), (huge, "longer than 16.0 MiB")] {
            let error = config(SslMode::VerifyCa, Some(&path)).unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(why), "{shown}");
            assert!(shown.contains(path.to_str().unwrap()), "{shown}");
        }
    }
}
