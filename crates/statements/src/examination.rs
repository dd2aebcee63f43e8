//! Statements looked at in their order before they are executed, in a session with the settings among them.

use blame::{Blame, Blamed};
use sqltext::SqlStatement;

use super::{
    catalogue::Catalogue,
    reach::{Access, obstacle},
    session::{Failure, Session, SessionState},
};

/// Character sets in which the second byte of a character can be a backslash or a quotation mark, or in which a
/// backslash is a letter.
const NOT_ASCII: [&str; 6] = ["big5", "cp932", "gb18030", "gbk", "sjis", "swe7"];

/// An examination in a session.
#[derive(Default)]
pub(super) struct Examination {
    /// As it was since the last setting.
    state: Option<SessionState>,
    /// As it is shown since the last change of the account's rights.
    catalogue: Option<Catalogue>,
}

impl Examination {
    /// Executes a setting of the session.
    pub(super) async fn set(
        &mut self,
        session: &mut Session,
        setting: &SqlStatement,
    ) -> Result<(), Blamed> {
        self.check_text(session, setting).await?;
        let sql = String::from_utf8_lossy(setting.text()).into_owned();
        let done = session.rows(&sql).await;
        done.map_err(|failure| failure.blamed(session.endpoint(), setting))?;
        self.state = None;
        if setting.has_word("role") || setting.has_word("authorization") {
            self.catalogue = None;
        }
        Ok(())
    }

    /// Refuses a statement that the server would not take for the text that was read.
    pub(super) async fn check_text(
        &mut self,
        session: &mut Session,
        statement: &SqlStatement,
    ) -> Result<(), Blamed> {
        let state = self.state(session).await;
        let state = state.map_err(|failure| failure.blamed(session.endpoint(), statement))?;
        let is_ascii = statement.text().is_ascii();
        if statement.is_same_with(state.quoting)
            && (is_ascii || !NOT_ASCII.contains(&state.charset.as_str()))
        {
            return Ok(());
        }
        let message = format!(
            "{}: not executed: with the session's sql_mode or character set, the server reads it as a different text",
            statement.place()
        );
        let hint = "double a quotation mark inside a string, which all modes understand, or set these variables \
             outside the statements";
        Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
    }

    /// Why a statement would leave something behind; `None` if it does not.
    pub(super) async fn obstacle(
        &mut self,
        session: &mut Session,
        statement: &SqlStatement,
        access: Access,
    ) -> Result<Option<String>, Blamed> {
        let found = async {
            let database = self.state(session).await?.database.clone();
            if self.catalogue.is_none() {
                self.catalogue = Some(Catalogue::read(session).await?);
            }
            Ok(database)
        };
        let found: Result<String, Failure> = found.await;
        let database = found.map_err(|failure| failure.blamed(session.endpoint(), statement))?;
        let catalogue = self.catalogue.as_ref();
        Ok(catalogue.and_then(|it| obstacle(it, statement, &database, access)))
    }

    async fn state(&mut self, session: &mut Session) -> Result<&SessionState, Failure> {
        let state = match self.state.take() {
            Some(state) => state,
            None => session.state().await?,
        };
        Ok(self.state.insert(state))
    }
}
