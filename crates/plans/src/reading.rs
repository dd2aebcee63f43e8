//! The forms of an explanation, each read into the one model.

use crate::{
    block_json,
    error::Error,
    json::Json,
    node::{Node, Plan},
    operator, operator_json,
    traditional::{self, Rows},
    tree_text,
};

impl Plan {
    fn new(root: Node) -> Self {
        Self {
            root,
            rewritten: None,
            notes: Vec::new(),
        }
    }

    /// Reads EXPLAIN as rows, of any version; also MariaDB's ANALYZE.
    ///
    /// # Errors
    /// [`Error::NoPlan`] if there are no rows, or without EXPLAIN's columns.
    pub fn of_rows(rows: Rows<'_>) -> Result<Self, Error> {
        traditional::plan_of(rows).map(Self::new)
    }

    /// Reads EXPLAIN FORMAT=JSON of any version, also as EXPLAIN ANALYZE or ANALYZE.
    ///
    /// # Errors
    /// [`Error::NotJson`], and [`Error::NoPlan`] if the document has no plan.
    pub fn of_json(text: &str) -> Result<Self, Error> {
        let form = "EXPLAIN FORMAT=JSON";
        let document = Json::parse(text).map_err(|source| Error::NotJson { form, source })?;
        let Some(root) = block_json::plan_of(&document) else {
            let mut root = operator_json::plan_of(&document)?;
            operator::settle_costs(&mut root, 1.0);
            let rewritten = document.get("query").and_then(Json::text);
            return Ok(Self {
                rewritten,
                ..Self::new(root)
            });
        };
        Ok(Self::new(root))
    }

    /// Reads EXPLAIN FORMAT=TREE or EXPLAIN ANALYZE of MySQL.
    ///
    /// # Errors
    /// [`Error::NoPlan`] if no line is an operator.
    pub fn of_tree(text: &str) -> Result<Self, Error> {
        let mut root = tree_text::plan_of(text)?;
        operator::settle_costs(&mut root, 1.0);
        Ok(Self::new(root))
    }

    /// Takes the notes of SHOW WARNINGS after EXPLAIN, each with its number: 1003 is the statement as rewritten.
    pub fn add_warnings(&mut self, warnings: impl IntoIterator<Item = (u32, String)>) {
        for (number, message) in warnings {
            if number == 1003 {
                self.rewritten = Some(message);
            } else {
                self.notes.push(message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Documents of known and unknown members, nested in any way.
    fn documents() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("1".to_owned()),
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("\"Nested loop inner join\"".to_owned()),
            Just("\"x\"".to_owned()),
        ];
        let names = prop::sample::select(vec![
            "query_block",
            "query_plan",
            "operation",
            "inputs",
            "table",
            "table_name",
            "nested_loop",
            "filesort",
            "key",
            "materialized",
            "rows",
            "r_rows",
            "r_loops",
            "r_total_time_ms",
            "cost_info",
            "message",
            "windows",
            "new_thing",
        ]);
        leaf.prop_recursive(6, 60, 6, move |inner| {
            let members = prop::collection::vec((names.clone(), inner.clone()), 0..6);
            let object = members.prop_map(|members| {
                let members = members
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            });
            let list = prop::collection::vec(inner, 0..4);
            prop_oneof![
                object,
                list.prop_map(|elements| format!("[{}]", elements.join(",")))
            ]
        })
    }

    proptest! {
        #[test]
        fn any_document_is_read_and_drawn_or_refused(inner in documents()) {
            for root in ["query_block", "query_plan"] {
                let text = format!("{{\"{root}\":{inner}}}");
                if let Ok(plan) = Plan::of_json(&text) {
                    prop_assert!(!plan.draw(80).is_empty());
                    prop_assert!(serde_json::to_string(&plan).is_ok());
                }
            }
        }
    }

    #[test]
    fn what_a_newer_server_says_is_kept() {
        let text = r#"{"query_block":{"select_id":1,"quantum_join":{"qubits":3,
            "table":{"table_name":"t","access_type":"teleport"}}}}"#;
        let drawn = Plan::of_json(text).unwrap().draw(80);
        for part in ["quantum_join", "qubits: 3", "access_type: \"teleport\""] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
    }
}
