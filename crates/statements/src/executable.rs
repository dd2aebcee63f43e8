//! Which statements of a log a server takes, that may have other databases and tables than the one that wrote the log.

use blame::Blamed;
use protocol::Endpoint;
use runs::Purpose;
use sqltext::SqlStatement;

use super::{
    session::{Failure, Session},
    top_statements::TopStatements,
};

/// The statements of the `top` costliest kinds that the server takes, and a sentence about them.
pub fn executable(
    kinds: TopStatements,
    top: usize,
    endpoint: &Endpoint,
) -> Result<(Vec<SqlStatement>, String), Blamed> {
    let found = reactor::block_on(async {
        // Two of them, since no statement goes back to the database of the beginning.
        let limit = Purpose::Question.limit();
        let mut without_database = Session::open(endpoint, limit).await?;
        let mut with_database = Session::open(endpoint, limit).await?;
        let found = kinds.statements(top, async |change, statement| {
            let session = match change {
                Some(_) => &mut with_database,
                None => &mut without_database,
            };
            let of_statement = |failure: Failure, text: &SqlStatement| {
                let is_of_statement = failure.is_of_statement();
                let error = failure.blamed(endpoint, text);
                if is_of_statement {
                    Ok(Some(error.message))
                } else {
                    Err(error)
                }
            };
            if let Some(change) = change
                && let Err(failure) = session.rows(&text_of(change)).await
            {
                return of_statement(failure, change);
            }
            if let Err(failure) = session.check(&text_of(statement)).await {
                return of_statement(failure, statement);
            }
            Ok(None)
        });
        let found = found.await;
        without_database.close().await;
        with_database.close().await;
        found
    });
    found.map_err(Blamed::machine)?
}

fn text_of(statement: &SqlStatement) -> String {
    String::from_utf8_lossy(statement.text()).into_owned()
}
