//! Prepares a table for the test: checks it, and if it has too few rows drops, creates and loads it.

use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use dataset::{Adjusted, BulkError, Lines, first_number, refuses_local};
use protocol::Connection;

use super::{
    Error,
    data_file::make_file,
    dictionary::DataFiles,
    gen_data::GenData,
    refusal,
    rows::{RowSource, Watched},
    script::{Generator, Script, TableSection},
    table_event::{TableEvent, Watch},
};

const UNKNOWN_TABLE: [u16; 2] = [protocol::NO_SUCH_TABLE, 1051];

/// The requirements of a table before the test.
#[derive(Debug, Clone)]
pub struct TablePlan {
    /// Its name, as written in SQL.
    pub table: String,
    /// Index of the client whose connection creates it.
    pub client: usize,
    min_rows: u64,
    create: BString,
    alter: Option<BString>,
    rows: PlannedRows,
}

/// The source of the rows.
#[derive(Debug, Clone)]
enum PlannedRows {
    /// No rows: the table stays empty.
    None,
    /// Directly from the generator, without a file.
    Generated(GenData),
    /// A file, which is generated first if it does not exist.
    File {
        path: PathBuf,
        generator: Option<Generator>,
    },
    /// A shell command without a directory for its file.
    Homeless,
}

/// The treatment of an existing table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is kept if it has enough rows, as in Super Smack.
    KeepIfEnough,
    /// It is created again, so that it has exactly the requested rows.
    Replace,
}

impl TablePlan {
    /// The plans of all tables of a script, in file order.
    pub fn all(script: &Script, files: &DataFiles) -> Vec<Self> {
        script
            .tables
            .iter()
            .map(|table| Self {
                table: table.name.clone(),
                client: table.client,
                min_rows: table.min_rows,
                create: table.create.clone(),
                alter: table.alter.clone(),
                rows: PlannedRows::new(table, files),
            })
            .collect()
    }

