//! The options that a version has in another build than that of its catalogue.

use crate::catalogue::Family;
use crate::name::OptionName;
use crate::subject::Subject;
use crate::target::Target;

/// Options of MySQL builds with a TLS library, and with OpenSSL. The catalogue of 5.5 is of a build without TLS, and those
/// of 5.6 and 5.7 are of builds with yaSSL.
///
/// Source: MySQL 5.5 Reference Manual, "Command Options for Encrypted Connections"; MySQL 5.7 Reference Manual, "SSL
/// Library-Dependent Capabilities".
const OF_OTHER_BUILDS: [(&[u32], &[&str]); 3] = [
    (
        &[5, 5],
        &[
            "ssl",
            "ssl_ca",
            "ssl_capath",
            "ssl_cert",
            "ssl_cipher",
            "ssl_key",
        ],
    ),
    (
        &[5, 6],
        &[
            "sha256_password_private_key_path",
            "sha256_password_public_key_path",
        ],
    ),
    (
        &[5, 7],
        &[
            "auto_generate_certs",
            "sha256_password_auto_generate_rsa_keys",
            "sha256_password_private_key_path",
            "sha256_password_public_key_path",
        ],
    ),
];

/// Whether another build of the version has the option. The catalogue's own version is the one of its build.
pub(crate) fn is_of_other_build(subject: &Subject<'_>, name: &OptionName) -> bool {
    let target = subject.target;
    let is_its = |series: &[u32], options: &[&str]| {
        target.numbers().starts_with(series) && options.contains(&name.base())
    };
    let mut all = OF_OTHER_BUILDS.iter();
    *target != Target::of_catalogue(&subject.catalogue)
        && target.family() == Family::MySql
        && all.any(|(series, options)| is_its(series, options))
}
