//! Rule W06: the access distribution is skewed to a hot zone, or not declared.

use samples::{KeyOrder, KnownLoad};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

pub(super) const RULE: Rule = Rule {
    id: "W06",
    name: "the distribution of the requested keys is known",
    found: "a small part of the rows gets most of the accesses",
    measures: "The key distribution, if the workload states it: as rand-type in the OLTP workloads, in the specification of a standard benchmark, or as the dictionary type in a .smack file.",
    threshold: "warn if the distribution is special, the default of old sysbench versions: 1 % of the rows get 75 % of the accesses. Note if the distribution is uniform (dictionary type rand) or sequential (dictionary type seq). Pass for any other distribution",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 7 and 8",
    consequence: "With hot rows, caches look larger and locks look more contended than in production. Uniform access has the opposite effect.",
    remedy: "Use the application's distribution and state it with the figures. --rand-type zipfian or pareto is closest to a mix of heavy and light users.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    if let Some(known) = KnownLoad::among(&run.record.totals().loads) {
        return Ok(Finding::new(Level::Pass, known.keys));
    }
    if let Some(keys) = run.record.keys.first() {
        let (level, how) = match keys.drawn {
            KeyOrder::Random => (Level::Note, "uniformly"),
            KeyOrder::Sequential => (Level::Note, "one after the other"),
            KeyOrder::Unique => (Level::Pass, "without repetition"),
        };
        let evidence = format!("keys of the dictionary {} are drawn {how}", keys.dictionary);
        return Ok(Finding::new(level, evidence));
    }
    let distribution = run.record.header.combination.get("rand-type");
    let distribution = distribution
        .ok_or_else(|| missing("the key distribution, which this workload does not state"))?;
    let level = match distribution.as_str() {
        "special" => Level::Warn,
        "uniform" => Level::Note,
        _ => Level::Pass,
    };
    Ok(Finding::new(
        level,
        format!("the key distribution is {distribution}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn drawn(distribution: &str) -> Outcome {
        judged(&RULE, |record| {
            let settings = &mut record.header.combination;
            settings.insert("rand-type".to_owned(), distribution.to_owned());
        })
    }

    #[test]
    fn found() {
        assert_found(&drawn("special"), Level::Warn, "special");
        assert_found(&drawn("uniform"), Level::Note, "uniform");
        let outcome = judged(&RULE, |record| {
            record.keys = vec![samples::Keys {
                dictionary: "word".to_owned(),
                drawn: KeyOrder::Random,
                ..samples::Keys::default()
            }];
        });
        assert_found(
            &outcome,
            Level::Note,
            "the dictionary word are drawn uniform",
        );
    }

    #[test]
    fn passes() {
        assert_found(&drawn("zipfian"), Level::Pass, "zipfian");
        let outcome = judged(&RULE, |record| {
            record.intervals[0].operations[0].load = samples::KNOWN_LOADS[0].name.to_owned();
        });
        assert_found(&outcome, Level::Pass, "NURand");
    }

    #[test]
    fn a_workload_that_does_not_say_is_not_evaluated() {
        assert_missing(&judged(&RULE, |_| {}), "key distribution");
    }
}
