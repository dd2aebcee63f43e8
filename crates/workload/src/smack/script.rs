//! A .smack file, checked: clients, tables, dictionaries and queries by name, and what main does with them.

use std::fmt;

use bstr::BString;
use protocol::Password;

use super::{
    barrel_text::BarrelEntry, client_program::ClientProgram, diagnostic::Diagnostic,
    gen_data::GenData, statement::StatementText, template::Template,
};

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
    /// What main does, by client; only clients that main initialises.
    pub programs: Vec<ClientProgram>,
    /// What works but probably not as meant.
    pub warnings: Vec<Diagnostic>,
}

/// A `client` section: who connects where, and what it fires.
#[derive(Debug, Clone)]
pub struct ClientSection {
    /// Its name.
    pub name: String,
    /// Members that are absent or empty leave the choice to the connection options.
    pub user: Option<String>,
    /// `host`
    pub host: Option<String>,
    /// `db`
    pub database: Option<String>,
    /// `pass`
    pub password: Option<Password>,
    /// `socket`
    pub socket: Option<String>,
    /// `port`
    pub port: Option<u16>,
    /// `query_barrel`; none if the client has none.
    pub(crate) barrel: Option<Vec<BarrelEntry>>,
}

/// A `table` section: what the table must look like before the test.
#[derive(Debug, Clone)]
pub struct TableSection {
    /// Its name.
    pub name: String,
    /// Index of the client whose connection is used.
    pub client: usize,
    /// Rows below which the table is made anew.
    pub min_rows: u64,
    /// The statement that creates it; empty if there is none.
    pub create: BString,
    /// A statement to run right after that.
    pub alter: Option<BString>,
    /// Name of the file with its rows.
    pub data_file: Option<String>,
    /// What makes that file.
    pub generator: Option<Generator>,
}

/// What makes a data file.
#[derive(Debug, Clone)]
pub enum Generator {
    /// A plain call of gen-data, which runs inside this program.
    GenData(GenData),
    /// Any other command: the shell's.
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

/// A `dictionary` section: where the words of `$name` come from.
#[derive(Debug, Clone)]
pub struct DictionarySection {
    /// Its name.
    pub name: String,
    /// `type`
    pub order: Order,
    /// `source_type` and `source`
    pub words: WordSource,
}

/// In which order words are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `rand`: any word, each as likely as the other.
    Random,
    /// `seq`: one after the other, each client from the first, over and over.
    Sequential,
    /// `unique`: never twice, whichever client draws.
    Unique,
}

/// Where words come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordSource {
    /// The lines of a file, each up to the delimiter.
    File {
        /// Name as written.
        path: String,
        /// Byte that ends the word; none for the whole line.
        delimiter: Option<u8>,
        /// Every (file size / this)th line is a word; 0 for every line.
        file_size_equiv: u64,
    },
    /// Words between commas.
    List(Vec<BString>),
    /// A number in a text.
    Template(Template),
}

/// A `query` section.
#[derive(Debug, Clone)]
pub struct QuerySection {
    /// Its name.
    pub name: String,
    /// `type`: what the report calls it.
    pub query_type: String,
    /// Its text with the places of the words.
    pub(crate) text: StatementText,
}

impl Script {
    /// Index of a client by its name.
    pub fn client(&self, name: &str) -> Option<usize> {
        self.clients.iter().position(|client| client.name == name)
    }

    /// Index of a query by its name.
    pub(crate) fn query(&self, name: &str) -> Option<usize> {
        self.queries.iter().position(|query| query.name == name)
    }

    /// Gives every table whose rows gen-data makes this number of rows instead of the file's.
    pub fn set_rows(&mut self, rows: u64) {
        for table in &mut self.tables {
            if let Some(Generator::GenData(generator)) = &mut table.generator {
                generator.rows = rows;
                table.min_rows = rows;
            }
        }
    }

    /// What makes a file that no one needs to write: the generator of the table that it fills.
    pub(crate) fn generator_of(&self, data_file: &str) -> Option<&GenData> {
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
