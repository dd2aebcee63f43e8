//! `[each]`: SQL statements around every run.

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    spec::{
        data::{DataSpec, Restore},
        server::{Restart, ServerSpec},
    },
};

/// The statements around a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EachSpec {
    /// Change the restored data; the server is restarted behind them.
    pub(crate) change: Vec<String>,
    /// Before the warm-up.
    pub(crate) before: Vec<String>,
    /// After the measurement.
    pub(crate) after: Vec<String>,
}

impl EachSpec {
    /// Reads `[each]` for one combination.
    pub(crate) fn read(
        section: &Section<'_>,
        server: &ServerSpec,
        data: Option<&DataSpec>,
    ) -> Result<Self, Error> {
        section.allow(&["change", "before", "after"])?;
        let statements = |key| -> Result<Vec<String>, Error> {
            let statements = section.list(key)?.unwrap_or_default();
            Ok(statements.into_iter().map(|text| text.value).collect())
        };
        let each = Self {
            change: statements("change")?,
            before: statements("before")?,
            after: statements("after")?,
        };
        if each.change.is_empty() {
            return Ok(each);
        }
        if let Some(lost) = each.change.iter().find(|sql| is_lost_by_restart(sql)) {
            let statement = lost.clone();
            return Err(section.error_at("change", Problem::LostByRestart { statement }));
        }
        // Otherwise the change of one run would still be there in the next one.
        let is_restored = data.is_some_and(|data| data.restore == Restore::PerRun);
        let is_private = matches!(server, ServerSpec::Private { .. });
        if is_private && server.restart() == Restart::PerRun && is_restored {
            return Ok(each);
        }
        Err(section.error_at("change", Problem::ChangeNeedsFreshData))
    }
}

/// True for a SET that holds until the server stops: one of the session or GLOBAL, but not PERSIST.
fn is_lost_by_restart(sql: &str) -> bool {
    let mut words = sql.split_whitespace().map(str::to_ascii_uppercase);
    let is_set = words.next().as_deref() == Some("SET");
    let is_kept = |word: String| word.trim_start_matches('@').starts_with("PERSIST");
    is_set && !words.next().is_some_and(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_loses_settings_that_are_not_persisted() {
        for (sql, expected) in [
            ("set global a = 1", true),
            ("SET @@session.a = 1", true),
            ("SET PERSIST a = 1", false),
            ("set @@persist.a = 1", false),
            ("create index settings on t (a)", false),
        ] {
            assert_eq!(is_lost_by_restart(sql), expected, "{sql}");
        }
    }
}
