//! Tests of option files from the outside, as one binary.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

mod agreement;
mod bad_files;
mod between_catalogues;
mod contradictions;
mod documents;
mod foreign_plugins;
mod fractional_seconds;
mod generated_files;
mod hostile_values;
mod left_clusters;
mod lost_logins;
mod lost_settings;
mod migrations;
mod near_equivalents;
mod opposite_advices;
mod option_files;
mod parameter_lists;
mod tried_lines;
