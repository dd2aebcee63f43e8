//! Changes of a copy: fresh statistics, and indexes that are used or not, and are taken back.

use blame::Blamed;
use plans::{Operation, Plan, is_same_plan};
use protocol::Endpoint;
use sqltext::SqlStatement;

use super::Rounds;
use crate::{
    catalogue::Catalogue,
    compare::{NewIndexes, SideError},
    effect::{Effect, effect_of},
    explain::estimated_plan,
    reach::calls_routine,
    session::Session,
    setting::{is_setting, sets_variables},
    statistics,
};

/// What a change of a server does to the plans of statements.
#[derive(Default)]
pub(super) struct PlanEffect {
    /// Whether plans read each of the new indexes, or may: with one that no plan reads, a pair is no better than the other.
    pub(super) is_used: bool,
    /// Places of the statements that are executed as before, so that their times would say nothing.
    pub(super) unaffected: Vec<usize>,
}

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

    /// Explains statements before and after a change, on the server of each; the change made indexes with these names. An
    /// error of the server before the change is one of all candidates.
    pub(super) async fn plan_effect(
        &self,
        [before, after]: [(&Endpoint, &[SqlStatement]); 2],
        indexes: &[String],
    ) -> Result<PlanEffect, SideError> {
        let baseline = Session::open(before.0, self.timeout).await;
        let mut baseline = baseline.map_err(SideError::of_all)?;
        let changed = Session::open(after.0, self.timeout).await;
        let mut changed = changed.map_err(SideError::of_one)?;
        let catalogue = Catalogue::read(&mut baseline).await;
        let catalogue = catalogue.map_err(|failure| failure.blamed(before.0, &before.1[0]));
        let catalogue = catalogue.map_err(SideError::of_all)?;
        let mut effect = PlanEffect::default();
        let mut unused: Vec<&String> = indexes.iter().collect();
        for (at, (old, new)) in before.1.iter().zip(after.1).enumerate() {
            let was = estimated_plan(&mut baseline, old).await;
            let was = was.map_err(SideError::of_all)?;
            let is = estimated_plan(&mut changed, new).await;
            let is = is.map_err(SideError::of_one)?;
            if is_setting(new) {
                continue;
            }
            leave_unused(&mut unused, is.as_ref());
            let plans = was.zip(is).filter(|_| is_skippable([old, new], &catalogue));
            if plans.is_some_and(|(was, is)| is_unaffected([&was, &is], indexes)) {
                effect.unaffected.push(at);
            }
        }
        baseline.close().await;
        changed.close().await;
        effect.is_used = unused.is_empty();
        Ok(effect)
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

/// Whether a statement need not be executed if its plan stays the same: an index costs a statement time that changes rows,
/// whatever its plan reads, others may need the variables that it sets, and a routine has plans of its own.
fn is_skippable([old, new]: [&SqlStatement; 2], catalogue: &Catalogue) -> bool {
    let is_same_read = effect_of(new) == Effect::Reads && old.text() == new.text();
    is_same_read && !sets_variables(new) && !calls_routine(catalogue, new)
}

/// Leaves those indexes that a statement certainly does not read; one without a plan may read all.
fn leave_unused(indexes: &mut Vec<&String>, plan: Option<&Plan>) {
    indexes.retain(|name| plan.is_some_and(|it| !may_use(it, std::slice::from_ref(*name))));
}

/// Whether a plan reads one of the indexes, or may: a plan without tables has read an index before the execution.
fn may_use(plan: &Plan, indexes: &[String]) -> bool {
    let nodes = plan.root.all();
    let is_read_before = nodes.iter().any(|it| it.operation == Operation::Nothing);
    is_read_before || indexes.iter().any(|name| plan.root.uses_index(name))
}

/// Whether two plans read the same tables in the same way, and none of the indexes.
fn is_unaffected([before, after]: [&Plan; 2], indexes: &[String]) -> bool {
    !may_use(after, indexes) && is_same_plan(&before.root, &after.root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Program, ProgramKind};

    /// A plan of one table with these members.
    fn plan(members: &str) -> Plan {
        let text = format!(r#"{{"query_block":{{"select_id":1,"table":{{{members}}}}}}}"#);
        Plan::of_json(&text).unwrap()
    }

    #[test]
    fn only_the_same_read_without_variables_and_routines_can_be_skipped() {
        let catalogue = Catalogue {
            programs: vec![Program {
                kind: ProgramKind::Routine,
                schema: "s".to_owned(),
                name: "f".to_owned(),
                text: Some("RETURN (SELECT max(x) FROM u)".to_owned()),
            }],
            ..Catalogue::default()
        };
        let statement = |text: &str| SqlStatement::of_line("q", 1, text.as_bytes().to_vec());
        for (old, new, expected) in [
            ("select a from t", "select a from t", true),
            ("select a from t", "select b from t", false),
            ("delete from t", "delete from t", false),
            ("select a from t into @a", "select a from t into @a", false),
            ("select f(a) from t", "select f(a) from t", false),
        ] {
            let [before, after] = [old, new].map(statement);
            let found = is_skippable([&before, &after], &catalogue);
            assert_eq!(found, expected, "{new}");
        }
    }

    #[test]
    fn a_plan_without_a_table_may_have_read_the_index_before() {
        let indexes = ["i".to_owned()];
        for (members, expected) in [
            (r#""table_name":"t","access_type":"ref","key":"i""#, true),
            (
                r#""table_name":"t","access_type":"ALL","possible_keys":["i"]"#,
                false,
            ),
            (r#""message":"Select tables optimized away""#, true),
        ] {
            assert_eq!(may_use(&plan(members), &indexes), expected, "{members}");
        }
    }

    #[test]
    fn a_pair_is_used_only_if_plans_read_both_indexes() {
        let by = |key: &str| {
            plan(&format!(
                r#""table_name":"t","access_type":"ref","key":"{key}""#
            ))
        };
        let names = ["a".to_owned(), "b".to_owned()];
        for (plans, unused) in [
            (vec![Some(by("a")), Some(by("a"))], &names[1..]),
            (vec![Some(by("a")), Some(by("b"))], &[]),
            (vec![Some(by("k"))], &names),
            (vec![Some(by("a")), None], &[]),
        ] {
            let mut left: Vec<&String> = names.iter().collect();
            for plan in &plans {
                leave_unused(&mut left, plan.as_ref());
            }
            let expected: Vec<&String> = unused.iter().collect();
            assert_eq!(left, expected, "{plans:?}");
        }
    }

    #[test]
    fn a_statement_with_the_same_plan_is_unaffected() {
        let scan = r#""table_name":"t","access_type":"ALL","rows":1000"#;
        for (after, expected) in [
            (r#""table_name":"t","access_type":"ALL","rows":990"#, true),
            // By an index of before, which fresh statistics make better.
            (r#""table_name":"t","access_type":"ref","key":"k""#, false),
            (r#""table_name":"t","access_type":"ref","key":"i""#, false),
        ] {
            let plans = [&plan(scan), &plan(after)];
            assert_eq!(is_unaffected(plans, &["i".to_owned()]), expected, "{after}");
        }
        // The new index has the name of one that was dropped.
        let by_index = plan(r#""table_name":"t","access_type":"ref","key":"i""#);
        assert!(!is_unaffected([&by_index; 2], &["i".to_owned()]));
    }
}
