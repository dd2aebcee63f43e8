//! Super Smack: .smack files with their dictionaries, tables and clients, and gen-data.

mod ast;
mod barrel_text;
mod checker;
mod client_program;
mod data_file;
mod dictionary;
mod error;
pub mod gen_data;
mod interpreter;
mod lexer;
mod main_block;
pub mod options;
mod parser;
mod passwords;
mod plan;
#[cfg(test)]
mod printer;
mod refusal;
mod rows;
mod script;
mod statement;
mod table;
mod table_event;
mod template;
mod user;
mod words;

pub use crate::diagnostic::Diagnostic;
pub use client_program::ClientProgram;
pub use dictionary::{ClientIndex, DataFiles, Dictionary};
pub use error::{Error, RefusedRow};
pub use interpreter::{
    Action, ClientWorkers, ConnectFigures, Figures, Interpreter, QueryTypeFigures, Stage,
};
pub use options::{SmackClients, SmackData, SmackLoad};
pub use passwords::without_passwords;
pub use plan::{BarrelOptions, ClientPlan, UNCOUNTED};
pub use script::{
    ClientSection, DictionarySection, Generator, Order, QuerySection, Script, TableSection,
    WordSource,
};
pub use table::{Existing, TablePlan};
pub use table_event::{TableEvent, Watch};
pub use template::Template;
pub use user::{SmackUser, statement_of};
