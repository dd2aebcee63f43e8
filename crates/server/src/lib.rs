//! Private servers: find an installed one, create, start, stop, kill, snapshot, restore, destroy.
//!
//! A server lives in one directory that dbdyno made and marked; nothing outside such a directory is written or
//! removed. Its processes are recognised by number, start time and boot, so that no other one is ever killed.

mod accounts;
mod backup;
mod binary_logs;
mod check;
mod complaint;
mod configuration;
mod contents;
mod copy;
mod destroy;
mod digest;
mod error;
mod help;
mod initialise;
mod install;
mod install_marker;
mod installation;
mod interruption;
mod launch;
mod layout;
mod lifecycle;
mod lock;
mod log;
mod marker;
mod page_cache;
mod port;
mod process;
mod random;
mod readiness;
mod redo_log;
mod server;
mod snapshot;
mod snapshot_manifest;
mod socket_dir;
mod spawner;
mod template;
mod unfinished;
mod user_directory;
mod validator;
mod version;

pub use check::{Checked, check};
pub use configuration::Settings;
pub use destroy::{Listed, destroy, list, sweep};
pub use error::{Error, Fault};
pub use install::{
    InstallError, Installed, Progress, RECIPES, Recipe, install, installed, uninstall,
};
pub use installation::Installation;
pub use interruption::end_waits_when;
pub use page_cache::evict_page_cache;
pub use server::Server;
pub use snapshot::{Draft, NamedSnapshot, Snapshot};
pub use snapshot_manifest::Method;
pub use spawner::{Lifetime, spawn};
pub use user_directory::{calibration_file, history_file, installs_root, servers_root};
pub use version::Flavour;
