//! The my.cnf option file: parsing, printing, layering, checking, and generating the file of a private server.
//!
//! ```
//! let file = mycnf::OptionFile::parse(
//!     "[mysqld]\ninnodb-buffer-pool-size = 64M  # half of it\nskip-name-resolve\n",
//!     std::path::Path::new("my.cnf"),
//! )?;
//! let options = mycnf::Options::from_groups(&file, &["mysqld"]);
//! assert_eq!(options.value("innodb_buffer_pool_size"), Some("64M"));
//! assert_eq!(mycnf::parse_size_bytes("64M"), Some(64 << 20));
//! # Ok::<(), mycnf::Error>(())
//! ```

mod additions;
mod assignment;
mod authentication;
mod behaviour;
mod candidates;
mod catalogue;
mod character_sets;
mod client;
mod collations;
mod comparison;
mod counter_rule;
mod counter_rules;
mod counters;
mod data_format_options;
mod default_value;
mod deprecation;
mod durability;
mod entry;
mod error;
mod exact_words;
mod explanation;
mod family;
mod file;
mod finding;
mod fix;
mod generation;
mod given_options;
mod global_effect;
mod history;
mod instances;
mod io_capacity;
mod judge;
mod judgement;
mod known_option;
mod letter_case;
mod line;
mod lint;
mod log_expiry;
mod machine;
mod migration;
mod name;
mod option_table;
mod other_builds;
mod passwords;
mod pinned_defaults;
mod plugin_options;
mod plugins;
mod pool_rounding;
mod print;
mod private;
mod redo_log;
mod refusal;
mod rename;
mod restart;
mod rewrite;
mod rule;
mod rules;
mod running_server;
mod secret;
mod series;
mod shared_by_instances;
mod size;
mod sql_modes;
mod subject;
mod target;
mod time_zone;
mod tls;
mod trap;
mod trial;
mod unit;
mod unknown;
mod within_series;

pub use assignment::is_same_setting;
pub use candidates::{Candidate, Candidates, OptionSelection, UntestedLine};
pub use catalogue::{Catalogue, Family, Product};
pub use client::{ClientFiles, ClientOptions, Transport};
pub use comparison::{Difference, Side, differences};
pub use counters::Counters;
pub use data_format_options::SHAPING;
pub use durability::{
    Durability, DurabilityClass, DurabilitySettings, MissingGuarantee, is_copy_on_write,
};
pub use entry::{Entry, Origin};
pub use error::Error;
pub use explanation::{Explanation, Topic, explained_names, explanation, topic};
pub use file::{Fault, OptionFile, is_world_writable};
pub use finding::{Finding, Severity};
pub use fix::Fix;
pub use generation::{GenerationInput, Purpose, excess_connection_bytes, generate};
pub use given_options::Options;
pub use history::{Era, Presence, eras, presence, shown};
pub use instances::ServerFile;
pub use io_capacity::IoCapacity;
pub use judge::{allowed, judge, parse_number};
pub use lint::{
    Counted, IGNORED_FILE, Lint, UNREAD_LINE, VALIDATOR, lint, lint_server, named_time_zone, rules,
};
pub use machine::Machine;
pub use migration::{Migration, Move, migrate};
pub use name::{OptionName, is_switched_on};
pub use passwords::without_passwords;
pub use plugins::{
    LoadedPlugin, ShippedPlugin, loads_plugins, loads_without_library, plugins_with,
    unloaded_plugin,
};
pub use private::{PrivateOptions, Replaced, Sources, fixed_at_creation};
pub use rewrite::{Edit, rewritten_text};
pub use rule::{Advice, Basis, Level, Rewrite, Rule, RuleFinding, Startup};
pub use running_server::{RunningServer, target_of_variables};
pub use secret::{MASK, is_secret, shown_line, shown_value};
pub use shared_by_instances::SHARED_BY_INSTANCES;
pub use size::parse_size_bytes;
pub use target::Target;
pub use trap::traps;
pub use trial::{TrialFile, TrialHost};
pub use unknown::{UNKNOWN_TO_THIS_VERSION, Unknown, explain_unknown};
