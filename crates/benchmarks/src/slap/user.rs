//! One client of a test.

use std::sync::Arc;

use load::{Failure, Next, OperationObserver, User};
use protocol::{Connection, Endpoint};
use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use super::plan::Plan;

const COMMIT: &[u8] = b"COMMIT";

/// A client that runs the statements of its plan one after the other.
pub(super) struct SlapUser {
    plan: Arc<Plan>,
    endpoint: Arc<Endpoint>,
    connection: Option<Connection>,
    random: Xoshiro256PlusPlus,
    limit: Option<u64>,
    /// Number of statements begun.
    begun: u64,
    /// Number of these after the last COMMIT or reconnect.
    uncommitted: u64,
    on_connection: u64,
    doing: CurrentOperation,
    /// Buffer for the statement to execute, reused for the next one.
    sql: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CurrentOperation {
    /// Executes the statement.
    Query,
    /// Closes the connection and opens another.
    Reconnect,
}

impl SlapUser {
    /// The client with this index (from 0), not connected yet; its keys depend on the seed and the index only.
    pub(super) fn new(plan: Arc<Plan>, endpoint: Arc<Endpoint>, index: u32) -> Self {
        let mixed = SplitMix64::seed_from_u64(plan.planned.seed).next_u64() ^ u64::from(index);
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(SplitMix64::seed_from_u64(mixed).next_u64()),
            limit: plan.limit_of(index),
            plan,
            endpoint,
            connection: None,
            begun: 0,
            uncommitted: 0,
            on_connection: 0,
            doing: CurrentOperation::Query,
            sql: Vec::new(),
        }
    }

    /// Encodes the next statement of the list and returns its operation.
    fn encode(&mut self) -> usize {
        let planned = &self.plan.planned;
        let place = (self.begun % planned.statements.len() as u64) as usize;
        let statement = &planned.statements[place];
        self.sql.clear();
        let keys = planned.keys.count();
        if statement.takes_a_key() && keys > 0 {
            // There are few keys compared to 2^64: the bias of the remainder is far below what a run can detect.
            let drawn = self.random.next_u64() % keys;
            statement.write(&mut self.sql, |sql| planned.keys.write(drawn, sql));
        } else {
            statement.write(&mut self.sql, |_| {});
        }
        self.begun += 1;
        self.uncommitted += 1;
        self.on_connection += 1;
        self.plan.kinds[place]
    }

    async fn run(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        let connection = self
            .connection
            .as_mut()
            .ok_or_else(Failure::not_connected)?;
        self.plan.echo(&[&self.sql, b";"]);
        match connection.query(&self.sql).await {
            Ok(outcome) => {
                if outcome.result_sets > 0 {
                    watch.returned(outcome.rows);
                }
                Ok(())
            }
            Err(error) => Err(statement_failure(error, &self.sql)),
        }
    }

    fn commit(&mut self) -> usize {
        self.sql.clear();
        self.sql.extend_from_slice(COMMIT);
        self.uncommitted = 0;
        self.plan.commit()
    }
}

/// The failure with its statement, in mysqlslap's wording.
#[cold]
fn statement_failure(error: protocol::Error, sql: &[u8]) -> Failure {
    let mut failure = Failure::from(error);
    failure.message = format!(
        "Cannot run query {} ERROR : {}",
        String::from_utf8_lossy(sql),
        failure.message
    );
    failure
}

impl User for SlapUser {
    fn operations(&self) -> &[String] {
        self.plan.operations()
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.connection = None;
        let mut connection = Connection::open(&self.endpoint).await?;
        if self.begun == 0 {
            self.plan.echo(&[b"connected!"]);
        }
        for sql in &self.plan.planned.on_connect {
            self.plan.echo(&[sql.as_bytes(), b";"]);
            if let Err(error) = connection.query(sql.as_bytes()).await {
                return Err(statement_failure(error, sql.as_bytes()));
            }
        }
        self.connection = Some(connection);
        self.on_connection = 0;
        Ok(())
    }

    fn next(&mut self) -> Next {
        let planned = &self.plan.planned;
        self.doing = CurrentOperation::Query;
        let is_over = self.limit.is_some_and(|limit| self.begun >= limit);
        let commits = planned.commit_every > 0;
        let leaves = planned.reconnect_every > 0 && self.on_connection >= planned.reconnect_every;
        // Uncommitted statements would be lost with the connection.
        let must_commit = is_over || leaves || self.uncommitted >= planned.commit_every;
        if commits && self.uncommitted > 0 && must_commit {
            return Next::Operation(self.commit());
        }
        if is_over || planned.statements.is_empty() {
            return Next::End;
        }
        if leaves {
            self.doing = CurrentOperation::Reconnect;
            return Next::Operation(self.plan.reconnect);
        }
        Next::Operation(self.encode())
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        if self.doing == CurrentOperation::Reconnect {
            self.disconnect().await;
            return self.connect().await;
        }
        self.run(watch).await
    }

