//! The private MariaDB that everything is loaded into.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use harness::finished::Finished;

/// Clock ticks per second in /proc.
const TICKS_PER_S: f64 = 100.0;

/// A private MariaDB; destroyed when this goes.
#[derive(Debug)]
pub(crate) struct MariaDb {
    dbdyno: PathBuf,
    name: String,
    pub(crate) port: u16,
    process: u32,
}

/// All in memory, a log that is large enough, no flush per commit, no binary log.
const SETTINGS: &[&str] = &[
    "innodb_buffer_pool_size=2G",
    "innodb_log_file_size=1G",
    "innodb_log_buffer_size=64M",
    "innodb_flush_log_at_trx_commit=2",
    "innodb_flush_method=O_DIRECT",
    "innodb_io_capacity=2000",
    "performance_schema=off",
    "character_set_server=utf8mb4",
    "local_infile=on",
    "skip-name-resolve",
];

/// An account without a password, so that none can stand in a process list; the server listens on loopback only.
const ACCOUNT: &str =
    "create user peer@'127.0.0.1' identified by ''; grant all on *.* to peer@'127.0.0.1'";

impl MariaDb {
    /// Makes and starts one below `work`.
    pub(crate) fn create(dbdyno: &Path, work: &Path, name: &str) -> Result<Self> {
        let mut create = Command::new(dbdyno);
        create.args(["server", "create", name, "--run", "mariadb-10.11", "--dir"]);
        create.arg(work.join("mariadb"));
        for setting in SETTINGS {
            create.args(["--set", setting]);
        }
        let said = Finished::success_of(create)?.stdout;
        let (process, port) =
            numbers_in(&said).with_context(|| format!("no address in {said:?}"))?;
        let server = Self {
            dbdyno: dbdyno.to_owned(),
            name: name.to_owned(),
            port,
            process,
        };
        server.ask(ACCOUNT)?;
        Ok(server)
    }

    /// Runs SQL as an administrator; what comes back has tabs between the columns.
    pub(crate) fn ask(&self, sql: &str) -> Result<String> {
        let mut client = Command::new(&self.dbdyno);
        client.args(["server", "client", &self.name, "--"]);
        client.args(["--batch", "--skip-column-names", "-e", sql]);
        Ok(Finished::success_of(client)?.stdout)
    }

    /// Processor time of the server so far, in seconds.
    pub(crate) fn cpu_s(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.process);
        let line = fs::read_to_string(&path).with_context(|| path.clone())?;
        let ticks = ticks_in(&line).with_context(|| format!("{path}: {line:?}"))?;
        Ok(ticks as f64 / TICKS_PER_S)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let mut destroy = Command::new(&self.dbdyno);
        destroy.args(["server", "destroy", &self.name]);
        // Nothing is left to do where it cannot be destroyed; the directory is a temporary one.
        let _ = Finished::run(destroy);
    }
}

/// Process and port in `one: running, pid 2839, port 19381, socket /tmp/one/run/mysqld.sock`.
fn numbers_in(said: &str) -> Option<(u32, u16)> {
    let behind = |word| {
        said.split_once(word)?
            .1
            .split_once(',')
            .map(|(found, _)| found)
    };
    Some((
        behind(", pid ")?.parse().ok()?,
        behind(", port ")?.parse().ok()?,
    ))
}

/// User and system time in a line of /proc/PID/stat, whose second field may hold blanks.
fn ticks_in(line: &str) -> Option<u64> {
    let mut fields = line.rsplit_once(") ")?.1.split(' ');
    let user: u64 = fields.nth(11)?.parse().ok()?;
    Some(user + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_and_the_kernel_say() {
        let said = "one: running, pid 2839, port 19381, socket /tmp/one/run/mysqld.sock\n";
        assert_eq!(numbers_in(said), Some((2839, 19381)));
        assert_eq!(numbers_in("one: stopped"), None);
        let line = "2839 (maria db) S 1 2 3 4 5 6 7 8 9 10 700 50 0 0 20 0 9 0 1 2";
        assert_eq!(ticks_in(line), Some(750));
    }
}
