//! Whether a server follows a variant's hints: to one that does not know them they are comments.

use blame::{Blame, Blamed};

use super::variant::Variant;
use crate::server_version::is_from;

/// The first version of MariaDB with hints: it has all of them.
const MARIADB: u32 = 120_000;

/// An error for a variant with hints on a server whose optimizer has none.
pub(super) fn check(variant: &Variant, version: &str) -> Result<(), Blamed> {
    if variant.hints.is_empty() || are_hints_known(version) {
        return Ok(());
    }
    let message = format!(
        "variant {}: server {version} has no optimizer hints: it treats them as comments",
        variant.name
    );
    let hint = "MySQL 5.7 and MariaDB 12 have them; on earlier versions, use SET optimizer_switch or 'rewrite FILE'";
    Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
}

/// Whether a server follows hints in comments.
pub(crate) fn are_hints_known(version: &str) -> bool {
    is_from(version, 50_700, MARIADB)
}

/// Whether a server follows hints on the order of tables, such as `JOIN_PREFIX(t)`.
pub(crate) fn are_order_hints_known(version: &str) -> bool {
    is_from(version, 80_001, MARIADB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_refused_where_they_are_comments() {
        let hinted = Variant::parse("mrr: hint MRR(t)").unwrap();
        for (version, is_known) in [
            ("5.6.51", false),
            ("5.7.44-log", true),
            ("8.0.36-28", true),
            ("9.1.0", true),
            ("10.11.19-MariaDB-0+deb12u1", false),
            ("5.5.5-10.6.2-MariaDB", false),
            ("5.5.5-12.1.2-MariaDB-log", true),
            ("a proxy", false),
        ] {
            assert_eq!(check(&hinted, version).is_ok(), is_known, "{version}");
            assert!(check(&Variant::baseline(), version).is_ok());
        }
        let on_order = ["5.7.44", "8.0.36", "10.11.2-MariaDB"].map(are_order_hints_known);
        assert_eq!(on_order, [false, true, false]);
    }
}
