//! Selection of the tested versions.

use server::Installation;

/// A server to test.
pub(crate) struct Version {
    /// Name in `dbdyno run` and `dbdyno server`, such as `mysql-8.0.33`.
    pub(crate) name: String,
    /// Label in the table, with the full version number.
    pub(crate) label: String,
    pub(crate) installation: Installation,
}

/// The machine's own servers, or their replacements: one of each flavour.
const FLAVOURS: [&str; 2] = ["mariadb", "mysql"];

/// Minimum number of versions in the matrix, and the required ones.
const ENOUGH: usize = 8;
const NEEDED: [&str; 5] = [
    "mysql 5.",
    "mysql 8.0.33",
    "mysql 9.",
    "mariadb 10.",
    "mariadb 11.",
];

/// The versions to test: one of each flavour, or in addition all that `dbdyno server install` has installed.
pub(crate) fn to_test(full: bool) -> Vec<Version> {
    let root = server::installs_root().filter(|_| full);
    let installed = root.map_or(Vec::new(), |root| server::installed(&root).unwrap());
    let installed = installed
        .into_iter()
        .map(|installed| (installed.name, installed.installation));
    let own = FLAVOURS.into_iter().filter_map(|flavour| {
        let found = Installation::find(Some(flavour), None);
        Some((flavour.to_owned(), found.ok()?))
    });
    let mut versions: Vec<Version> = Vec::new();
    for (name, installation) in installed.chain(own) {
        if versions
            .iter()
            .any(|other| other.installation.mysqld == installation.mysqld)
        {
            continue;
        }
        let number = installation.version.split(['-', ' ']).next();
        let mut label = format!("{} {}", installation.flavour, number.unwrap_or_default());
        if versions.iter().any(|other| other.label == label) {
            label.push_str(", the other");
        }
        versions.push(Version {
            name,
            label,
            installation,
        });
    }
    versions
}

/// Panics if the matrix has too few versions, or lacks a generation.
#[track_caller]
pub(crate) fn must_be_enough(versions: &[&str]) {
    assert!(
        versions.len() >= ENOUGH,
        "the matrix needs {ENOUGH} versions: {versions:?}"
    );
    for needed in NEEDED {
        assert!(
            versions.iter().any(|version| version.starts_with(needed)),
            "the matrix needs a {needed}: {versions:?}"
        );
    }
}
