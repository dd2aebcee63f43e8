//! The scripts in `crates/proxy/scripts/`.

use std::rc::Rc;

use proxy::{Decision, HookMaker as _, Injection, Level, Peer, QueryResult, StatusFlags};

use crate::scene::{Scene, column, done, rows, session, tcp};

fn script(name: &str) -> String {
    let path = format!("{}/scripts/{name}.lua", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a bundled script")
}

/// The answer to a command that the script has sent.
fn answer_to(scene: &Scene, result: QueryResult) -> QueryResult {
    let injection: Option<Injection> = scene.session.borrow_mut().queries.pop_front();
    QueryResult {
        injection: injection.expect("a command in the queue"),
        ..result
    }
}

#[test]
fn auditing_prints_each_event() {
    let mut scene = Scene::new(&script("auditing"));
    let session = scene.session.clone();
    scene.hooks.connect_server(&session);
    scene.hooks.read_auth(&session);
    scene.hooks.read_auth_result(&session, &[0]);
    scene.hooks.read_auth_result(&session, &[255]);
    scene.query("select 1");
    scene.hooks.disconnect_client(&session);
    let printed = scene.printed();
    let expected = [
        "[connect] ",
        "[login] database test",
        "[login accepted] ",
        "[login refused] ",
        "[command] [COM_QUERY] select 1",
        "[disconnect] ",
    ];
    assert_eq!(printed.len(), expected.len());
    for (line, expected) in printed.iter().zip(expected) {
        assert!(
            line.ends_with(&format!(" 127.0.0.1:1000 me {expected}")),
            "{line}"
        );
    }
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn histogram_counts_shapes_and_tables() {
    let mut scene = Scene::new(&script("histogram"));
    for text in [
        "select * from a where b = 1",
        "SELECT * FROM a WHERE b = 2",
        "delete from a",
    ] {
        assert_eq!(scene.query(text), Decision::SendQueue);
        let mut result = answer_to(&scene, done());
        result.packets = None;
        assert_eq!(scene.result(result), Decision::PassOn);
    }
    let rows = |decision| match decision {
        Decision::Answer(packets) => {
            let columns = usize::from(packets[0][0]);
            packets[columns + 2..packets.len() - 1].to_vec()
        }
        other => panic!("{other:?}"),
    };
    // Times are at least those of the answers; the real ones count from the append.
    let queries = rows(scene.query("SELECT * FROM  histogram.queries;"));
    assert_eq!(queries.len(), 2);
    assert!(queries[0].starts_with(b"\x10DELETE FROM `a` \x011"));
    assert!(queries[1].starts_with(b"\x20SELECT * FROM `a` WHERE `b` = ? \x012"));
    let tables = rows(scene.query("select * from histogram.tables"));
    assert_eq!(tables, [b"\x06test.a\x012\x011".to_vec()]);
    assert!(matches!(
        scene.query("delete from histogram.queries"),
        Decision::Answer(_)
    ));
    assert!(rows(scene.query("select * from histogram.queries")).is_empty());
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

/// A scene with idle connections of the user to the second backend and to the one for reads.
fn splitting() -> Scene {
    let scene = Scene::new(&script("rw-splitting"));
    let mut idle = scene.recorder.idle.borrow_mut();
    for place in 0..3 {
        idle.insert((place, Vec::new()), 4);
        idle.insert((place, b"me".to_vec()), 4);
    }
    drop(idle);
    scene.session.borrow_mut().backend = None;
    scene
}

#[test]
fn rw_splitting_opens_connections_until_there_are_enough() {
    let mut scene = splitting();
    scene.recorder.idle.borrow_mut().insert((1, Vec::new()), 3);
    let session = scene.session.clone();
    assert_eq!(scene.hooks.connect_server(&session), Decision::PassOn);
    assert_eq!(session.borrow().backend, Some(1));
    assert_eq!(
        scene.hooks.read_auth_result(&session, &[0]),
        Decision::PassOn
    );
    assert_eq!(session.borrow().backend, None);
    scene.recorder.idle.borrow_mut().insert((1, Vec::new()), 4);
    assert_eq!(scene.hooks.connect_server(&session), Decision::Ignore);
    assert_eq!(session.borrow().backend, Some(0));
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn rw_splitting_sends_reads_to_readers_and_keeps_transactions_together() {
    let mut scene = splitting();
    let session = scene.session.clone();
    session.borrow_mut().client.default_db.clear();
    let in_transaction = StatusFlags {
        in_trans: true,
        ..StatusFlags::default()
    };
    let plain = StatusFlags::default();
    let mut step = |text: &str, flags, insert_id| {
        assert_eq!(scene.query(text), Decision::SendQueue, "{text}");
        let used = session.borrow().backend;
        let mut result = answer_to(&scene, done());
        result.flags = flags;
        result.status = proxy::Status::Ok {
            affected_rows: 0,
            insert_id,
        };
        assert_eq!(scene.result(result), Decision::PassOn, "{text}");
        (used, session.borrow().backend)
    };
    let (writer, reader) = (Some(0), Some(2));
    assert_eq!(step("select * from t", plain, 0), (reader, None));
    assert_eq!(step("select * from t for update", plain, 0), (writer, None));
    assert_eq!(step("select LAST_INSERT_ID()", plain, 0), (writer, None));
    assert_eq!(step("update t set a = 1", plain, 0), (writer, None));
    assert_eq!(step("begin", in_transaction, 0), (writer, writer));
    assert_eq!(step("select * from t", in_transaction, 0), (writer, writer));
    assert_eq!(step("commit", plain, 0), (writer, None));
    assert_eq!(step("insert into t values (1)", plain, 9), (writer, writer));
    assert_eq!(step("select 1", plain, 0), (writer, None));
    assert_eq!(
        step("select sql_calc_found_rows * from t", plain, 0),
        (reader, reader)
    );
    assert_eq!(step("select found_rows()", plain, 0), (reader, None));
    let quit = scene.hooks.read_query(&session, &[1]);
    assert!(matches!(quit, Decision::Answer(_)));
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn rw_splitting_changes_the_database_first() {
    let mut scene = splitting();
    assert_eq!(scene.query("select 1"), Decision::SendQueue);
    assert_eq!(scene.session.borrow().queries[0].packet, b"\x02test");
    let result = answer_to(&scene, done());
    assert_eq!(scene.result(result), Decision::Ignore);
    let result = answer_to(&scene, rows(false));
    assert_eq!(scene.result(result), Decision::PassOn);

    assert_eq!(scene.query("select 1"), Decision::SendQueue);
    let refused = QueryResult {
        status: proxy::Status::Err,
        packets: Some(Rc::new(vec![vec![255, 0, 0]])),
        ..answer_to(&scene, done())
    };
    assert!(matches!(scene.result(refused), Decision::Answer(_)));
    assert!(scene.session.borrow().queries.is_empty());
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn ro_pooling_shares_connections_and_sets_the_database() {
    let mut scene = Scene::new(&script("ro-pooling"));
    let session = scene.session.clone();
    session.borrow_mut().backend = None;
    assert_eq!(scene.hooks.connect_server(&session), Decision::PassOn);
    assert_eq!(session.borrow().backend, Some(0));
    scene.hooks.read_auth_result(&session, &[0]);
    assert_eq!(session.borrow().backend, None);
    for place in 0..3 {
        let mut idle = scene.recorder.idle.borrow_mut();
        idle.insert((place, Vec::new()), 4);
        idle.insert((place, b"me".to_vec()), place);
    }
    assert_eq!(scene.hooks.connect_server(&session), Decision::Ignore);
    session.borrow_mut().backend = None;
    assert_eq!(scene.query("select 1"), Decision::SendQueue);
    assert_eq!(session.borrow().backend, Some(1));
    assert_eq!(session.borrow().queries[0].packet, b"\x02test");
    let result = answer_to(&scene, done());
    assert_eq!(scene.result(result), Decision::Ignore);
    let result = answer_to(&scene, rows(false));
    assert_eq!(scene.result(result), Decision::PassOn);
    assert_eq!(session.borrow().backend, None);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

fn replica_status(io_running: &str, seconds: &str) -> QueryResult {
    let names = [
        "Replica_IO_Running",
        "Replica_SQL_Running",
        "Seconds_Behind_Source",
    ];
    let eof = vec![0xfe, 0, 0, 2, 0];
    let mut packets = vec![vec![3]];
    packets.extend(names.map(|name| column("", name, 253)));
    packets.push(eof.clone());
    let row =
        [io_running, "Yes", seconds].map(|text| [&[text.len() as u8], text.as_bytes()].concat());
    packets.push(row.concat());
    packets.push(eof);
    QueryResult {
        packets: Some(Rc::new(packets)),
        columns: 3,
        row_count: 1,
        ..rows(false)
    }
}

#[test]
fn ro_balance_uses_replicas_that_keep_up() {
    let cases = [
        (replica_status("Yes", "3"), "running"),
        (replica_status("No", "3"), "noiothread"),
        (replica_status("Yes", "11"), "toofarbehind"),
        (done(), "noslave"),
    ];
    for (status, state) in cases {
        let mut scene = Scene::new(&script("ro-balance"));
        let session = scene.session.clone();
        assert_eq!(scene.hooks.connect_server(&session), Decision::PassOn);
        assert_eq!(session.borrow().backend, Some(2));
        // The relay has connected it.
        session.borrow_mut().server = Some(Peer::new(tcp(1001), tcp(3308)));
        assert_eq!(scene.query("select 1"), Decision::SendQueue);
        assert_eq!(session.borrow().queries[0].packet, b"\x03SHOW SLAVE STATUS");
        let status = answer_to(&scene, status);
        let decision = scene.result(status);
        assert_eq!(scene.printed(), [format!("replica 3: {state}")]);
        assert_eq!(scene.logged(Level::Warning), [""; 0]);
        if state == "running" {
            assert_eq!(decision, Decision::Ignore);
            assert_eq!(session.borrow().queries.len(), 1);
            // It is not checked again at once.
            assert_eq!(scene.query("select 1"), Decision::PassOn);
            continue;
        }
        let text = format!("\u{FFFD}Q\u{4}#08S01slave-state is {state}");
        let Decision::Answer(packets) = decision else {
            panic!("{decision:?}");
        };
        assert_eq!(String::from_utf8_lossy(&packets[0]), text);
        assert!(session.borrow().close && session.borrow().queries.is_empty());
        // New clients are not sent to it.
        session.borrow_mut().backend = None;
        scene.hooks.connect_server(&session);
        assert_eq!(session.borrow().backend, None);
    }
}

/// The distinct values of a column.
fn values(values: &[&str]) -> QueryResult {
    let eof = vec![0xfe, 0, 0, 2, 0];
    let mut packets = vec![vec![1], column("t", "c", 253), eof.clone()];
    let row = |text: &&str| [&[text.len() as u8], text.as_bytes()].concat();
    packets.extend(values.iter().map(row));
    packets.push(eof);
    QueryResult {
        packets: Some(Rc::new(packets)),
        columns: 1,
        ..rows(false)
    }
}

#[test]
fn xtab_computes_a_column_for_each_value() {
    let mut scene = Scene::new(&script("xtab"));
    assert_eq!(scene.query("select 1"), Decision::PassOn);
    for text in ["XTAB HELP", "xtab version", "XTAB QUERY"] {
        assert!(matches!(scene.query(text), Decision::Answer(_)), "{text}");
    }
    for text in [
        "XTAB",
        "XTAB t r c SUM",
        "XTAB t r c NO f",
        "XTAB t r; c SUM f",
        "XTAB t` r c SUM f",
    ] {
        let Decision::Answer(packets) = scene.query(text) else {
            panic!("{text}");
        };
        assert_eq!(packets[0][0], 0xff, "{text}");
    }
    assert_eq!(
        scene.query("xtab db.t r c sum f total;"),
        Decision::SendQueue
    );
    let first = b"\x03SELECT DISTINCT `c` FROM `db`.`t` ORDER BY 1";
    assert_eq!(scene.session.borrow().queries[0].packet, first);
    let result = answer_to(&scene, values(&["a", "it's"]));
    assert_eq!(scene.result(result), Decision::Ignore);
    let query = "SELECT `r`, SUM(CASE WHEN `c` = 'a' THEN `f` END) AS `a`, \
        SUM(CASE WHEN `c` = 'it''s' THEN `f` END) AS `it's`, SUM(`f`) AS total \
        FROM `db`.`t` GROUP BY `r` WITH ROLLUP";
    assert_eq!(scene.printed(), [query]);
    let result = answer_to(&scene, rows(false));
    assert_eq!(result.injection.packet[1..], *query.as_bytes());
    assert_eq!(scene.result(result), Decision::PassOn);

    assert_eq!(scene.query("xtab t r c count f"), Decision::SendQueue);
    let result = answer_to(&scene, values(&[]));
    assert!(matches!(scene.result(result), Decision::Answer(_)));
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn admin_answers_two_questions() {
    let mut scene = Scene::new(&script("admin"));
    scene.backends.0[2].set_state(proxy::BackendState::Down);
    let Decision::Answer(packets) = scene.query("select *  FROM Backends ;") else {
        panic!("no answer");
    };
    assert_eq!(packets[0], [6]);
    let rows = &packets[8..packets.len() - 1];
    let expected = [
        &b"\x011\x0e127.0.0.1:3306\x07unknown\x02rw\xfb\x010"[..],
        b"\x012\x0e127.0.0.1:3307\x07unknown\x02rw\xfb\x010",
        b"\x013\x0c/tmp/ro.sock\x04down\x02ro\xfb\x010",
    ];
    assert_eq!(rows, expected);
    assert!(matches!(
        scene.query("SELECT * FROM help"),
        Decision::Answer(_)
    ));
    let session = scene.session.clone();
    let unknown = "use 'SELECT * FROM help' to see the supported commands";
    let cases: [(&[u8], &str); 3] = [
        (b"\x03select 1", unknown),
        (b"\x03select * from backends where 1", unknown),
        (
            b"\x0e",
            "[admin] we only handle text-based queries (COM_QUERY)",
        ),
    ];
    for (packet, text) in cases {
        let error = [b"\xff\x51\x04#07000", text.as_bytes()].concat();
        let decision = scene.hooks.read_query(&session, packet);
        assert_eq!(decision, Decision::Answer(vec![error]));
    }
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn bundled_scripts_share_a_host_with_many_sessions() {
    let scene = Scene::new(&script("histogram"));
    for _ in 0..3 {
        let session = session();
        let mut hooks = scene.host.hooks(&session);
        assert_eq!(
            hooks.read_query(&session, b"\x03select 1"),
            Decision::SendQueue
        );
    }
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}
