//! The statements around a test: schema and storage engine.

use benchmarks::slap::Engine;

use super::dialect::Dialect;

pub(super) fn drop_schema(schema: &str) -> String {
    format!("DROP SCHEMA IF EXISTS `{schema}`")
}

pub(super) fn create_schema(schema: &str) -> String {
    format!("CREATE SCHEMA `{schema}`")
}

/// The statement that sets the default engine; `None` if the first statement that creates a table names the engine.
pub(super) fn set_engine(dialect: Dialect, engine: &Engine) -> Option<String> {
    match dialect {
        Dialect::MySql => Some(engine.set()),
        Dialect::MariaDb => None,
    }
}
