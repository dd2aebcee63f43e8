//! Which statements of a log a server takes, that may have other databases and tables than the one that wrote the log.

use protocol::Endpoint;
use runs::{Blamed, Purpose};
use workload::sql_script::SqlStatement;

use super::{
    dear::DearStatements,
    input::is_setting,
    session::{Failure, Session},
};

/// The statements of the `top` dearest kinds that the server takes, and a sentence about them.
pub(super) fn executable(
    dear: DearStatements,
    top: usize,
    endpoint: &Endpoint,
) -> Result<(Vec<SqlStatement>, String), Blamed> {
    let found = reactor::block_on(async {
        // Two of them, since no statement goes back to the database of the beginning.
        let limit = Purpose::Question.limit();
        let mut without_database = Session::open(endpoint, limit).await?;
        let mut with_database = Session::open(endpoint, limit).await?;
        let found = dear.statements(top, async |change, statement| {
            let session = match change {
                Some(_) => &mut with_database,
                None => &mut without_database,
            };
            for text in change.into_iter().chain([statement]) {
                match check(session, text).await {
                    Ok(()) => {}
                    Err(failure) if failure.is_of_statement() => {
                        return Ok(Some(failure.blamed(endpoint, text).message));
                    }
                    Err(failure) => return Err(failure.blamed(endpoint, text)),
                }
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

/// Executes a setting; checks anything else without executing it.
async fn check(session: &mut Session, statement: &SqlStatement) -> Result<(), Failure> {
    let sql = String::from_utf8_lossy(statement.text()).into_owned();
    if is_setting(statement) {
        return session.rows(&sql).await.map(drop);
    }
    session.check(&sql).await
}
