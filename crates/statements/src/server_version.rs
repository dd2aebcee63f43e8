//! Whether a server is from a version on, by the version that it sends at the login.

use protocol::relay::server_version_number;

/// Whether a server is MySQL, or else MariaDB, from these versions on: 80036 is 8.0.36.
pub(crate) fn is_from(version: &str, mysql: u32, mariadb: u32) -> bool {
    // MariaDB puts this before its version, so that old replicas of MySQL accept it.
    let own = version.strip_prefix("5.5.5-").unwrap_or(version);
    let number = server_version_number(own.as_bytes());
    let is_mariadb = own.to_ascii_lowercase().contains("mariadb");
    number >= if is_mariadb { mariadb } else { mysql }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_versions_of_their_own() {
        for (version, expected) in [
            ("5.7.44-log", false),
            ("8.0.36-28", true),
            ("10.5.2-MariaDB", false),
            ("5.5.5-10.6.2-MariaDB", true),
            ("a proxy", false),
        ] {
            assert_eq!(is_from(version, 80_000, 100_600), expected, "{version}");
        }
    }
}
