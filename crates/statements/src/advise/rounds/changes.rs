//! Changes of a copy: fresh statistics, and indexes that are used or not, and are taken back.

use blame::Blamed;
use plans::{Operation, Plan};
use protocol::Endpoint;
use sqltext::SqlStatement;

use super::Rounds;
use crate::{
    compare::NewIndexes, explain::estimated_plan, session::Session, setting::is_setting, statistics,
};

impl Rounds<'_> {
    /// Refreshes statistics; what the server says about single tables changes nothing here.
    pub(super) async fn analyze(
        &self,
        endpoint: &Endpoint,
        tables: &[String],
    ) -> Result<(), Blamed> {
        let mut session = Session::open(endpoint, self.limit()).await?;
        let analyzed = statistics::analyze(&mut session, endpoint, tables).await;
        session.close().await;
        analyzed
    }

    /// Whether the optimizer chooses one of the indexes for a statement, or may.
    pub(super) async fn is_used(
        &self,
        endpoint: &Endpoint,
        statements: &[SqlStatement],
        indexes: &NewIndexes,
    ) -> Result<bool, Blamed> {
        let mut session = Session::open(endpoint, self.timeout).await?;
        let mut is_used = false;
        for statement in statements {
            let plan = estimated_plan(&mut session, statement).await?;
            is_used |= match plan {
                Some(plan) => may_use(&plan, indexes),
                None => !is_setting(statement),
            };
        }
        session.close().await;
        Ok(is_used)
    }

    /// Takes indexes back, of which some may be missing.
    pub(super) async fn undone(
        &self,
        endpoint: &Endpoint,
        indexes: &NewIndexes,
    ) -> Result<(), Blamed> {
        let mut session = Session::open(endpoint, self.limit()).await?;
        for sql in &indexes.undone_by {
            match session.rows(sql).await {
                Err(failure) if !failure.is_of_statement() => {
                    let statement = SqlStatement::of_line("index", 1, sql.clone().into_bytes());
                    return Err(failure.blamed_of_work(endpoint, &statement));
                }
                _ => {}
            }
        }
        session.close().await;
        Ok(())
    }
}

/// Whether a plan reads one of the indexes, or may: a plan without tables has read an index before the execution.
fn may_use(plan: &Plan, indexes: &NewIndexes) -> bool {
    let nodes = plan.root.all();
    let is_read_before = nodes.iter().any(|it| it.operation == Operation::Nothing);
    let mut names = indexes.names.iter();
    is_read_before || names.any(|name| plan.root.uses_index(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_without_a_table_may_have_read_the_index_before() {
        let indexes = NewIndexes {
            schema: "s".to_owned(),
            table: "t".to_owned(),
            names: vec!["i".to_owned()],
            columns: vec!["a".to_owned()],
            undone_by: Vec::new(),
            are_new: true,
        };
        for (members, expected) in [
            (r#""table_name":"t","access_type":"ref","key":"i""#, true),
            (
                r#""table_name":"t","access_type":"ALL","possible_keys":["i"]"#,
                false,
            ),
            (r#""message":"Select tables optimized away""#, true),
        ] {
            let text = format!(r#"{{"query_block":{{"select_id":1,"table":{{{members}}}}}}}"#);
            let plan = Plan::of_json(&text).unwrap();
            assert_eq!(may_use(&plan, &indexes), expected, "{members}");
        }
    }
}
