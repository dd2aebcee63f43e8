//! The smallest user: one row by its key, again and again.

use std::{fmt::Write as _, sync::Arc};

use protocol::{Connection, Endpoint, Statement, Value};
use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use crate::{Failure, Next, User, Watch};

/// Keys are drawn evenly from 1 to this number.
const KEYS: u64 = 100_000;

/// A user that reads single rows.
pub struct PointSelect {
    endpoint: Arc<Endpoint>,
    operations: [String; 1],
    is_prepared: bool,
    connection: Option<(Connection, Option<Statement>)>,
    random: Xoshiro256PlusPlus,
    key: u64,
    sql: String,
}

impl PointSelect {
    /// Its one operation.
    pub const OPERATION: &'static str = "point_select";

    /// A user that is not connected yet, whose keys follow from the seed.
    pub fn new(endpoint: Arc<Endpoint>, is_prepared: bool, seed: u64) -> Self {
        Self {
            endpoint,
            operations: [Self::OPERATION.to_owned()],
            is_prepared,
            connection: None,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            key: 1,
            sql: String::new(),
        }
    }
}

impl User for PointSelect {
    fn operations(&self) -> &[String] {
        &self.operations
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.connection = None;
        let mut connection = Connection::open(&self.endpoint).await?;
        let statement = match self.is_prepared {
            true => Some(
                connection
                    .prepare("SELECT c FROM sbtest1 WHERE id=?")
                    .await?,
            ),
            false => None,
        };
        self.connection = Some((connection, statement));
        Ok(())
    }

    fn next(&mut self) -> Next {
        // Even enough for keys; the modulo's bias is 2^-47.
        self.key = 1 + self.random.next_u64() % KEYS;
        if !self.is_prepared {
            self.sql.clear();
            // Writing to a string does not fail.
            let _ = write!(self.sql, "SELECT c FROM sbtest1 WHERE id={}", self.key);
        }
        Next::Operation(0)
    }

    async fn execute(&mut self, _watch: &mut impl Watch) -> Result<(), Failure> {
        let Some((connection, statement)) = &mut self.connection else {
            return Err(Failure {
                number: 0,
                sqlstate: String::new(),
                message: "not connected".to_owned(),
                lost: true,
                retryable: false,
            });
        };
        match statement {
            Some(statement) => {
                let key = [Value::Int(self.key.cast_signed())];
                connection.execute(statement, &key).await?
            }
            None => connection.query(self.sql.as_bytes()).await?,
        };
        Ok(())
    }

    async fn disconnect(&mut self) {
        if let Some((connection, _)) = self.connection.take() {
            // The load is over, and the server notices either way.
            let _ = connection.close().await;
        }
    }
}
