//! The consistency conditions of clause 3.3.2, checked, with the rows that violate them.

use blame::{Blame, Blamed};
use protocol::{Connection, Endpoint, NO_SUCH_TABLE};
use runs::{Context, Length, Purpose, Step, control, database};
use samples::{CheckResult, CheckTime};

use crate::tpcc::{
    conditions::{AFTER_LOAD, CONDITIONS, Violation},
    notes::Notes,
};

/// Rows of one condition that are shown.
const ROWS_SHOWN: usize = 5;

/// What violates the conditions, all read as of one moment.
pub fn violations(
    endpoint: &Endpoint,
    after_load: bool,
    context: &Context,
) -> Result<Vec<Violation>, Blamed> {
    let notes = control(endpoint, Notes::read)?;
    if notes.is_some_and(|notes| !notes.is_complete && notes.warehouses > 0) {
        let what = "its load was interrupted and is incomplete";
        return Err(database::conflict(endpoint, what).hint(
            "to continue the load, run dbdyno tpcc prepare with the same options as before"
                .to_owned(),
        ));
    }
    let step = context.step("checking consistency", Length::Unknown);
    let checked = Purpose::Work.control(endpoint, async |connection| {
        match check_all(connection, after_load, &*step).await {
            Err(error) if error.server_number() == Some(NO_SUCH_TABLE) => Ok(Err(error)),
            checked => checked.map(Ok),
        }
    })?;
    checked.map_err(|error| {
        let error = error.blamed(&endpoint.address);
        Blamed::new(Blame::Input, &error).hint("dbdyno tpcc prepare creates the tables".to_owned())
    })
}

/// An error where a database is not consistent right after its load.
pub fn require_after_load(endpoint: &Endpoint, context: &Context) -> Result<(), Blamed> {
    let violations = violations(endpoint, true, context)?;
    match violations.first() {
        None => Ok(()),
        Some(violation) => {
            let message = format!("right after its load, {}", describe(violation));
            Err(Blamed::new(Blame::Server, message))
        }
    }
}

async fn check_all(
    connection: &mut Connection,
    after_load: bool,
    step: &dyn Step,
) -> Result<Vec<Violation>, protocol::Error> {
    connection
        .query(b"start transaction with consistent snapshot")
        .await?;
    let mut violations = Vec::new();
    let conditions = CONDITIONS.iter().chain(after_load.then_some(&AFTER_LOAD));
    for condition in conditions {
        step.say(&format!(
            "condition {}: {}",
            condition.number, condition.rule
        ));
        violations.extend(condition.check(connection).await?);
    }
    connection.query(b"commit").await?;
    Ok(violations)
}

/// What the record says of a check at this time.
pub fn checked(at: CheckTime, violated: &[Violation]) -> CheckResult {
    let told = violated.iter().map(|violation| {
        let condition = violation.condition;
        format!("condition {}: {}", condition.number, condition.rule)
    });
    CheckResult {
        at,
        what: "consistency conditions of TPC-C".to_owned(),
        violated: told.collect(),
    }
}

/// A condition with the first of the rows that violate it.
pub fn describe(violation: &Violation) -> String {
    let condition = violation.condition;
    let more = if violation.has_more { "more than " } else { "" };
    let mut text = format!(
        "condition {} is violated by {more}{} rows: {}",
        condition.number,
        violation.rows.len(),
        condition.rule
    );
    for (name, values) in violation.rows.iter().take(ROWS_SHOWN) {
        text.push_str(&format!("\n  {name}: {values}"));
    }
    if violation.rows.len() > ROWS_SHOWN {
        text.push_str("\n  ...");
    }
    text
}