    /// Prepares the table; true if it had to be created.
    pub async fn make_ready(
        &self,
        connection: &mut Connection,
        existing: Existing,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Error> {
        match self.rows_present(connection).await? {
            Some(rows) if rows >= self.min_rows && existing == Existing::KeepIfEnough => {
                return Ok(false);
            }
            Some(_) => {
                if existing == Existing::KeepIfEnough {
                    watch(TableEvent::TooFewRows);
                }
                self.drop(connection).await?;
            }
            None => {}
        }
        if self.create.trim_ascii().is_empty() {
            return Err(self.fault(
                "does not exist and has no `create`",
                "give the table section the statement that creates it",
            ));
        }
        watch(TableEvent::Creating);
        run(connection, &self.create).await?;
        if let Some(alter) = &self.alter {
            run(connection, alter).await?;
        }
        if let Err(error) = self.load(connection, watch).await {
            // The partly loaded table would be taken for a complete one in the next run.
            let _ = self.drop(connection).await;
            return Err(error);
        }
        watch(TableEvent::Ready);
        Ok(true)
    }

    /// Rows of the table, counted up to `min_rows` only; `None` if the table does not exist.
    async fn rows_present(&self, connection: &mut Connection) -> Result<Option<u64>, Error> {
        let sql = format!(
            "select count(*) from (select 1 from {} limit {}) counted",
            self.table, self.min_rows
        );
        match connection.rows(&sql).await {
            Ok(sets) => Ok(Some(first_number(&sets).unwrap_or(0))),
            Err(error) if is_one_of(&error, &UNKNOWN_TABLE) => Ok(None),
            Err(source) => Err(Error::Statement { sql, source }),
        }
    }

    async fn drop(&self, connection: &mut Connection) -> Result<(), Error> {
        run(connection, format!("drop table {}", self.table).as_bytes()).await
    }

    fn fault(&self, reason: &'static str, hint: &'static str) -> Error {
        Error::Table {
            table: self.table.clone(),
            reason,
            hint,
        }
    }

    async fn load(&self, connection: &mut Connection, watch: &mut Watch<'_>) -> Result<(), Error> {
        let path = match &self.rows {
            PlannedRows::None => return Ok(()),
            PlannedRows::Homeless => {
                return Err(self.fault(
                    "a shell command generates its rows, but there is no directory for its file",
                    "name the directory of the data files with -D",
                ));
            }
            PlannedRows::Generated(_) => None,
            PlannedRows::File { path, generator } => {
                self.populate(path, generator.as_ref(), watch).await?;
                Some(path.as_path())
            }
        };
        watch(TableEvent::Loading { path });
        let mut rows = self.open_rows()?;
        let planned = self.rows_planned();
        let name = self.source_name();
        let lines = Lines {
            table: &self.table,
            columns: "",
            separator: b',',
            charset: None,
            name: &name,
        };
        let mut source = Watched::new(&mut rows, planned, &mut *watch);
        let mut loaded = lines.load_local(connection, &mut source).await;
        if let Err(error) = &loaded
            && refuses_local(error)
            && let BulkError::Statement { source: reason, .. } = error
        {
            source.tell(TableEvent::ByInsert {
                reason: reason.to_string(),
            });
            loaded = lines.insert(connection, &mut source).await;
        }
        if let Some(error) = source.failure() {
            return Err(error);
        }
        match loaded {
            Ok(None) => Ok(()),
            Ok(Some(Adjusted { warnings, first })) => {
                watch(TableEvent::Adjusted { warnings, first });
                Ok(())
            }
            Err(BulkError::Statement { sql, source }) => Err(Error::Statement { sql, source }),
            Err(BulkError::Refused {
                message,
                rows_before,
            }) => Err(self.refused(connection, message, rows_before).await?),
        }
    }

    async fn populate(
        &self,
        path: &Path,
        generator: Option<&Generator>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        if path.exists() {
            return Ok(());
        }
        let Some(generator) = generator else {
            return Err(self.fault(
                "its data file does not exist and there is no `gen_data_file`",
                "name the directory of the data files with -D",
            ));
        };
        watch(TableEvent::Populating {
            path,
            command: generator.to_string(),
        });
        make_file(path, generator).await
    }

    /// The error for a row that the server refuses, with its cause in the format.
    async fn refused(
        &self,
        connection: &mut Connection,
        message: String,
        rows_before: u64,
    ) -> Result<Error, Error> {
        refusal::explain(
            connection,
            &self.table,
            message,
            rows_before,
            self.generator(),
        )
        .await
    }

    fn open_rows(&self) -> Result<RowSource, Error> {
        match &self.rows {
            PlannedRows::Generated(generator) => Ok(RowSource::generated(generator)),
            PlannedRows::File { path, .. } => RowSource::open(path),
            PlannedRows::None | PlannedRows::Homeless => Ok(RowSource::empty()),
        }
    }

    fn source_name(&self) -> String {
        match &self.rows {
            PlannedRows::File { path, .. } => path.display().to_string(),
            _ => "generated".to_owned(),
        }
    }

    fn generator(&self) -> Option<&GenData> {
        match &self.rows {
            PlannedRows::Generated(generator)
            | PlannedRows::File {
                generator: Some(Generator::GenData(generator)),
                ..
            } => Some(generator),
            _ => None,
        }
    }

    fn rows_planned(&self) -> Option<u64> {
        self.generator().map(|generator| generator.rows)
    }
}

impl PlannedRows {
    fn new(table: &TableSection, files: &DataFiles) -> Self {
        match (&table.data_file, &table.generator, &files.data_dir) {
            (_, Some(Generator::GenData(generator)), None) => Self::Generated(generator.clone()),
            (Some(_), Some(Generator::Shell(_)), None) => Self::Homeless,
            (Some(name), generator, _) => Self::File {
                path: files.path(name),
                generator: generator.clone(),
            },
            (None, _, _) => Self::None,
        }
    }
}

async fn run(connection: &mut Connection, sql: &[u8]) -> Result<(), Error> {
    match connection.query(sql).await {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Statement {
            sql: sql.to_str_lossy().into_owned(),
            source,
        }),
    }
}

fn is_one_of(error: &protocol::Error, numbers: &[u16]) -> bool {
    error
        .server_number()
        .is_some_and(|number| numbers.contains(&number))
}
