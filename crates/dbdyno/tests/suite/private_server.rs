//! Statements on the private servers of a scene, which the tests send themselves: with `dbdyno server client`, each
//! would cost a start of the program and of the client.

use protocol::{Connection, Endpoint, Error};
use server::Server;

use crate::scene::Scene;

/// The scene's private server with this name, as an account with all privileges, in the database that `dbdyno` uses.
#[track_caller]
pub(crate) fn endpoint(scene: &Scene, name: &str) -> Endpoint {
    let directory = scene.servers_directory().join(name);
    Server::open(&directory).unwrap().endpoint()
}

/// Executes statements that are separated by semicolons over one connection, until one fails. Returns their rows as the
/// client prints them with `--batch -N`: a line such as `one\t2\n` for each.
pub(crate) fn text(endpoint: &Endpoint, statements: &str) -> Result<String, Error> {
    let statements = statements.split(';').filter(|it| !it.trim().is_empty());
    let sets = reactor::block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let mut sets = Vec::new();
        for statement in statements {
            sets.extend(connection.rows(statement).await?);
        }
        connection.close().await?;
        Ok::<_, Error>(sets)
    });
    let rows = sets.unwrap()?.into_iter().flat_map(|set| set.rows);
    let value = |value: Option<Vec<u8>>| {
        value.map_or("NULL".to_owned(), |bytes| {
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let line = |row: Vec<Option<Vec<u8>>>| {
        let values: Vec<String> = row.into_iter().map(value).collect();
        values.join("\t") + "\n"
    };
    Ok(rows.map(line).collect())
}
