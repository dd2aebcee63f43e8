//! The environment of the cases: directories with canaries, a MariaDB and a null server.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Permissions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::{Connection, Endpoint};
use server::{Installation, Lifetime, Server, Settings};
use tempfile::TempDir;

use crate::{
    room::{self, Room},
    torture::trial::{PASSWORD, Trial},
};

/// Content of a canary: no server may receive it.
pub(crate) const CANARY: &str = "Canary-must-stay-here-4711";
/// File name of a canary.
pub(crate) const CANARY_NAME: &str = "canary";

/// The environment of all kinds; its servers are created at their first use.
pub(crate) struct Ground {
    directory: TempDir,
    mariadb: OnceLock<Option<Server>>,
    null_server: OnceLock<NullServer>,
    /// Names of the tables in the MariaDB that have been made.
    tables: Mutex<BTreeSet<&'static str>>,
    next: AtomicU64,
    /// Until the directory is removed.
    _room: Room,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let room = Room::take(room::OF_TWO_SERVERS);
        // Sockets are below it, and the path of a socket is limited to 107 bytes.
        let directory = tempfile::Builder::new().prefix("dyno").tempdir();
        Self {
            directory: directory.expect("the temporary directory is writable"),
            mariadb: OnceLock::new(),
            null_server: OnceLock::new(),
            tables: Mutex::default(),
            next: AtomicU64::new(0),
            _room: room,
        }
    }

    /// A new directory for one case.
    pub(crate) fn place(&self) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let directory = self.directory.path().join(format!("c{number}"));
        fs::create_dir(&directory).expect("the scene is writable");
        let place = Place { directory };
        let password = place.file("password", PASSWORD);
        fs::set_permissions(password, Permissions::from_mode(0o600)).expect("it is ours");
        place.file(CANARY_NAME, CANARY);
        place
    }

    /// A running MariaDB with an account `trial`; `None` if none is installed.
    pub(crate) fn mariadb(&self) -> Option<&Server> {
        let make = || {
            let installation = Installation::find(Some("mariadb"), None).ok()?;
            let directory = self.directory.path().join("given");
            let set = [
                ("innodb_buffer_pool_size", "64M"),
                ("innodb_flush_log_at_trx_commit", "0"),
                ("max_connections", "500"),
            ];
            let settings = Settings {
                set: set
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
                ..Settings::default()
            };
            let mut server = Server::create(&directory, &installation, &settings).expect("created");
            server.start(Lifetime::Owned).expect("started");
            let account = [
                format!("create user trial@'%' identified by '{PASSWORD}'"),
                "grant all on *.* to trial@'%'".to_owned(),
                "create database if not exists test".to_owned(),
            ];
            for sql in account {
                run(&server.endpoint(), &sql);
            }
            Some(server)
        };
        self.mariadb.get_or_init(make).as_ref()
    }

    /// Makes the tables with this name at their first use, for which concurrent cases wait.
    pub(crate) fn make_tables_once(&self, name: &'static str, make: impl FnOnce()) {
        let mut made = self
            .tables
            .lock()
            .expect("a case that could not make them is a fault");
        if made.insert(name) {
            make();
        }
    }

    pub(crate) fn null_server(&self) -> SocketAddr {
        self.null_server.get_or_init(NullServer::start).address
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some(Some(server)) = self.mariadb.take() {
            // The directory is removed in any case; a failing test must not abort here.
            let _ = server.destroy();
        }
    }
}

pub(crate) fn address(server: &Server) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, server.port()).into()
}

/// Runs a statement and ignores its error.
pub(crate) fn run(endpoint: &Endpoint, sql: &str) {
    let ran = reactor::block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        connection.query(sql.as_bytes()).await?;
        connection.close().await
    });
    if let Ok(Err(error)) = ran {
        eprintln!("{sql}: {error}");
    }
}

/// A dbdyno that runs as a server; killed when dropped.
struct NullServer {
    child: Child,
    address: SocketAddr,
}

impl NullServer {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
            // With a response time, a load on it does not take the whole machine.
            .args(["null-server", "--port", "0", "--delay", "1ms"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbdyno was built for this test");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("it says where it listens");
        let address = line
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|word| word.parse().ok());
        let address = address.unwrap_or_else(|| panic!("{line:?} names no address"));
        Self { child, address }
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        // Both calls fail for a process that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The directory of one case; removed with the case.
pub(crate) struct Place {
    directory: PathBuf,
}

impl Place {
    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("the scene is writable");
        }
        fs::write(&path, content).expect("the scene is writable");
        path
    }

    /// A directory in it, for a command whose neighbouring files are checked.
    pub(crate) fn inner(&self, name: &str) -> Self {
        let directory = self.directory.join(name);
        fs::create_dir_all(&directory).expect("the scene is writable");
        Self { directory }
    }

    /// A trial of dbdyno in it.
    pub(crate) fn trial<S: ToString>(&self, args: impl IntoIterator<Item = S>) -> Trial {
        Trial::new(&self.directory, args)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if std::env::var_os("DBDYNO_TORTURE_KEEP").is_none() {
            // Remains of a failed case are removed with the ground.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// Everything below a directory: by path, a hash of each file's content, and 0 for anything other than a file.
pub(crate) fn contents(directory: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(directory) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                found.insert(path.clone(), 0);
                found.extend(contents(&path));
            }
            Ok(kind) if kind.is_file() => {
                let mut hasher = DefaultHasher::new();
                fs::read(&path).unwrap_or_default().hash(&mut hasher);
                found.insert(path, hasher.finish());
            }
            _ => {
                found.insert(path, 0);
            }
        }
    }
    found
}

/// The first entry of `before` that was removed or changed.
pub(crate) fn harmed(before: &BTreeMap<PathBuf, u64>, directory: &Path) -> Option<String> {
    let now = contents(directory);
    let mut harmed = before
        .iter()
        .filter_map(|(path, hash)| match now.get(path) {
            None => Some(format!("{} is gone", path.display())),
            Some(found) if found != hash => Some(format!("{} is another", path.display())),
            Some(_) => None,
        });
    harmed.next()
}
