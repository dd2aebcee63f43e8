//! Rule C07: answers came from the query cache.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

pub(super) const RULE: Rule = Rule {
    id: "C07",
    name: "answers do not come from the query cache",
    found: "answers came from the query cache",
    measures: "Qcache_hits as a share of all SELECTs during the measured phase.",
    threshold: "warn if the query cache answered any SELECT",
    source: "MySQL 5.6 parameter review (MyNA, 2013): RESET QUERY CACHE empties the cache, FLUSH QUERY CACHE does not, and the first statement of a transaction with AUTOCOMMIT=0 is not cached (bug 42197)",
    consequence: "A statement that is answered from the query cache is not executed: its response time is the time of a memory copy.",
    remedy: "Set query_cache_type = OFF. If you study the query cache, say so and report its hit ratio with the figures.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.server()?;
    if run.variable("query_cache_type").is_none() {
        return Err(no_subject("this server has no query cache"));
    }
    // Com_select does not count statements that the query cache answered.
    let hits = run.counter_per_s("Qcache_hits")?;
    let executed = run.counter_per_s("Com_select")?;
    let share = if hits > 0.0 {
        hits / (hits + executed)
    } else {
        0.0
    };
    let level = if hits > 0.0 { Level::Warn } else { Level::Pass };
    let evidence = format!(
        "{} of the SELECTs were answered from the query cache",
        percent(share)
    );
    Ok(Finding::new(level, evidence).with("hit_share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            counter(record, "Qcache_hits", 900.0);
            counter(record, "Com_select", 100.0);
        });
        assert_found(&outcome, Level::Warn, "90 % of the SELECTs");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "0 % of the SELECTs");
        let outcome = judged(&RULE, |record| {
            record.servers[0].variables.remove("query_cache_type");
        });
        assert_no_subject(&outcome);
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.server_status.clear()),
            "counters",
        );
    }
}
