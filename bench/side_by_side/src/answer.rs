//! The answer of a comparison, and the pairs behind it: read from `dbdyno report --format json --seconds`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use stats::Interval;

/// What dbdyno says of the second level, compared with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Faster,
    Slower,
    Equivalent,
    Inconclusive,
}

/// The only comparison of a report.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) decision: Decision,
    /// Throughput of the second level by that of the first; `None` with too few runs.
    pub(crate) ratio: Option<Interval>,
    /// The pairs of each session, in the order of time. Of runs one after the other, a session is a pair.
    pub(crate) sessions: Vec<Session>,
    pub(crate) server_version: Option<String>,
}

/// Logarithms of the ratios of the pairs in a session, in the order of time.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Session {
    pub(crate) batches: Vec<f64>,
    /// Of the slices in these batches.
    pub(crate) slices: Vec<f64>,
}

impl Answer {
    /// Reads a report.
    pub(crate) fn read(report: &str) -> Result<Self> {
        let report: Value = serde_json::from_str(report)?;
        let verdict = &report["verdict"];
        let [comparison] = list(&verdict["comparisons"])? else {
            bail!("the report does not have one comparison")
        };
        let runs = list(&report["runs"])?;
        let version = runs.first().and_then(|run| run["server_version"].as_str());
        Ok(Self {
            decision: decision(&comparison["decision"])?,
            ratio: interval(&comparison["ratio"]),
            sessions: sessions(runs, verdict)?,
            server_version: version.map(str::to_owned),
        })
    }

    /// True if the interval of the ratio holds this one.
    pub(crate) fn holds(&self, ratio: f64) -> bool {
        self.ratio
            .is_some_and(|it| it.low <= ratio && ratio <= it.high)
    }
}

fn decision(word: &Value) -> Result<Decision> {
    Ok(match word.as_str() {
        Some("faster") => Decision::Faster,
        Some("slower") => Decision::Slower,
        Some("equivalent") => Decision::Equivalent,
        Some("inconclusive") => Decision::Inconclusive,
        _ => bail!("unknown decision {word}"),
    })
}

fn list(value: &Value) -> Result<&[Value]> {
    let list = value.as_array().map(Vec::as_slice);
    list.with_context(|| format!("not a list in the report: {value}"))
}

fn interval(bounds: &Value) -> Option<Interval> {
    Some(Interval {
        estimate: bounds["estimate"].as_f64()?,
        low: bounds["low"].as_f64()?,
        high: bounds["high"].as_f64()?,
    })
}

/// The pairs of each session. A batch is a run of the report: those of one session and level have the same number in
/// `run`, and those of one pair the same `block`.
fn sessions(runs: &[Value], verdict: &Value) -> Result<Vec<Session>> {
    let measure = &verdict["measure"];
    let baseline = verdict["baseline"].as_object().context("no baseline")?;
    let is_of_baseline = |run: &Value| {
        let mut levels = baseline.iter();
        levels.all(|(factor, level)| run["levels"][factor.as_str()] == *level)
    };
    let mut blocks: BTreeMap<u64, [Option<&Value>; 2]> = BTreeMap::new();
    for run in runs {
        if run["complete"].as_bool() == Some(true) {
            let block = run["block"].as_u64().context("a run without a block")?;
            let side = usize::from(!is_of_baseline(run));
            blocks.entry(block).or_default()[side] = Some(run);
        }
    }
    let mut sessions: BTreeMap<u64, Session> = BTreeMap::new();
    for pair in blocks.into_values() {
        let [Some(first), Some(second)] = pair else {
            continue;
        };
        let of_session = first["run"].as_u64().context("a run without a number")?;
        let session = sessions.entry(of_session).or_default();
        let ratio = value(second, measure)? / value(first, measure)?;
        session.batches.push(ratio.ln());
        let (first, second) = (rates(first)?, rates(second)?);
        if first.len() == second.len() {
            let pairs = first.iter().zip(&second);
            let ratios = pairs.map(|(first, second)| (second / first).ln());
            session.slices.extend(ratios.filter(|it| it.is_finite()));
        }
    }
    Ok(sessions.into_values().collect())
}

