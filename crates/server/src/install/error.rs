//! Errors of installing and removing servers.

use std::path::PathBuf;

/// An error of installing or removing a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No recipe has this name, and no archive, directory or binary was given.
    #[error("{name}: no server of this name can be installed")]
    NoRecipe { name: String },
    /// The name is not valid as a directory name.
    #[error("{name:?} is not a valid name for an installed server")]
    Name { name: String },
    #[error("{name}: installed already")]
    Installed { name: String },
    #[error("{name}: not installed")]
    NotInstalled { name: String },
    /// A private server was made from this installation.
    #[error("{name}: in use by the server {}", server.display())]
    InUse {
        /// The name of the installation.
        name: String,
        /// The server's directory.
        server: PathBuf,
    },
    /// The packages are for another processor architecture.
    #[error("{name}: there is no package for {machine}")]
    Architecture {
        /// The name of the recipe.
        name: &'static str,
        /// This machine's architecture.
        machine: &'static str,
    },
    /// The client of a package registry is missing.
    #[error("{client}: not found; it is needed to download {what}")]
    NoClient {
        client: &'static str,
        /// The item to fetch.
        what: String,
    },
    /// The client of a package registry failed.
    #[error("{what}: {client} could not fetch it ({status}): {said}")]
    Client {
        client: &'static str,
        /// The item to fetch.
        what: String,
        status: String,
        /// Its last message.
        said: String,
    },
    /// apt has no Debian archive in its configuration.
    #[error("{what}: apt is configured with no Debian archive")]
    NoDebian {
        /// The item to fetch.
        what: String,
    },
    /// A downloaded file differs from the registry's description.
    #[error("{file}: {what} is {found}, the registry lists {expected}")]
    Mismatch {
        file: String,
        /// The property that differs.
        what: &'static str,
        found: String,
        expected: String,
    },
    /// The file is not an archive, or it is damaged.
    #[error("{}: cannot unpack: {why}", path.display())]
    Archive { path: PathBuf, why: String },
    /// A directory contains no server binary.
    #[error("{}: contains neither mariadbd nor mysqld", path.display())]
    NoServer {
        /// The directory, or the archive that it was unpacked from.
        path: PathBuf,
    },
    /// The server binary needs a library that is not installed and not in a known package.
    #[error("{}: the library {library} is missing", path.display())]
    Library {
        /// The server binary.
        path: PathBuf,
        /// The library, for example `libaio.so.1`.
        library: String,
    },
}

impl InstallError {
    /// What the user can do; `None` if there is nothing.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoRecipe { .. } => {
                "dbdyno server installed --all lists all versions; --from accepts an archive, a directory or a mysqld"
            }
            Self::Name { .. } => {
                "a name has letters, digits, - _ and . and starts with a letter or digit"
            }
            Self::Installed { name } => {
                return Some(format!(
                    "dbdyno server uninstall {name} makes room for another one"
                ));
            }
            Self::NotInstalled { .. } => "dbdyno server installed lists the installed versions",
            Self::InUse { .. } => "destroy that server first",
            Self::Architecture { .. } => "install from an archive for this machine with --from",
            Self::NoClient { client, .. } => {
                let package = match *client {
                    "mvn" => "maven",
                    "apt-get" | "apt-config" => "apt",
                    "dpkg-deb" => "dpkg",
                    other => other,
                };
                return Some(format!(
                    "install it: apt-get install {package}; or use --from"
                ));
            }
            Self::Client { .. } => "try again, or install from an archive with --from",
            Self::NoDebian { .. } => "install from an archive, a directory or a binary with --from",
            Self::Mismatch { .. } => "try again; the download may have been cut short",
            Self::Archive { .. } => {
                "--from accepts .tar.gz, .tar.xz, .tar and .zip, a directory or a mysqld"
            }
            Self::NoServer { .. } => {
                "name a mysqld or mariadbd, or a directory or archive that contains one"
            }
            Self::Library { library, .. } => {
                return Some(format!(
                    "install the package that contains the library {library}"
                ));
            }
        };
        Some(hint.to_owned())
    }
}
