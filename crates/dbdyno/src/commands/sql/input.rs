//! The statements of a command: a file, or the command line.

use std::path::PathBuf;

use blame::{Blame, Blamed};
use sqltext::{Quoting, SqlScriptError, SqlStatement};
use statements::{ExecutionCounts, TopStatements, executable, quoting_of};

use crate::connection_options::ConnectionOptions;

#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// File with SQL statements; delimiter, source and comments work as in the mysql client
    #[arg(value_name = "FILE", required_unless_present_any = ["execute", "from"])]
    file: Option<PathBuf>,
    /// Statement to use instead of a file; may be repeated
    #[arg(long, short = 'e', value_name = "STATEMENT", conflicts_with = "file")]
    execute: Vec<String>,
    /// Use the most expensive statements in this slow query log; with the word digest instead of a file name, use those
    /// in performance_schema
    #[arg(long, value_name = "LOG|digest", conflicts_with_all = ["file", "execute"])]
    from: Option<PathBuf>,
    /// With --from: number of statements to use, starting with the most expensive one
    #[arg(long, value_name = "N", default_value = "10", requires = "from", value_parser = clap::value_parser!(u32).range(1..=1000))]
    top: u32,
}

impl InputArgs {
    /// The statements in their order; at least one.
    pub(super) fn statements(
        &self,
        connection: &ConnectionOptions,
    ) -> Result<Vec<SqlStatement>, Blamed> {
        Ok(self.counted_statements(connection)?.0)
    }

    /// The statements with the number of their executions, which a log and the server's digests have.
    pub(super) fn counted_statements(
        &self,
        connection: &ConnectionOptions,
    ) -> Result<(Vec<SqlStatement>, ExecutionCounts), Blamed> {
        if let Some(from) = &self.from {
            let kinds = if from.as_os_str() == "digest" {
                TopStatements::of_digests(&connection.endpoint()?)?
            } else {
                TopStatements::of_slow_log(from)?
            };
            let counts = kinds.execution_counts();
            let (statements, note) = executable(kinds, self.top as usize, &connection.endpoint()?)?;
            eprintln!("note: {note}");
            return Ok((statements, counts));
        }
        let statements = self.checked(self.read(connection)?)?;
        Ok((statements, ExecutionCounts::default()))
    }

    /// The statements for servers that do not exist yet, which have the default mode.
    pub(super) fn statements_for_new_servers(&self) -> Result<Vec<SqlStatement>, Blamed> {
        self.checked(blamed(self.with(Quoting::default()))?)
    }

    fn checked(&self, statements: Vec<SqlStatement>) -> Result<Vec<SqlStatement>, Blamed> {
        if statements.is_empty() {
            let what = match &self.file {
                Some(path) => path.display().to_string(),
                None => "-e".to_owned(),
            };
            return Err(Blamed::new(
                Blame::Input,
                format!("{what}: it contains no statement"),
            ));
        }
        Ok(statements)
    }

    /// The statements as the server reads them. It is asked for its mode only where that matters.
    fn read(&self, connection: &ConnectionOptions) -> Result<Vec<SqlStatement>, Blamed> {
        let read = self.with(Quoting::default());
        let is_same =
            |it: &SqlStatement| Quoting::all().iter().all(|other| it.is_same_with(*other));
        if read.as_ref().is_ok_and(|all| all.iter().all(is_same)) {
            return blamed(read);
        }
        match connection.endpoint().and_then(|it| quoting_of(&it)) {
            Ok(quoting) => blamed(self.with(quoting)),
            // The file is wrong for most servers, whatever is wrong with this one.
            Err(_) if read.is_err() => blamed(read),
            Err(error) => Err(error),
        }
    }

    fn with(&self, quoting: Quoting) -> Result<Vec<SqlStatement>, SqlScriptError> {
        match &self.file {
            Some(path) => quoting.statements_of_file(path),
            None => self.of_command_line(quoting),
        }
    }

    fn of_command_line(&self, quoting: Quoting) -> Result<Vec<SqlStatement>, SqlScriptError> {
        let mut all = Vec::new();
        for (at, text) in self.execute.iter().enumerate() {
            let name = match self.execute.len() {
                1 => "-e".to_owned(),
                _ => format!("-e number {}", at + 1),
            };
            all.extend(quoting.statements_of(&name, text.clone().into_bytes())?);
        }
        Ok(all)
    }
}

fn blamed(read: Result<Vec<SqlStatement>, SqlScriptError>) -> Result<Vec<SqlStatement>, Blamed> {
    read.map_err(|error| Blamed::new(Blame::Input, error))
}
