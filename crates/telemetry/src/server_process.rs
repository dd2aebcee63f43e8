//! Finds the process on this machine that is the server used by a client on another machine.

use std::{
    collections::BTreeSet,
    fs,
    io::BufReader,
    path::{Path, PathBuf},
};

use procfs_core::{
    ExplicitSystemInfo, FromBufReadSI,
    net::{TcpNetEntries, TcpState},
};

use crate::{kernel::Kernel, pid_file::pid_in_file};

/// Names of the servers' processes, as shortened by the kernel.
const SERVERS: [&str; 3] = ["mariadbd", "mysqld", "mysqld-debug"];

/// The process that holds a container's published port.
const PORT_KEEPER: &str = "docker-proxy";

/// Properties of a server by which its process can be found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerMarks {
    pub pid_file: Option<PathBuf>,
    pub port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProcess {
    pub pid: u32,
    /// Name in /proc.
    pub name: String,
    /// How it was found: `pid file /run/x.pid`, `port 3306` or `name`.
    pub found_by: String,
}

impl ServerProcess {
    /// Searches for the server on this machine. The error says in words where it searched and why that failed.
    ///
    /// A pid file alone may be stale, and a port may be held by a forwarding process. The order of preference is
    /// therefore: the process of the pid file if it holds the port; the process that holds the port; the process of the
    /// pid file if it has a server's name; the only process that has a server's name.
    pub fn find(marks: &ServerMarks) -> Result<Self, String> {
        Self::find_in(&Kernel::running(), marks)
    }

    fn find_in(kernel: &Kernel, marks: &ServerMarks) -> Result<Self, String> {
        let mut tried = Vec::new();
        let found = |pid: u32, found_by: String| {
            let name = name_of(kernel, pid).unwrap_or_default();
            Ok(Self {
                pid,
                name,
                found_by,
            })
        };
        let by_file = marks.pid_file.as_deref().and_then(|file| {
            let pid = pid_in(kernel, file).map_err(|why| tried.push(why)).ok()?;
            Some((pid, format!("pid file {}", file.display())))
        });
        let holders = match marks.port.map(|port| holders_of(kernel, port)) {
            None => BTreeSet::new(),
            Some(Ok(holders)) => holders,
            Some(Err(why)) => {
                tried.push(why);
                BTreeSet::new()
            }
        };
        if let Some((pid, file)) = &by_file
            && holders.contains(pid)
        {
            return found(*pid, file.clone());
        }
        let own = |pid: &&u32| name_of(kernel, **pid).is_some_and(|name| name != PORT_KEEPER);
        let own: Vec<_> = holders.iter().filter(own).collect();
        match (own.as_slice(), marks.port) {
            ([pid], Some(port)) => return found(**pid, format!("port {port}")),
            ([], Some(port)) if !holders.is_empty() => {
                tried.push(format!(
                    "port {port}: {PORT_KEEPER} holds it for a container"
                ));
            }
            ([_, _, ..], Some(port)) => {
                tried.push(format!("port {port}: several processes listen on it"));
            }
            _ => {}
        }
        if let Some((pid, file)) = by_file {
            if is_server(kernel, pid) {
                return found(pid, file);
            }
            let name = name_of(kernel, pid).unwrap_or_default();
            tried.push(format!("{file}: process {pid} is {name}"));
        }
        let named: Vec<_> = pids(kernel).filter(|pid| is_server(kernel, *pid)).collect();
        match named[..] {
            [pid] => return found(pid, "name".to_owned()),
            [] => tried.push(format!("no process is called {}", SERVERS.join(" or "))),
            _ => tried.push(format!(
                "{} processes are called {}",
                named.len(),
                SERVERS.join(" or ")
            )),
        }
        Err(tried.join("; "))
    }
}

/// Whether a process of this machine is the server with this data directory, or the server that listens on this port.
///
/// A server makes its data directory its working directory. Only root and the server's own account can see that, and
/// which process holds a port. Everyone can see the command line, but it need not contain the data directory.
pub fn is_server_of(pid: u32, datadir: &Path, port: u16) -> bool {
    is_server_in(&Kernel::running(), pid, datadir, port)
}

