//! Tests of what rules make of commands.

use std::{cell::RefCell, path::Path};

use super::*;
use crate::{
    Address, Backend, BackendKind, Peer, Session, StatusFlags, metrics::RuleCounters,
    rewrite::loader::Loader,
};

/// What a session's rules logged.
#[derive(Default)]
struct Lines(RefCell<Vec<String>>);

impl ScriptEnvironment for Lines {
    fn log(&self, _: Level, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
    fn print(&self, _: &[u8]) {}
    fn idle_connections(&self, _: usize, _: &[u8]) -> usize {
        0
    }
    fn shut_down(&self) {}
}

struct Scene {
    rules: SessionRules,
    session: SharedSession,
    lines: Rc<Lines>,
}

fn address(port: u16) -> Address {
    Address::Tcp(([127, 0, 0, 1], port).into())
}

impl Scene {
    fn new(text: &str) -> Self {
        Self::numbered(text, 1)
    }

    fn numbered(text: &str, number: u64) -> Self {
        let backends = Arc::new(Backends(vec![
            Backend::new(address(1), BackendKind::ReadWrite),
            Backend::new(address(2), BackendKind::ReadOnly),
        ]));
        let counters = RuleCounters::default();
        let loader = Loader {
            is_quotable: true,
            directory: Path::new(""),
            backends: &backends,
            counters: &counters,
            opens_connections: true,
        };
        let rules = Rules::new(loader.rules(text).unwrap()).unwrap();
        let mut session = Session::new(number, Peer::new(address(3), address(4)));
        session.client.username = b"ann".to_vec();
        session.client.default_db = b"shop".to_vec();
        let lines = Rc::new(Lines::default());
        let environment: Rc<dyn ScriptEnvironment> = lines.clone();
        Self {
            rules: SessionRules::new(Arc::new(rules), backends, environment, 1, number),
            session: Rc::new(RefCell::new(session)),
            lines,
        }
    }

    fn command(&mut self, command: u8, text: &str) -> Decision {
        self.session.borrow_mut().begin_command();
        let packet = [&[command], text.as_bytes()].concat();
        self.rules.read_query(&self.session, &packet)
    }

