//! Nothing of one session is seen in another: each kind of state that a session may leave, in each way in which a connection
//! comes from one session to the next, on real servers.
//!
//! The MariaDB of the machine is tested always. For MySQL, `DBDYNO_MYSQLD='...' cargo test -p proxy --test state -- --ignored`
//! takes the words that start a mysqld of 8.0 or later, the first of its options `--no-defaults`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and shows what it has shared"
)]

mod kinds;
mod modes;
mod servers;
mod sessions;

use kinds::Kind;
use modes::{Mode, Scene};
use servers::Server;

/// Databases of the session that observes.
const DATABASES: [&str; 2] = ["shop", ""];

#[test]
fn no_state_of_a_session_is_seen_in_another_on_mariadb() {
    matrix(&Server::mariadb(), kinds::MARIADB);
}

#[test]
#[ignore = "needs a MySQL server: DBDYNO_MYSQLD"]
fn no_state_of_a_session_is_seen_in_another_on_mysql() {
    matrix(&Server::mysql(), kinds::MYSQL);
}

fn matrix(server: &Server, own: &[Kind]) {
    let kinds: Vec<&Kind> = kinds::ALL.iter().chain(own).collect();
    let (mut seen, mut scenes, mut shared, mut ended) = (Vec::new(), 0, 0, 0);
    for mode in Mode::ALL {
        for database in DATABASES {
            for kind in &kinds {
                let has_role = matches!(mode, Mode::LoginAfterRole | Mode::CommandWithRole);
                if !mode.can_leave(kind) || has_role && database.is_empty() {
                    continue;
                }
                let scene = Scene {
                    server,
                    mode,
                    database,
                };
                let found = scene.play(kind);
                scenes += 1;
                shared += u32::from(found.is_shared);
                // A connection that cannot be shared was the only one of two sessions.
                if mode.is_between_sessions() && found.observed.starts_with("connection lost") {
                    ended += 1;
                } else if found.fresh != found.observed {
                    seen.push(format!(
                        "{mode:?}, database {database:?}, {}: {} instead of {}",
                        kind.name, found.observed, found.fresh
                    ));
                }
            }
        }
    }
    eprintln!(
        "{scenes} scenes, in {shared} of them the connection was shared, in {ended} it was closed under another session"
    );
    assert!(
        seen.is_empty(),
        "{} of {scenes}:\n{}",
        seen.len(),
        seen.join("\n")
    );
    // Without sharing nothing was tested.
    assert!(shared > scenes / 3, "{shared} of {scenes}");
    assert!(ended < scenes / 20, "{ended} of {scenes}");
}

#[test]
fn a_vanished_client_holds_no_lock_within_a_second_or_so() {
    let server = Server::mariadb();
    for mode in [Mode::LoginAfterEnd, Mode::Account] {
        let scene = Scene {
            server: &server,
            mode,
            database: "shop",
        };
        scene.vanish_in_a_transaction();
    }
}