fn is_server_in(kernel: &Kernel, pid: u32, datadir: &Path, port: u16) -> bool {
    let real = datadir.canonicalize();
    let is_datadir =
        |path: &Path| path == datadir || real.as_deref().is_ok_and(|real| path == real);
    let directory = fs::read_link(kernel.path(&format!("proc/{pid}/cwd")));
    let line = kernel.text(&format!("proc/{pid}/cmdline"));
    let line = line.unwrap_or_default();
    let mut arguments = line.split('\0');
    is_server(kernel, pid)
        && (directory.is_ok_and(|it| is_datadir(&it))
            || arguments.any(|argument| {
                let named = argument.strip_prefix("--datadir=");
                named.is_some_and(|it| is_datadir(Path::new(it)))
            })
            || holders_of(kernel, port).is_ok_and(|holders| holders.contains(&pid)))
}

fn name_of(kernel: &Kernel, pid: u32) -> Option<String> {
    kernel.line(&format!("proc/{pid}/comm"))
}

pub(crate) fn is_server(kernel: &Kernel, pid: u32) -> bool {
    name_of(kernel, pid).is_some_and(|name| SERVERS.contains(&name.as_str()))
}

pub(crate) fn pids(kernel: &Kernel) -> impl Iterator<Item = u32> {
    let names = kernel.names("proc").into_iter();
    names.filter_map(|name| name.parse().ok())
}

/// The process whose id a file holds.
fn pid_in(kernel: &Kernel, file: &Path) -> Result<u32, String> {
    let place = || format!("pid file {}", file.display());
    let pid = pid_in_file(file).map_err(|why| format!("{}: {why}", place()))?;
    match name_of(kernel, pid) {
        Some(_) => Ok(pid),
        None => Err(format!("{}: process {pid} is not running", place())),
    }
}

/// The processes that listen on a TCP port.
fn holders_of(kernel: &Kernel, port: u16) -> Result<BTreeSet<u32>, String> {
    let inodes = listening_on(kernel, port).map_err(|why| format!("port {port}: {why}"))?;
    if inodes.is_empty() {
        return Err(format!("port {port}: no process listens on it"));
    }
    let sockets: BTreeSet<PathBuf> = inodes
        .iter()
        .map(|inode| PathBuf::from(format!("socket:[{inode}]")))
        .collect();
    let holds_one = |pid: &u32| {
        let files = fs::read_dir(kernel.path(&format!("proc/{pid}/fd")));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| fs::read_link(file.path()).is_ok_and(|to| sockets.contains(&to)))
    };
    let holders: BTreeSet<u32> = pids(kernel).filter(holds_one).collect();
    if holders.is_empty() {
        Err(format!(
            "port {port}: only root and the server's own account can see its owner"
        ))
    } else {
        Ok(holders)
    }
}

