//! The settings that decide whether a server offers TLS, and with which protocols.

use crate::assignment::Assignment;
use crate::catalogue::Family;
use crate::name::is_switched_on;
use crate::rule::Rewrite;
use crate::subject::Subject;
use crate::target::Target;

/// The option that lists the protocols.
pub(crate) const PROTOCOLS: &str = "tls_version";

/// Options that turn TLS on again behind `skip_ssl`.
///
/// Source: MySQL 5.7 and 8.0, `mysqld_get_one_option`: each of these lines sets `opt_use_ssl`.
const TURNING_ON: [&str; 7] = [
    "ssl_ca",
    "ssl_capath",
    "ssl_cert",
    "ssl_cipher",
    "ssl_crl",
    "ssl_crlpath",
    "ssl_key",
];

/// The protocols that a version of MySQL has.
///
/// Source: MySQL Reference Manual, "Encrypted Connection TLS Protocols and Ciphers".
pub(crate) fn protocols(target: &Target) -> &'static [&'static str] {
    let is_at_least = |numbers: &[u32]| target.is_at_least(Family::MySql, numbers);
    if is_at_least(&[8, 0, 28]) {
        &["TLSv1.2", "TLSv1.3"]
    } else if is_at_least(&[8, 0, 16]) {
        &["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]
    } else {
        &["TLSv1", "TLSv1.1", "TLSv1.2"]
    }
}

/// Whether a line sets the switch `ssl`, which the version need not have.
fn is_switch(line: &Assignment<'_>) -> bool {
    line.entry.name.base() == "ssl"
}

/// Whether a line turns TLS off by its switch.
fn turns_off(line: &Assignment<'_>) -> bool {
    let is_on = is_switched_on(&line.entry.name, line.entry.value.as_deref());
    is_switch(line) && is_on == Some(false)
}

/// The line that turns TLS off; `None` if a later line turns it on again.
pub(crate) fn line_without_tls<'s, 'a>(subject: &'s Subject<'a>) -> Option<&'s Assignment<'a>> {
    let mut lines = subject.read().rev();
    let last = lines.find(|line| is_switch(line) || TURNING_ON.contains(&line.entry.name.base()));
    last.filter(|line| turns_off(line))
}

/// The line in the place of `ssl` for a version of MySQL that turns TLS off by an empty list of protocols; `None` for
/// other lines and versions, and `Some(None)` if the file has a list.
///
/// Source: MySQL Reference Manual 8.0, "Server Command Options", `--ssl`: deprecated as of 8.0.26, use an empty
/// `tls_version`.
pub(crate) fn switch_rewritten(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
) -> Option<Option<Rewrite>> {
    let is_new = subject.target.is_at_least(Family::MySql, &[8, 0, 16]);
    if !is_new || !is_switch(line) {
        return None;
    }
    let deciding = line_without_tls(subject).map(|deciding| &deciding.entry.origin);
    if deciding != Some(&line.entry.origin) {
        return Some(Some(Rewrite::Remove));
    }
    let is_free = subject.set(PROTOCOLS).is_none();
    Some(is_free.then(|| Rewrite::Replace(format!("{PROTOCOLS} = \"\""))))
}
