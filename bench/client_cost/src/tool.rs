//! The clients that are compared, and the command line that makes each do the same.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use crate::cell::{Cell, Statement, Transport};

/// Rows of the table; ids are drawn uniformly from them.
pub(crate) const ROWS: u32 = 100_000;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    Dbdyno,
    Sysbench,
    MariadbSlap,
    MysqlAsync,
    GoDriver,
    EpollFloor,
}

impl Tool {
    pub(crate) const ALL: [Self; 6] = [
        Self::Dbdyno,
        Self::Sysbench,
        Self::MariadbSlap,
        Self::MysqlAsync,
        Self::GoDriver,
        Self::EpollFloor,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dbdyno => "dbdyno",
            Self::Sysbench => "sysbench",
            Self::MariadbSlap => "mariadb-slap",
            Self::MysqlAsync => "mysql_async",
            Self::GoDriver => "Go driver",
            Self::EpollFloor => "epoll floor",
        }
    }
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) socket: PathBuf,
    pub(crate) port: u16,
}

/// The programs, found or built.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) dbdyno: PathBuf,
    pub(crate) mysql_async: PathBuf,
    pub(crate) go_driver: PathBuf,
    pub(crate) epoll_floor: PathBuf,
    /// Where dbdyno's run records go.
    pub(crate) records: PathBuf,
    /// How many went there: dbdyno never writes over one.
    pub(crate) recorded: std::cell::Cell<u32>,
}

/// What a client is to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Benchmark {
    PointSelect,
    ReadWrite,
}

/// One run of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) benchmark: Benchmark,
    pub(crate) cell: &'a Cell,
    pub(crate) address: &'a Address,
    /// Queries, or transactions.
    pub(crate) operations: u64,
}

impl Programs {
    /// The command of a run: user `peer` without a password, database `sb`, table `sbtest1`.
    pub(crate) fn command(&self, tool: Tool, task: Task) -> Command {
        match tool {
            Tool::Dbdyno => self.dbdyno(task),
            Tool::Sysbench => sysbench(task),
            Tool::MariadbSlap => mariadb_slap(task),
            Tool::MysqlAsync => simple_loop(&self.mysql_async, task),
            Tool::GoDriver => simple_loop(&self.go_driver, task),
            Tool::EpollFloor => simple_loop(&self.epoll_floor, task),
        }
    }

    fn dbdyno(&self, task: Task) -> Command {
        let benchmark = match task.benchmark {
            Benchmark::PointSelect => "point_select",
            Benchmark::ReadWrite => "read_write",
        };
        let mut command = self.oltp(benchmark, "run", 1);
        match task.cell.transport {
            Transport::Unix => command.arg("--socket").arg(&task.address.socket),
            Transport::Tcp => command
                .args(["--host", "127.0.0.1", "--port"])
                .arg(task.address.port.to_string()),
        };
        command
            .arg(format!("--connections={}", task.cell.connections))
            .arg(format!("--operations={}", task.operations));
        if task.cell.statement == Statement::Text {
            command.arg("--db-ps-mode=disable");
        }
        command
    }

    /// `dbdyno oltp BENCHMARK COMMAND` over a number of tables.
    pub(crate) fn oltp(&self, benchmark: &str, what: &str, tables: u32) -> Command {
        let mut command = Command::new(&self.dbdyno);
        command.args(["oltp", benchmark, what, "--user=peer", "--database=sb"]);
        command.arg(format!("--tables={tables}"));
        command.arg(format!("--table-size={ROWS}"));
        if what == "run" {
            self.recorded.update(|count| count + 1);
            let name = format!("record-{}.jsonl", self.recorded.get());
            command.arg(option("--record=", &self.records.join(name)));
        }
        command
    }
}

