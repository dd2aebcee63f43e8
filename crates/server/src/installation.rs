//! A server binary that is installed on this machine.

pub(crate) mod answer_file;
pub(crate) mod build;
mod known_version;
mod search;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use mycnf::Target;

use self::known_version::KnownVersion;
use crate::error::Error;
use crate::process::{launch::Launch, program::version_output};
use crate::user_directory::versions_root;
use crate::version::{Flavour, Numbers, VersionRequest, parse_version_answer};

/// The names of the server binary, MariaDB's first: its `mysqld` is a link.
pub(crate) const BINARIES: [&str; 2] = ["mariadbd", "mysqld"];

/// A server binary, its flavour and version, and the files that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The server binary, without symbolic links.
    pub mysqld: PathBuf,
    /// The directory above the binary's directory; that directory itself where all files are in one directory.
    pub basedir: PathBuf,
    pub flavour: Flavour,
    /// The version as reported by the binary, for example `10.11.19-MariaDB-0+deb12u1`.
    pub version: String,
    numbers: Numbers,
    launch: Launch,
}

/// What the binary at a path answers to `--version`, and what that says.
fn ask(path: &Path, mut command: Command) -> Result<(String, (Flavour, String)), Error> {
    let unusable = |why: String| Error::Binary {
        path: path.to_owned(),
        why,
    };
    command.args(["--no-defaults", "--version"]);
    let output = version_output(command).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => Error::io("wait for", path)(error),
        io::ErrorKind::TimedOut => unusable("does not answer --version".to_owned()),
        _ => unusable(error.to_string()),
    })?;
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    match parse_version_answer(&answer) {
        Some(parsed) => Ok((answer, parsed)),
        None => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said
                .lines()
                .chain(answer.lines())
                .next()
                .unwrap_or("nothing");
            Err(unusable(format!("answers --version with: {said}")))
        }
    }
}

impl Installation {
    /// Its version as the catalogues of options know it.
    pub fn target(&self) -> Target {
        let numbers = self
            .version
            .split(|character: char| !character.is_ascii_digit());
        let numbers: Vec<u32> = numbers
            .map_while(|number| number.parse().ok())
            .take(3)
            .collect();
        Target::new(self.flavour, &numbers)
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

    fn is(&self, wanted: &VersionRequest) -> bool {
        wanted.matches(self.flavour, &self.version)
    }

    pub(crate) fn at(path: &Path, launch: &Launch) -> Result<Self, Error> {
        let mysqld = path.canonicalize().map_err(|error| Error::Binary {
            path: path.to_owned(),
            why: error.to_string(),
        })?;
        let known = versions_root().and_then(|root| KnownVersion::of(&root, &mysqld, launch));
        let kept = known.as_ref().and_then(KnownVersion::answer);
        let (flavour, version) = match kept.as_deref().and_then(parse_version_answer) {
            Some(parsed) => parsed,
            None => {
                let (answer, parsed) = ask(path, launch.command(&mysqld))?;
                if let Some(known) = known {
                    known.keep(&answer);
                }
                parsed
            }
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

    /// The command that starts the server binary, with the libraries that belong to it.
    pub fn command(&self) -> Command {
        self.launch.command(&self.mysqld)
    }

    /// The command that starts another program of the installation.
    pub fn program(&self, path: &Path) -> Command {
        self.launch.command(path)
    }

    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }

    /// An installation as recorded in a server directory, without running the binary.
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

    /// The directory of the error messages; `None` uses the compiled-in default.
    pub(crate) fn messages_dir(&self) -> Option<PathBuf> {
        self.first_with(
            &["share/mysql", "share/mariadb", "share"],
            "english/errmsg.sys",
        )
    }

    /// The directory of the SQL that creates the system tables; `None` for servers that need no SQL.
    pub(crate) fn system_sql_dir(&self) -> Option<PathBuf> {
        let places = ["share/mysql", "share/mariadb", "share", "scripts"];
        self.first_with(&places, "mysql_system_tables.sql")
            .or_else(|| self.first_with(&places, "mariadb_system_tables.sql"))
    }

    /// Whether it has the library of a plugin, such as `server_audit.so`.
    pub(crate) fn has_library(&self, library: &str) -> bool {
        let directory = self.plugin_dir();
        directory.is_some_and(|directory| directory.join(library).exists())
    }

    /// The directory of the plugins; `None` uses the compiled-in default.
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

    /// The directory of the character sets; `None` uses the compiled-in default.
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
        mycnf::Target::new(self.flavour, self.numbers.as_slice()).groups()
    }

    fn first_with(&self, directories: &[&str], file: &str) -> Option<PathBuf> {
        directories
            .iter()
            .map(|directory| self.basedir.join(directory))
            .find(|directory| directory.join(file).exists())
    }
}
