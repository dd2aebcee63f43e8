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
    /// Whether the others are compared with it.
    pub(super) is_baseline: bool,
    pub(super) variant: &'a Variant,
    pub(super) statements: &'a [SqlStatement],
    /// Places of the statements that it does not execute.
    pub(super) skipped: &'a [usize],
    pub(super) session: Session,
}

/// Why a side, or all of them, cannot be measured.
#[derive(Debug)]
pub(crate) struct SideError {
    pub(crate) error: Blamed,
    /// Whether no other side can be measured either: without the baseline there is nothing to compare with.
    pub(crate) is_of_all: bool,
}

impl SideError {
    /// An error of one side, beside which others can be measured.
    pub(crate) fn of_one(error: Blamed) -> Self {
        Self {
            error,
            is_of_all: false,
        }
    }

    /// An error that ends the measurement of all sides.
    pub(crate) fn of_all(error: Blamed) -> Self {
        Self {
            error,
            is_of_all: true,
        }
    }
}

impl From<SideError> for Blamed {
    fn from(it: SideError) -> Self {
        it.error
    }
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
            // The place begins with the name of the variant.
            with_start("variant ", failure.blamed_of_work(endpoint, statement))
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
            done.map_err(|failure| with_start("variant ", failure.blamed(endpoint, setting)))?;
        }
        Ok(Self {
            is_baseline: false,
            variant,
            statements,
            skipped: &[],
            session,
        })
    }

    /// Whether it does not execute the statement at this place.
    pub(super) fn skips(&self, at: usize) -> bool {
        self.skipped.contains(&at)
    }

    /// An error of this side, with the name of its variant, if it has one.
    pub(super) fn blamed(&self, error: Blamed) -> SideError {
        SideError {
            error: of_variant(self.variant, error),
            is_of_all: self.is_baseline,
        }
    }
}

/// An error of a variant, with its name, if it has one.
pub(super) fn of_variant(variant: &Variant, error: Blamed) -> Blamed {
    match variant.name.as_str() {
        "" => error,
        name => with_start(&format!("variant {name}: "), error),
    }
}

/// An error with a start of its message. An interruption stays as it is: the user caused it, and no variant.
fn with_start(start: &str, error: Blamed) -> Blamed {
    if error.blame == Blame::Interrupted {
        return error;
    }
    Blamed {
        message: format!("{start}{}", error.message),
        ..error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_is_no_error_of_a_variant() {
        for (variant, blame, expected) in [
            ("index", Blame::Server, "variant index: q.sql:1:1: it ended"),
            ("index", Blame::Interrupted, "q.sql:1:1: it ended"),
            ("", Blame::Server, "q.sql:1:1: it ended"),
        ] {
            let variant = Variant {
                name: variant.to_owned(),
                ..Variant::default()
            };
            let error = Blamed::new(blame, "q.sql:1:1: it ended");
            assert_eq!(of_variant(&variant, error).message, expected);
        }
    }
}
