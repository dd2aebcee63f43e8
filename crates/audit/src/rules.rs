//! The rules, one per file: hardware, workload, configuration, observation, method.

use crate::rule::Rule;

mod c01_durability;
mod c02_one_factor;
mod c03_interaction;
mod c04_baseline;
mod c05_memory;
mod c06_query_cache;
mod c07_cached_answers;
mod c08_redo_log;
mod c09_redo_size;
mod c10_replication;
mod c11_storage_alike;
mod c12_in_effect;
mod h01_disclosure;
mod h02_write_cache;
mod h03_flush_honesty;
mod h04_barriers;
mod h05_magnitudes;
mod h06_physics;
mod h07_read_source;
mod h08_concurrency;
mod h09_device_parallelism;
mod h10_over_driven;
mod h11_local_clients;
mod h12_client_saturation;
mod h13_end_to_end;
mod h14_neighbours;
mod h15_processors;
mod h16_machine_stays;
mod m01_repetition;
mod m02_cache_state;
mod m03_steady;
mod m04_burst;
mod m05_resolution;
mod m06_stalls;
mod m07_order;
mod m08_open_or_closed;
mod m09_percentiles;
mod m10_estimates;
mod m11_duration;
mod m12_all_runs;
mod m13_idle_servers;
mod t01_telemetry;
mod t02_named_limit;
mod t03_littles_law;
mod t04_cross_check;
mod t05_observer_cost;
mod t06_whole_record;
mod w01_storage_file;
mod w02_data_and_memory;
mod w03_sizes;
mod w04_touched;
mod w05_dictionary;
mod w06_skew;
mod w07_rows_per_statement;
mod w08_pages_per_row;
mod w09_hit_rate;
mod w10_errors;
mod w11_results_right;
mod w12_auto_increment;
mod w13_group_commit;
mod w14_flushes_arrive;
mod w15_empty_table;
mod w16_state_drift;

pub(crate) const DURABILITY: &Rule = &c01_durability::RULE;
/// The rule that nothing differs besides the declared factor.
pub const ONE_FACTOR: &Rule = &c02_one_factor::RULE;
pub(crate) const CLIENT_SATURATION: &Rule = &h12_client_saturation::RULE;
/// The rule about other load on the machine.
pub(crate) const NEIGHBOURS: &Rule = &h14_neighbours::RULE;
pub(crate) const STEADINESS: &Rule = &m03_steady::RULE;
/// The rule about the order of the runs.
pub(crate) const ORDER: &Rule = &m07_order::RULE;
pub(crate) const ERRORS: &Rule = &w10_errors::RULE;

/// All rules that can be evaluated, in the order of the page.
pub const RULES: &[&Rule] = &[
    &h01_disclosure::RULE,
    &h02_write_cache::RULE,
    &h03_flush_honesty::RULE,
    &h04_barriers::RULE,
    &h05_magnitudes::RULE,
    &h06_physics::RULE,
    &h07_read_source::RULE,
    &h08_concurrency::RULE,
    &h09_device_parallelism::RULE,
    &h10_over_driven::RULE,
    &h11_local_clients::RULE,
    &h12_client_saturation::RULE,
    &h13_end_to_end::RULE,
    &h14_neighbours::RULE,
    &h15_processors::RULE,
    &h16_machine_stays::RULE,
    &w01_storage_file::RULE,
    &w02_data_and_memory::RULE,
    &w03_sizes::RULE,
    &w04_touched::RULE,
    &w05_dictionary::RULE,
    &w06_skew::RULE,
    &w07_rows_per_statement::RULE,
    &w08_pages_per_row::RULE,
    &w09_hit_rate::RULE,
    &w10_errors::RULE,
    &w11_results_right::RULE,
    &w12_auto_increment::RULE,
    &w13_group_commit::RULE,
    &w14_flushes_arrive::RULE,
    &w15_empty_table::RULE,
    &w16_state_drift::RULE,
    &c01_durability::RULE,
    &c02_one_factor::RULE,
    &c03_interaction::RULE,
    &c04_baseline::RULE,
    &c05_memory::RULE,
    &c06_query_cache::RULE,
    &c07_cached_answers::RULE,
    &c08_redo_log::RULE,
    &c09_redo_size::RULE,
    &c10_replication::RULE,
    &c11_storage_alike::RULE,
    &c12_in_effect::RULE,
    &t01_telemetry::RULE,
    &t02_named_limit::RULE,
    &t03_littles_law::RULE,
    &t04_cross_check::RULE,
    &t05_observer_cost::RULE,
    &t06_whole_record::RULE,
    &m01_repetition::RULE,
    &m02_cache_state::RULE,
    &m03_steady::RULE,
    &m04_burst::RULE,
    &m05_resolution::RULE,
    &m06_stalls::RULE,
    &m07_order::RULE,
    &m08_open_or_closed::RULE,
    &m09_percentiles::RULE,
    &m10_estimates::RULE,
    &m11_duration::RULE,
    &m12_all_runs::RULE,
    &m13_idle_servers::RULE,
];
