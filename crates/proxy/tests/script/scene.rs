//! A script, a session and what it said.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    sync::Arc,
};

use lua::HostOptions;
use proxy::{
    Address, Backend, BackendKind, Backends, Decision, HookMaker, Hooks, Injection, Level, Peer,
    QueryResult, ScriptEnvironment, ScriptHost, ScriptOptions, Session, SharedSession, Status,
    StatusFlags,
};
use tempfile::TempDir;

/// What a script said and asked for.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) lines: RefCell<Vec<(Level, String)>>,
    pub(crate) printed: RefCell<Vec<String>>,
    pub(crate) idle: RefCell<HashMap<(usize, Vec<u8>), usize>>,
    pub(crate) is_shut_down: Cell<bool>,
}

impl ScriptEnvironment for Recorder {
    fn log(&self, level: Level, text: &str) {
        self.lines.borrow_mut().push((level, text.to_owned()));
    }

    fn print(&self, text: &[u8]) {
        let text = String::from_utf8_lossy(text).into_owned();
        self.printed.borrow_mut().push(text);
    }

    fn idle_connections(&self, backend: usize, user: &[u8]) -> usize {
        let key = (backend, user.to_vec());
        self.idle.borrow().get(&key).copied().unwrap_or_default()
    }

    fn idle_server(&self, backend: usize) -> Option<Peer> {
        let port = u16::try_from(3306 + backend).expect("few backends");
        let is_idle = self.idle_connections(backend, b"me") > 0;
        is_idle.then(|| Peer::new(tcp(1002), tcp(port)))
    }

    fn shut_down(&self) {
        self.is_shut_down.set(true);
    }
}

/// A script, a session and what it said.
pub(crate) struct Scene {
    pub(crate) hooks: Box<dyn Hooks>,
    pub(crate) session: SharedSession,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) host: ScriptHost,
    pub(crate) backends: Arc<Backends>,
    pub(crate) directory: TempDir,
}

pub(crate) fn tcp(port: u16) -> Address {
    Address::Tcp(([127, 0, 0, 1], port).into())
}

/// A session of the user `me` from port 1000 to the proxy's 4040, and from there to the second backend.
pub(crate) fn session() -> SharedSession {
    let mut client = Peer::new(tcp(1000), tcp(4040));
    client.username = b"me".to_vec();
    client.default_db = b"test".to_vec();
    client.scrambled_password = b"\x01\x02".to_vec();
    client.auth_plugin_name = b"mysql_native_password".to_vec();
    let mut server = Peer::new(tcp(1001), tcp(3307));
    server.mysqld_version = 50506;
    server.thread_id = 17;
    server.scramble_buffer = b"01234567890123456789".to_vec();
    let mut session = Session::new(1, client);
    session.server = Some(server);
    session.backend = Some(1);
    Rc::new(RefCell::new(session))
}

impl Scene {
    pub(crate) fn new(script: &str) -> Self {
        Self::with_memory(script, Some(64 << 20))
    }

    /// A script whose memory, and that of the results that it keeps, has this limit, bytes.
    pub(crate) fn with_memory(script: &str, memory_limit: Option<usize>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x.lua");
        std::fs::write(&path, script).expect("a script");
        let backends = Arc::new(Backends(vec![
            Backend::new(tcp(3306), BackendKind::ReadWrite),
            Backend::new(tcp(3307), BackendKind::ReadWrite),
            Backend::new(Address::Unix("/tmp/ro.sock".into()), BackendKind::ReadOnly),
        ]));
        let recorder = Rc::new(Recorder::default());
        let options = ScriptOptions {
            script: path,
            lua: HostOptions {
                instruction_limit: Some(10_000_000),
                memory_limit,
                path: Some(format!("{}/?.lua", directory.path().display())),
                ..HostOptions::default()
            },
        };
        let host = ScriptHost::new(options, backends.clone(), recorder.clone());
        let host = host.expect("a Lua state");
        let session = session();
        Self {
            hooks: host.hooks(&session),
            session,
            recorder,
            host,
            backends,
            directory,
        }
    }

