//! A server binary that is installed on this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::install_marker::InstallMarker;
use crate::launch::Launch;
use crate::user_directory::installs_root;
use crate::version::{Flavour, Numbers, Wanted, parse_version_answer};

/// The names of the server binary, MariaDB's first: its `mysqld` is a link.
pub(crate) const BINARIES: [&str; 2] = ["mariadbd", "mysqld"];

/// Where binaries lie besides PATH, which for a plain user often lacks the sbin directories.
const USUAL_PLACES: [&str; 8] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/bin",
    "/usr/local/sbin",
    "/usr/local/libexec",
    "/usr/local/bin",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
];

/// A server binary, what it is, and the files that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The server binary, without symbolic links.
    pub mysqld: PathBuf,
    /// The directory above the one that holds the binary, or that one where all lies in one place.
    pub basedir: PathBuf,
    /// Whose server it is.
    pub flavour: Flavour,
    /// The version as the binary tells it, for example `10.11.19-MariaDB-0+deb12u1`.
    pub version: String,
    numbers: Numbers,
    launch: Launch,
}

impl Installation {
    /// Finds a server: at `mysqld` if given, else the one that dbdyno installed under the very name, else in PATH
    /// and the usual places, else another one that dbdyno installed. `wanted` is a flavour, a version or both:
    /// `mariadb`, `mysql-8.0`, `10.11`.
    pub fn find(wanted: Option<&str>, mysqld: Option<&Path>) -> Result<Self, Error> {
        let installed = match installs_root() {
            Some(root) => InstallMarker::list(&root)?,
            None => Vec::new(),
        };
        let named = installed
            .iter()
            .find(|marker| Some(marker.name()) == wanted);
        if let (Some(marker), None) = (named, mysqld) {
            return Self::installed(marker);
        }
        let wanted = match wanted {
            None => None,
            Some(text) => Some((
                text,
                Wanted::parse(text).ok_or_else(|| Error::Wanted {
                    wanted: text.to_owned(),
                })?,
            )),
        };
        if let Some(path) = mysqld {
            let found = match installed
                .iter()
                .find(|marker| is_same_file(&marker.mysqld(), path))
            {
                Some(marker) => Self::installed(marker)?,
                None => Self::at(path, &Launch::default())?,
            };
            return match wanted {
                Some((text, wanted)) if !found.is(&wanted) => {
                    Err(not_found(Some(text), &[Ok(found)]))
                }
                _ => Ok(found),
            };
        }
        let mut found = Vec::new();
        let on_machine = candidates().into_iter();
        let on_machine = on_machine.map(|path| Self::at(&path, &Launch::default()));
        for installation in on_machine.chain(installed.iter().rev().map(Self::installed)) {
            match installation {
                Ok(installation)
                    if wanted
                        .as_ref()
                        .is_none_or(|(_, wanted)| installation.is(wanted)) =>
                {
                    return Ok(installation);
                }
                other => found.push(other),
            }
        }
        Err(not_found(wanted.map(|(text, _)| text), &found))
    }

    /// `mariadb 10.11.19-MariaDB (/usr/sbin/mariadbd)`
    fn describe(&self) -> String {
        format!(
            "{} {} ({})",
            self.flavour,
            self.version,
            self.mysqld.display()
        )
    }

    fn is(&self, wanted: &Wanted) -> bool {
        wanted.matches(self.flavour, &self.version)
    }

    /// One that dbdyno installed.
    pub(crate) fn installed(marker: &InstallMarker) -> Result<Self, Error> {
        Self::remembered(
            &marker.mysqld(),
            &marker.basedir(),
            marker.flavour,
            &marker.version,
            &marker.launch(),
        )
        .ok_or_else(|| Error::Binary {
            path: marker.mysqld(),
            why: format!("has a version without a number: {}", marker.version),
        })
    }

    /// Looks at one binary.
    pub(crate) fn at(path: &Path, launch: &Launch) -> Result<Self, Error> {
        let unusable = |why: String| Error::Binary {
            path: path.to_owned(),
            why,
        };
        let mysqld = path
            .canonicalize()
            .map_err(|error| unusable(error.to_string()))?;
        let output = launch
            .command(&mysqld)
            .args(["--no-defaults", "--version"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| unusable(error.to_string()))?;
        let answer = String::from_utf8_lossy(&output.stdout);
        let Some((flavour, version)) = parse_version_answer(&answer) else {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said
                .lines()
                .chain(answer.lines())
                .next()
                .unwrap_or("nothing");
            return Err(unusable(format!("answers --version with: {said}")));
        };
        let directory = mysqld.parent().unwrap_or(Path::new("/"));
        let mut found = Self {
            basedir: directory.parent().unwrap_or(Path::new("/")).to_owned(),
            flavour,
            numbers: Numbers::parse(&version).expect("a parsed answer has a version with numbers"),
            version,
            launch: launch.clone(),
            mysqld: mysqld.clone(),
        };
        if found.messages_dir().is_none() && directory.join("share").is_dir() {
            found.basedir = directory.to_owned();
        }
        Ok(found)
    }

    /// The start of the server binary, with the libraries that came along with it.
    pub fn command(&self) -> Command {
        self.launch.command(&self.mysqld)
    }

    /// The start of another program of the installation.
    pub fn program(&self, path: &Path) -> Command {
        self.launch.command(path)
    }

    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }

