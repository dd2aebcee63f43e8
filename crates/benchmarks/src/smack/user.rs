//! One worker of a Super Smack client.

use std::sync::Arc;

use load::{Failure, Next, OperationObserver, User};
use protocol::{Connection, Endpoint};

use super::{
    dictionary::{ClientIndex, Dictionary, DrawState},
    plan::{ClientPlan, PlannedStep},
    script::Script,
    statement::Segment,
};

/// A worker that fires the barrel of its client.
pub struct SmackUser {
    plan: Arc<ClientPlan>,
    endpoint: Arc<Endpoint>,
    connection: Option<Connection>,
    draw_state: DrawState,
    /// Number of words drawn from each dictionary.
    drawn: Vec<u64>,
    place: Position,
    /// Buffer for the statement to execute, reused for the next one.
    sql: Vec<u8>,
}

/// The position of a worker in its plan.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    stage: usize,
    round: u64,
    step: usize,
    fired: u64,
}

impl SmackUser {
    /// The worker with this index, not connected yet; its words depend on the seed and the index only.
    pub fn new(
        plan: Arc<ClientPlan>,
        endpoint: Arc<Endpoint>,
        client_index: ClientIndex,
        seed: u64,
    ) -> Self {
        Self {
            draw_state: DrawState::new(seed, client_index),
            drawn: vec![0; plan.dictionaries.len()],
            plan,
            endpoint,
            connection: None,
            place: Position::default(),
            sql: Vec::new(),
        }
    }

    fn encode(&mut self, statement: usize) -> usize {
        let statement = &self.plan.statements[statement];
        self.sql.clear();
        write_pieces(
            &statement.pieces,
            &self.plan.dictionaries,
            &mut self.draw_state,
            &mut self.drawn,
            &mut self.sql,
        );
        statement.operation
    }
}

/// The text of a named query with words drawn for it, as run_save_result sends it; `None` if no query has this name.
pub fn statement_of(
    script: &Script,
    dictionaries: &[Dictionary],
    query: &str,
    client_index: ClientIndex,
    seed: u64,
) -> Option<Vec<u8>> {
    let query = &script.queries[script.query(query)?];
    let mut sql = Vec::new();
    let mut drawn = vec![0; dictionaries.len()];
    let mut draw_state = DrawState::new(seed, client_index);
    write_pieces(
        &query.text.pieces,
        dictionaries,
        &mut draw_state,
        &mut drawn,
        &mut sql,
    );
    Some(sql)
}

#[inline]
fn write_pieces(
    pieces: &[Segment],
    dictionaries: &[Dictionary],
    draw_state: &mut DrawState,
    drawn: &mut [u64],
    sql: &mut Vec<u8>,
) {
    for piece in pieces {
        match piece {
            Segment::Literal(text) => sql.extend_from_slice(text),
            Segment::Word(index) => dictionaries[*index].draw(draw_state, &mut drawn[*index], sql),
        }
    }
}

impl Position {
    /// The next step of a plan; `None` at its end.
    fn advance(&mut self, plan: &ClientPlan) -> Option<PlannedStep> {
        loop {
            let stage = plan.stages.get(self.stage)?;
            let over = stage.rounds.is_some_and(|rounds| self.round >= rounds);
            if over || stage.steps.is_empty() {
                *self = Self {
                    stage: self.stage + 1,
                    ..Self::default()
                };
                continue;
            }
            let Some(step) = stage.steps.get(self.step) else {
                self.round += 1;
                self.step = 0;
                continue;
            };
            let times = match step {
                PlannedStep::Fire { times, .. } => *times,
                PlannedStep::Pause(_) => 1,
            };
            if self.fired == times {
                self.fired = 0;
                self.step += 1;
                continue;
            }
            self.fired += 1;
            return Some(*step);
        }
    }
}

impl User for SmackUser {
    fn operations(&self) -> &[String] {
        self.plan.operations()
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.connection = None;
        self.connection = Some(Connection::open(&self.endpoint).await?);
        Ok(())
    }

    fn next(&mut self) -> Next {
        match self.place.advance(&self.plan) {
            Some(PlannedStep::Fire { statement, .. }) => Next::Operation(self.encode(statement)),
            Some(PlannedStep::Pause(pause)) => Next::Pause(pause),
            None => Next::End,
        }
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        let Some(connection) = &mut self.connection else {
            return Err(Failure::not_connected());
        };
        let outcome = connection.query(&self.sql).await?;
        if outcome.result_sets > 0 {
            watch.returned(outcome.rows);
        }
        Ok(())
    }

    async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            // The server may already be gone; a failed close has no consequence.
            let _ = connection.close().await;
        }
    }
}

#[cfg(test)]
#[path = "user_tests.rs"]
mod tests;
