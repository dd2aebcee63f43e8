//! The session in which statements of a user run: with a time limit and an end by Ctrl-C, both of them on the server, too.

use std::{pin::pin, time::Duration};

use blame::{Blame, Blamed};
use protocol::{AnswerMoments, Connection, Endpoint, Error, Outcome, ResultSet, RowsChecksum};
use reactor::Interrupt;
use runs::Purpose;
use sqltext::{Quoting, SqlStatement};

/// Time that the client stays awake for the answer to a statement: it then adds no wake-up to a short statement's time, which
/// would be most of it. To a longer statement a wake-up adds nothing that counts.
const AWAKE: Duration = Duration::from_micros(500);
/// Time in which a statement must end after it was killed.
const END_WITHIN: Duration = Duration::from_secs(5);

/// A session with its limits.
pub(super) struct Session {
    connection: Connection,
    endpoint: Endpoint,
    limit: Duration,
}

/// What decides how a session takes texts.
pub(super) struct SessionState {
    pub(super) quoting: Quoting,
    /// That of the texts which the server gets.
    pub(super) charset: String,
    /// The default database; empty without one.
    pub(super) database: String,
}

/// Why a statement has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server refused it, or the connection broke.
    Of(Error),
    /// It ran into the time limit and was killed on the server; `left` if the server did not confirm that.
    TimedOut { after: Duration, left: bool },
    /// The user interrupted it: before it was sent, or it was killed on the server.
    Interrupted { is_killed: bool },
}

impl Failure {
    /// The server's error number, if it reported one.
    pub(super) fn number(&self) -> Option<u16> {
        match self {
            Self::Of(error) => error.server_number(),
            _ => None,
        }
    }

    /// The server's message, if it reported an error.
    pub(super) fn server_message(&self) -> Option<String> {
        match self {
            Self::Of(error) => error.server_error().map(ToString::to_string),
            _ => None,
        }
    }

    /// Whether only this statement failed, and another one can follow.
    pub(super) fn is_of_statement(&self) -> bool {
        matches!(self, Self::Of(error) if error.server_error().is_some() && !error.is_connection_lost())
    }

    /// The error for the user, at the statement's place. Its time limit is that of `--timeout`.
    pub(super) fn blamed(self, endpoint: &Endpoint, statement: &SqlStatement) -> Blamed {
        self.blamed_with(endpoint, statement, "--timeout")
    }

    /// The same for a statement that prepares a server, with the limit of `--statement-timeout`.
    pub(super) fn blamed_of_work(self, endpoint: &Endpoint, statement: &SqlStatement) -> Blamed {
        self.blamed_with(endpoint, statement, "--statement-timeout")
    }

    fn blamed_with(self, endpoint: &Endpoint, statement: &SqlStatement, option: &str) -> Blamed {
        match self {
            Self::Of(error) => match error.server_error() {
                Some(of_server) => {
                    let is_syntax = of_server.number == protocol::PARSE_ERROR;
                    let place = if is_syntax {
                        statement.place_of_error(&of_server.message)
                    } else {
                        statement.place()
                    };
                    let blame = if is_syntax {
                        Blame::Input
                    } else {
                        Blame::Server
                    };
                    let hint = error.hint();
                    Blamed {
                        server_error: Some(of_server.number),
                        ..Blamed::new(blame, format!("{place}: {of_server}")).hint(hint)
                    }
                }
                None => error.blamed(&endpoint.address),
            },
            Self::TimedOut { after, left } => {
                let killed = if left {
                    "; it was killed, but the server has not ended it yet"
                } else {
                    "; it was killed on the server"
                };
                let message = format!(
                    "{}: no result within {}{killed}",
                    statement.place(),
                    units::elapsed(after)
                );
                Blamed::new(Blame::Server, message).hint(format!("{option} allows more time"))
            }
            Self::Interrupted { is_killed } => {
                let killed = if is_killed {
                    "; the statement was killed on the server"
                } else {
                    ""
                };
                let message = format!("{}: interrupted{killed}", statement.place());
                Blamed::new(Blame::Interrupted, message)
            }
        }
    }
}

impl Session {
    /// Connects; each statement ends after `limit`, and each text is one statement, whatever the server takes for its
    /// end.
    pub(super) async fn open(endpoint: &Endpoint, limit: Duration) -> Result<Self, Blamed> {
        let connection = async {
            let mut connection = Connection::open(endpoint).await?;
            connection.refuse_multi_statements().await?;
            Ok(connection)
        };
        let mut connection = connection
            .await
            .map_err(|error: Error| error.blamed(&endpoint.address))?;
        connection.watch_moments();
        Ok(Self {
            connection,
            endpoint: endpoint.clone(),
            limit,
        })
    }

    /// Another session of the same account, with the same limit.
    pub(super) async fn another(&self) -> Result<Self, Blamed> {
        Self::open(&self.endpoint, self.limit).await
    }

