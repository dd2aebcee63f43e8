//! TLS at each level, and its result on servers that are too old for it.

use protocol::{Endpoint, Error, SslMode};

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, rows},
};

/// The TLS version of a new connection according to the server; empty without TLS.
fn version(endpoint: &Endpoint) -> Result<String, Error> {
    let mut rows = rows(endpoint, "SHOW SESSION STATUS LIKE 'Ssl_version'")?;
    Ok(rows.pop().map_or(String::new(), |row| row[1].clone()))
}

/// The reason why no connection to this server can be encrypted.
pub(crate) fn hindrance(subject: &Subject) -> Option<String> {
    if subject.certificates.is_none() {
        return Some("openssl is not installed".to_owned());
    }
    match version(&subject.by_tcp(SslMode::Required)) {
        Ok(_) => None,
        Err(Error::Tls { what, .. }) => Some(what),
        Err(error) => panic!("{error}"),
    }
}

/// Whether a server of this version supports a TLS version that is considered secure.
fn is_modern(subject: &Subject) -> bool {
    let numbers = subject.numbers();
    // Earlier versions support TLS 1.2 at most, and no elliptic curves.
    if subject.is_mariadb() {
        numbers >= vec![10, 5]
    } else {
        numbers >= vec![8, 0, 33]
    }
}

/// Each level enforces its requirement; without a common TLS version only the levels that do not require TLS connect.
pub(crate) fn levels(subject: &mut Subject) -> Cell {
    let Some(certificates) = &subject.certificates else {
        return Cell::Skipped("openssl is not installed".to_owned());
    };
    let ca = certificates.authority();
    let at = |ssl_mode, ssl_ca| Endpoint {
        ssl_ca,
        ..subject.by_tcp(ssl_mode)
    };
    assert_eq!(version(&at(SslMode::Disabled, None)).unwrap(), "");
    let preferred = version(&at(SslMode::Preferred, None)).unwrap();
    if let Some(reason) = hindrance(subject) {
        assert!(!is_modern(subject), "{reason}");
        assert_eq!(preferred, "");
        let error = version(&at(SslMode::Required, None)).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        let told = ["not offer TLS 1.2 or later", "the server offers none"];
        assert!(told.iter().any(|told| reason.contains(told)), "{reason}");
        return Cell::Ok;
    }
    assert!(preferred.starts_with("TLSv1."), "{preferred}");
    assert_eq!(version(&at(SslMode::Required, None)).unwrap(), preferred);
    // MySQL takes the requested database from the TLS request packet.
    let in_test = Endpoint {
        database: Some("test".to_owned()),
        ..at(SslMode::Required, None)
    };
    assert_eq!(rows(&in_test, "SELECT DATABASE()").unwrap(), [["test"]]);
    for mode in [SslMode::VerifyCa, SslMode::VerifyIdentity] {
        assert_eq!(version(&at(mode, Some(ca.clone()))).unwrap(), preferred);
        let stranger = ca.with_file_name("cert.pem");
        let error = version(&at(mode, Some(stranger))).unwrap_err();
        assert!(matches!(error, Error::Tls { .. }), "{error}");
    }
    Cell::Ok
}
