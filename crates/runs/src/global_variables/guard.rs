//! A process that puts the variables of a server back if the process that set them is killed.

use std::io;

use blame::{Blame, Blamed};
use protocol::Endpoint;
use serde::{Deserialize, Serialize};

use crate::{
    global_variables::not_back,
    guard::{self, Guard, login::Login},
};

/// The hidden command of the guard.
pub const COMMAND: &str = "variables-guard";

/// The statement that puts the original values back, and where.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    login: Login,
    sql: String,
}

/// Starts the guard of a server's variables.
pub(super) fn set_up(endpoint: &Endpoint, sql: &str) -> Result<Guard, Blamed> {
    let failed = |error: io::Error| {
        let message = format!("the guard of the server's variables cannot be started: {error}");
        Blamed::new(Blame::Machine, message)
    };
    let order = Order {
        login: Login::of(endpoint),
        sql: sql.to_owned(),
    };
    Guard::set_up(COMMAND, &order).map_err(failed)
}

/// Main function of the guard: waits for the end of its standard input; returns whether it put the variables back.
pub fn run() -> Result<bool, Blamed> {
    let Some(Order { login, sql }) = guard::wait(COMMAND)? else {
        return Ok(false);
    };
    let put_back = login.undo(async |connection| connection.query(sql.as_bytes()).await.map(drop));
    put_back.map_err(|error| not_back(error, &sql))?;
    Ok(true)
}
