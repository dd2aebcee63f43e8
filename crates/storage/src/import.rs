//! Files of other tools as a storage record: one importer per tool.

mod fio;
mod importer;

pub use importer::{ImportFile, Imported, Importer};

pub const IMPORTERS: &[&dyn Importer] = &[&fio::FioFiles];
