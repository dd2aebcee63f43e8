//! One worker of a Super Smack client.

use std::sync::Arc;

use protocol::{Connection, Endpoint};

use super::{
    dictionary::{Dictionary, Hand, Seat},
    plan::{ClientPlan, PlannedStep},
    script::Script,
    statement::Piece,
};
use crate::{Failure, Next, User, Watch};

/// A worker that fires the barrel of its client.
pub struct SmackUser {
    plan: Arc<ClientPlan>,
    endpoint: Arc<Endpoint>,
    connection: Option<Connection>,
    hand: Hand,
    /// Words drawn from each dictionary.
    drawn: Vec<u64>,
    place: Place,
    /// The statement to be executed; its memory is used again for the next one.
    sql: Vec<u8>,
}

/// Where in its plan a worker is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    stage: usize,
    round: u64,
    step: usize,
    fired: u64,
}

impl SmackUser {
    /// The worker at this seat, not connected yet; its words depend on the seed and the seat alone.
    pub fn new(plan: Arc<ClientPlan>, endpoint: Arc<Endpoint>, seat: Seat, seed: u64) -> Self {
        Self {
            hand: Hand::new(seed, seat),
            drawn: vec![0; plan.dictionaries.len()],
            plan,
            endpoint,
            connection: None,
            place: Place::default(),
            sql: Vec::new(),
        }
    }

    fn encode(&mut self, statement: usize) -> usize {
        let statement = &self.plan.statements[statement];
        self.sql.clear();
        write_pieces(
            &statement.pieces,
            &self.plan.dictionaries,
            &mut self.hand,
            &mut self.drawn,
            &mut self.sql,
        );
        statement.operation
    }
}

/// The text of a named query with words drawn for it, as run_save_result sends it; none if there is no such query.
pub fn statement_of(
    script: &Script,
    dictionaries: &[Dictionary],
    query: &str,
    seat: Seat,
    seed: u64,
) -> Option<Vec<u8>> {
    let query = &script.queries[script.query(query)?];
    let mut sql = Vec::new();
    let mut drawn = vec![0; dictionaries.len()];
    let mut hand = Hand::new(seed, seat);
    write_pieces(
        &query.text.pieces,
        dictionaries,
        &mut hand,
        &mut drawn,
        &mut sql,
    );
    Some(sql)
}

#[inline]
fn write_pieces(
    pieces: &[Piece],
    dictionaries: &[Dictionary],
    hand: &mut Hand,
    drawn: &mut [u64],
    sql: &mut Vec<u8>,
) {
    for piece in pieces {
        match piece {
            Piece::Literal(text) => sql.extend_from_slice(text),
            Piece::Word(index) => dictionaries[*index].draw(hand, &mut drawn[*index], sql),
        }
    }
}

impl Place {
    /// The next step of a plan; none at its end.
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

    async fn execute(&mut self, _watch: &mut impl Watch) -> Result<(), Failure> {
        let Some(connection) = &mut self.connection else {
            return Err(Failure::not_connected());
        };
        connection.query(&self.sql).await?;
        Ok(())
    }

    async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            // The server may already be gone, and there is nothing left to do about it.
            let _ = connection.close().await;
        }
    }
}

#[cfg(test)]
#[path = "user_tests.rs"]
mod tests;
