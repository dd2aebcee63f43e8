//! Rule T02: the limiting resource is unknown.

use units::count;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "T02",
    name: "the limit of the throughput is known",
    found: "the limit of the throughput is not known",
    measures: "The limit of the run with the highest throughput. Possible limits are memory, the CPUs or their quota, the disk, flushes, the network, the client, the connections' waits, and the requested rate (docs/bottlenecks.md).",
    threshold: "fail if no limit was found",
    source: "B. Gregg, Thinking Methodically about Performance, CACM 56 (2013); Matsunobu, Ten points for correct benchmarks (2009), \
        point 10",
    consequence: "An unexplained limit may be the client, a lock or a throttle: the figures say nothing about the server.",
    remedy: "Check which sources were not observed, run with more connections, and examine the server's waits.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let measured = set
        .runs
        .iter()
        .filter_map(|run| Some((run, run.throughput().ok()?)));
    let fastest = measured.max_by(|a, b| a.1.total_cmp(&b.1));
    let (run, per_s) = fastest.ok_or_else(|| missing("operations in the measured phase"))?;
    let limit = run.limit.ok_or_else(|| missing("the limit of the run"))?;
    if run.record.loaded.is_some() && limit.resource.is_none() {
        return Err(no_subject(
            "a single connection that loads a table has no limit to find",
        ));
    }
    let fastest = match set.runs.len() {
        1 => String::new(),
        _ => format!("{} was the fastest with {}/s; ", run.name(), count(per_s)),
    };
    Ok(match &limit.resource {
        Some(resource) => Finding::new(
            Level::Pass,
            format!("{fastest}{resource}: {}", limit.evidence),
        ),
        None => Finding::new(Level::Fail, format!("{fastest}{}", limit.evidence)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::*, subject::Limit};

    #[test]
    fn found() {
        let unexplained = Limit {
            resource: None,
            evidence: "no observed resource was at its limit".to_owned(),
        };
        let outcome = judged_with(&RULE, &healthy(), Some(unexplained));
        assert_found(&outcome, Level::Fail, "no observed resource");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "CPU: 97 % busy");
    }

    #[test]
    fn a_limit_that_nobody_looked_for_is_not_evaluated() {
        assert_missing(
            &judged_with(&RULE, &healthy(), None),
            "the limit of the run",
        );
    }
}
