//! One connection of an OLTP run.

use std::{fmt::Write as _, sync::Arc};

use dataset::uniform::below;
use load::{Failure, Next, OperationObserver, User};
use protocol::{Endpoint, Value};
use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use super::{
    distribution::Distribution,
    permutation::Permutation,
    plan::{Plan, Step},
    row_text::{self, C, PAD},
    script::Script,
    session::Session,
    statement::Kind,
};

/// Length of a statement of bulk_insert, bytes.
const BULK_BYTES: usize = 512 << 10;

/// A connection that runs the events of a workload.
pub(crate) struct OltpUser {
    plan: Arc<Plan>,
    session: Session,
    draws: Draws,
    bulk: Bulk,
}

/// The random state from which a connection draws its values.
struct Draws {
    random: Xoshiro256PlusPlus,
    ids: Distribution,
    /// The part of the keys assigned to this connection, for the random selects.
    segment: Distribution,
    unique: Permutation,
    /// Position of the next unique number; each connection takes every n-th.
    next_unique: u32,
    connections: u32,
    c: [u8; C],
    pad: [u8; PAD],
    /// Values of a random select.
    keys: Vec<Value<'static>>,
}

/// The rows of bulk_insert that have not been sent yet.
struct Bulk {
    table: u32,
    rows: u64,
    sql: String,
    /// Length of the statement without rows, bytes.
    prefix: usize,
}

impl OltpUser {
    /// The connection with this index (from 0), not open yet; its values depend on the seed and the index only.
    pub(super) fn new(plan: Arc<Plan>, endpoint: Arc<Endpoint>, index: u32) -> Self {
        let settings = plan.settings();
        let mixed = SplitMix64::seed_from_u64(settings.seed).next_u64() ^ u64::from(index);
        let own_seed = SplitMix64::seed_from_u64(mixed).next_u64();
        let connections = settings.connections.max(1);
        let segment = settings.table_size / u64::from(connections);
        let from = segment * u64::from(index);
        let prefix = Kind::BulkInsert.sql(index + 1, settings);
        let draws = Draws {
            random: Xoshiro256PlusPlus::seed_from_u64(own_seed),
            ids: Distribution::new(settings.rand_type, 1, settings.table_size),
            segment: Distribution::new(settings.rand_type, from, from + segment),
            unique: Permutation::new(SplitMix64::seed_from_u64(settings.seed).next_u64()),
            next_unique: index,
            connections,
            c: [0; C],
            pad: [0; PAD],
            keys: Vec::new(),
        };
        Self {
            session: Session::new(Arc::clone(&plan), endpoint),
            draws,
            bulk: Bulk {
                table: index + 1,
                rows: 0,
                prefix: prefix.len(),
                sql: prefix,
            },
            plan,
        }
    }

    async fn step(
        &mut self,
        step: Step,
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        let (session, draws) = (&mut self.session, &mut self.draws);
        let settings = self.plan.settings();
        // sysbench draws the table once for all statements of a kind.
        let table = if step.kind.is_of_a_table() {
            1 + below(&mut draws.random, u64::from(settings.tables)) as u32
        } else {
            1
        };
        for _ in 0..step.times {
            let kind = step.kind;
            match kind {
                Kind::Begin | Kind::Commit | Kind::Rollback => {
                    session.run(kind, table, &[], watch).await?;
                }
                Kind::PointSelect | Kind::IndexUpdate => {
                    let id = draws.id();
                    session.run(kind, table, &[id], watch).await?;
                }
                Kind::SimpleRange | Kind::SumRange | Kind::OrderRange | Kind::DistinctRange => {
                    let id = draws.ids.draw(&mut draws.random);
                    let last = id + settings.range_size.saturating_sub(1);
                    let range = [Value::Int(id as i64), Value::Int(last as i64)];
                    session.run(kind, table, &range, watch).await?;
                }
                Kind::NonIndexUpdate => {
                    let id = draws.id();
                    row_text::fill(&mut draws.c, &mut draws.random);
                    let values = [Value::Bytes(&draws.c), id];
                    session.run(kind, table, &values, watch).await?;
                }
                Kind::Delete => {
                    let id = draws.id();
                    session.run(kind, table, &[id], watch).await?;
                    if self.plan.script().is_transaction() {
                        let row = draws.row(id);
                        session.run(Kind::Insert, table, &row, watch).await?;
                    }
                }
                Kind::Insert => {
                    let id = draws.new_id(settings.auto_inc);
                    let row = draws.row(id);
                    session.run(kind, table, &row, watch).await?;
                }
                Kind::RandomPoints | Kind::RandomRanges => {
                    draws.draw_keys(kind, &self.plan);
                    session.run(kind, table, &draws.keys, watch).await?;
                }
                Kind::BulkInsert => self.bulk.add_row(session, watch).await?,
            }
        }
        Ok(())
    }
}