    /// A script whose `read_query` has this body.
    pub(crate) fn in_query(body: &str) -> Self {
        Self::new(&format!("function read_query(packet)\n{body}\nend"))
    }

    pub(crate) fn query(&mut self, text: &str) -> Decision {
        let packet = [b"\x03", text.as_bytes()].concat();
        self.hooks.read_query(&self.session, &packet)
    }

    pub(crate) fn result(&mut self, result: QueryResult) -> Decision {
        self.hooks.read_query_result(&self.session, result)
    }

    /// Log lines of this level or a more important one.
    pub(crate) fn logged(&self, level: Level) -> Vec<String> {
        let lines = self.recorder.lines.borrow();
        let important = lines.iter().filter(|(of, _)| *of <= level);
        important.map(|(_, text)| text.clone()).collect()
    }

    /// The first line that is not a detail.
    pub(crate) fn complaint(&self) -> String {
        self.logged(Level::Warning)
            .first()
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn printed(&self) -> Vec<String> {
        self.recorder.printed.borrow().clone()
    }
}

/// Runs the body in `read_query`; an assertion that fails in it fails the test.
pub(crate) fn check(body: &str) -> Scene {
    let mut scene = Scene::in_query(body);
    assert_eq!(scene.query("select 1"), Decision::PassOn, "{body}");
    assert_eq!(scene.logged(Level::Warning), [""; 0], "{body}");
    scene
}

/// The error that the expression raises, without its place.
pub(crate) fn error_of(expression: &str) -> String {
    let body =
        format!("local ok, err = pcall(function() {expression} end) print(tostring(ok), err)");
    let mut scene = Scene::in_query(&body);
    scene.query("select 1");
    let printed = scene.printed();
    let line = printed.first().cloned().unwrap_or_default();
    let error = line.strip_prefix("false\t").unwrap_or("no error");
    error
        .split_once("]:2: ")
        .map_or(error, |(_, message)| message)
        .to_owned()
}

/// An answer without rows to a kept command.
pub(crate) fn done() -> QueryResult {
    QueryResult {
        injection: Injection {
            id: 7,
            packet: b"\x03update t".to_vec(),
            needs_result: true,
        },
        query_time_us: 120,
        response_time_us: 130,
        status: Status::Ok {
            affected_rows: 3,
            insert_id: 9,
        },
        flags: StatusFlags {
            auto_commit: true,
            ..StatusFlags::default()
        },
        warning_count: 2,
        row_count: 0,
        bytes: 11,
        packets: Some(Rc::new(vec![vec![0, 3, 9, 2, 0, 2, 0]])),
        columns: 0,
        is_binary: false,
        deprecate_eof: false,
    }
}

fn lenenc(text: &str) -> Vec<u8> {
    let mut out = vec![text.len() as u8];
    out.extend_from_slice(text.as_bytes());
    out
}

pub(crate) fn column(table: &str, name: &str, kind: u8) -> Vec<u8> {
    let original = |text: &str| format!("org_{text}");
    let mut out: Vec<u8> = ["def", "db", table, &original(table), name, &original(name)]
        .iter()
        .flat_map(|text| lenenc(text))
        .collect();
    out.extend_from_slice(&[0x0c, 33, 0, 255, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    out
}

/// Two columns and two rows, the second with a NULL.
pub(crate) fn rows(deprecate_eof: bool) -> QueryResult {
    let eof = vec![0xfe, 0, 0, 2, 0];
    let mut packets = vec![vec![2], column("t", "a", 3), column("t", "b", 253)];
    if !deprecate_eof {
        packets.push(eof.clone());
    }
    packets.push([lenenc("1"), lenenc("one")].concat());
    packets.push([lenenc("2"), vec![0xfb]].concat());
    packets.push(if deprecate_eof {
        vec![0xfe, 0, 0, 2, 0, 0, 0]
    } else {
        eof
    });
    QueryResult {
        status: Status::Rows,
        row_count: 2,
        packets: Some(Rc::new(packets)),
        columns: 2,
        deprecate_eof,
        ..done()
    }
}
