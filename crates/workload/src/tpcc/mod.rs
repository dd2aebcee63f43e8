//! TPC-C after revision 5.11 of its specification: schema, population, transactions and checks.

mod deck;
mod input;
mod money;
mod nurand;
mod pace;
mod population;
mod random;
mod row;
mod schema;
mod session;
mod statement;
mod tables;
mod tally;
mod terminal;
mod text;
mod transactions;

pub use deck::Transaction;
pub use nurand::{Constants, is_legal_delta};
pub use pace::Pacing;
pub use population::{Population, TableRows, WAREHOUSES_MAX};
pub use schema::{FOREIGN_KEYS, ForeignKey, INDEXES, Index};
pub use tables::Table;
pub use tally::{Share, SharedTally, Tally};
pub use terminal::{Terminal, TerminalPlan, operations, statements};
