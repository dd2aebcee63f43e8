//! Super Smack: .smack files with their dictionaries, tables and clients, its report, and gen-data.

mod ast;
mod barrel_text;
mod benchmark;
mod checker;
mod client_program;
mod data_file;
mod dictionary;
mod error;
pub mod gen_data;
mod interpreter;
pub mod layout;
mod lexer;
mod main_block;
mod options;
mod parser;
mod passwords;
mod plan;
#[cfg(test)]
mod printer;
mod refusal;
mod rows;
mod script;
mod smack_file;
mod statement;
mod table;
mod table_event;
mod template;
mod user;
mod words;

pub use benchmark::Clients;
pub(crate) use benchmark::Smack;
pub use client_program::ClientProgram;
pub use dictionary::{ClientIndex, DataFiles, Dictionary};
pub use error::Error;
pub use interpreter::{
    Action, ClientWorkers, ConnectFigures, Figures, Interpreter, QueryTypeFigures, Stage,
};
pub use options::{SmackData, SmackLoad};
pub use plan::{BarrelOptions, ClientPlan, UNCOUNTED};
pub use script::{ClientSection, Script};
pub use smack_file::{SCRIPT_BYTES_MAX, keys_of};
pub use table::{Existing, TablePlan};
pub use table_event::TableEvent;
pub use user::{SmackUser, statement_of};
