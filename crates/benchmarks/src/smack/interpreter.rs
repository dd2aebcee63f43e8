//! Executes the steps of one client: returns the next action and receives the measured figures.

use std::{collections::HashMap, time::Duration};

use super::{
    Error,
    ast::{Expression, Operand},
    client_program::{ClientProgram, Command, Step},
    main_block::speaks_of_others,
};

/// The next action for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Print this text this number of times (once for each worker).
    Print {
        /// The text, without a final line feed.
        text: String,
        times: u64,
    },
    Sleep(Duration),
    /// Send a statement over the client's own connection.
    Query {
        sql: String,
    },
    /// Execute a query and write its result as text.
    SaveResult {
        /// Name of the query.
        query: String,
        /// Name of the file, or `-`.
        file: String,
        times: u64,
    },
    /// Run the workers.
    Drive(ClientWorkers),
    /// Print the report of the last load, and pass its figures to [`Interpreter::report`].
    Report,
}

/// The workers of a client and their stages.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientWorkers {
    /// Number of workers.
    pub threads: u64,
    /// Stages of each worker after it has connected, in order.
    pub stages: Vec<Stage>,
}

/// One stage of a worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// The barrel, for a number of rounds.
    Barrel {
        /// Rounds; `None` for an unlimited number.
        rounds: Option<u64>,
    },
    Pause(Duration),
    /// A statement that is counted in no report.
    Query(String),
}

/// The figures of a report, for `client::type::num_queries` and the like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Connection times, in the report's unit.
    pub connect: ConnectFigures,
    /// By query type.
    pub query_types: HashMap<String, QueryTypeFigures>,
}

/// Connection times, in the report's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ConnectFigures {
    /// `max_connect_time`
    pub max: f64,
    /// `min_connect_time`
    pub min: f64,
    /// `avg_connect_time`
    pub avg: f64,
}

/// The figures of one query type; times in the report's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueryTypeFigures {
    /// `num_queries`
    pub num_queries: f64,
    /// `max_time`
    pub max_time: f64,
    /// `min_time`
    pub min_time: f64,
    /// `q_per_s`
    pub q_per_s: f64,
}

/// The state of one client's program.
#[derive(Debug)]
pub struct Interpreter<'p> {
    client_name: &'p str,
    arguments: &'p [String],
    steps: std::slice::Iter<'p, Step>,
    variables: HashMap<String, String>,
    rounds: u64,
    workers: Option<ClientWorkers>,
    connected: bool,
    figures: Option<Figures>,
    /// Actions due before the next step is executed.
    queued: std::collections::VecDeque<Action>,
    /// Actions of the workers after their barrel is empty.
    after_barrel: Vec<Action>,
}

impl<'p> Interpreter<'p> {
    /// The program of the client with this name; `arguments` are `$1`, `$2`, ... of the command line.
    pub fn new(program: &'p ClientProgram, client_name: &'p str, arguments: &'p [String]) -> Self {
        Self {
            client_name,
            arguments,
            steps: program.steps.iter(),
            variables: HashMap::new(),
            rounds: 0,
            workers: None,
            connected: false,
            figures: None,
            queued: std::collections::VecDeque::new(),
            after_barrel: Vec::new(),
        }
    }

    /// Checks that the command line supplies every argument that the program refers to.
    pub fn check_arguments(&self) -> Result<(), Error> {
        for step in self.steps.as_slice() {
            for part in step.expressions().flat_map(|expression| &expression.0) {
                if let Operand::Argument(number) = part {
                    self.argument(step, &number.value)?;
                }
            }
        }
        Ok(())
    }

    /// Receives the figures of the report that was just printed.
    pub fn report(&mut self, figures: Figures) {
        self.figures = Some(figures);
    }

