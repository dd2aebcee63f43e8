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
