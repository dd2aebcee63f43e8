//! The default settings of this benchmark's tests.

use super::settings::Settings;

/// sysbench's defaults, for four tables and eight connections.
pub(super) fn settings() -> Settings {
    Settings {
        tables: 4,
        connections: 8,
        ..Settings::default()
    }
}
