//! Statements on the private servers of a scene, which the tests send themselves: with `dbdyno server client`, each
//! would cost a start of the program and of the client.

use protocol::{Endpoint, Error};
use server::Server;

use crate::{mariadb::read, scene::Scene};

/// The scene's private server with this name, as an account with all privileges, in the database that `dbdyno` uses.
#[track_caller]
pub(crate) fn endpoint(scene: &Scene, name: &str) -> Endpoint {
    let directory = scene.servers_directory().join(name);
    Server::open(&directory).unwrap().endpoint()
}

/// Executes statements that are separated by semicolons over one connection in this database, until one fails. Returns
/// their rows as the client prints them with `--batch -N`: a line such as `one\t2\n` for each.
#[track_caller]
pub(crate) fn text(
    scene: &Scene,
    name: &str,
    database: Option<&str>,
    statements: &str,
) -> Result<String, Error> {
    let endpoint = Endpoint {
        database: database.map(str::to_owned),
        ..endpoint(scene, name)
    };
    let statements = statements.split(';').filter(|it| !it.trim().is_empty());
    let rows = read(&endpoint, &statements.collect::<Vec<_>>())?;
    Ok(rows.iter().map(|row| row.join("\t") + "\n").collect())
}
