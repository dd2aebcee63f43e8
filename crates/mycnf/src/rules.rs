//! The rules over an option file: one file each, with its fixtures.
//!
//! A rule is a function of a file, a version and what is known about the machine; `counter_rules` has those over the
//! counters of a running server.

pub(crate) mod abbreviated_name;
mod adjusted_value;
mod authentication_plugin;
mod auto_increment;
mod binary_log_expiry;
pub(crate) mod binary_log_identity;
mod bind_address;
mod buffer_pool_default;
mod character_set;
mod collation;
mod dedicated_server;
mod deprecated_option;
mod doublewrite;
mod durability;
mod empty_value;
mod equal_to_default;
mod fixed_at_creation;
mod flush_method;
mod force_recovery;
mod galera;
mod general_log;
mod grant_tables;
mod group_replication;
mod gtid;
mod innodb_files;
mod io_capacity;
mod local_infile;
mod log_without_switch;
pub(crate) mod memory_sum;
mod name_resolution;
mod old_passwords;
mod open_files;
mod option_in_wrong_group;
mod option_without_effect;
mod page_checksums;
mod password_in_file;
mod query_cache;
mod redo_log_size;
mod repeated_option;
mod replica_recovery;
mod replication_filter;
mod same_server_id;
mod secure_file_priv;
mod skipped_errors;
mod sql_mode;
mod statement_binlog;
mod storage_engine;
mod table_cache;
mod table_files;
mod temporary_tables;
mod thread_stack;
mod time_zone;
mod tls_unavailable;
mod unit_of_time;
mod unknown_collation;
mod unknown_option;
mod unread_group;
mod word_as_file;
mod wrong_value;

#[cfg(test)]
mod fixture;

use crate::rule::Rule;

// The rules that the review and the migration treat apart.
pub(crate) const ABBREVIATED_NAME: &Rule = &abbreviated_name::RULE;
pub(crate) const ADJUSTED_VALUE: &Rule = &adjusted_value::RULE;
pub(crate) const BINARY_LOG_IDENTITY: &Rule = &binary_log_identity::RULE;
pub(crate) const COLLATION: &Rule = &collation::RULE;
pub(crate) const DEPRECATED_OPTION: &Rule = &deprecated_option::RULE;
pub(crate) const EQUAL_TO_DEFAULT: &Rule = &equal_to_default::RULE;
/// The rule about options that need another one.
pub(crate) const LOG_WITHOUT_SWITCH: &Rule = &log_without_switch::RULE;
pub(crate) const OLD_PASSWORDS: &Rule = &old_passwords::RULE;
pub(crate) const OPTION_WITHOUT_EFFECT: &Rule = &option_without_effect::RULE;
pub(crate) const REPEATED_OPTION: &Rule = &repeated_option::RULE;
/// The rule about statement-based binary logs.
pub(crate) const STATEMENT_BINLOG: &Rule = &statement_binlog::RULE;
/// The rule about time zones by name.
pub(crate) const TIME_ZONE: &Rule = &time_zone::RULE;
pub(crate) const TLS_UNAVAILABLE: &Rule = &tls_unavailable::RULE;
pub(crate) const UNKNOWN_OPTION: &Rule = &unknown_option::RULE;
pub(crate) const WRONG_VALUE: &Rule = &wrong_value::RULE;

/// Rules about how single lines are written, and about what only a start decides; a running server needs none of them.
pub(crate) static RULES_OF_LINES: [&Rule; 17] = [
    &unknown_option::RULE,
    &wrong_value::RULE,
    &empty_value::RULE,
    &option_in_wrong_group::RULE,
    &unread_group::RULE,
    &repeated_option::RULE,
    &adjusted_value::RULE,
    &unit_of_time::RULE,
    &abbreviated_name::RULE,
    &option_without_effect::RULE,
    &equal_to_default::RULE,
    &fixed_at_creation::RULE,
    &authentication_plugin::RULE,
    &word_as_file::RULE,
    &storage_engine::RULE,
    &innodb_files::RULE,
    &same_server_id::RULE,
];

/// Rules about the settings in effect, of a file or a running server.
pub(crate) static RULES_OF_SETTINGS: [&Rule; 42] = [
    &auto_increment::RULE,
    &deprecated_option::RULE,
    &binary_log_expiry::RULE,
    &binary_log_identity::RULE,
    &bind_address::RULE,
    &buffer_pool_default::RULE,
    &character_set::RULE,
    &collation::RULE,
    &dedicated_server::RULE,
    &doublewrite::RULE,
    &durability::RULE,
    &flush_method::RULE,
    &force_recovery::RULE,
    &galera::RULE,
    &general_log::RULE,
    &grant_tables::RULE,
    &group_replication::RULE,
    &gtid::RULE,
    &io_capacity::RULE,
    &local_infile::RULE,
    &log_without_switch::RULE,
    &memory_sum::RULE,
    &name_resolution::RULE,
    &old_passwords::RULE,
    &open_files::RULE,
    &page_checksums::RULE,
    &password_in_file::RULE,
    &query_cache::RULE,
    &redo_log_size::RULE,
    &replica_recovery::RULE,
    &replication_filter::RULE,
    &secure_file_priv::RULE,
    &skipped_errors::RULE,
    &sql_mode::RULE,
    &statement_binlog::RULE,
    &table_cache::RULE,
    &table_files::RULE,
    &temporary_tables::RULE,
    &thread_stack::RULE,
    &time_zone::RULE,
    &tls_unavailable::RULE,
    &unknown_collation::RULE,
];

/// All rules of an option file, those about single lines first.
pub(crate) fn rules_of_files() -> impl Iterator<Item = &'static Rule> {
    RULES_OF_LINES.into_iter().chain(RULES_OF_SETTINGS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_rules::COUNTER_RULES;

    #[test]
    fn rules_have_names_of_their_own_and_say_where_they_come_from() {
        let by_counters = COUNTER_RULES.iter().map(|rule| &rule.rule);
        let rules: Vec<&Rule> = rules_of_files().chain(by_counters).collect();
        let mut ids: Vec<_> = rules.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rules.len());
        for rule in rules {
            let is_kebab = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            assert!(rule.id.chars().all(is_kebab), "{}", rule.id);
            assert!(
                !rule.source.is_empty() && rule.reason.ends_with('.'),
                "{}",
                rule.id
            );
        }
    }
}
