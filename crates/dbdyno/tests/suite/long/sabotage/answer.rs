//! The answer of `dbdyno compare` for two levels of an experiment.

use serde_json::Value;

/// An answer, read from its JSON.
pub(crate) struct Answer {
    /// The decision about the throughput of B.
    pub(crate) decision: String,
    /// The first rule of the explanation; empty if no rule applies.
    pub(crate) rule: String,
    /// Decision, change and causes, for the table.
    pub(crate) words: String,
    /// The output for users.
    pub(crate) text: String,
    /// CPU share of other programs, if it was too large in most runs.
    pub(crate) disturbance: Option<String>,
}

impl Answer {
    /// Reads the only combination of an answer.
    #[track_caller]
    pub(crate) fn read(json: &str, text: String, disturbance: Option<String>) -> Self {
        let answer: Value = serde_json::from_str(json).unwrap();
        let combinations = answer["combinations"].as_array().unwrap();
        assert_eq!(combinations.len(), 1, "{json}");
        let place = &combinations[0];
        let throughput = of(&place["metrics"], "throughput");
        let decision = throughput["decision"].as_str().unwrap().to_owned();
        let causes = place["causes"].as_array().unwrap();
        let rule = |cause: &Value| cause["rule"].as_str().unwrap().to_owned();
        let told: Vec<String> = causes
            .iter()
            .map(|cause| format!("{}: {}", rule(cause), cause["sentence"].as_str().unwrap()))
            .collect();
        let times = |end: &str| throughput["ratio"][end].as_f64().unwrap_or(f64::NAN);
        Self {
            rule: causes.first().map(rule).unwrap_or_default(),
            words: format!(
                "{decision}: throughput x {:.3} ({:.3} to {:.3}); {}",
                times("estimate"),
                times("low"),
                times("high"),
                if told.is_empty() {
                    "no cause".to_owned()
                } else {
                    told.join("; ")
                }
            ),
            decision,
            text,
            disturbance,
        }
    }

    /// Whether B is reported as faster or slower.
    pub(crate) fn decides(&self) -> bool {
        ["faster", "slower"].contains(&self.decision.as_str())
    }
}

fn of<'v>(measures: &'v Value, name: &str) -> &'v Value {
    let mut all = measures.as_array().unwrap().iter();
    all.find(|it| it["measure"] == name).unwrap()
}
