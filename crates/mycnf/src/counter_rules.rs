//! The rules over the counters of a running server: one file each, with its fixtures.
//!
//! None advises to raise a value unless a counter shows the need, and each has a base of events below which it is silent.

mod aborted_clients;
mod aborted_connects;
mod binlog_cache_on_disk;
mod buffer_pool_misses;
mod connection_limit;
mod free_page_waits;
mod full_scans;
mod joins_without_index;
mod log_buffer_waits;
mod open_files;
mod query_cache_use;
mod redo_turnover;
mod row_lock_waits;
mod slow_queries;
mod sort_merge_passes;
mod table_cache_misses;
mod temporary_tables_on_disk;
mod thread_cache_misses;

#[cfg(test)]
mod fixture;

use crate::counter_rule::CounterRule;

/// All rules over counters: memory, redo log, connections, caches, statements.
pub(crate) static COUNTER_RULES: [&CounterRule; 18] = [
    &buffer_pool_misses::RULE,
    &free_page_waits::RULE,
    &log_buffer_waits::RULE,
    &redo_turnover::RULE,
    &connection_limit::RULE,
    &aborted_connects::RULE,
    &aborted_clients::RULE,
    &thread_cache_misses::RULE,
    &table_cache_misses::RULE,
    &open_files::RULE,
    &temporary_tables_on_disk::RULE,
    &sort_merge_passes::RULE,
    &binlog_cache_on_disk::RULE,
    &query_cache_use::RULE,
    &joins_without_index::RULE,
    &full_scans::RULE,
    &row_lock_waits::RULE,
    &slow_queries::RULE,
];
