//! The packet and SQL functions of the proxy's scripts, in the proxy's own Lua: any bytes are read or refused.

#![no_main]

use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc};

use libfuzzer_sys::fuzz_target;
use proxy::{
    Address, Backends, Decision, HookMaker, Hooks, HostOptions, Level, Peer, ScriptHost, ScriptOptions, Session,
    SharedSession, ScriptEnvironment,
};

const SCRIPT: &str = r#"
    local proto, tokenizer, parser, commands =
        require("mysql.proto"), require("proxy.tokenizer"), require("proxy.parser"), require("proxy.commands")
    function read_query(packet)
        for name, f in pairs(proto) do
            if name:find("^from_") or name:find("^stmt_id_") then
                local ok, err = pcall(f, packet, #packet % 9)
                assert(ok or err:find(": not a complete ", 1, true), err)
            end
        end
        local tokens = tokenizer.tokenize(packet)
        tokenizer.normalize(tokens)
        tokenizer.tokens_to_query(tokens)
        parser.get_tables(tokens)
        commands.pretty_print(commands.parse(packet))
    end
"#;

/// A script's mistake is a finding.
struct Strict;

impl ScriptEnvironment for Strict {
    fn log(&self, level: Level, text: &str) {
        assert!(level > Level::Warning, "{text}");
    }
    fn print(&self, _: &[u8]) {}
    fn idle_connections(&self, _: usize, _: &[u8]) -> usize {
        0
    }
    fn shut_down(&self) {}
}

thread_local! {
    static SCENE: RefCell<(Box<dyn Hooks>, SharedSession)> = RefCell::new(scene());
}

fn scene() -> (Box<dyn Hooks>, SharedSession) {
    let path = std::env::temp_dir().join(format!("script_packets.{}.lua", std::process::id()));
    std::fs::write(&path, SCRIPT).expect("a file for the script");
    let options = ScriptOptions { script: path.clone(), lua: HostOptions::default() };
    let host = ScriptHost::new(options, Arc::new(Backends(Vec::new())), Rc::new(Strict)).expect("a Lua state");
    let end = || Address::Tcp(([127, 0, 0, 1], 1).into());
    let session = Rc::new(RefCell::new(Session {
        client: Peer::new(end(), end()),
        server: None,
        backend: None,
        queries: VecDeque::new(),
        client_deprecates_eof: false,
        close: false,
    }));
    let hooks = host.hooks(&session);
    std::fs::remove_file(path).expect("it was written");
    (hooks, session)
}

fuzz_target!(|packet: &[u8]| {
    SCENE.with_borrow_mut(|(hooks, session)| {
        assert_eq!(hooks.read_query(session, packet), Decision::PassOn);
    });
});
