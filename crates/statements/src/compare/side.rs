//! One side of a comparison: a variant's statements and its session.

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::Endpoint;
use sqltext::{SqlStatement, statements_of_file};

use super::{hints, variant::Variant};
use crate::{
    session::{Failure, Session},
    setting::is_setting,
};

/// A connected side.
pub(super) struct Side<'a> {
    pub(super) variant: &'a Variant,
    pub(super) statements: &'a [SqlStatement],
    pub(super) session: Session,
}

/// The statements of a variant for those of the command line.
pub(super) fn statements_of(
    variant: &Variant,
    statements: &[SqlStatement],
) -> Result<Vec<SqlStatement>, Blamed> {
    let mut all = match &variant.rewrite {
        Some(path) => {
            let read =
                statements_of_file(path).map_err(|error| Blamed::new(Blame::Input, error))?;
            let [was, is] = [statements, &read].map(|all| all.iter().filter(|it| !is_setting(it)));
            let (was, is) = (was.count(), is.count());
            if was != is {
                let message = format!(
                    "{}: {} for {}",
                    path.display(),
                    units::counted(is, "statement"),
                    units::counted(was, "statement")
                );
                let hint = "a rewrite has one statement for each, in the same order; USE and SET do not count";
                return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
            }
            read
        }
        None => statements.to_vec(),
    };
    if !variant.hints.is_empty() {
        let hints = variant.hints.join(" ");
        for statement in all.iter_mut().filter(|it| !is_setting(it)) {
            *statement = statement.hinted(&hints).ok_or_else(|| {
                let message = format!(
                    "{}: a hint cannot be inserted into {}",
                    statement.place(),
                    statement.verb()
                );
                let hint =
                    "write it into a copy of the statements, for a variant 'NAME: rewrite FILE'";
                Blamed::new(Blame::Input, message).hint(hint.to_owned())
            })?;
        }
    }
    Ok(all)
}

/// Executes the SQL of a variant that changes its server, in its order, without a time limit but that of its purpose.
pub(crate) async fn change(
    variant: &Variant,
    endpoint: &Endpoint,
    limit: Duration,
) -> Result<(), Blamed> {
    let mut session = Session::open(endpoint, limit).await?;
    for statement in &variant.sql {
        let blamed = |failure: Failure| {
            let error = failure.blamed_of_work(endpoint, statement);
            Blamed::new(error.blame, format!("variant {}", error.message))
                .hint(error.hints.first().cloned())
        };
        let sql = String::from_utf8_lossy(statement.text()).into_owned();
        let sets = session.rows(&sql).await.map_err(blamed)?;
        // ANALYZE TABLE reports its errors as rows: table, operation, type, text.
        let mut rows = sets.iter().flat_map(|set| &set.rows);
        let text = |value: &Option<Vec<u8>>| {
            String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned()
        };
        let failed = rows.find_map(|row| match row.as_slice() {
            [_, _, kind, why] if text(kind).eq_ignore_ascii_case("error") => Some(text(why)),
            _ => None,
        });
        if let Some(why) = failed {
            let message = format!("variant {}: {why}", statement.place());
            return Err(Blamed::new(Blame::Server, message));
        }
    }
    session.close().await;
    Ok(())
}

impl<'a> Side<'a> {
    /// Connects and executes the settings of the variant.
    pub(super) async fn open(
        variant: &'a Variant,
        statements: &'a [SqlStatement],
        endpoint: &Endpoint,
        limit: Duration,
    ) -> Result<Self, Blamed> {
        let mut session = Session::open(endpoint, limit).await?;
        hints::check(variant, session.version())?;
        for setting in variant.settings() {
            let sql = String::from_utf8_lossy(setting.text()).into_owned();
            let done = session.rows(&sql).await;
            done.map_err(|failure| {
                let error = failure.blamed(endpoint, setting);
                Blamed::new(error.blame, format!("variant {}", error.message))
            })?;
        }
        Ok(Self {
            variant,
            statements,
            session,
        })
    }

    /// An error of this side, with the name of its variant.
    pub(super) fn blamed(&self, error: Blamed) -> Blamed {
        Blamed {
            message: format!("variant {}: {}", self.variant.name, error.message),
            ..error
        }
    }
}