fn sysbench(task: Task) -> Command {
    let script = match task.benchmark {
        Benchmark::PointSelect => "oltp_point_select",
        Benchmark::ReadWrite => "oltp_read_write",
    };
    let mut command = sysbench_on(script, task.address, task.cell.transport);
    command
        .arg("--tables=1")
        .arg(format!("--table-size={ROWS}"))
        .arg(format!("--threads={}", task.cell.connections))
        .arg(format!("--events={}", task.operations))
        .args(["--time=0", "--rand-type=uniform"]);
    if task.cell.statement == Statement::Text {
        command.arg("--db-ps-mode=disable");
    }
    command.arg("run");
    command
}

/// sysbench with its script and the server's address.
pub(crate) fn sysbench_on(script: &str, address: &Address, transport: Transport) -> Command {
    let mut command = Command::new("sysbench");
    command.args([script, "--mysql-user=peer", "--mysql-db=sb"]);
    match transport {
        Transport::Unix => command.arg(option("--mysql-socket=", &address.socket)),
        Transport::Tcp => command
            .arg("--mysql-host=127.0.0.1")
            .arg(format!("--mysql-port={}", address.port)),
    };
    command
}

/// It knows no parameters and no prepared statements: one constant id, always as text.
fn mariadb_slap(task: Task) -> Command {
    let mut command = Command::new("mariadb-slap");
    command.args([
        "--no-defaults",
        "--silent",
        "--user=peer",
        "--create-schema=sb",
    ]);
    match task.cell.transport {
        Transport::Unix => command.arg(option("--socket=", &task.address.socket)),
        Transport::Tcp => command
            .args(["--protocol=tcp", "--host=127.0.0.1"])
            .arg(format!("--port={}", task.address.port)),
    };
    command
        .arg(format!("--concurrency={}", task.cell.connections))
        .arg(format!("--number-of-queries={}", task.operations))
        .arg(format!(
            "--query=SELECT c FROM sbtest1 WHERE id={}",
            ROWS / 2
        ));
    command
}

/// The command line that the peers of this directory share.
fn simple_loop(program: &Path, task: Task) -> Command {
    let mut command = Command::new(program);
    match task.cell.transport {
        Transport::Unix => command.arg(&task.address.socket),
        Transport::Tcp => command.arg(task.address.port.to_string()),
    };
    command
        .arg(task.cell.connections.to_string())
        .arg(task.operations.to_string())
        .arg(match task.cell.statement {
            Statement::Prepared => "prepared",
            Statement::Text => "text",
        })
        .arg(ROWS.to_string());
    command
}

fn option(name: &str, value: &Path) -> std::ffi::OsString {
    let mut option = OsStr::new(name).to_owned();
    option.push(value);
    option
}

/// The same command on one processor only.
pub(crate) fn pinned(command: Command, processor: u32) -> Command {
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &processor.to_string()]);
    pinned.arg(command.get_program()).args(command.get_args());
    pinned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Answerer;

    fn words(command: &Command) -> Vec<String> {
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn every_tool_is_told_the_same() {
        let programs = Programs {
            dbdyno: "dbdyno".into(),
            mysql_async: "mysql_async_loop".into(),
            go_driver: "go_driver".into(),
            epoll_floor: "epoll_floor".into(),
            records: "records".into(),
            recorded: std::cell::Cell::new(0),
        };
        let address = Address {
            socket: "/tmp/null.sock".into(),
            port: 3307,
        };
        for cell in Cell::all(Answerer::NullServer) {
            for tool in Tool::ALL {
                let task = Task {
                    benchmark: Benchmark::PointSelect,
                    cell: &cell,
                    address: &address,
                    operations: 4711,
                };
                let line = words(&pinned(programs.command(tool, task), 1)).join(" ");
                assert!(line.starts_with("taskset -c 1 "), "{line}");
                assert!(line.contains("4711"), "{line}");
                assert!(line.contains(&cell.connections.to_string()), "{line}");
                let tcp = cell.transport == Transport::Tcp;
                assert_eq!(line.contains("3307"), tcp, "{line}");
                assert_eq!(line.contains("/tmp/null.sock"), !tcp, "{line}");
            }
        }
    }
}
