//! A checked .smack file: clients, tables, dictionaries and queries by name, and the program of main.

use std::fmt;

use bstr::BString;
use protocol::Password;

use super::{
    barrel_text::BarrelEntry, client_program::ClientProgram, gen_data::GenData,
    statement::StatementText, template::Template,
};
use crate::diagnostic::Diagnostic;

/// A checked .smack file.
#[derive(Debug, Clone)]
pub struct Script {
    /// The `client` sections, in file order.
    pub clients: Vec<ClientSection>,
    /// The `table` sections, in file order.
    pub tables: Vec<TableSection>,
    /// The `dictionary` sections, in file order.
    pub dictionaries: Vec<DictionarySection>,
    /// The `query` sections, in file order.
    pub queries: Vec<QuerySection>,
    /// The program of each client that main initialises.
    pub programs: Vec<ClientProgram>,
    /// Valid but probably unintended contents.
    pub warnings: Vec<Diagnostic>,
}

/// A `client` section: account, address and barrel.
#[derive(Debug, Clone)]
pub struct ClientSection {
    pub name: String,
    /// `user`; a member that is absent or empty takes its value from the connection options.
    pub user: Option<String>,
    pub host: Option<String>,
    /// `db`
    pub database: Option<String>,
    /// `pass`
    pub password: Option<Password>,
    pub socket: Option<String>,
    pub port: Option<u16>,
    /// `query_barrel`; `None` if the client has none.
    pub(super) barrel: Option<Vec<BarrelEntry>>,
}

/// A `table` section: the state that a table must have before the test.
#[derive(Debug, Clone)]
pub struct TableSection {
    pub name: String,
    /// Index of the client whose connection is used.
    pub client: usize,
    /// Minimum number of rows; a table with fewer is created again.
    pub min_rows: u64,
    /// The statement that creates the table; empty if there is none.
    pub create: BString,
    /// A statement to execute right after `create`.
    pub alter: Option<BString>,
    /// Name of the file with its rows.
    pub data_file: Option<String>,
    pub generator: Option<Generator>,
}

/// The generator of a data file.
#[derive(Debug, Clone)]
pub enum Generator {
    /// A plain call of gen-data, which runs within this program.
    GenData(GenData),
    /// Any other command, run by the shell.
    Shell(BString),
}

impl fmt::Display for Generator {
    /// The command.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GenData(generator) => generator.fmt(formatter),
            Self::Shell(command) => command.fmt(formatter),
        }
    }
}

/// A `dictionary` section: the source of the words of `$name`.
#[derive(Debug, Clone)]
pub struct DictionarySection {
    pub name: String,
    /// `type`
    pub order: Order,
    /// `source_type` and `source`
    pub words: WordSource,
}

/// The order in which words are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `rand`: any word, all with the same probability.
    Random,
    /// `seq`: one after the other, each client from the first, repeatedly.
    Sequential,
    /// `unique`: no word twice, among all clients.
    Unique,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordSource {
    /// The lines of a file, each up to the delimiter.
    File {
        /// Name as in the file.
        path: String,
        /// Byte that ends the word; `None` for the whole line.
        delimiter: Option<u8>,
        /// Every (file size / this)th line is a word; 0 for every line.
        file_size_equiv: u64,
    },
    /// A comma-separated list of words.
    List(Vec<BString>),
    /// A number in a text.
    Template(Template),
}

#[derive(Debug, Clone)]
pub struct QuerySection {
    pub name: String,
    /// `type`: its name in the report.
    pub query_type: String,
    /// Its text with the positions of the words.
    pub(super) text: StatementText,
}

impl Script {
    /// Index of the client with this name.
    pub fn client(&self, name: &str) -> Option<usize> {
        self.clients.iter().position(|client| client.name == name)
    }

    /// Index of the query with this name.
    pub(super) fn query(&self, name: &str) -> Option<usize> {
        self.queries.iter().position(|query| query.name == name)
    }

    /// Sets the number of rows of every table that gen-data generates, replacing that of the file.
    pub fn set_rows(&mut self, rows: u64) {
        for table in &mut self.tables {
            if let Some(Generator::GenData(generator)) = &mut table.generator {
                generator.rows = rows;
                table.min_rows = rows;
            }
        }
    }

    /// The generator of a file that need not be written: that of the table which it fills.
    pub(super) fn generator_of(&self, data_file: &str) -> Option<&GenData> {
        self.tables.iter().find_map(|table| match &table.generator {
            Some(Generator::GenData(generator))
                if table.data_file.as_deref() == Some(data_file) =>
            {
                Some(generator)
            }
            _ => None,
        })
    }
}
