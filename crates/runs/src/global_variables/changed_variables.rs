//! The variables of an existing server while a session sets them.

use std::collections::BTreeMap;

use blame::{Blame, Blamed};
use dataset::own_session::open_settled;
use experiment::PlannedRun;
use protocol::{Address, Connection, Endpoint};

use crate::{
    control::{Purpose, control, quoted, variables, wait},
    global_variables::{guard, not_back, settable::wanted},
    guard::Guard,
    listener::Context,
    stage::settings_in_effect::adjusted,
};

/// Errors about what the user named: an unknown variable, a missing privilege, a wrong value, a wrong type of value.
/// Source: MySQL Server Error Reference.
const OF_INPUT: [u16; 4] = [1193, 1227, 1231, 1232];
/// ER_INCORRECT_GLOBAL_LOCAL_VAR: the variable is read-only.
const READ_ONLY: u16 = 1238;

type Values = BTreeMap<String, String>;

/// The variables of a server that are set for the runs of a session. The original values are put back when this value is
/// dropped; a guard process does so if this process is killed.
pub(crate) struct ChangedVariables<'a> {
    endpoint: Endpoint,
    context: &'a Context,
    /// Stays open, so that no login precedes a turn.
    connection: Connection,
    /// The requested values of each run, by its place in the session.
    values: Vec<Values>,
    /// The statements that set them.
    statements: Vec<String>,
    /// The statement that sets the original values.
    original: String,
    guard: Guard,
    are_back: bool,
}

impl<'a> ChangedVariables<'a> {
    /// Reads the original values and tries the others; `None` if these runs set no variables. They have the same server.
    pub(crate) fn of(
        runs: &[&PlannedRun],
        endpoint: &Endpoint,
        context: &'a Context,
    ) -> Result<Option<Self>, Blamed> {
        let values: Vec<Values> = runs.iter().map(|run| wanted(&run.server)).collect();
        if values.iter().all(BTreeMap::is_empty) {
            return Ok(None);
        }
        Self::tried(values, endpoint, context).map(Some)
    }

    /// For runs with these values.
    fn tried(
        values: Vec<Values>,
        endpoint: &Endpoint,
        context: &'a Context,
    ) -> Result<Self, Blamed> {
        let found = control(endpoint, variables)?;
        let names = values.iter().flat_map(BTreeMap::keys);
        let before: Values = names
            .filter_map(|name| Some((name.clone(), found.get(name)?.clone())))
            .collect();
        let statements = values.iter().map(|own| statement(own, &before)).collect();
        let original = statement(&Values::new(), &before);
        let connection = wait(open_settled(endpoint, Purpose::Change.limit()))?;
        let mut connection = connection.map_err(|error| error.blamed(&endpoint.address))?;
        // It changes nothing: of an account that must not set them, there is nothing to put back.
        execute(&mut connection, &original, &endpoint.address)?;
        let mut changed = Self {
            // Before the first change, which may take effect although its answer is lost.
            guard: guard::set_up(endpoint, &original)?,
            endpoint: endpoint.clone(),
            context,
            connection,
            values,
            statements,
            original,
            are_back: false,
        };
        changed.try_values()?;
        Ok(changed)
    }

    /// The requested values of the run at this place in the session.
    pub(crate) fn values(&self, run: usize) -> &Values {
        &self.values[run]
    }

    /// Sets the values of the run at this place in the session.
    pub(crate) fn set_for(&mut self, run: usize) -> Result<(), Blamed> {
        let sql = &self.statements[run];
        execute(&mut self.connection, sql, &self.endpoint.address)
    }

    /// Puts the original values back.
    pub(crate) fn put_back(mut self) -> Result<(), Blamed> {
        self.are_back = true;
        self.restore()?;
        self.guard.dismiss();
        Ok(())
    }

    /// Sets the values of each run once: what the server refuses or adjusts is found before anything is measured.
    fn try_values(&mut self) -> Result<(), Blamed> {
        for run in 0..self.values.len() {
            self.set_for(run)?;
            let found = wait(variables(&mut self.connection))?;
            let address = &self.endpoint.address;
            let found = found.map_err(|error| error.blamed(address))?;
            let adjusted = adjusted(&self.values[run], &found);
            if !adjusted.is_empty() {
                let message = format!("server {address}: {}", adjusted.join("; "));
                let hint = "compare values that the server does not adjust";
                return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
            }
        }
        Ok(())
    }

    /// Sets the original values on a connection of its own: the other one may be lost, or in the middle of a statement.
    fn restore(&self) -> Result<(), Blamed> {
        let sql = self.original.as_bytes();
        Purpose::Change
            .control(&self.endpoint, async |connection| {
                connection.query(sql).await.map(drop)
            })
            .map_err(|error| not_back(error, &self.original))
    }
}

impl Drop for ChangedVariables<'_> {
    fn drop(&mut self) {
        if self.are_back {
            return;
        }
        match self.restore() {
            Ok(()) => self.guard.dismiss(),
            Err(error) => self.context.warn(&error.to_string()),
        }
    }
}

/// Executes a statement that sets variables of the server at this address.
fn execute(connection: &mut Connection, sql: &str, address: &Address) -> Result<(), Blamed> {
    let executed = wait(connection.query(sql.as_bytes()))?;
    executed.map(drop).map_err(|error| refused(&error, address))
}

