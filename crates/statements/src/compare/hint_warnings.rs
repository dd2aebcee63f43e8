//! Whether a server follows hints: of one that it does not follow it only says so in a warning.

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::{Endpoint, PARSE_ERROR};
use sqltext::SqlStatement;

use super::{side::Side, variant::Variant};
use crate::{execution::GuardedStatements, explain::warnings_of_explain, setting::is_setting};

/// Kinds of warnings that EXPLAIN gives about a plan, so that another plan may have others: the rewritten statement, a
/// column of an outer query, and indexes that a comparison cannot use, in MySQL and in MariaDB.
const OF_PLANS: [u32; 4] = [1003, 1276, 1739, 1105];

/// A warning of the server: number and text.
pub(super) type Warning = (u32, String);

/// A side with what the server warns about each of its statements, without those of settings.
pub(super) struct Warned<'a> {
    pub(super) variant: &'a Variant,
    pub(super) statements: &'a [SqlStatement],
    pub(super) warnings: Vec<Vec<Warning>>,
}

impl<'a> Warned<'a> {
    /// Asks a server that does not have the changes of the variant. Nothing is executed but settings of the session.
    pub(super) async fn of(
        variant: &'a Variant,
        statements: &'a [SqlStatement],
        endpoint: &Endpoint,
        limit: Duration,
    ) -> Result<Self, Blamed> {
        let mut session = Side::open(variant, statements, endpoint, limit)
            .await?
            .session;
        let guarded = GuardedStatements::new(statements, false, None);
        guarded.check(&session, variant.settings()).await?;
        let mut warnings = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            if is_setting(statement) {
                guarded.execute(&mut session, at).await?;
                continue;
            }
            let mut of_statement = warnings_of_explain(&mut session, statement).await?;
            of_statement.retain(|(number, _)| {
                !OF_PLANS.contains(number) && counts_before_changes(variant, *number)
            });
            warnings.push(of_statement);
        }
        session.close().await;
        Ok(Self {
            variant,
            statements,
            warnings,
        })
    }
}

/// Whether a warning tells something before the changes of a variant are made: an unknown name in a hint may
/// be that of an index which the variant makes.
fn counts_before_changes(variant: &Variant, number: u32) -> bool {
    variant.hints.is_empty() || !variant.changes_server() || number == u32::from(PARSE_ERROR)
}

/// An error for a hint that the server does not follow: a warning of a kind that the statement does not have
/// on a side without hints.
pub(super) fn check(sides: &[Warned<'_>]) -> Result<(), Blamed> {
    let plain = sides.iter().find(|it| it.variant.hints.is_empty());
    for side in sides.iter().filter(|it| !it.variant.hints.is_empty()) {
        let own = side.statements.iter().filter(|it| !is_setting(it));
        for (at, (statement, warnings)) in own.zip(&side.warnings).enumerate() {
            let known = plain.map_or(&[][..], |plain| plain.warnings[at].as_slice());
            let is_known = |number: u32| known.iter().any(|(other, _)| *other == number);
            if let Some((number, text)) = warnings.iter().find(|(number, _)| !is_known(*number)) {
                let message = format!(
                    "variant {}: {}: a hint has no effect: {text} (warning {number})",
                    side.variant.name,
                    statement.place()
                );
                return Err(Blamed::new(Blame::Input, message));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqltext::statements_of;

    use super::*;

    #[test]
    fn a_kind_of_warning_that_only_a_side_with_hints_has_is_an_error() {
        let statements = statements_of("q.sql", b"set @a = 1; select 1".to_vec()).unwrap();
        let plain = Variant::baseline();
        let hinted = Variant::parse("m: hint MRR(t)").unwrap();
        let note = (1003, "/* select#1 */ select 1 AS `1`".to_owned());
        let unresolved = (3128, "Unresolved name `t` for MRR hint".to_owned());
        let checked = |warnings: Vec<Warning>| {
            let side = |variant, warnings| Warned {
                variant,
                statements: &statements,
                warnings: vec![warnings],
            };
            check(&[side(&plain, vec![note.clone()]), side(&hinted, warnings)])
        };
        assert!(checked(vec![note.clone()]).is_ok());
        let error = checked(vec![note.clone(), unresolved]).unwrap_err();
        assert_eq!(
            error.message,
            "variant m: q.sql:1:13: a hint has no effect: Unresolved name `t` for MRR hint (warning 3128)"
        );
    }

    #[test]
    fn an_unknown_name_counts_only_where_the_variant_does_not_make_it() {
        for (variant, number, counts) in [
            ("m: hint INDEX(t k)", 3128, true),
            ("m: create index k on t (a); hint INDEX(t k)", 3128, false),
            ("m: create index k on t (a); hint INDEX(t k)", 1064, true),
            ("m: create index k on t (a)", 1003, true),
        ] {
            let variant = Variant::parse(variant).unwrap();
            assert_eq!(
                counts_before_changes(&variant, number),
                counts,
                "{variant:?}"
            );
        }
    }
}
