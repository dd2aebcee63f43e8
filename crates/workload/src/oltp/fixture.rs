//! The settings that the tests of this benchmark begin with.

use super::{RandType, plan::Settings};

/// sysbench's defaults, for four tables and eight connections.
pub(super) fn settings() -> Settings {
    Settings {
        tables: 4,
        table_size: 10_000,
        range_size: 100,
        point_selects: 10,
        range_selects: true,
        simple_ranges: 1,
        sum_ranges: 1,
        order_ranges: 1,
        distinct_ranges: 1,
        index_updates: 1,
        non_index_updates: 1,
        delete_inserts: 1,
        skip_trx: false,
        auto_inc: true,
        secondary: false,
        create_secondary: true,
        engine: "innodb".to_owned(),
        create_table_options: String::new(),
        random_points: 10,
        number_of_ranges: 10,
        delta: 5,
        rand_type: RandType::Uniform,
        is_prepared: true,
        connections: 8,
        seed: 1,
    }
}
