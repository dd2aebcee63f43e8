//! The transaction around an execution, so that nothing of it stays.

use sqltext::SqlStatement;

use super::{
    effect::{Effect, effect_of},
    reach::Access,
    session::{Failure, Session},
    setting::is_setting,
};

/// ER_PARSE_ERROR: MySQL 5.5 has no transactions that only read.
const UNKNOWN_FORM: u16 = protocol::PARSE_ERROR;
/// ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
const READS_ONLY: u16 = 1792;
/// ER_WARNING_NOT_COMPLETE_ROLLBACK
pub(super) const NOT_COMPLETE: u16 = 1196;

/// The transaction around an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// None: for a setting of the session, and where changes are kept.
    Absent,
    ReadOnly,
    /// It takes back what the statement changes.
    RollBack,
}

impl Guard {
    /// The guard of a statement; `commit` keeps all changes.
    pub(super) fn of(statement: &SqlStatement, commit: bool) -> Self {
        if commit || is_setting(statement) {
            return Self::Absent;
        }
        match effect_of(statement) {
            // MariaDB refuses SELECT ... FOR UPDATE where only reading is allowed.
            Effect::Reads if statement.has_word("for") && statement.has_word("update") => {
                Self::RollBack
            }
            // A SELECT can call a function that writes.
            Effect::Reads => Self::ReadOnly,
            Effect::Changes => Self::RollBack,
            // Refused before the first round.
            Effect::Other => Self::Absent,
        }
    }

    /// What a statement may do within it; `None` where it may do anything.
    pub(super) fn access(self, statement: &SqlStatement) -> Option<Access> {
        match self {
            Self::Absent => None,
            Self::ReadOnly => Some(Access::ReadOnly),
            Self::RollBack if effect_of(statement) == Effect::Reads => Some(Access::RolledBackRead),
            Self::RollBack => Some(Access::RolledBackChange),
        }
    }

    pub(super) async fn begin(self, session: &mut Session) -> Result<(), Failure> {
        let plain = "START TRANSACTION";
        match self {
            Self::Absent => {}
            Self::ReadOnly => match session.rows("START TRANSACTION READ ONLY").await {
                Err(failure) if failure.number() == Some(UNKNOWN_FORM) => {
                    session.rows(plain).await?;
                }
                begun => {
                    begun?;
                }
            },
            Self::RollBack => {
                session.rows(plain).await?;
            }
        }
        Ok(())
    }

    /// Ends the transaction. The server's warning if it could not take back everything.
    pub(super) async fn end(self, session: &mut Session) -> Result<Option<String>, Failure> {
        if self == Self::Absent || session.count(b"ROLLBACK").await?.warnings == 0 {
            return Ok(None);
        }
        let warnings = session.warnings().await?;
        let mut messages = warnings.into_iter();
        let left = messages.find(|(number, _)| *number == u32::from(NOT_COMPLETE));
        Ok(left.map(|(number, message)| format!("{message} (warning {number})")))
    }

    /// Whether an execution failed because the statement writes where only reading is allowed.
    pub(super) fn refused(self, failure: &Failure) -> bool {
        self == Self::ReadOnly && failure.number() == Some(READS_ONLY)
    }
}

#[cfg(test)]
mod tests {
    use sqltext::statements_of;

    use super::*;

    #[test]
    fn nothing_but_settings_is_executed_without_a_transaction() {
        for (text, commit, guard) in [
            ("select f(1)", false, Guard::ReadOnly),
            ("select a from t for update", false, Guard::RollBack),
            ("delete from t", false, Guard::RollBack),
            ("set @a = 1", false, Guard::Absent),
            ("select f(1)", true, Guard::Absent),
            ("delete from t", true, Guard::Absent),
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            assert_eq!(Guard::of(&statements[0], commit), guard, "{text}");
        }
    }
}
