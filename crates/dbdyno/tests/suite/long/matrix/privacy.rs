//! A private server is accessible only from this machine, and reads no other option files.

use std::fs;

use crate::long::matrix::{results::Cell, subject::Subject};

/// 127.0.0.1 and ::1 in the format of /proc/net/tcp and /proc/net/tcp6.
const LOOPBACK: [&str; 2] = ["0100007F", "00000000000000000000000001000000"];

/// The state of a listening socket.
const LISTENS: &str = "0A";

/// The TCP addresses on which a process listens, such as `0100007F:0CEA`.
fn listens_on(pid: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let sockets: Vec<String> = files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .filter_map(|link| {
            let number = link.to_str()?.strip_prefix("socket:[")?;
            Some(number.trim_end_matches(']').to_owned())
        })
        .collect();
    let mut addresses = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        // A machine may not have IPv6.
        let table = fs::read_to_string(table).unwrap_or_default();
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, state, _, _, _, _, _, inode, ..] = fields[..] else {
                panic!("{line}");
            };
            if state == LISTENS && sockets.iter().any(|socket| socket == inode) {
                addresses.push(local.to_owned());
            }
        }
    }
    addresses
}

/// No port is open to other hosts, including MySQL's X plugin, and files are read only from its own directory.
pub(crate) fn reach(subject: &mut Subject) -> Cell {
    let addresses = listens_on(subject.server().pid().unwrap());
    assert_eq!(addresses.len(), 1, "{addresses:?}");
    for address in &addresses {
        let (host, port) = address.split_once(':').unwrap();
        assert!(LOOPBACK.contains(&host), "{address}");
        let port = u16::from_str_radix(port, 16).unwrap();
        assert_eq!(port, subject.server().port());
    }
    let rows = subject.rows("SELECT @@secure_file_priv");
    let own = subject.server().dir().to_owned();
    assert!(rows[0][0].starts_with(own.to_str().unwrap()), "{rows:?}");
    Cell::Ok
}