/// The error for a statement that the server did not execute.
fn refused(error: &protocol::Error, address: &Address) -> Blamed {
    let blamed = error.blamed(address);
    match error.server_number() {
        Some(READ_ONLY) => Blamed {
            blame: Blame::Input,
            ..blamed
        }
        .hint(
            "it can only be set when the server starts: compare it on private servers".to_owned(),
        ),
        Some(number) if OF_INPUT.contains(&number) => Blamed {
            blame: Blame::Input,
            ..blamed
        },
        _ => blamed,
    }
}

/// The statement that sets the variables in `before` to these values, or to their values there.
fn statement(values: &Values, before: &Values) -> String {
    let assignments = before.iter().map(|(name, before)| {
        let wanted = values.get(name).map(|value| literal(value, before));
        let value = wanted.unwrap_or_else(|| verbatim(before));
        format!("global {name} = {value}")
    });
    let assignments: Vec<String> = assignments.collect();
    format!("set {}", assignments.join(", "))
}

/// A value as SET has it, for a variable that has the value `before`: an option file has `64M` where SET has a number.
fn literal(value: &str, before: &str) -> String {
    let value = value.trim().trim_matches(['"', '\'']);
    let is_size = !is_number(value) && is_number(before);
    let bytes = mycnf::parse_size_bytes(value).filter(|_| is_size);
    bytes.map_or_else(|| verbatim(value), |bytes| bytes.to_string())
}

/// A value of a server as SET has it.
fn verbatim(value: &str) -> String {
    if is_number(value) {
        value.to_owned()
    } else {
        quoted(value)
    }
}

/// True for `2`, `0.500000` and `-1`.
fn is_number(text: &str) -> bool {
    let digits = |it: u8| it.is_ascii_digit() || matches!(it, b'.' | b'-');
    text.bytes().all(digits) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        sync::{Arc, Mutex, mpsc},
        thread,
    };

    use protocol::testing::{Answer, Request, endpoint, serve};
    use reactor::{Interrupt, Listener as Socket};

    use crate::listener::{Event, Length, Listener, Step};

    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_statement_sets_every_variable() {
        let before = values(&[
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_spin_wait_delay", "6"),
            ("local_infile", "ON"),
            ("log_output", "FILE"),
        ]);
        for (wanted, expected) in [
            (
                values(&[]),
                "set global innodb_flush_log_at_trx_commit = 1, global innodb_spin_wait_delay = 6, \
                 global local_infile = 'ON', global log_output = 'FILE'",
            ),
            (
                values(&[
                    ("innodb_flush_log_at_trx_commit", "2"),
                    ("innodb_spin_wait_delay", "1K"),
                    ("local_infile", "0"),
                    ("log_output", "\"TABLE,FILE\""),
                ]),
                "set global innodb_flush_log_at_trx_commit = 2, global innodb_spin_wait_delay = 1024, \
                 global local_infile = 0, global log_output = 'TABLE,FILE'",
            ),
        ] {
            assert_eq!(statement(&wanted, &before), expected);
        }
        // What belongs to an original value stays.
        let before = values(&[("ft_boolean_syntax", " +'")]);
        assert_eq!(
            statement(&values(&[]), &before),
            "set global ft_boolean_syntax = ' +\\''"
        );
    }

    /// A server whose account must not set variables; it ends with this process.
    fn refusing(directory: &Path) -> Endpoint {
        let socket = directory.join("socket");
        let (begun, has_begun) = mpsc::channel();
        let path = socket.clone();
        thread::spawn(move || {
            reactor::block_on(async {
                serve(Socket::bind_unix(&path).unwrap(), |request| match request {
                    Request::Query(b"SHOW GLOBAL VARIABLES") => {
                        let row = [Some("sync_binlog"), Some("1")];
                        Answer::rows(&["Variable_name", "Value"], &[&row])
                    }
                    Request::Query(sql) if sql.starts_with(b"set global ") => {
                        Answer::error(1227, "42000", "Access denied")
                    }
                    _ => Answer::ok(0),
                });
                begun.send(()).unwrap();
                std::future::pending::<()>().await;
            })
        });
        has_begun.recv().unwrap();
        endpoint(&socket)
    }

    /// Keeps the warnings.
    #[derive(Default)]
    struct Warnings(Mutex<Vec<String>>);

    impl Listener for Warnings {
        fn on_event(&self, event: Event<'_>) {
            if let Event::Warning(what) = event {
                self.0.lock().unwrap().push(what.to_owned());
            }
        }

        fn begin(&self, _: &str, _: Length) -> Box<dyn Step> {
            unreachable!("no step is long enough to be shown")
        }
    }

    #[test]
    fn of_an_account_that_must_not_set_variables_nothing_is_put_back() {
        let directory = tempfile::tempdir().unwrap();
        let endpoint = refusing(directory.path());
        let warnings = Arc::new(Warnings::default());
        let context = Context::new(Interrupt::default(), warnings.clone());
        let wanted = vec![values(&[("sync_binlog", "0")])];
        let refused = ChangedVariables::tried(wanted, &endpoint, &context).err();
        let error = refused.unwrap();
        assert_eq!(error.blame, Blame::Input);
        assert_eq!(error.server_error, Some(1227));
        assert!(warnings.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_value_cannot_end_its_statement() {
        assert_eq!(
            literal("x', global a = '1", "FILE"),
            "'x\\', global a = \\'1'"
        );
        assert_eq!(literal("1K", "FILE"), "'1K'");
        assert_eq!(literal("0.5", "0.100000"), "0.5");
        assert_eq!(literal("", ""), "''");
        assert_eq!(literal("-1", "0"), "-1");
    }
}
