//! Whole sessions on a real server: answers that end where they end, and many sessions beside each other.

use crate::{
    modes::{Mode, Scene, open, said},
    servers::Server,
};

#[test]
fn a_procedure_with_an_open_cursor_answers_through_the_proxy() {
    let server = Server::mariadb();
    let scene = Scene {
        server: &server,
        mode: Mode::Command,
        database: "shop",
    };
    let proxy = scene.proxy();
    reactor::block_on(async {
        let mut direct = open(&server.direct("ann", "shop")).await;
        let procedure = "CREATE PROCEDURE walk() BEGIN
            DECLARE c CURSOR FOR SELECT a FROM t;
            OPEN c;
            SELECT a FROM t WHERE a < 3 ORDER BY a;
            SELECT 'second';
            CLOSE c;
            SELECT 'third';
        END";
        assert_eq!(said(&mut direct, procedure).await, "");
        let call = "CALL walk()";
        let expected = said(&mut direct, call).await;
        assert_eq!(expected, "1 2 second third");
        let mut client = open(&scene.through(&proxy, "ann")).await;
        for _ in 0..3 {
            assert_eq!(said(&mut client, call).await, expected);
            assert_eq!(said(&mut client, "SELECT 'alive'").await, "alive");
        }
    })
    .unwrap();
}

/// Sessions of two users, with and without a database by turns, share connections; each sees its own database, and none is
/// closed.
#[test]
fn sessions_with_and_without_a_database_live_beside_each_other() {
    let server = Server::mariadb();
    let with = Scene {
        server: &server,
        mode: Mode::Command,
        database: "shop",
    };
    let without = Scene {
        server: &server,
        mode: Mode::Command,
        database: "",
    };
    let proxy = with.proxy();
    reactor::block_on(async {
        let mut sessions = Vec::new();
        for at in 0..300 {
            let scene = if at % 3 == 0 { &without } else { &with };
            let user = ["ann", "bob"][at / 7 % 2];
            let client = open(&scene.through(&proxy, user)).await;
            sessions.push((client, scene.database));
            // Some leave early, and without a word.
            if at % 5 == 4 {
                sessions.remove(at / 11 % sessions.len());
            }
            if sessions.len() > 12 {
                sessions.remove(0);
            }
            let count = sessions.len();
            let (client, database) = &mut sessions[at * 7 % count];
            let expected = if database.is_empty() {
                "NULL"
            } else {
                database
            };
            let got = said(client, "SELECT DATABASE()").await;
            assert_eq!(got, expected, "session {at}");
        }
    })
    .unwrap();
}