    pub(super) fn version(&self) -> &str {
        self.connection.server_version()
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The moments of the last statement's answer.
    pub(super) fn moments(&self) -> Option<AnswerMoments> {
        self.connection.moments()
    }

    /// Executes a statement and keeps its rows.
    pub(super) async fn rows(&mut self, sql: &str) -> Result<Vec<ResultSet>, Failure> {
        let id = self.connection.connection_id();
        let exchange = self.connection.rows(sql);
        guarded(&self.endpoint, id, self.limit, exchange).await
    }

    /// Executes a statement and counts its rows without keeping them; stays awake for a short one.
    pub(super) async fn count(&mut self, sql: &[u8]) -> Result<Outcome, Failure> {
        let _awake = reactor::stay_awake(AWAKE);
        let id = self.connection.connection_id();
        let exchange = self.connection.query(sql);
        guarded(&self.endpoint, id, self.limit, exchange).await
    }

    /// Executes a statement and adds up its rows without keeping them.
    pub(super) async fn checksum(
        &mut self,
        sql: &[u8],
    ) -> Result<(Outcome, RowsChecksum), Failure> {
        let id = self.connection.connection_id();
        let exchange = self.connection.checksum(sql);
        guarded(&self.endpoint, id, self.limit, exchange).await
    }

    /// What the session's texts depend on, now.
    pub(super) async fn state(&mut self) -> Result<SessionState, Failure> {
        let sql = "SELECT @@sql_mode, @@character_set_client, DATABASE()";
        let sets = self.rows(sql).await?;
        let mut values = sets.into_iter().flat_map(|set| set.rows).flatten();
        let mut text = || {
            let value = values.next().flatten().unwrap_or_default();
            String::from_utf8_lossy(&value).into_owned()
        };
        Ok(SessionState {
            quoting: Quoting::of_sql_mode(&text()),
            charset: text(),
            database: text(),
        })
    }

    /// The warnings of the last statement: number and message.
    pub(super) async fn warnings(&mut self) -> Result<Vec<(u32, String)>, Failure> {
        let sets = self.rows("SHOW WARNINGS").await?;
        let rows = sets.into_iter().flat_map(|set| set.rows);
        let warnings = rows.filter_map(|row| {
            let text = |at: usize| Some(String::from_utf8_lossy(row.get(at)?.as_deref()?));
            Some((text(1)?.parse().ok()?, text(2)?.into_owned()))
        });
        Ok(warnings.collect())
    }

    /// Checks a statement without executing it. A kind of statement that cannot be prepared passes.
    pub(super) async fn check(&mut self, sql: &str) -> Result<(), Failure> {
        /// ER_UNSUPPORTED_PS
        const NOT_PREPARABLE: u16 = 1295;
        let id = self.connection.connection_id();
        let exchange = self.connection.prepare(sql);
        match guarded(&self.endpoint, id, self.limit, exchange).await {
            Ok(prepared) => self
                .connection
                .close_statement(prepared)
                .await
                .map_err(Failure::Of),
            Err(failure) if failure.number() == Some(NOT_PREPARABLE) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Says goodbye to the server.
    pub(super) async fn close(self) {
        // All results are there; a failure changes nothing.
        let _ = self.connection.close().await;
    }
}

/// The result of an exchange; after the limit or Ctrl-C the statement is killed on the server.
async fn guarded<T>(
    endpoint: &Endpoint,
    connection_id: u32,
    limit: Duration,
    exchange: impl Future<Output = Result<T, Error>>,
) -> Result<T, Failure> {
    // A statement that is over before the first check would hide it from all that follow.
    if Interrupt::of_user().is_raised() {
        return Err(Failure::Interrupted { is_killed: false });
    }
    let mut exchange = pin!(exchange);
    let answered = Interrupt::of_user().unless_raised(exchange.as_mut());
    let is_interrupted = match reactor::timeout(limit, answered).await {
        Ok(Some(result)) => return result.map_err(Failure::Of),
        Ok(None) => true,
        Err(_) => false,
    };
    kill(endpoint, connection_id).await;
    let ended = reactor::timeout(END_WITHIN, exchange.as_mut()).await;
    match ended {
        // It had ended by itself meanwhile.
        Ok(Ok(result)) => Ok(result),
        _ if is_interrupted => Err(Failure::Interrupted { is_killed: true }),
        Ok(Err(error)) if error.server_error().is_none() => Err(Failure::Of(error)),
        ended => Err(Failure::TimedOut {
            after: limit,
            left: ended.is_err(),
        }),
    }
}

/// Ends a statement on the server, by a connection of its own.
async fn kill(endpoint: &Endpoint, connection_id: u32) {
    let killed = reactor::timeout(END_WITHIN, async {
        let mut connection = Connection::open(endpoint).await?;
        connection
            .query(format!("KILL QUERY {connection_id}").as_bytes())
            .await?;
        connection.close().await
    });
    // Without it, the statement ends with its connection; the caller says that it may still run.
    let _ = killed.await;
}

/// The quoting of a new session on a server.
pub fn quoting_of(endpoint: &Endpoint) -> Result<Quoting, Blamed> {
    in_session(endpoint, Purpose::Question.limit(), async |session| {
        let state = session.state().await;
        let asked = SqlStatement::of_line("sql_mode of the session", 1, Vec::new());
        let state = state.map_err(|failure| failure.blamed(endpoint, &asked))?;
        Ok(state.quoting)
    })
}

/// Runs `what` in a session of its own, whose statements end after `limit`.
pub(crate) fn in_session<T>(
    endpoint: &Endpoint,
    limit: Duration,
    what: impl AsyncFnOnce(&mut Session) -> Result<T, Blamed>,
) -> Result<T, Blamed> {
    let done = reactor::block_on(async {
        let mut session = Session::open(endpoint, limit).await?;
        let result = what(&mut session).await;
        session.close().await;
        result
    });
    done.map_err(Blamed::machine)?
}