    /// An installation as a server directory remembers it, without looking at the binary.
    pub(crate) fn remembered(
        mysqld: &Path,
        basedir: &Path,
        flavour: Flavour,
        version: &str,
        launch: &Launch,
    ) -> Option<Self> {
        Some(Self {
            mysqld: mysqld.to_owned(),
            basedir: basedir.to_owned(),
            flavour,
            version: version.to_owned(),
            numbers: Numbers::parse(version)?,
            launch: launch.clone(),
        })
    }

    pub(crate) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    pub(crate) fn is_mariadb(&self) -> bool {
        self.flavour == Flavour::MariaDb
    }

    /// The directory with the error messages; `None` leaves it to what is compiled in.
    pub(crate) fn messages_dir(&self) -> Option<PathBuf> {
        self.first_with(
            &["share/mysql", "share/mariadb", "share"],
            "english/errmsg.sys",
        )
    }

    /// The directory with the SQL that makes the system tables; servers that need none have none.
    pub(crate) fn system_sql_dir(&self) -> Option<PathBuf> {
        let places = ["share/mysql", "share/mariadb", "share", "scripts"];
        self.first_with(&places, "mysql_system_tables.sql")
            .or_else(|| self.first_with(&places, "mariadb_system_tables.sql"))
    }

    /// The directory of the plugins; `None` leaves it to what is compiled in.
    pub(crate) fn plugin_dir(&self) -> Option<PathBuf> {
        self.first_with(
            &[
                "lib/mysql/plugin",
                "lib64/mysql/plugin",
                "lib/plugin",
                "lib64/plugin",
            ],
            ".",
        )
    }

    /// The directory of the character sets; `None` leaves it to what is compiled in.
    pub fn character_sets_dir(&self) -> Option<PathBuf> {
        self.first_with(
            &[
                "share/mysql/charsets",
                "share/mariadb/charsets",
                "share/charsets",
            ],
            "Index.xml",
        )
    }

    /// The option groups that this server reads from the user's files.
    pub(crate) fn option_groups(&self) -> Vec<String> {
        let series = self.numbers.series();
        let mut groups: Vec<String> = ["mysqld", "server"].map(str::to_owned).into();
        groups.push(format!("mysqld-{series}"));
        if self.is_mariadb() {
            for name in ["mariadb", "mariadbd"] {
                groups.push(name.to_owned());
                groups.push(format!("{name}-{series}"));
            }
            groups.extend(["client-server", "galera"].map(str::to_owned));
        }
        groups
    }

    fn first_with(&self, directories: &[&str], file: &str) -> Option<PathBuf> {
        directories
            .iter()
            .map(|directory| self.basedir.join(directory))
            .find(|directory| directory.join(file).exists())
    }
}

fn not_found(wanted: Option<&str>, looked_at: &[Result<Installation, Error>]) -> Error {
    Error::NotInstalled {
        wanted: wanted.map(str::to_owned),
        found: looked_at
            .iter()
            .map(|found| match found {
                Ok(installation) => installation.describe(),
                Err(error) => error.to_string(),
            })
            .collect(),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Every binary that may be a server, each once.
fn candidates() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    directories.extend(USUAL_PLACES.map(PathBuf::from));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let unpacked = [
        Some(PathBuf::from("/opt")),
        home.map(|home| home.join("opt")),
    ];
    for root in unpacked.into_iter().flatten() {
        directories.extend(unpacked_servers(&root));
    }
    let mut seen = Vec::new();
    let mut candidates = Vec::new();
    for binary in directories
        .iter()
        .flat_map(|dir| BINARIES.map(|name| dir.join(name)))
    {
        if let Ok(real) = binary.canonicalize()
            && real.is_file()
            && !seen.contains(&real)
        {
            seen.push(real);
            candidates.push(binary);
        }
    }
    candidates
}

/// Unpacked archives: `opt/mysql-8.0.33/bin`, `opt/mysql/8.0.33/bin`, newest-looking name first.
fn unpacked_servers(root: &Path) -> Vec<PathBuf> {
    let is_vendor = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        ["mysql", "mariadb", "percona"]
            .iter()
            .any(|vendor| name.to_ascii_lowercase().contains(vendor))
    };
    let mut directories = Vec::new();
    for vendor in subdirectories(root).into_iter().filter(is_vendor) {
        directories.extend(
            subdirectories(&vendor)
                .into_iter()
                .map(|version| version.join("bin")),
        );
        directories.extend(["bin", "sbin", "libexec"].map(|name| vendor.join(name)));
    }
    directories
}

fn subdirectories(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort_by(|one, other| other.cmp(one));
    paths
}