    /// The statements that are sent for one.
    fn sent(&mut self, text: &str) -> Vec<String> {
        match self.command(com::QUERY, text) {
            Decision::PassOn => vec![text.to_owned()],
            Decision::SendQueue => {
                let session = self.session.borrow();
                let text = |it: &Injection| String::from_utf8_lossy(&it.packet[1..]).into_owned();
                session.queries.iter().map(text).collect()
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_first_rule_that_applies_decides() {
    let mut scene = Scene::new(
        r#"
        [[rule]]
        user = "bob"
        replace = "of bob"
        [[rule]]
        digest = "SELECT ?"
        replace = "of the digest"
        [[rule]]
        pattern = '^SELECT'
        replace = "of the pattern"
        [[rule]]
        digest = "DELETE FROM `t`"
        pattern = 'FROM t$'
        database = "shop"
        before = ["one", "two"]
        "#,
    );
    assert_eq!(scene.sent("SELECT 7"), ["of the digest"]);
    assert_eq!(scene.sent("SELECT a"), ["of the pattern a"]);
    assert_eq!(scene.sent("INSERT"), ["INSERT"]);
    assert_eq!(scene.sent("delete FROM t"), ["one", "two", "delete FROM t"]);
    assert_eq!(scene.sent("delete FROM `t`"), ["delete FROM `t`"]);
    scene.session.borrow_mut().client.default_db = b"other".to_vec();
    assert_eq!(scene.sent("delete FROM t"), ["delete FROM t"]);
    scene.session.borrow_mut().client.username = b"bob".to_vec();
    assert_eq!(scene.sent("SELECT 7"), ["of bob"]);
    let matches = |at: usize| scene.rules.rules.all[at].counter.name().to_owned();
    assert_eq!(matches(3), "rule 4");
}

#[test]
fn rules_that_continue_hand_the_new_text_on() {
    let mut scene = Scene::new(
        r#"
        [[rule]]
        pattern = 'a'
        replace = "b"
        continue = true
        [[rule]]
        pattern = 'a'
        replace = "never"
        [[rule]]
        pattern = 'b'
        before = ["first"]
        delay = "1ms"
        continue = true
        [[rule]]
        pattern = 'b'
        before = ["second"]
        delay = "2ms"
        "#,
    );
    assert_eq!(scene.sent("xa"), ["first", "second", "xb"]);
    assert_eq!(scene.session.borrow().delay, Duration::from_millis(3));
    assert_eq!(scene.sent("x"), ["x"]);
    assert_eq!(scene.session.borrow().delay, Duration::ZERO);
}

#[test]
fn prepared_statements_are_changed_as_queries_are() {
    let mut scene = Scene::new(
        r#"
        [[rule]]
        pattern = 'q'
        command = "query"
        block = "no"
        [[rule]]
        pattern = 'p'
        command = "prepare"
        replace = "r"
        [[rule]]
        pattern = 'a'
        answer = { affected_rows = 1 }
        "#,
    );
    assert!(matches!(
        scene.command(com::QUERY, "q"),
        Decision::Answer(_)
    ));
    assert_eq!(scene.command(com::STMT_PREPARE, "q"), Decision::PassOn);
    assert_eq!(scene.command(com::QUERY, "p"), Decision::PassOn);
    assert_eq!(scene.command(com::STMT_PREPARE, "p"), Decision::SendQueue);
    assert_eq!(scene.session.borrow().queries[0].packet, b"\x16r");
    assert_eq!(scene.command(com::STMT_PREPARE, "a"), Decision::PassOn);
    assert!(matches!(
        scene.command(com::QUERY, "a"),
        Decision::Answer(_)
    ));
    assert_eq!(scene.command(com::INIT_DB, "q"), Decision::PassOn);
}

#[test]
fn a_share_is_the_same_with_the_same_seed_and_session() {
    let rules = "[[rule]]\nshare = 0.1\nblock = 'no'";
    let run = |number| {
        let mut scene = Scene::numbered(rules, number);
        (0..1000)
            .map(|_| matches!(scene.command(com::QUERY, "q"), Decision::Answer(_)))
            .collect::<Vec<_>>()
    };
    let first = run(1);
    let blocked = first.iter().filter(|is| **is).count();
    assert!((60..150).contains(&blocked), "{blocked}");
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
}

#[test]
fn routes_are_for_statements_outside_of_transactions() {
    reactor::block_on(async {
        let mut scene = Scene::new("[[rule]]\npattern = '^SELECT'\nroute = 'read-only'");
        let route = |scene: &mut Scene| {
            assert_eq!(scene.command(com::QUERY, "SELECT 1"), Decision::PassOn);
            scene.session.borrow().route.as_ref().map(|it| it.backend)
        };
        assert_eq!(route(&mut scene), Some(1));
        scene.session.borrow_mut().know_status(3);
        assert_eq!(route(&mut scene), None);
        // Autocommit is off by the login's OK.
        let ok = [0, 0, 0, 0, 0, 0, 0];
        let decision = scene.rules.read_auth_result(&scene.session, &ok);
        assert_eq!(decision, Decision::PassOn);
        assert_eq!(route(&mut scene), None);
        scene.session.borrow_mut().know_status(2);
        assert_eq!(route(&mut scene), Some(1));
        scene.rules.backends.0[1].failed(reactor::now());
        assert_eq!(route(&mut scene), None);
    })
    .unwrap();
}

#[test]
fn an_error_before_a_statement_is_its_answer() {
    let mut scene = Scene::new("[[rule]]\nbefore = ['one']");
    assert_eq!(scene.sent("x"), ["one", "x"]);
    let injection = scene.session.borrow_mut().queries.pop_front().unwrap();
    let mut result = QueryResult {
        injection,
        query_time_us: 0,
        response_time_us: 0,
        status: Status::Err,
        flags: StatusFlags::default(),
        warning_count: 0,
        row_count: 0,
        bytes: 0,
        packets: None,
        columns: 0,
        is_binary: false,
        deprecate_eof: false,
    };
    let decision = scene
        .rules
        .read_query_result(&scene.session, result.clone());
    assert_eq!(decision, Decision::PassOn);
    assert!(scene.session.borrow().queries.is_empty());
    result.status = Status::Other;
    let decision = scene
        .rules
        .read_query_result(&scene.session, result.clone());
    assert_eq!(decision, Decision::Ignore);
    result.injection.id = OWN;
    let decision = scene.rules.read_query_result(&scene.session, result);
    assert_eq!(decision, Decision::PassOn);
}

#[test]
fn the_log_has_no_values() {
    let mut scene = Scene::new("[[rule]]\nname = 'seen'\nlog = true");
    let statement = "CREATE USER x IDENTIFIED BY 'secret'";
    assert_eq!(scene.sent(statement), [statement]);
    let lines = scene.lines.0.borrow();
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with("rule seen: CREATE `USER`"),
        "{lines:?}"
    );
    assert!(!lines[0].contains("secret"));
}