/// The value of a measure in a run.
fn value(run: &Value, measure: &Value) -> Result<f64> {
    let mut metrics = list(&run["metrics"])?.iter();
    let found = metrics.find(|it| it["measure"] == *measure);
    let value = found.and_then(|it| it["value"].as_f64());
    value.with_context(|| format!("a run without {measure}"))
}

/// Throughput in the measured intervals of a run; of a batch these are its slices.
fn rates(run: &Value) -> Result<Vec<f64>> {
    let seconds = list(&run["seconds"])?.iter();
    let measured = seconds.filter(|it| it["phase"] == "measurement");
    Ok(measured
        .filter_map(|it| it["throughput_per_s"].as_f64())
        .collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// An answer without pairs.
    pub(crate) fn answer(decision: Decision, low: f64, high: f64) -> Answer {
        Answer {
            decision,
            ratio: Some(Interval {
                estimate: f64::midpoint(low, high),
                low,
                high,
            }),
            sessions: Vec::new(),
            server_version: Some("10.11.19-MariaDB".to_owned()),
        }
    }

    fn batch(run: u64, block: u64, level: &str, throughput: f64) -> Value {
        let slice = |rate: f64| json!({"phase": "measurement", "throughput_per_s": rate});
        json!({
            "run": run,
            "block": block,
            "levels": {"long_query_time": level},
            "complete": true,
            "server_version": "10.11.19-MariaDB",
            "metrics": [
                {"measure": "operations", "unit": "count", "value": 7},
                {"measure": "throughput", "unit": "per second", "value": throughput},
            ],
            "seconds": [
                {"phase": "warm_up", "throughput_per_s": 1.0},
                slice(throughput / 2.0),
                slice(throughput * 2.0),
            ],
        })
    }

    fn report(runs: &[Value]) -> String {
        json!({
            "verdict": {
                "measure": "throughput",
                "baseline": {"long_query_time": "10"},
                "comparisons": [{
                    "compared": {"long_query_time": "11"},
                    "decision": "slower",
                    "ratio": {"estimate": 0.95, "low": 0.92, "high": 0.98},
                }],
            },
            "runs": runs,
        })
        .to_string()
    }

    #[test]
    fn pairs_are_of_one_block_and_sessions_of_one_run() {
        let mut interrupted = batch(5, 5, "10", 1.0);
        interrupted["complete"] = false.into();
        let runs = [
            batch(2, 1, "10", 100.0),
            batch(2, 2, "10", 100.0),
            batch(1, 1, "11", 200.0),
            batch(1, 2, "11", 100.0),
            batch(3, 3, "10", 100.0),
            batch(4, 3, "11", 50.0),
            // Without a partner.
            batch(3, 4, "10", 100.0),
            interrupted,
            batch(6, 5, "11", 1.0),
        ];
        let answer = Answer::read(&report(&runs)).unwrap();
        assert_eq!(answer.decision, Decision::Slower);
        assert!(answer.holds(0.95) && !answer.holds(0.91) && !answer.holds(1.0));
        assert_eq!(answer.server_version.as_deref(), Some("10.11.19-MariaDB"));
        let ln2 = 2.0_f64.ln();
        let pairs = |batches: &[f64]| Session {
            batches: batches.to_vec(),
            // Both slices of a batch have its ratio.
            slices: batches.iter().flat_map(|it| [*it, *it]).collect(),
        };
        assert_eq!(answer.sessions, [pairs(&[ln2, 0.0]), pairs(&[-ln2])]);
    }

    #[test]
    fn a_report_without_an_answer_is_an_error() {
        for text in [
            "",
            "{}",
            r#"{"verdict": null, "runs": []}"#,
            r#"{"verdict": {"comparisons": []}, "runs": []}"#,
        ] {
            assert!(Answer::read(text).is_err(), "{text}");
        }
        let undecided = report(&[])
            .replace("slower", "inconclusive")
            .replace("0.92", "null");
        let answer = Answer::read(&undecided).unwrap();
        assert_eq!(answer.decision, Decision::Inconclusive);
        assert!(answer.ratio.is_none() && !answer.holds(1.0));
    }
}
