//! The two tables of a tuning contest of 2013: MediaWiki's `page` and `revision`, with the shape of Japanese Wikipedia.
//!
//! The contest's data was a dump of that time, which is not there any more. These rows are made: their number, the sizes of the
//! tables and the answers to the contest's queries are those that an article about it prints, within 5 %.

mod curve;
mod history;
mod options;
mod page_rows;
mod plan;
mod revision_rows;
mod schema;
mod shuffle;
mod text;

#[cfg(test)]
mod answers_tests;

pub use options::WikiData;
pub use plan::WikiPlan;
pub use schema::{KeyTime, known_tables};
