//! The directories that an observer may examine, whatever its client requests: those of the servers visible on its own
//! machine, and those named by its own user.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use crate::{
    kernel::Kernel,
    server_process::{is_server, pids},
};

/// Directories in which packages put a server's files.
const OF_PACKAGES: [&str; 4] = [
    "/var/lib/mysql",
    "/var/log/mysql",
    "/run/mysqld",
    "/var/run/mysqld",
];

/// Options of a server's command line whose value is a directory.
const DIRECTORIES: [&str; 6] = [
    "--datadir",
    "--tmpdir",
    "--innodb-data-home-dir",
    "--innodb-log-group-home-dir",
    "--innodb-undo-directory",
    "--innodb-doublewrite-dir",
];
/// Options whose value is a file in such a directory.
const FILES: [&str; 5] = [
    "--pid-file",
    "--socket",
    "--log-bin",
    "--defaults-file",
    "--defaults-extra-file",
];

/// Directories below which a client may request paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedPaths(BTreeSet<PathBuf>);

impl AllowedPaths {
    /// The directories in which the servers of this machine have their files, as far as this process may see them, the
    /// directories that packages use, and `named`.
    ///
    /// A server's files are in its working directory, beside the files that it holds open, and in the directories on
    /// its command line.
    pub fn of_this_machine(named: &[PathBuf]) -> Self {
        Self::of(&Kernel::running(), named)
    }

    fn of(kernel: &Kernel, named: &[PathBuf]) -> Self {
        let mut allowed: BTreeSet<PathBuf> = OF_PACKAGES.iter().map(PathBuf::from).collect();
        allowed.extend(named.iter().cloned());
        for pid in pids(kernel).filter(|pid| is_server(kernel, *pid)) {
            let process = kernel.path(&format!("proc/{pid}"));
            let work = fs::read_link(process.join("cwd")).ok();
            for argument in arguments(&process) {
                allowed.extend(named_by(&argument, work.as_deref()));
            }
            let held = fs::read_dir(process.join("fd")).into_iter().flatten();
            let held = held.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
            let beside = held.filter_map(|file| file.parent().map(Path::to_owned));
            allowed.extend(beside.filter(|directory| !directory.starts_with("/dev")));
            allowed.extend(work);
        }
        // The root directory as a server's working directory adds nothing, like an unknown one.
        allowed.retain(|directory| directory.is_absolute() && directory.parent().is_some());
        Self(allowed.iter().map(|path| plain(path)).collect())
    }

    /// The path without `.` and `..`, in which form it must be used, if it is below an allowed directory.
    pub fn admit(&self, path: &Path) -> Option<PathBuf> {
        let path = plain(path);
        let is_inside = self.0.iter().any(|allowed| path.starts_with(allowed));
        (path.is_absolute() && is_inside).then_some(path)
    }
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// The command line of a process.
fn arguments(process: &Path) -> Vec<Vec<u8>> {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// The directory that an argument names; a relative one is resolved against the working directory.
fn named_by(argument: &[u8], work: Option<&Path>) -> Option<PathBuf> {
    let at = argument.iter().position(|byte| *byte == b'=')?;
    let name = String::from_utf8_lossy(&argument[..at]).replace('_', "-");
    let value = Path::new(OsStr::from_bytes(&argument[at + 1..]));
    let path = match work {
        Some(work) => work.join(value),
        None => value.to_owned(),
    };
    if DIRECTORIES.contains(&name.as_str()) {
        return Some(path);
    }
    let parent = || path.parent().map(Path::to_owned);
    FILES.contains(&name.as_str()).then(parent).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const MACHINE: &str = "
--- proc/100/comm
mariadbd
--- proc/100/cwd -> /srv/db/data
--- proc/100/fd/3 -> /fast/redo/ib_logfile0
--- proc/100/fd/4 -> /dev/null
--- proc/100/fd/5 -> socket:[777]
--- proc/100/cmdline
/usr/sbin/mariadbd\0--pid_file=../run/db.pid\0--tmpdir=/scratch\0--log-bin\0
--- proc/200/comm
nginx
--- proc/200/cwd -> /srv/www
--- proc/300/comm
mysqld
--- proc/300/cwd -> /
";

    #[test]
    fn a_client_is_told_of_the_servers_directories_only() {
        let fixture = Fixture::unpack(MACHINE);
        let kernel = fixture.kernel(100, 4096);
        let allowed = AllowedPaths::of(&kernel, &["/named/./here".into()]);
        for (path, expected) in [
            ("/srv/db/data", true),
            ("/srv/db/data/ibdata1", true),
            ("/srv/db/data/../data/x.pid", true),
            ("/srv/db/run/db.pid", true),
            ("/fast/redo", true),
            ("/scratch/x", true),
            ("/named/here/x", true),
            ("/run/mysqld/mysqld.pid", true),
            ("/srv/db/data/../../www/secret", false),
            ("/srv/db", false),
            ("/srv/db/database", false),
            ("/srv/www/x.pid", false),
            ("/dev/zero", false),
            ("/etc/shadow", false),
            ("/", false),
            ("db.pid", false),
            ("", false),
        ] {
            let admitted = allowed.admit(Path::new(path));
            assert_eq!(admitted.is_some(), expected, "{path}");
        }
        let nothing = Fixture::unpack("--- proc/stat\n");
        let of_packages = AllowedPaths::of(&nothing.kernel(100, 4096), &[]);
        let within = Path::new("/var/lib/mysql/./x/../host.pid");
        let admitted = of_packages.admit(within);
        assert_eq!(admitted, Some("/var/lib/mysql/host.pid".into()));
        assert_eq!(of_packages.admit(Path::new("/srv/db/data")), None);
    }
}
