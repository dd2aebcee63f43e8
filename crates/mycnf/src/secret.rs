//! Options whose value is a secret: what no output shows.

use std::borrow::Cow;

use crate::{line::is_space, name::OptionName};

/// What stands in place of a secret.
pub const MASK: &str = "...";

/// Options with a secret that some version takes by an abbreviation, each in two parts: the shortest abbreviation that no
/// other option shares (`report_p` is also `report_port`), and the rest of the name.
///
/// Source: the options of MariaDB with its plugins, of Percona Server 5.6, and of the clients.
const SECRETS: [(&str, &str); 8] = [
    ("file_key_management_filek", "ey"),
    ("hashicorp_key_management_to", "ken"),
    ("pas", "sword"),
    ("report_pa", "ssword"),
    ("s3_a", "ccess_key"),
    ("s3_se", "cret_key"),
    ("utility_user_pa", "ssword"),
    ("wsrep_sst_a", "uth"),
];

/// Parts of a name that say that it is of a secret. A name that no version has is judged, too.
const PARTS: [&str; 4] = ["pass", "pwd", "secret", "sst_au"];

/// Options about passwords that hold none.
const HARMLESS: [&str; 12] = [
    "default_password_lifetime",
    "disconnect_on_expired_password",
    "generated_random_password_length",
    "log_builtin_as_identified_by_password",
    "max_password_errors",
    "mysql_native_password",
    "old_passwords",
    "password_history",
    "password_require_current",
    "password_reuse_interval",
    "sha256_password",
    "strict_password_validation",
];

/// Beginnings of the names of plugins' options about passwords that hold none.
const HARMLESS_BEGINNINGS: [&str; 7] = [
    "caching_sha2_password",
    "cracklib_password_check",
    "mysql_native_password_",
    "password_reuse_check",
    "sha256_password_",
    "simple_password_check",
    "validate_password",
];

/// Whether the value of an option is a secret.
pub fn is_secret(name: &OptionName) -> bool {
    let name = name.base();
    let is_harmless = HARMLESS.contains(&name)
        || HARMLESS_BEGINNINGS
            .iter()
            .any(|begin| name.starts_with(begin));
    is_or_abbreviates_secret(name) || (!is_harmless && PARTS.iter().any(|part| name.contains(part)))
}

/// Whether a name is that of one of `SECRETS`, or an abbreviation of it.
fn is_or_abbreviates_secret(name: &str) -> bool {
    let mut secrets = SECRETS.iter();
    secrets.any(|(shortest, rest)| abbreviates(name, shortest, rest))
}

fn abbreviates(name: &str, shortest: &str, rest: &str) -> bool {
    let more = name.strip_prefix(shortest);
    more.is_some_and(|more| rest.starts_with(more))
}

/// Whether a name is that of an option, or, if the option is one of `SECRETS`, an abbreviation of it. The version does not
/// matter: a line that a version refuses still contains the secret.
pub(crate) fn is_or_abbreviates(name: &OptionName, full: &str) -> bool {
    let name = name.base();
    let mut secrets = SECRETS.iter();
    let is_abbreviation = secrets.any(|(shortest, rest)| {
        full.strip_prefix(shortest) == Some(*rest) && abbreviates(name, shortest, rest)
    });
    name == full || is_abbreviation
}

/// The value of an option as it may be shown.
pub fn shown_value<'a>(name: &OptionName, value: &'a str) -> &'a str {
    if is_secret(name) { MASK } else { value }
}

/// A line of an option file as it may be shown, also a comment that was an option; without its line feed.
pub fn shown_line(line: &str) -> Cow<'_, str> {
    match secret_of(line) {
        None => Cow::Borrowed(line),
        Some(value) => {
            let begin = line.len() - value.len();
            Cow::Owned(format!("{} {MASK}", &line[..begin]))
        }
    }
}

/// The secret that a line sets, with the blanks around it, also as a comment; `None` for an empty one.
pub(crate) fn secret_of(line: &str) -> Option<&str> {
    let begin = |character: char| is_space(character) || matches!(character, '#' | ';');
    let (name, value) = line.trim_start_matches(begin).split_once('=')?;
    let name = OptionName::new(name.trim_end_matches(is_space));
    (is_secret(&name) && !value.trim_matches(is_space).is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue::{Catalogue, Family, Product};

    #[test]
    fn every_known_option_is_on_the_right_side() {
        let versions = [
            (Family::MySql, [5, 5, 9]),
            (Family::MySql, [5, 7, 22]),
            (Family::MySql, [8, 0, 33]),
            (Family::MySql, [9, 7, 0]),
            (Family::MariaDb, [10, 5, 0]),
            (Family::MariaDb, [11, 8, 0]),
        ];
        let catalogues = versions.map(|(family, version)| Catalogue::nearest(family, &version));
        let documented = Product::ALL.into_iter().flat_map(Catalogue::all);
        let documented: Vec<Catalogue> = documented.filter(Catalogue::is_documented).collect();
        let catalogues = catalogues.iter().chain(&documented);
        let names = catalogues.flat_map(Catalogue::names);
        let secrets: BTreeSet<&str> = names
            .filter(|name| is_secret(&OptionName::new(name)))
            .collect();
        assert_eq!(
            secrets.into_iter().collect::<Vec<_>>(),
            [
                "keyring_migration_password",
                "report_password",
                "utility_user_password",
                "wsrep_sst_auth"
            ]
        );
    }

    #[test]
    fn an_abbreviation_of_a_secret_is_one() {
        let catalogues = Product::ALL.into_iter().flat_map(Catalogue::all);
        let mut abbreviated = BTreeSet::new();
        for catalogue in catalogues {
            let secrets = catalogue.names();
            for full in secrets.filter(|full| is_secret(&OptionName::new(full))) {
                for end in 1..full.len() {
                    let name = OptionName::new(&full[..end]);
                    if catalogue.listed_name(&name) == Some(full) {
                        assert!(is_secret(&name), "{name}");
                        abbreviated.insert(full);
                    }
                }
            }
        }
        let abbreviated: Vec<&str> = abbreviated.into_iter().collect();
        assert_eq!(abbreviated, ["report_password", "wsrep_sst_auth"]);
    }

    #[test]
    fn names_as_people_write_them() {
        for name in [
            "password",
            "pass",
            "pas",
            "report_pa",
            "Report-Pas",
            "wsrep_sst_a",
            "s3_se",
            "password2",
            "Report-Password",
            "loose-report_pass",
            "master_password",
            "WSREP-SST-AUTH",
            "wsrep_sst_aut",
            "authentication_ldap_simple_bind_root_pwd",
            "ssl_passphrase",
            "s3-secret-key",
            "report_passwrd",
        ] {
            assert!(is_secret(&OptionName::new(name)), "{name}");
        }
        for name in [
            "validate_password.policy",
            "skip-name-resolve",
            "report_p",
            "s3_slave_ignore_updates",
            "user",
            "pa",
            "",
        ] {
            assert!(!is_secret(&OptionName::new(name)), "{name}");
        }
    }

    #[test]
    fn lines_keep_all_but_the_secret() {
        for (line, shown) in [
            ("wsrep_sst_auth = root:mimsy # x", "wsrep_sst_auth = ..."),
            ("report_pa = mimsy", "report_pa = ..."),
            ("# report-password=mimsy", "# report-password= ..."),
            ("report_password=", "report_password="),
            ("report_password", "report_password"),
            ("port=3306", "port=3306"),
            ("[mysqld]", "[mysqld]"),
        ] {
            assert_eq!(shown_line(line), shown);
        }
    }
}
