//! TPC-C according to revision 5.11 of its specification: schema, population, transactions and checks.

mod consistency;
mod deck;
mod deferred;
mod input;
mod key_and_think_times;
mod load_plan;
mod money;
mod notes;
mod nurand;
pub mod options;
mod population;
mod procedures;
mod random;
mod row;
mod schema;
mod session;
mod statement;
mod table_rows;
mod tables;
mod tally;
mod terminal;
mod text;
mod transactions;

pub use consistency::{AFTER_LOAD, CONDITIONS, Condition, Violation};
pub use deck::Transaction;
pub use deferred::{DeferredDeliveries, DeliveryResults};
pub use key_and_think_times::Pacing;
pub use load_plan::{ExistingSchema, Keys, LOAD_SESSION, LoadPlan, known_tables};
pub use notes::{Notes, forget_parts};
pub use nurand::{Constants, is_legal_delta};
pub use options::{TpccData, TpccLoad};
pub use population::{Population, WAREHOUSES_MAX};
pub use procedures::{create_procedures, drop_procedures};
pub use schema::{FOREIGN_KEYS, ForeignKey, INDEXES, Index};
pub use table_rows::TableRows;
pub use tables::Table;
pub use tally::{Share, SharedTally, Tally};
pub use terminal::{
    DELIVERED, Deliveries, RoundTrips, Terminal, TerminalPlan, operations, statements,
};