    async fn finish(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        // A load that ends by time leaves a transaction open, whose statements are already counted.
        if self.plan.planned.commit_every > 0 && self.uncommitted > 0 {
            self.commit();
            return self.run(watch).await;
        }
        Ok(())
    }

    async fn disconnect(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        // The server may already be gone; a failed close has no consequence.
        let _ = connection.close().await;
    }
}

#[cfg(test)]
mod tests {
    use protocol::Address;

    use super::*;
    use crate::slap::{
        plan::{Keys, Planned},
        script::Statement,
    };

    fn user(planned: Planned, index: u32) -> SlapUser {
        let endpoint = Endpoint::plain(
            Address::Unix("/nowhere".into()),
            "",
            std::time::Duration::from_secs(1),
        );
        SlapUser::new(Arc::new(Plan::new(planned)), Arc::new(endpoint), index)
    }

    fn planned(statements: &[&str]) -> Planned {
        Planned {
            statements: statements
                .iter()
                .map(|sql| Statement::whole(*sql))
                .collect(),
            keys: Keys::List(Vec::new()),
            per_client: Some(3),
            one_more: 0,
            commit_every: 0,
            reconnect_every: 0,
            on_connect: Vec::new(),
            seed: 1,
            echo: None,
        }
    }

    /// The actions of a client, in order; at most 20 operations.
    fn done(mut user: SlapUser) -> Vec<String> {
        let mut done = Vec::new();
        while let (Next::Operation(operation), true) = (user.next(), done.len() < 20) {
            match user.doing {
                CurrentOperation::Reconnect => {
                    done.push(user.operations()[operation].clone());
                    user.on_connection = 0;
                }
                CurrentOperation::Query => done.push(String::from_utf8(user.sql.clone()).unwrap()),
            }
        }
        done
    }

    #[test]
    fn the_list_begins_again_until_the_number_is_reached() {
        let list = planned(&["a", "b"]);
        assert_eq!(done(user(list.clone(), 0)), ["a", "b", "a"]);
        let one_more = Planned {
            one_more: 1,
            ..list
        };
        assert_eq!(done(user(one_more.clone(), 0)).len(), 4);
        assert_eq!(done(user(one_more, 1)).len(), 3);
        assert!(done(user(planned(&[]), 0)).is_empty());
    }

    #[test]
    fn transactions_end_where_they_are_told_to_and_at_the_end() {
        let two = Planned {
            commit_every: 2,
            ..planned(&["a"])
        };
        assert_eq!(
            done(user(two.clone(), 0)),
            ["a", "a", "COMMIT", "a", "COMMIT"]
        );
        let exact = Planned {
            per_client: Some(2),
            ..two
        };
        assert_eq!(done(user(exact, 0)), ["a", "a", "COMMIT"]);
    }

    #[test]
    fn a_new_connection_after_so_many_statements() {
        let every_two = Planned {
            reconnect_every: 2,
            ..planned(&["a"])
        };
        assert_eq!(
            done(user(every_two.clone(), 0)),
            ["a", "a", "(reconnect)", "a"]
        );
        let in_a_transaction = Planned {
            commit_every: 10,
            ..every_two
        };
        assert_eq!(
            done(user(in_a_transaction, 0)),
            ["a", "a", "COMMIT", "(reconnect)", "a", "COMMIT"]
        );
    }

    #[test]
    fn keys_are_drawn_from_the_seed() {
        let generator = crate::slap::Generator {
            load_type: crate::slap::LoadType::Key,
            primary_key: Some(crate::slap::PrimaryKey::AutoIncrement),
            secondary_indexes: 0,
            int_columns: crate::slap::Columns {
                count: 1,
                indexed: false,
            },
            char_columns: crate::slap::Columns {
                count: 0,
                indexed: false,
            },
            unique_writes: 1,
            unique_queries: 0,
        };
        let keys = Keys::Range {
            first: 1,
            count: 1000,
        };
        let keyed = Planned {
            statements: generator.generate().queries,
            keys,
            ..planned(&[])
        };
        let first = done(user(keyed.clone(), 0));
        assert!(first[0].starts_with("SELECT intcol1 FROM t1 WHERE id =  '"));
        assert_eq!(first, done(user(keyed.clone(), 0)));
        let list = Planned {
            keys: Keys::List((1..=1000).map(|id: u32| id.to_string().into()).collect()),
            ..keyed.clone()
        };
        assert_eq!(first, done(user(list, 0)));
        assert_ne!(first, done(user(keyed.clone(), 1)));
        assert_ne!(first, done(user(Planned { seed: 2, ..keyed }, 0)));
    }
}
