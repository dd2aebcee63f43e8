//! The statements of a schema, sent one after the other.

use blame::{Blame, Blamed};
use dataset::{
    own_data::{Schema, beginning},
    own_session::open_settled,
};
use protocol::Endpoint;
use runs::{Context, Length, Purpose, wait};
use sqltext::SqlStatement;

/// Executes all statements over one connection; the first error ends it.
pub(super) fn execute(
    schema: &Schema,
    endpoint: &Endpoint,
    context: &Context,
) -> Result<(), Blamed> {
    let all = &schema.statements;
    let step = context.step("executing the SQL", Length::Even(all.len() as u64));
    let sent = async {
        let limit = Purpose::Work.limit();
        let of_server = |error: protocol::Error| error.blamed(&endpoint.address);
        let connection = open_settled(endpoint, limit).await;
        let mut connection = connection.map_err(of_server)?;
        for (done, statement) in (1..).zip(all) {
            let sent = connection.query(statement.text()).await;
            sent.map_err(|error| failed(statement, endpoint, error))?;
            step.reach(done);
        }
        connection.close().await.map_err(of_server)
    };
    wait(async {
        let sent = context.interrupt.unless_raised(sent).await;
        sent.unwrap_or_else(|| Err(Blamed::new(Blame::Interrupted, "interrupted while loading")))
    })?
}

/// The error of a statement: `shop.sql:12:3: create table orders (...: ERROR 1064 (42000): ...`.
fn failed(statement: &SqlStatement, endpoint: &Endpoint, error: protocol::Error) -> Blamed {
    let Some(refusal) = error.server_error() else {
        return error.blamed(&endpoint.address);
    };
    let place = statement.place_of_error(&refusal.message);
    let message = format!("{place}: {}: {error}", beginning(statement.text()));
    // The statement is the user's, whatever the server finds wrong with it.
    let hint =
        "the statements before it were executed, those after it were not: correct it and run again";
    Blamed::new(Blame::Input, message).hint(hint.to_owned())
}
