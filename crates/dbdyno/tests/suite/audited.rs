//! The output of `dbdyno audit` for results, rule by rule.

use serde_json::Value;

use crate::scene::Scene;

/// The audit of results, or of two sides of a comparison.
pub(crate) struct Audited(Value);

impl Audited {
    /// The audit for these arguments.
    #[track_caller]
    pub(crate) fn of(scene: &Scene, arguments: &[&str]) -> Self {
        let asked = [
            &["audit"],
            arguments,
            &["--format", "json", "--fail-if", "invalid"],
        ];
        let text = scene.dbdyno(asked.concat()).text();
        let audit = serde_json::from_str(&text);
        Self(audit.unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    /// The finding of a rule.
    #[track_caller]
    pub(crate) fn rule(&self, id: &str) -> &Value {
        let rules = self.0["rules"].as_array().expect("there is a list");
        let found = rules.iter().find(|rule| rule["id"] == id);
        found.unwrap_or_else(|| panic!("{id} is no rule"))
    }

    /// Expects a level of a rule, and a part of its evidence.
    #[track_caller]
    pub(crate) fn finds(&self, id: &str, level: &str, part: &str) -> &Self {
        self.finds_one_of(id, &[level], part)
    }

    /// Expects one of these levels; the actual one depends on the machine's speed.
    #[track_caller]
    pub(crate) fn finds_one_of(&self, id: &str, levels: &[&str], part: &str) -> &Self {
        let rule = self.rule(id);
        let level = rule["level"].as_str().unwrap_or_default();
        let evidence = rule["evidence"].as_str().unwrap_or_default();
        assert!(
            levels.contains(&level) && evidence.contains(part),
            "{id} should say {levels:?} with {part:?}: {rule:#}"
        );
        self
    }
}