impl Draws {
    fn id(&mut self) -> Value<'static> {
        Value::Int(self.ids.draw(&mut self.random) as i64)
    }

    /// The id of a new row: 0 for an id assigned by the server, otherwise an id that is never repeated.
    fn new_id(&mut self, auto_inc: bool) -> Value<'static> {
        if auto_inc {
            return Value::Int(0);
        }
        let number = self.unique.at(self.next_unique);
        self.next_unique = self.next_unique.wrapping_add(self.connections);
        Value::Int(i64::from(number) + i64::from(i32::MIN))
    }

    fn row<'d>(&'d mut self, id: Value<'d>) -> [Value<'d>; 4] {
        let k = self.id();
        row_text::fill(&mut self.c, &mut self.random);
        row_text::fill(&mut self.pad, &mut self.random);
        [id, k, Value::Bytes(&self.c), Value::Bytes(&self.pad)]
    }

    /// Draws the values of a random select, from this connection's part of the keys.
    fn draw_keys(&mut self, kind: Kind, plan: &Plan) {
        let settings = plan.settings();
        self.keys.clear();
        if kind == Kind::RandomPoints {
            for _ in 0..settings.random_points {
                let key = self.segment.draw(&mut self.random);
                self.keys.push(Value::Int(key as i64));
            }
            return;
        }
        for _ in 0..settings.number_of_ranges {
            let from = self.segment.draw(&mut self.random);
            self.keys.push(Value::Int(from as i64));
            self.keys.push(Value::Int((from + settings.delta) as i64));
        }
    }
}

impl Bulk {
    /// Adds a row, and sends the statement when another row would not fit.
    async fn add_row(
        &mut self,
        session: &mut Session,
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        const ROW_BYTES_MAX: usize = 48;
        if self.sql.len() + ROW_BYTES_MAX > BULK_BYTES {
            self.send(session, watch).await?;
        }
        let separator = if self.sql.len() == self.prefix {
            ""
        } else {
            ","
        };
        self.rows += 1;
        let row = self.rows;
        write!(self.sql, "{separator}({row},{row})").expect("writing to a string does not fail");
        Ok(())
    }

    async fn send(
        &mut self,
        session: &mut Session,
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        if self.sql.len() > self.prefix {
            let sql = self.sql.as_bytes();
            session
                .run_text(Kind::BulkInsert, self.table, sql, watch)
                .await?;
            self.sql.truncate(self.prefix);
        }
        Ok(())
    }
}

impl User for OltpUser {
    fn operations(&self) -> &[String] {
        self.plan.operations()
    }

    fn statements(&self) -> &[String] {
        self.plan.statements()
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.session.connect().await
    }

    fn next(&mut self) -> Next {
        Next::Operation(0)
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        self.session.roll_back(watch).await?;
        for index in 0..self.plan.steps.len() {
            let step = self.plan.steps[index];
            self.step(step, watch).await?;
        }
        Ok(())
    }

    async fn finish(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        match self.plan.script() {
            // These rows are already counted.
            Script::BulkInsert => self.bulk.send(&mut self.session, watch).await,
            _ => Ok(()),
        }
    }

    async fn disconnect(&mut self) {
        self.session.disconnect().await;
    }
}
