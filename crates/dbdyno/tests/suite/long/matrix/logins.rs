//! Each login method, over each transport that it supports.

use protocol::{Endpoint, Error, SslMode};

use crate::long::matrix::{
    accounts::{self, PASSWORD, USER},
    results::Cell,
    subject::{Subject, as_user, rows},
    tls,
};

const CACHING: &str = "caching_sha2_password";
const SHA256: &str = "sha256_password";

/// The account of a connection.
fn whoami(endpoint: &Endpoint) -> Result<String, Error> {
    Ok(rows(endpoint, "SELECT CURRENT_USER()")?.remove(0).remove(0))
}

/// The right password is accepted at this endpoint and a wrong one is not; twice, for servers with a login cache.
fn only_the_password_opens(place: &Endpoint) {
    let [right, wrong, empty] =
        [PASSWORD, "wrong", ""].map(|password| as_user(place.clone(), USER, password));
    for _ in 0..2 {
        assert_eq!(whoami(&right).unwrap(), format!("{USER}@%"));
        for wrong in [&wrong, &empty] {
            let error = whoami(wrong).unwrap_err();
            assert_eq!(error.server_number(), Some(1045), "{error}");
        }
    }
}

/// Creates the account and tests it at this endpoint.
fn password_login(subject: &Subject, plugin: &str, place: Endpoint) -> Cell {
    if let Err(reason) = accounts::create(subject, plugin) {
        return Cell::Skipped(reason);
    }
    only_the_password_opens(&place);
    Cell::Ok
}

/// Tests the account over the socket and over plain TCP.
fn everywhere(subject: &Subject, plugin: &str) -> Cell {
    match password_login(subject, plugin, subject.by_socket()) {
        Cell::Ok => password_login(subject, plugin, subject.by_tcp(SslMode::Disabled)),
        skipped => skipped,
    }
}

/// Executes the check over TLS, if both sides support it.
fn with_tls(
    subject: &Subject,
    plugin: &str,
    check: impl FnOnce(&Subject, &str, Endpoint) -> Cell,
) -> Cell {
    let hindrance = accounts::load(subject, plugin).err();
    match hindrance.or_else(|| tls::hindrance(subject)) {
        Some(reason) => Cell::Skipped(reason),
        None => check(subject, plugin, subject.by_tcp(SslMode::Required)),
    }
}

pub(crate) fn native(subject: &mut Subject) -> Cell {
    everywhere(subject, "mysql_native_password")
}

/// Like [`only_the_password_opens`] for a server that caches the password after the first login: the second login
/// sends less.
fn full_then_fast(subject: &Subject, plugin: &str, place: Endpoint) -> Cell {
    if let Err(reason) = accounts::create(subject, plugin) {
        return Cell::Skipped(reason);
    }
    let right = as_user(place.clone(), USER, PASSWORD);
    subject.run(&["FLUSH PRIVILEGES"]);
    let [full, fast, again] = [(); 3].map(|()| {
        let status = rows(&right, "SHOW SESSION STATUS LIKE 'Bytes_received'").unwrap();
        status[0][1].parse::<u64>().unwrap()
    });
    assert!(
        full > fast && fast == again,
        "bytes of the logins: {full}, {fast}, {again}"
    );
    only_the_password_opens(&place);
    Cell::Ok
}

pub(crate) fn caching_sha2_by_rsa(subject: &mut Subject) -> Cell {
    full_then_fast(subject, CACHING, subject.by_tcp(SslMode::Disabled))
}

pub(crate) fn caching_sha2_by_tls(subject: &mut Subject) -> Cell {
    with_tls(subject, CACHING, full_then_fast)
}

pub(crate) fn caching_sha2_by_socket(subject: &mut Subject) -> Cell {
    full_then_fast(subject, CACHING, subject.by_socket())
}

pub(crate) fn sha256_by_rsa(subject: &mut Subject) -> Cell {
    let place = subject.by_tcp(SslMode::Disabled);
    sha256_without_tls(subject, place)
}

pub(crate) fn sha256_by_tls(subject: &mut Subject) -> Cell {
    with_tls(subject, SHA256, password_login)
}

pub(crate) fn sha256_by_socket(subject: &mut Subject) -> Cell {
    sha256_without_tls(subject, subject.by_socket())
}

fn sha256_without_tls(subject: &Subject, place: Endpoint) -> Cell {
    if let Err(reason) = accounts::create(subject, SHA256) {
        return Cell::Skipped(reason);
    }
    if !subject.status("Rsa_public_key").is_empty() {
        only_the_password_opens(&place);
        return Cell::Ok;
    }
    let error = whoami(&as_user(place, USER, PASSWORD)).unwrap_err();
    // Over TCP the client does not even request the key.
    assert!(
        error.server_number() == Some(1045) || error.is_login_refused(),
        "{error}"
    );
    Cell::Skipped("the server has no RSA key for passwords, and refuses".to_owned())
}

pub(crate) fn ed25519(subject: &mut Subject) -> Cell {
    everywhere(subject, "ed25519")
}

pub(crate) fn parsec(subject: &mut Subject) -> Cell {
    everywhere(subject, "parsec")
}

/// The account of the operating system's user can log in without a password, another account cannot.
pub(crate) fn system_account(subject: &mut Subject) -> Cell {
    let (plugin, word) = if subject.is_mariadb() {
        ("unix_socket", "VIA")
    } else {
        ("auth_socket", "WITH")
    };
    if let Err(reason) = accounts::load(subject, plugin) {
        return Cell::Skipped(reason);
    }
    let me = accounts::system_user();
    // Only root exists already, and MySQL 5.5 cannot alter an account's method.
    let _ = subject.try_run(&format!("DROP USER '{me}'@localhost"));
    subject.run(&[
        &format!("CREATE USER '{me}'@localhost IDENTIFIED {word} {plugin}"),
        &format!("CREATE USER stranger@localhost IDENTIFIED {word} {plugin}"),
    ]);
    let place = subject.by_socket();
    let own = as_user(place.clone(), &me, "");
    assert_eq!(whoami(&own).unwrap(), format!("{me}@localhost"));
    let error = whoami(&as_user(place, "stranger", "")).unwrap_err();
    // MySQL reports the error of a wrong password.
    assert!(
        matches!(error.server_number(), Some(1698 | 1045)),
        "{error}"
    );
    Cell::Ok
}
