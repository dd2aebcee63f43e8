//! Tests of TLS at each ssl-mode.

use std::{fs, path::PathBuf};

use protocol::{Connection, Endpoint, Error, SslMode};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use reactor::block_on;

use crate::mariadb::server::Server;

/// An authority and a server certificate for `127.0.0.1` or another name.
pub(crate) struct Certificates {
    dir: tempfile::TempDir,
}

impl Certificates {
    pub(crate) fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &authority).unwrap();
        fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
        fs::write(dir.path().join("cert.pem"), certificate.pem()).unwrap();
        fs::write(dir.path().join("key.pem"), key.serialize_pem()).unwrap();
        Self { dir }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn start_server(&self, more: &[&str]) -> Option<Server> {
        let mut options: Vec<String> = Vec::new();
        for (option, file) in [
            ("ssl-ca", "ca.pem"),
            ("ssl-cert", "cert.pem"),
            ("ssl-key", "key.pem"),
        ] {
            options.push(format!("--{option}={}", self.file(file).display()));
        }
        let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
        options.extend(more);
        Server::start(&options)
    }
}

/// Whether the connection is encrypted, according to the client and to the server.
fn encrypted(endpoint: &Endpoint) -> Result<bool, Error> {
    block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let sets = connection.rows("SHOW STATUS LIKE 'Ssl_cipher'").await?;
        let cipher = sets[0].rows[0][1].clone().unwrap();
        assert_eq!(connection.tls(), !cipher.is_empty());
        // More than one record, and more than the session buffers.
        let outcome = connection
            .query(b"SELECT REPEAT('x', 100000) FROM mysql.seq_1_to_30")
            .await?;
        assert_eq!(outcome.rows, 30);
        let long = format!("SELECT LENGTH('{}')", "x".repeat(1_000_000));
        assert_eq!(connection.query(long.as_bytes()).await?.rows, 1);
        let tls = connection.tls();
        connection.close().await?;
        Ok(tls)
    })
    .unwrap()
}

fn with(endpoint: &Endpoint, ssl_mode: SslMode, ssl_ca: Option<PathBuf>) -> Endpoint {
    Endpoint {
        ssl_mode,
        ssl_ca,
        ..endpoint.clone()
    }
}

#[test]
fn each_mode_insists_on_what_it_says() {
    let certificates = Certificates::new("127.0.0.1");
    let Some(server) = certificates.start_server(&[]) else {
        return;
    };
    let stranger = Certificates::new("127.0.0.1");
    let tcp = server.over_tcp(server.root());
    let (ca, other_ca) = (
        Some(certificates.file("ca.pem")),
        Some(stranger.file("ca.pem")),
    );

    for (mode, expected) in [
        (SslMode::Disabled, false),
        (SslMode::Preferred, true),
        (SslMode::Required, true),
    ] {
        assert_eq!(
            encrypted(&with(&tcp, mode, None)).unwrap(),
            expected,
            "{mode}"
        );
    }
    for mode in [SslMode::VerifyCa, SslMode::VerifyIdentity] {
        assert!(encrypted(&with(&tcp, mode, ca.clone())).unwrap());
        let error = encrypted(&with(&tcp, mode, other_ca.clone())).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("does not come from an authority"),
            "{error}"
        );
        let error = encrypted(&with(&tcp, mode, None)).unwrap_err();
        assert!(matches!(error, Error::SslCaMissing), "{error}");
        let error =
            encrypted(&with(&tcp, mode, Some(certificates.file("missing.pem")))).unwrap_err();
        assert!(matches!(error, Error::SslCa { .. }), "{error}");
        let error = encrypted(&with(&tcp, mode, Some(certificates.file("key.pem")))).unwrap_err();
        assert!(error.to_string().contains("no certificate"), "{error}");
    }
    // As with the mysql client: a unix socket needs no encryption, but supports it if required.
    let unix = server.root();
    assert!(!encrypted(&with(&unix, SslMode::Preferred, None)).unwrap());
    assert!(encrypted(&with(&unix, SslMode::Required, None)).unwrap());
}

#[test]
fn only_verify_identity_looks_at_the_name() {
    let certificates = Certificates::new("db.example");
    let Some(server) = certificates.start_server(&[]) else {
        return;
    };
    let ca = Some(certificates.file("ca.pem"));
    let tcp = server.over_tcp(server.root());
    assert!(encrypted(&with(&tcp, SslMode::VerifyCa, ca.clone())).unwrap());
    let error = encrypted(&with(&tcp, SslMode::VerifyIdentity, ca)).unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn a_server_without_tls_is_refused_by_who_insists() {
    let Some(server) = Server::start(&["--skip-ssl"]) else {
        return;
    };
    let tcp = server.over_tcp(server.root());
    assert!(!encrypted(&with(&tcp, SslMode::Preferred, None)).unwrap());
    let error = encrypted(&with(&tcp, SslMode::Required, None)).unwrap_err();
    assert!(
        error.to_string().contains("the server offers none"),
        "{error}"
    );
}

#[test]
fn a_server_with_old_tls_only_is_told_apart() {
    let certificates = Certificates::new("127.0.0.1");
    let options = ["--tls-version=TLSv1.1", "--ssl-cipher=ALL:@SECLEVEL=0"];
    let Some(server) = certificates.start_server(&options) else {
        return;
    };
    let tcp = server.over_tcp(server.root());
    let error = encrypted(&with(&tcp, SslMode::Required, None)).unwrap_err();
    assert!(
        error.to_string().contains("not offer TLS 1.2 or later"),
        "{error}"
    );
    assert!(
        !encrypted(&with(&tcp, SslMode::Preferred, None)).unwrap(),
        "falls back"
    );
}
