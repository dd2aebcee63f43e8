//! Errors of private servers, and who is responsible for each one.

use std::io;
use std::path::{Path, PathBuf};

use blame::Blame;

use crate::InstallError;

/// An error with a private server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of the requested server is not valid.
    #[error("{wanted}: not the name of a server")]
    UnknownVersion { wanted: String },
    /// No binary on this machine is the requested server.
    #[error("{}: not found; {}", wanted.as_deref().unwrap_or("mysqld or mariadbd"), list(found))]
    NotInstalled {
        /// The requested server; `None` when any server would do.
        wanted: Option<String>,
        /// The servers found instead, one line each.
        found: Vec<String>,
    },
    /// The file is not a server binary, or it does not run.
    #[error("{}: not usable as a server: {why}", path.display())]
    Binary { path: PathBuf, why: String },
    /// The directory exists, and dbdyno did not make it.
    #[error("{}: not a server directory of dbdyno's", dir.display())]
    Foreign { dir: PathBuf },
    #[error("{}: a server with this name already exists", dir.display())]
    NameTaken { dir: PathBuf },
    #[error("{}: no such server", dir.display())]
    Missing { dir: PathBuf },
    /// Another dbdyno is creating, starting, stopping or destroying this server.
    #[error("{}: another dbdyno is working on this server", dir.display())]
    Busy { dir: PathBuf },
    /// Another dbdyno has begun to create this server and has not finished.
    #[error("{}: this server is being created", dir.display())]
    BeingMade { dir: PathBuf },
    /// The marker file of a server or snapshot is not valid.
    #[error("{}: {why}", path.display())]
    Marker { path: PathBuf, why: String },
    /// The port named by the user is in use.
    #[error("port {port} on {host}: already in use")]
    PortTaken {
        /// The address that the server would listen on.
        host: String,
        port: u16,
    },
    /// An option file or a single option is wrong.
    #[error(transparent)]
    Options(#[from] mycnf::Error),
    /// A server could not be installed or removed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// This version would not start with the options, or would ignore some of them.
    #[error("{server} refuses {} of the options:{}", findings.len(), lines(findings))]
    Rejected {
        /// The server: `mysql 8.0.33`.
        server: String,
        /// Everything that the server refuses.
        findings: Vec<mycnf::Finding>,
    },
    /// An option that takes effect only when the data directory is made was changed afterwards.
    #[error(
        "option {option}: {} when the data directory was created, {} now",
        shown(was),
        shown(now)
    )]
    FixedAtCreation {
        option: String,
        /// Its value in the data directory; `None` for the server's default.
        was: Option<String>,
        now: Option<String>,
    },
    #[error("{}: creating the data directory failed ({status}); the end of the server's log:\n{log}", dir.display())]
    Initialise {
        /// The server's directory, removed again.
        dir: PathBuf,
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// The server ended before it answered.
    #[error("{}: the server died at start ({status}); the end of its log:\n{log}", dir.display())]
    DiedAtStart {
        dir: PathBuf,
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// The server did not answer in time; it was killed.
    #[error("{}: the server did not {what} within {timeout_s} s and was killed; the end of its log:\n{log}", dir.display())]
    TimedOut {
        dir: PathBuf,
        /// The expected action.
        what: &'static str,
        timeout_s: u64,
        /// The last lines of its log.
        log: String,
    },
    /// The operation needs a stopped server.
    #[error("{}: the server is running (pid {pid})", dir.display())]
    Running { dir: PathBuf, pid: u32 },
    /// The operation needs a running server.
    #[error("{}: the server is not running", dir.display())]
    NotRunning { dir: PathBuf },
    /// A snapshot needs data from a clean stop.
    #[error("{}: the server was not stopped cleanly", dir.display())]
    NotStoppedCleanly { dir: PathBuf },
    /// The server has no data directory, because a restore was not completed.
    #[error("{}: the server has no data directory", dir.display())]
    NoData { dir: PathBuf },
    /// The snapshot and the server differ in a property that the data depends on.
    #[error("{}: the snapshot has {what} {snapshot}, the server has {server}", path.display())]
    SnapshotMismatch {
        path: PathBuf,
        /// The property in which they differ.
        what: String,
        snapshot: String,
        server: String,
    },
    #[error("{}: a snapshot with this name already exists", path.display())]
    SnapshotExists { path: PathBuf },
    #[error("{}: no such snapshot", path.display())]
    NoSnapshot {
        path: PathBuf,
        /// The names of the existing snapshots.
        there: Vec<String>,
    },
    /// A snapshot, or the copy made from it, differs from its manifest.
    #[error("{}: not as recorded in the snapshot: {why}", path.display())]
    SnapshotDamaged {
        /// The compared directory.
        path: PathBuf,
        /// The first difference.
        why: String,
    },
    /// Data whose redo log is disabled does not survive a crash, and neither would a restored copy of it.
    #[error("{}: the server's redo log is switched off", dir.display())]
    RedoLogOff { dir: PathBuf },
    /// No mariadb-backup matches the server.
    #[error("mariadb-backup {wanted}: not found{}", instead(found))]
    NoBackup {
        /// The series of the server: `10.11`.
        wanted: String,
        /// The series of the one that was found.
        found: Option<String>,
    },
    #[error("{}: mariadb-backup failed ({status}); the end of its output:\n{log}", dir.display())]
    Backup {
        dir: PathBuf,
        status: String,
        /// The last lines of its output.
        log: String,
    },
    #[error("{}: no space left on the disk", path.display())]
    DiskFull {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// An operation on a file or process failed.
    #[error("{}: cannot {what}: {source}", path.display())]
    Io {
        /// The operation that failed.
        what: &'static str,
        /// The file, or the server's directory.
        path: PathBuf,
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: an operation on `path` failed.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull {
                path: path.to_owned(),
            },
            _ => Self::Io {
                what,
                path: path.to_owned(),
                source,
            },
        }
    }

    pub fn blame(&self) -> Blame {
        match self {
            Self::Initialise { .. }
            | Self::DiedAtStart { .. }
            | Self::TimedOut { .. }
            | Self::Backup { .. } => Blame::Server,
            Self::DiskFull { .. }
            | Self::SnapshotDamaged { .. }
            | Self::Install(InstallError::Client { .. } | InstallError::Mismatch { .. }) => {
                Blame::Machine
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidFilename => Blame::Input,
                // The user interrupted the wait for a server's process.
                io::ErrorKind::Interrupted => Blame::Interrupted,
                _ => Blame::Machine,
            },
            _ => Blame::Input,
        }
    }

    /// What the user can do; `None` if there is nothing.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownVersion { .. } => {
                "write a flavour, a version or both: mariadb, mariadb-10.11, mysql-8.0, percona"
            }
            Self::NotInstalled { .. } => {
                "name the binary with --mysqld, or install one: dbdyno server install NAME (dbdyno server installed \
                 --all shows which), or apt-get install mariadb-server-core mariadb-client-core"
            }
            Self::Binary { why, .. } => return binary_hint(why),
            Self::Foreign { .. } => {
                "name a directory that does not exist yet; dbdyno only changes directories that it created"
            }
            Self::NameTaken { .. } => "use another name, or destroy that server first",
            Self::Missing { .. } => "dbdyno server list shows all servers",
            Self::Busy { .. } | Self::BeingMade { .. } => "wait until it has finished",
            Self::Marker { .. } => "another version of dbdyno created it, or it is damaged",
            Self::PortTaken { .. } => "name another port, or omit the port to use a free one",
            Self::Options(error) => return error.hint(),
            Self::Install(error) => return error.hint(),
            Self::Rejected { .. } => {
                "change these lines; with loose- before its name, an option is ignored by versions that do not know it"
            }
            Self::FixedAtCreation { .. } => "create another server for this value",
            Self::Initialise { log, .. } | Self::DiedAtStart { log, .. } => return log_hint(log),
            Self::TimedOut { log, .. } => return log_hint(log),
            Self::Running { .. } => "stop it first",
            Self::NotRunning { .. } => "dbdyno server list shows which servers run",
            Self::NotStoppedCleanly { .. } => "start it to let it recover, then stop it again",
            Self::NoData { .. } => "restore a snapshot, or destroy the server",
            Self::SnapshotMismatch { .. } => {
                "load the data again; a data directory cannot be moved between builds"
            }
            Self::SnapshotExists { .. } => {
                "use another name, or remove that snapshot: dbdyno server snapshots NAME --remove SNAPSHOT"
            }
            Self::NoSnapshot { there, .. } => {
                return Some(match &there[..] {
                    [] => "dbdyno server snapshot NAME takes one".to_owned(),
                    there => format!("available snapshots: {}", there.join(", ")),
                });
            }
            Self::SnapshotDamaged { .. } => "remove it, and take a new one of good data",
            Self::RedoLogOff { .. } => {
                "switch it on while the server runs: ALTER INSTANCE ENABLE INNODB REDO_LOG; dbdyno server stop and \
                 snapshot do so"
            }
            Self::NoBackup { .. } => {
                "apt-get install mariadb-backup, or leave out --online: the server is then stopped for the copy"
            }
            Self::Backup { .. } => return None,
            Self::DiskFull { .. } => {
                "free some space, or put private servers elsewhere with XDG_DATA_HOME or server create --dir"
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "check the permissions of the path"
            }
            Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

/// The library that a loader misses:
/// `mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file`.
pub(crate) fn missing_library(why: &str) -> Option<&str> {
    let (_, rest) = why.split_once("shared libraries: ")?;
    Some(rest.split_once(':')?.0)
}

fn binary_hint(why: &str) -> Option<String> {
    Some(match missing_library(why) {
        Some(library) => format!("install the package that contains the library {library}"),
        None => {
            "name a mysqld or mariadbd with --mysqld, or omit the option to search for one; Debian's package is \
             mariadb-server-core"
                .to_owned()
        }
    })
}

/// Text in a server's log, and the remedy.
const LOG_HINTS: [(&str, &str); 6] = [
    (
        "default time zone",
        "write the time zone as an offset: default_time_zone='+00:00'",
    ),
    // io_setup() failed with EAGAIN after 5 attempts; also: InnoDB: Fatal : Cannot initialize AIO sub-system
    ("io_setup() failed with EAGAIN", NO_AIO_SLOTS),
    ("Cannot initialize AIO sub-system", NO_AIO_SLOTS),
    // Server was killed when InnoDB redo logging was disabled. Data files could be corrupt.
    (
        "MY-013598",
        "it was killed while its redo log was disabled, and its data is lost: restore a snapshot",
    ),
    (
        "uses page size",
        "innodb_page_size is chosen when the data directory is created: create another server",
    ),
    (
        "Different lower_case_table_names settings",
        "lower_case_table_names is chosen when the data directory is created: create another server",
    ),
];

const NO_AIO_SLOTS: &str = "the kernel's slots for asynchronous I/O are used up (/proc/sys/fs/aio-nr of aio-max-nr; \
     a server uses 2000 to 2700): stop some servers, or raise fs.aio-max-nr";

/// The remedy for the cause in a server's log, if it is a common one.
fn log_hint(log: &str) -> Option<String> {
    for line in log.lines() {
        let unknown = ["unknown variable '", "unknown option '"]
            .iter()
            .find_map(|words| line.split_once(words)?.1.split('\'').next());
        if let Some(option) = unknown {
            let option = option.trim_start_matches('-');
            let option = option.split('=').next().unwrap_or(option);
            return Some(format!(
                "this version does not know the option {option}: leave it out, or write loose-{option}"
            ));
        }
        let known = LOG_HINTS.iter().find(|(words, _)| line.contains(words));
        if let Some((_, hint)) = known {
            return Some((*hint).to_owned());
        }
    }
    None
}

fn instead(found: &Option<String>) -> String {
    match found {
        Some(series) => format!("; found: {series}"),
        None => String::new(),
    }
}

fn list(found: &[String]) -> String {
    match found {
        [] => "no server is installed".to_owned(),
        found => format!("there is {}", found.join("; ")),
    }
}

/// One indented line for each finding.
fn lines(findings: &[mycnf::Finding]) -> String {
    let lines = findings.iter().map(|finding| format!("\n  {finding}"));
    lines.collect()
}

fn shown(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("the default")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_gives_the_hint() {
        for (log, hint) in [
            (
                "x\n2026 [ERROR] /usr/sbin/mariadbd: unknown variable 'no_such=1'\n",
                Some(
                    "this version does not know the option no_such: leave it out, or write loose-no_such",
                ),
            ),
            (
                "[ERROR] [MY-000067] [Server] unknown option '--explicit'.\n",
                Some(
                    "this version does not know the option explicit: leave it out, or write loose-explicit",
                ),
            ),
            (
                "Fatal error: Illegal or unknown default time zone 'UTC'\n",
                Some("write the time zone as an offset: default_time_zone='+00:00'"),
            ),
            (
                "InnoDB: Error: io_setup() failed with EAGAIN after 5 attempts.\n",
                Some(NO_AIO_SLOTS),
            ),
            (
                "[ERROR] [MY-013598] [InnoDB] Server was killed when Innodb Redo logging was disabled.\n",
                Some(
                    "it was killed while its redo log was disabled, and its data is lost: restore a snapshot",
                ),
            ),
            ("[Note] all is well\n", None),
        ] {
            assert_eq!(log_hint(log).as_deref(), hint);
        }
        let why = "x: error while loading shared libraries: libaio.so.1: cannot open";
        let hint = binary_hint(why).unwrap();
        assert_eq!(
            hint,
            "install the package that contains the library libaio.so.1"
        );
    }

    #[test]
    fn a_full_disk_is_the_machines_fault() {
        let full = io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
        let error = Error::io("write", Path::new("/x"))(full);
        assert_eq!(
            (error.blame(), error.to_string().as_str()),
            (Blame::Machine, "/x: no space left on the disk")
        );
    }
}
