//! What is shown of real records and of a server that is looked at, as text.

mod live;
mod plain;
mod record;
mod shown;
