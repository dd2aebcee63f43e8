//! What could make statements faster, with reasons; and what of it is proved to.

mod candidate;
mod diagnosis;
mod index_review;
mod index_set;
mod outputs;
mod proof;
mod ranking;
mod rewording;
mod rounds;
mod table_facts;
mod untried;

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::Context;
use sqltext::SqlStatement;

use self::{diagnosis::Advice, proof::Proof};
pub use self::{
    diagnosis::Diagnosis,
    outputs::{Layout, json, text},
    rounds::Rounds,
};
use super::{
    compare::check_kind, execution_counts::ExecutionCounts, session::in_session,
    setting::is_setting,
};

/// Explains statements, and finds candidates, ranked by the time that they save of all executions; each execution ends
/// after `timeout`, and `context` receives its progress.
pub fn diagnose(
    endpoint: &Endpoint,
    statements: &[SqlStatement],
    counts: &ExecutionCounts,
    timeout: Duration,
    context: &Context,
) -> Result<Diagnosis, Blamed> {
    for statement in statements {
        check_kind(statement)?;
    }
    if statements.iter().all(is_setting) {
        let message = "no statement to advise on: there are only session settings";
        return Err(Blamed::new(Blame::Input, message));
    }
    in_session(endpoint, timeout, async |session| {
        Diagnosis::of(session, statements, counts, context).await
    })
}

impl Diagnosis {
    /// Whether a candidate can be measured.
    pub fn is_measurable(&self) -> bool {
        self.advice.iter().any(Advice::is_measurable)
    }

    /// Whether a candidate was proved.
    pub fn is_proved(&self) -> bool {
        let mut proofs = self.advice.iter().filter_map(|it| it.proof.as_ref());
        proofs.any(Proof::is_proved)
    }
}
