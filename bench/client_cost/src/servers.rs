//! The two servers that answer: dbdyno's null server and a private MariaDB.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::{
    finished::Finished,
    tool::{Address, pinned},
};

/// The null server's processor; the client that it is measured with has the other one.
pub(crate) const SERVER_PROCESSOR: u32 = 0;
/// The client's processor while the null server answers.
pub(crate) const CLIENT_PROCESSOR: u32 = 1;

/// A running null server; ended when this goes.
#[derive(Debug)]
pub(crate) struct NullServer {
    process: Child,
    address: Address,
}

impl NullServer {
    /// Starts one, alone on its processor where `is_pinned`.
    pub(crate) fn start(
        dbdyno: &Path,
        socket: PathBuf,
        is_pinned: bool,
        options: &[String],
    ) -> Result<Self> {
        let mut command = Command::new(dbdyno);
        command
            .args(["null-server", "--port=0", "--socket"])
            .arg(&socket)
            .args(options);
        if is_pinned {
            command = pinned(command, SERVER_PROCESSOR);
        }
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the null server")?;
        // One line once it listens: `listening on /tmp/null.sock and 127.0.0.1:40213`
        let mut line = String::new();
        let stdout = process.stdout.take().context("its stdout is a pipe")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line
            .trim()
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        let Some(port) = port else {
            process.kill()?;
            process.wait()?;
            bail!("the null server did not say where it listens: {line:?}");
        };
        Ok(Self {
            process,
            address: Address { socket, port },
        })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Processor time of all its threads so far, in seconds.
    pub(crate) fn cpu_s(&self) -> Result<f64> {
        let tasks = format!("/proc/{}/task", self.process.id());
        let mut busy_ns = 0;
        for task in fs::read_dir(&tasks).with_context(|| tasks.clone())? {
            let times = fs::read_to_string(task?.path().join("schedstat"))?;
            busy_ns += first_number(&times).with_context(|| format!("{tasks}: {times:?}"))?;
        }
        Ok(busy_ns as f64 / 1e9)
    }

    /// Ends it in order, so that its log is whole.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        if self.process.try_wait()?.is_none() {
            let id = i32::try_from(self.process.id())?;
            // SAFETY: the process is our child and was not waited for, so that its id is still its own.
            unsafe { libc::kill(id, libc::SIGTERM) };
            self.process.wait()?;
        }
        Ok(())
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        // Nothing is left to do where it cannot be ended.
        let _ = self.end();
    }
}

/// The first field of schedstat: nanoseconds on a processor, as in `81926113 1254 97`.
fn first_number(line: &str) -> Option<u64> {
    line.split_whitespace().next()?.parse().ok()
}

/// A private MariaDB; destroyed when this goes.
#[derive(Debug)]
pub(crate) struct MariaDb {
    dbdyno: PathBuf,
    name: String,
    address: Address,
}

/// In memory, no binary log, no flush per commit: the client is the subject.
const SETTINGS: &[&str] = &[
    "innodb_buffer_pool_size=1G",
    "innodb_log_file_size=512M",
    "innodb_flush_log_at_trx_commit=2",
    "performance_schema=off",
    "max_connections=1100",
    "max_prepared_stmt_count=1048576",
    "back_log=4096",
    "table_open_cache=4000",
    "skip-name-resolve",
];

/// An account without a password, so that none can stand in a process list; the server listens on loopback only.
const ACCOUNTS: &str = "CREATE DATABASE sb; \
    CREATE USER peer@localhost IDENTIFIED BY ''; GRANT ALL ON sb.* TO peer@localhost; \
    CREATE USER peer@'127.0.0.1' IDENTIFIED BY ''; GRANT ALL ON sb.* TO peer@'127.0.0.1'; \
    GRANT FILE, PROCESS ON *.* TO peer@localhost";

impl MariaDb {
    /// Makes and starts one below `work`.
    pub(crate) fn create(dbdyno: &Path, work: &Path, name: &str) -> Result<Self> {
        let mut create = Command::new(dbdyno);
        create.args(["server", "create", name, "--run", "mariadb", "--dir"]);
        create.arg(work.join("mariadb"));
        for setting in SETTINGS {
            create.args(["--set", setting]);
        }
        let said = Finished::success_of(create)?.stdout;
        let mut server = Self {
            dbdyno: dbdyno.to_owned(),
            name: name.to_owned(),
            address: Address {
                socket: PathBuf::new(),
                port: 0,
            },
        };
        server.address = address_in(&said).with_context(|| format!("no address in {said:?}"))?;
        server.ask(ACCOUNTS)?;
        Ok(server)
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Runs SQL as an administrator; what comes back has tabs between the columns.
    pub(crate) fn ask(&self, sql: &str) -> Result<String> {
        let mut client = Command::new(&self.dbdyno);
        client.args([
            "server",
            "client",
            &self.name,
            "--",
            "--batch",
            "--skip-column-names",
            "-e",
            sql,
        ]);
        Ok(Finished::success_of(client)?.stdout)
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

/// The address in `one: running, pid 2839, port 19381, socket /tmp/one/run/mysqld.sock`.
fn address_in(said: &str) -> Option<Address> {
    let port = said.split_once(", port ")?.1.split_once(',')?.0;
    let socket = said.split_once(", socket ")?.1.trim_end();
    Some(Address {
        socket: PathBuf::from(socket),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_itself() {
        let address =
            address_in("one: running, pid 2839, port 19381, socket /tmp/one/run/mysqld.sock\n")
                .unwrap();
        assert_eq!(address.port, 19381);
        assert_eq!(address.socket, Path::new("/tmp/one/run/mysqld.sock"));
        assert!(address_in("one: stopped").is_none());
        assert_eq!(first_number("81926113 1254 97\n"), Some(81_926_113));
        assert_eq!(first_number(""), None);
    }
}
