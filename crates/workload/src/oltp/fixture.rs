//! The settings that the tests of this benchmark begin with.

use super::settings::Settings;

/// sysbench's defaults, for four tables and eight connections.
pub(super) fn settings() -> Settings {
    Settings {
        tables: 4,
        connections: 8,
        ..Settings::default()
    }
}
