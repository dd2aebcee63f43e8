//! Runs the main block of one client.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use benchmarks::smack::{
    Action, ClientIndex, ClientProgram, ClientWorkers, Interpreter, Stage, statement_of,
};
use blame::{Blame, Blamed};
use protocol::{Connection, ResultSet};
use results::numbered;
use runs::{Purpose, wait};

use crate::{
    front_doors::super_smack::{
        drive::{self, WorkerResults, Workers},
        shared_state::SharedState,
    },
    output::write_out,
};

/// One client and its share of the unique words.
pub(super) struct ClientRun<'s> {
    shared: &'s SharedState,
    interpreter: Interpreter<'s>,
    client: usize,
    /// Index of its first worker, among the workers of all clients.
    client_index: ClientIndex,
    /// Its number among the clients, from 1.
    number: usize,
}

/// Result of a client.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientEnd {
    /// A statement failed for good.
    pub(super) failed: bool,
    /// A report was printed.
    pub(super) reported: bool,
}

impl<'s> ClientRun<'s> {
    /// All clients of a script, with consecutive indexes for their workers.
    pub(super) fn all(shared: &'s SharedState) -> anyhow::Result<Vec<Self>> {
        let start = |program: &'s ClientProgram| {
            let name = &shared.script.clients[program.client].name;
            Interpreter::new(program, name, &shared.arguments)
        };
        let programs = &shared.script.programs;
        let workers = programs
            .iter()
            .map(|program| workers_of(start(program)))
            .collect::<anyhow::Result<Vec<u64>>>()?;
        let of = workers.iter().sum::<u64>().max(1);
        let first = workers.iter().scan(0, |next, workers| {
            let first = *next;
            *next += workers;
            Some(first)
        });
        Ok(programs
            .iter()
            .zip(first)
            .zip(1..)
            .map(|((program, index), number)| Self {
                number,
                shared,
                interpreter: start(program),
                client: program.client,
                client_index: ClientIndex { index, of },
            })
            .collect())
    }

    /// Runs the client's steps to the end, or to the first failure that ends them.
    pub(super) fn run(mut self) -> anyhow::Result<ClientEnd> {
        let mut connection = None;
        let mut driven: Option<WorkerResults> = None;
        let mut end = ClientEnd::default();
        let mut crews = 0;
        while let Some(action) = self.interpreter.next_action().map_err(Blamed::from)? {
            if self.shared.context.interrupt.is_raised() {
                break;
            }
            match action {
                Action::Print { text, times } => {
                    for _ in 0..times {
                        write_out(text.as_bytes())?;
                    }
                }
                Action::Sleep(pause) => self.sleep(pause),
                Action::Query { sql } => {
                    self.with_connection(&mut connection, async |connection| {
                        connection.query(sql.as_bytes()).await.map(drop)
                    })?;
                }
                Action::SaveResult { query, file, times } => {
                    for _ in 0..times {
                        self.save_result(&mut connection, &query, &file)?;
                    }
                }
                Action::Drive(mut crew) => {
                    self.sleep(leading_pause(&mut crew));
                    crews += 1;
                    let workers = Workers {
                        client: self.client,
                        first: self.client_index,
                        record: self.record_path(crews),
                    };
                    let crew_end = drive::crew(self.shared, &workers, &crew)?;
                    end.failed |= crew_end.failed;
                    let stopped = crew_end.stopped;
                    driven = Some(crew_end);
                    if stopped {
                        // The measurements are kept, and no more statements are sent to the server.
                        end.reported |= self.report(driven.as_ref())?;
                        break;
                    }
                }
                Action::Report => end.reported |= self.report(driven.as_ref())?,
            }
        }
        Ok(end)
    }

    /// The record file of a crew (from 1): the requested name itself if a single client has a single crew.
    fn record_path(&self, crew: u32) -> Option<PathBuf> {
        let record = self.shared.record.as_ref()?;
        let has_others = self.shared.script.programs.len() > 1;
        Some(match (has_others, crew) {
            (false, 1) => record.clone(),
            (false, crew) => numbered(record, &crew.to_string()),
            (true, 1) => numbered(record, &self.number.to_string()),
            (true, crew) => numbered(record, &format!("{}-{crew}", self.number)),
        })
    }

    /// Prints the report of the last load; false if there is none.
    fn report(&mut self, driven: Option<&WorkerResults>) -> anyhow::Result<bool> {
        let Some(driven) = driven else {
            return Ok(false);
        };
        write_out(driven.layout(self.shared.unit).as_bytes())?;
        self.interpreter.report(driven.figures(self.shared.unit));
        Ok(true)
    }

    fn sleep(&self, pause: Duration) {
        self.shared.context.interrupt.wait(pause);
    }

    /// run_save_result: a line of column names, then the rows, with a TAB after every field.
    fn save_result(
        &self,
        connection: &mut Option<Connection>,
        query: &str,
        file: &str,
    ) -> anyhow::Result<()> {
        let shared = self.shared;
        let sql = statement_of(
            &shared.script,
            &shared.dictionaries,
            query,
            self.client_index,
            shared.seed,
        )
        .ok_or_else(|| {
            Blamed::new(
                Blame::Input,
                format!("query '{query}' has not been defined"),
            )
        })?;
        let sets = self.with_connection(connection, async |connection| {
            connection.rows(&String::from_utf8_lossy(&sql)).await
        })?;
        let text = as_text(&sets);
        if file == "-" {
            return Ok(write_out(&text)?);
        }
        files::replace(Path::new(file), &text)
            .map_err(|error| Blamed::new(Blame::Machine, error).into())
    }

    fn with_connection<T>(
        &self,
        connection: &mut Option<Connection>,
        run: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
    ) -> anyhow::Result<T> {
        let endpoint = self.shared.endpoints.of(self.client);
        let result = wait(async {
            if connection.is_none() {
                let limit = Purpose::Work.limit();
                *connection = Some(Connection::open_within(endpoint, limit).await?);
            }
            run(connection.as_mut().expect("it was opened just now")).await
        })?;
        Ok(result.map_err(|error| error.blamed(&endpoint.address))?)
    }
}

/// Maximum concurrent workers of a client, as far as known before it runs.
fn workers_of(mut interpreter: Interpreter<'_>) -> anyhow::Result<u64> {
    while let Some(action) = interpreter.next_action().map_err(Blamed::from)? {
        if let Action::Drive(crew) = action {
            return Ok(crew.threads);
        }
    }
    Ok(0)
}

/// Removes the common initial pause of all workers, so that it does not lower the rate.
fn leading_pause(crew: &mut ClientWorkers) -> Duration {
    let mut pause = Duration::ZERO;
    while let Some(Stage::Pause(first)) = crew.stages.first() {
        pause += *first;
        crew.stages.remove(0);
    }
    pause
}

fn as_text(sets: &[ResultSet]) -> Vec<u8> {
    let mut text = Vec::new();
    for set in sets {
        for name in &set.columns {
            text.extend_from_slice(name.as_bytes());
            text.push(b'\t');
        }
        text.push(b'\n');
        for row in &set.rows {
            for value in row {
                text.extend_from_slice(value.as_deref().unwrap_or(b"NULL"));
                text.push(b'\t');
            }
            text.push(b'\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_as_the_original_saves_them() {
        let set = ResultSet {
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![
                vec![Some(b"1".to_vec()), None],
                vec![Some(b"x y".to_vec()), Some(Vec::new())],
            ],
        };
        assert_eq!(as_text(&[set]), b"a\tb\t\n1\tNULL\t\nx y\t\t\n");
    }
}
