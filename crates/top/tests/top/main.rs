//! Tests of the text shown for real records and for an observed server.

mod live;
mod plain;
mod record;
mod shown;
