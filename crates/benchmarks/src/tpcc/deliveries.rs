//! Deliveries of a run that were left to the background: the rest of them when the load is over, and what they come to.

use std::{sync::Arc, time::Duration};

use load::User;
use protocol::Endpoint;
use runs::{Context, wait};
use samples::Deliveries;

use crate::tpcc::terminal::{Terminal, TerminalPlan};

/// How long the rest of the deliveries may take.
const REST_AT_MOST: Duration = Duration::from_secs(120);
/// How long one of them may take.
const ONE_AT_MOST: Duration = Duration::from_secs(10);
/// Within which 90 % of the deliveries have to be executed, seconds.
///
/// Source: TPC-C 5.11, clause 2.7.2.2.
const WITHIN_S: f64 = 80.0;

/// Executes what is still queued when the load is over; what cannot be executed is left, and counted.
pub fn deliver_rest(
    plan: &Arc<TerminalPlan>,
    endpoint: &Endpoint,
    context: &Context,
) -> Deliveries {
    let before = plan.deferred.results();
    if before.queued > before.executed + before.unknown {
        let courier = Terminal::courier(Arc::clone(plan), Arc::new(endpoint.clone()));
        let rest = wait(async { reactor::timeout(REST_AT_MOST, deliver_all(courier)).await });
        match rest {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(why))) => context.warn(&format!("delivering the rest: {why}")),
            Ok(Err(reactor::Elapsed)) => {
                context.warn(&format!(
                    "delivering the rest takes longer than {REST_AT_MOST:?}"
                ));
            }
            Err(error) => context.warn(&format!("delivering the rest: {error}")),
        }
    }
    let results = plan.deferred.results();
    Deliveries {
        queued: results.queued,
        executed: results.executed,
        after_stop: results.executed - before.executed,
        outcome_unknown: results.unknown,
        left: results.queued - results.executed - results.unknown,
        delivered: results.delivered.to_vec(),
        skipped: results.skipped.to_vec(),
    }
}

/// Executes one delivery after the other; a server that is silent for too long gets no other one.
async fn deliver_all(mut courier: Terminal) -> Result<(), String> {
    loop {
        match reactor::timeout(ONE_AT_MOST, courier.deliver_next()).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => break,
            Ok(Err(failure)) => {
                courier.disconnect().await;
                return Err(failure.to_string());
            }
            Err(reactor::Elapsed) => return Err(format!("no answer within {ONE_AT_MOST:?}")),
        }
    }
    courier.disconnect().await;
    Ok(())
}

/// Whether all were executed, and with key and think times 90 % of them in time: `p90_s`, from when they were queued.
pub fn are_allowed(deliveries: &Deliveries, p90_s: Option<f64>, is_paced: bool) -> bool {
    let is_late = is_paced && p90_s.is_some_and(|p90_s| p90_s > WITHIN_S);
    deliveries.left == 0 && !is_late
}