    /// The next action; `None` at the end of the program.
    pub fn next_action(&mut self) -> Result<Option<Action>, Error> {
        loop {
            if let Some(action) = self.queued.pop_front() {
                return Ok(Some(action));
            }
            match self.steps.next() {
                Some(step) => self.run(step)?,
                None => {
                    // Workers that are never collected still run, without a report.
                    self.drive(false);
                    if self.queued.is_empty() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn run(&mut self, step: &Step) -> Result<(), Error> {
        match &step.command {
            Command::SetRounds(rounds) => self.rounds = self.number(step, rounds)?,
            Command::CreateThreads(threads) => {
                let threads = self.number(step, threads)?.max(1);
                self.workers = Some(ClientWorkers {
                    threads,
                    stages: Vec::new(),
                });
            }
            Command::Connect => self.connected = true,
            Command::Disconnect => {
                if self.workers.is_none() {
                    self.connected = false;
                }
            }
            Command::UnloadBarrel => {
                self.expect_connection(step)?;
                let rounds = Some(self.rounds);
                // Without create_threads the client itself is the only worker.
                self.workers
                    .get_or_insert_with(|| ClientWorkers {
                        threads: 1,
                        stages: Vec::new(),
                    })
                    .stages
                    .push(Stage::Barrel { rounds });
            }
            Command::Collect => self.drive(true),
            Command::Sleep(seconds, milliseconds) => {
                let pause = Duration::from_secs(self.number(step, seconds)?)
                    .saturating_add(Duration::from_millis(self.number(step, milliseconds)?));
                match &mut self.workers {
                    Some(workers) => workers.stages.push(Stage::Pause(pause)),
                    None => self.queued.push_back(Action::Sleep(pause)),
                }
            }
            Command::Print(text) => {
                let text = self.text(step, text)?;
                let times = self.workers();
                self.in_order(Action::Print { text, times });
            }
            Command::Query(sql) => {
                self.expect_connection(step)?;
                let sql = self.text(step, sql)?;
                match &mut self.workers {
                    Some(workers) => workers.stages.push(Stage::Query(sql)),
                    None => self.queued.push_back(Action::Query { sql }),
                }
            }
            Command::SaveResult(query, file) => {
                self.expect_connection(step)?;
                let query = self.text(step, query)?;
                let file = self.text(step, file)?;
                let times = self.workers();
                self.in_order(Action::SaveResult { query, file, times });
            }
            Command::Assign(variable, value) => {
                let value = self.text(step, value)?;
                self.variables.insert(variable.clone(), value);
            }
        }
        Ok(())
    }

    /// Number of workers; each executes the lines between create_threads and collect_threads.
    fn workers(&self) -> u64 {
        self.workers.as_ref().map_or(1, |workers| workers.threads)
    }

    /// Queues an action in its order: now, or after the workers' actions before it.
    fn in_order(&mut self, action: Action) {
        match &self.workers {
            Some(workers) if !workers.stages.is_empty() => self.after_barrel.push(action),
            _ => self.queued.push_back(action),
        }
    }

    fn drive(&mut self, with_report: bool) {
        if let Some(workers) = self.workers.take() {
            self.queued.push_back(Action::Drive(workers));
            self.queued.extend(self.after_barrel.drain(..));
            if with_report {
                self.queued.push_back(Action::Report);
            }
        }
    }

    fn expect_connection(&self, step: &Step) -> Result<(), Error> {
        if self.connected {
            return Ok(());
        }
        Err(fault(
            step,
            format!(
                "client '{}' is not connected: connect() comes first",
                self.client_name
            ),
        ))
    }

    /// The integer at the start of an expression's value.
    fn number(&self, step: &Step, expression: &Expression) -> Result<u64, Error> {
        let text = self.text(step, expression)?;
        let digits: String = text
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits
            .parse()
            .map_err(|_| fault(step, format!("'{text}' is not a whole number")))
    }

    fn text(&self, step: &Step, expression: &Expression) -> Result<String, Error> {
        if let Some(other) = speaks_of_others(expression, self.client_name) {
            return Err(fault(
                step,
                format!(
                    "the report of client '{other}' is not known to client '{}'",
                    self.client_name
                ),
            ));
        }
        let mut text = String::new();
        for part in &expression.0 {
            match part {
                Operand::Number(number) => text.push_str(number),
                Operand::Text(literal) => text.push_str(&literal.text()),
                Operand::Argument(number) => text.push_str(self.argument(step, &number.value)?),
                Operand::Variable(name) => match self.variables.get(&name.value) {
                    Some(value) => text.push_str(value),
                    None => {
                        return Err(fault(
                            step,
                            format!("variable '${}' is not set", name.value),
                        ));
                    }
                },
                Operand::OfClient { field, .. } => {
                    text.push_str(&self.connect_figure(step, &field.value)?);
                }
                Operand::OfQueryType {
                    query_type, field, ..
                } => {
                    let figure = self.query_figure(step, &query_type.value, &field.value)?;
                    text.push_str(&figure);
                }
            }
        }
        Ok(text)
    }

    fn argument(&self, step: &Step, number: &str) -> Result<&str, Error> {
        let index: usize = number.parse().unwrap_or(usize::MAX);
        match index.checked_sub(1).map(|index| self.arguments.get(index)) {
            Some(Some(argument)) => Ok(argument),
            _ => Err(fault(
                step,
                format!(
                    "Line {} references argument {number} while the command line supplied only {} arguments",
                    step.place.line,
                    self.arguments.len()
                ),
            )),
        }
    }

    fn figures(&self, step: &Step) -> Result<&Figures, Error> {
        self.figures
            .as_ref()
            .ok_or_else(|| fault(step, "there is no report before collect_threads".to_owned()))
    }

    fn connect_figure(&self, step: &Step, field: &str) -> Result<String, Error> {
        let connect = &self.figures(step)?.connect;
        let figure = match field {
            "max_connect_time" => connect.max,
            "min_connect_time" => connect.min,
            "avg_connect_time" => connect.avg,
            unknown => {
                return Err(fault(
                    step,
                    format!(
                        "unknown figure '{unknown}': a client has max_connect_time, min_connect_time and avg_connect_time"
                    ),
                ));
            }
        };
        Ok(format!("{figure:.6}"))
    }

    fn query_figure(&self, step: &Step, query_type: &str, field: &str) -> Result<String, Error> {
        let figures = self.figures(step)?.query_types.get(query_type);
        let figures = figures
            .ok_or_else(|| fault(step, format!("the report has no query type '{query_type}'")))?;
        let figure = match field {
            "num_queries" => figures.num_queries,
            "max_time" => figures.max_time,
            "min_time" => figures.min_time,
            "q_per_s" => figures.q_per_s,
            unknown => {
                return Err(fault(
                    step,
                    format!(
                        "unknown figure '{unknown}': a query type has num_queries, max_time, min_time and q_per_s"
                    ),
                ));
            }
        };
        Ok(format!("{figure:.6}"))
    }
}

fn fault(step: &Step, message: String) -> Error {
    let mut diagnostic = step.place.clone();
    diagnostic.message = message;
    Error::Script(diagnostic)
}

#[cfg(test)]
#[path = "interpreter_tests.rs"]
mod tests;
