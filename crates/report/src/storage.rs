//! What `dbdyno storage` measured, for people and programs: the answer, the heat table, the page, JSON and CSV.

mod doubt;
mod heat;
mod jobs;
pub(crate) mod limit;
mod my_cnf;
mod page;
mod problems;
mod programs;
mod readings;
mod repeats;
mod steadiness;
mod summary;
mod uses;

pub(crate) use heat::HeatTable;
pub use my_cnf::page_writes_per_s;
pub use page::storage_html;
pub use programs::{storage_csv, storage_json};
pub(crate) use readings::name;
pub use steadiness::DiskSteadiness;
pub use summary::{storage_details, storage_summary};
