//! The letter case of option names: which versions take any.

use crate::family::{Family, Product};
use crate::name::OptionName;

/// The first version of each series of MariaDB that compares names, and prefixes such as `skip-`, without regard to case.
/// Later series have always done so. Series that ended before never did, and neither does MySQL.
///
/// Source: MDEV-27126 in the changelogs of these versions, which changes `getopt_compare_strings` in my_getopt.c; MariaDB
/// 10.11 and MySQL 8.0.33 with `Max_Connections = 300`, and MariaDB 10.11 with `Skip-Log-Bin`.
const FIRST: [[u32; 3]; 5] = [
    [10, 5, 29],
    [10, 6, 22],
    [10, 11, 12],
    [11, 4, 6],
    [11, 8, 2],
];

/// Options that the servers themselves write with capital letters, so that every version takes these.
///
/// Source: sys_vars.cc of MariaDB.
const WITH_CAPITALS: [&str; 6] = [
    "wsrep_OSU_method",
    "wsrep_SR_store",
    "wsrep_certify_nonPK",
    "wsrep_convert_LOCK_to_trx",
    "wsrep_slave_FK_checks",
    "wsrep_slave_UK_checks",
];

/// Whether a version takes names in any letter case. A series (`10.11`) or a bare major version means its newest version.
pub(crate) fn takes_any_case(product: Product, version: &[u32]) -> bool {
    if product.family() != Family::MariaDb {
        return false;
    }
    let series = &version[..version.len().min(2)];
    match FIRST.iter().rfind(|first| first.starts_with(series)) {
        Some(first) => version.len() <= 2 || version >= first.as_slice(),
        None => series > &FIRST[FIRST.len() - 1][..2],
    }
}

/// Whether a name has the letters that the servers write it with, which are almost always small.
pub(crate) fn is_in_own_case(name: &OptionName) -> bool {
    let written = name.as_written();
    if !written.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return true;
    }
    let written = written.replace('-', "_");
    WITH_CAPITALS.iter().any(|own| written.ends_with(*own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mariadb_takes_any_case_since_a_version_of_each_series() {
        use Product::{MariaDb, MySql, Percona};
        let cases: [(Product, &[u32], bool); 16] = [
            (MariaDb, &[10, 2, 11], false),
            (MariaDb, &[10, 5, 23], false),
            (MariaDb, &[10, 5, 29], true),
            (MariaDb, &[10, 7, 8], false),
            (MariaDb, &[10, 11], true),
            (MariaDb, &[10, 11, 11], false),
            (MariaDb, &[10, 11, 19], true),
            (MariaDb, &[11], true),
            (MariaDb, &[11, 4], true),
            (MariaDb, &[11, 4, 5], false),
            (MariaDb, &[11, 7, 2], false),
            (MariaDb, &[11, 8, 6], true),
            (MariaDb, &[12], true),
            (MariaDb, &[12, 0, 1], true),
            (MySql, &[9, 7], false),
            (Percona, &[8, 0, 36], false),
        ];
        for (product, version, takes_any) in cases {
            let found = takes_any_case(product, version);
            assert_eq!(found, takes_any, "{product:?} {version:?}");
        }
    }

    #[test]
    fn some_names_have_capital_letters_of_their_own() {
        for (name, is_own) in [
            ("max_connections", true),
            ("Max_Connections", false),
            ("SKIP-LOG-BIN", false),
            ("wsrep_OSU_method", true),
            ("loose-wsrep-slave-UK-checks", true),
            ("WSREP_osu_method", false),
        ] {
            assert_eq!(is_in_own_case(&OptionName::new(name)), is_own, "{name}");
        }
    }
}
