//! One connection that runs scripts.

use std::{sync::Arc, time::Duration};

use load::{Failure, Next, OperationObserver, User};
use protocol::Endpoint;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    op::Scope,
    plan::Plan,
    program::{Action, Length, Place},
    scalar::{EvalError, Scalar},
    session::Session,
    variables::Variables,
};

/// Longest pause.
const SLEEP_MAX: Duration = Duration::from_secs(86_400);

/// A connection that runs the scripts of a plan.
pub struct ScriptUser {
    plan: Arc<Plan>,
    session: Session,
    state: State,
    /// The state before the operation, for a retry.
    saved: Saved,
    /// The script of the operation.
    script: usize,
    is_retry: bool,
    /// The pass through the script has sent a statement, or paused.
    has_waited: bool,
}

/// What a script changes.
struct State {
    random: Xoshiro256PlusPlus,
    variables: Variables,
    /// Next row of each list that is drawn in sequence.
    turns: Vec<u64>,
    /// Values of an expression, kept to reuse their memory.
    stack: Vec<Scalar>,
}

struct Saved {
    random: Xoshiro256PlusPlus,
    turns: Vec<u64>,
}

impl ScriptUser {
    /// The connection with this index (from 0), not open yet; its values depend on the seed and the index only.
    pub fn new(plan: Arc<Plan>, endpoint: Arc<Endpoint>, index: u32) -> Self {
        let random = plan.random(index);
        let turns = vec![u64::from(index); plan.lists.len()];
        Self {
            session: Session::new(Arc::clone(&plan), endpoint),
            state: State {
                random: random.clone(),
                variables: plan.variables(index),
                turns: turns.clone(),
                stack: Vec::new(),
            },
            saved: Saved { random, turns },
            script: 0,
            is_retry: false,
            has_waited: false,
            plan,
        }
    }

    fn save(&mut self) {
        self.state.variables.save();
        self.saved.random.clone_from(&self.state.random);
        self.saved.turns.copy_from_slice(&self.state.turns);
    }

    fn restore(&mut self) {
        self.state.variables.restore();
        self.state.random.clone_from(&self.saved.random);
        self.state.turns.copy_from_slice(&self.saved.turns);
    }

    async fn run(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        let Self {
            plan,
            session,
            state,
            ..
        } = self;
        let program = &plan.programs[self.script];
        self.has_waited = false;
        let mut next = 0;
        while let Some(step) = program.steps.get(next) {
            next += 1;
            let failure = |error| evaluation_failure(plan, self.script, step.place, error);
            match &step.action {
                Action::Run(statement) => {
                    self.has_waited = true;
                    session.run(*statement, &mut state.variables, watch).await?;
                }
                Action::Set { slot, code } => {
                    let value = state.evaluate(plan, code).map_err(failure)?;
                    state.variables.set(*slot, value);
                }
                Action::Unless { code, to } => {
                    if !state.evaluate(plan, code).map_err(failure)?.is_true() {
                        next = *to;
                    }
                }
                Action::Jump(to) => next = *to,
                Action::Draw { list, targets, .. } => state.draw(plan, *list, targets),
                Action::Sleep(length) => {
                    let pause = match length {
                        Length::Fixed(pause) => *pause,
                        Length::Variable { slot, unit } => {
                            let number = state.variables.scalar(*slot, &plan.lists);
                            let number = number.and_then(Scalar::double).map_err(failure)?;
                            if !number.is_finite() {
                                return Err(failure(EvalError::Pause(number)));
                            }
                            unit.mul_f64(number.clamp(0.0, f64::from(u32::MAX)))
                        }
                    };
                    self.has_waited = true;
                    watch.pause(pause.min(SLEEP_MAX)).await;
                }
            }
        }
        Ok(())
    }
}

impl State {
    fn evaluate(&mut self, plan: &Plan, code: &[super::op::Op]) -> Result<Scalar, EvalError> {
        let variables = &self.variables;
        let mut scope = Scope {
            load: |slot| variables.scalar(slot, &plan.lists),
            random: &mut self.random,
            stack: &mut self.stack,
        };
        scope.evaluate(code)
    }

    fn draw(&mut self, plan: &Plan, list: usize, targets: &[Option<u32>]) {
        let (turn, connections) = (&mut self.turns[list], plan.settings.connections);
        let row = plan.lists[list].draw(turn, connections, &mut self.random);
        for (target, column) in targets.iter().zip(0..) {
            if let Some(slot) = target {
                self.variables.set_listed(*slot, list as u32, [row, column]);
            }
        }
    }
}

/// The failure of an expression, with its place: `orders.sql, line 3, column 1: division by zero`.
#[cold]
fn evaluation_failure(plan: &Plan, script: usize, place: Place, error: EvalError) -> Failure {
    let what = match error {
        EvalError::Unset(slot) => format!("the variable :{} is not set", plan.names.of_slot(slot)),
        EvalError::Text(slot) => {
            let name = plan.names.of_slot(slot);
            format!("the variable :{name} has a text, which an expression cannot use")
        }
        other => other.to_string(),
    };
    let file = &plan.programs[script].file;
    let Place { line, column } = place;
    let message = format!("{file}, line {line}, column {column}: {what}");
    Failure {
        is_of_input: true,
        ..Failure::of_client(message)
    }
}

impl User for ScriptUser {
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
        self.script = self.plan.draw(&mut self.state.random);
        self.save();
        self.is_retry = false;
        Next::Operation(self.script)
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        if std::mem::replace(&mut self.is_retry, true) {
            self.restore();
        }
        self.session.roll_back().await?;
        let result = self.run(watch).await;
        self.session.is_half_done = result.is_err();
        if !self.has_waited {
            // The other users of the event loop, its clock and its end would wait for ever.
            watch.pause(Duration::ZERO).await;
        }
        result
    }

    async fn disconnect(&mut self) {
        self.session.disconnect().await;
    }
}