/// Inodes of the sockets that listen on a port, of both versions of IP.
fn listening_on(kernel: &Kernel, port: u16) -> Result<BTreeSet<u64>, String> {
    // Only the byte order is used here.
    let system = ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second: kernel.ticks_per_s,
        page_size: kernel.page_bytes,
        is_little_endian: cfg!(target_endian = "little"),
    };
    let mut inodes = BTreeSet::new();
    for file in ["proc/net/tcp", "proc/net/tcp6"] {
        let text = match fs::File::open(kernel.path(file)) {
            Ok(text) => text,
            // The kernel has no IPv6.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("/{file}: {error}")),
        };
        let TcpNetEntries(entries) = TcpNetEntries::from_buf_read(BufReader::new(text), &system)
            .map_err(|e| e.to_string())?;
        let listening = entries
            .into_iter()
            .filter(|entry| entry.state == TcpState::Listen && entry.local_address.port() == port);
        inodes.extend(listening.map(|entry| entry.inode));
    }
    Ok(inodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// Two servers, a stale pid file's process, and Docker's port forwarder.
    const MACHINE: &str = "
--- proc/net/tcp
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   110        0 777 1 0000000000000000 100 0 0 10 0
   1: 0200000A:0CEA 0100000A:A1B2 01 00000000:00000000 00:00000000 00000000   110        0 778 1 0000000000000000 20 4 30 10 -1
   2: 00000000:0CEB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 888 1 0000000000000000 100 0 0 10 0
   3: 00000000:0CEC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 999 1 0000000000000000 100 0 0 10 0
--- proc/net/tcp6
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0CED 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000   110        0 666 1 0000000000000000 100 0 0 10 0
--- proc/100/comm
mariadbd
--- proc/100/fd/21 -> socket:[777]
--- proc/100/cwd -> /srv/a
--- proc/200/comm
mysqld
--- proc/200/fd/30 -> socket:[666]
--- proc/200/cmdline
mysqld\0--datadir=/srv/b\0--port=3309
--- proc/300/comm
nginx
--- proc/300/fd/1 -> /dev/null
--- proc/400/comm
docker-proxy
--- proc/400/fd/4 -> socket:[888]
--- 100.pid
100
--- 300.pid
300
--- 500.pid
500
--- none.pid
oops
";

    fn find(fixture: &Fixture, file: &str, port: u16) -> Result<(u32, String), String> {
        let kernel = fixture.kernel(100, 4096);
        let marks = ServerMarks {
            pid_file: Some(kernel.path(file)).filter(|_| !file.is_empty()),
            port: Some(port).filter(|port| *port > 0),
        };
        let root = kernel.path("").display().to_string();
        let found = ServerProcess::find_in(&kernel, &marks);
        found
            .map(|found| (found.pid, found.found_by.replace(&root, "")))
            .map_err(|why| why.replace(&root, ""))
    }

    #[test]
    fn what_holds_the_port_is_the_server() {
        let fixture = Fixture::unpack(MACHINE);
        for (file, port, pid, by) in [
            ("100.pid", 3306, 100, "pid file 100.pid"),
            ("", 3306, 100, "port 3306"),
            ("", 3309, 200, "port 3309"),
            ("300.pid", 3306, 100, "port 3306"),
            ("500.pid", 3306, 100, "port 3306"),
            ("100.pid", 3309, 200, "port 3309"),
            // No known process holds the port: the pid file's process has a server's name.
            ("100.pid", 3308, 100, "pid file 100.pid"),
            ("100.pid", 3307, 100, "pid file 100.pid"),
            ("100.pid", 0, 100, "pid file 100.pid"),
        ] {
            let found = find(&fixture, file, port);
            assert_eq!(found, Ok((pid, by.to_owned())), "{file} {port}");
        }
    }

    #[test]
    fn a_server_is_known_by_its_data_directory_or_its_port() {
        let fixture = Fixture::unpack(MACHINE);
        let kernel = fixture.kernel(100, 4096);
        for (pid, datadir, port, is_server) in [
            (100, "/srv/a/", 0, true),
            (200, "/srv/b", 0, true),
            (100, "/srv/b", 3306, true),
            (100, "/srv/b", 3309, false),
            (200, "/srv/a", 3310, false),
            // The forwarder of a container's port is no server.
            (400, "/srv/a", 3307, false),
        ] {
            let is = is_server_in(&kernel, pid, Path::new(datadir), port);
            assert_eq!(is, is_server, "{pid} {datadir} {port}");
        }
    }

    #[test]
    fn what_was_in_the_way_is_told() {
        let fixture = Fixture::unpack(MACHINE);
        for (file, port, why) in [
            ("", 3307, "port 3307: docker-proxy holds it for a container"),
            (
                "",
                3308,
                "port 3308: only root and the server's own account can see its owner",
            ),
            ("", 3310, "port 3310: no process listens on it"),
            ("300.pid", 0, "pid file 300.pid: process 300 is nginx"),
            ("500.pid", 0, "pid file 500.pid: process 500 is not running"),
            ("none.pid", 0, "pid file none.pid: contains no process id"),
            (
                "gone.pid",
                0,
                "pid file gone.pid: No such file or directory (os error 2)",
            ),
        ] {
            let several = "2 processes are called mariadbd or mysqld or mysqld-debug";
            let found = find(&fixture, file, port);
            assert_eq!(found, Err(format!("{why}; {several}")), "{file} {port}");
        }
        fixture.remove("proc/200");
        assert_eq!(find(&fixture, "", 3310), Ok((100, "name".to_owned())));
        fixture.remove("proc/100");
        let none = find(&fixture, "", 0).unwrap_err();
        assert_eq!(
            none,
            "no process is called mariadbd or mysqld or mysqld-debug"
        );
    }
}
