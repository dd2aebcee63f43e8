//! Private servers: find an installed one, create, start, stop, kill, snapshot, restore, destroy.
//!
//! A server has one directory that dbdyno made and marked; nothing outside such a directory is written or removed. Its
//! processes are identified by number, start time and boot, so that no other process is ever killed.

mod blamed;
mod check;
mod configuration;
mod control_group;
mod destroy;
mod directory;
mod duplicate;
mod error;
mod initialise;
mod install;
mod installation;
mod lifecycle;
mod process;
mod random;
mod redo_log;
mod review;
mod server;
mod snapshot;
mod trial;
mod user_directory;
mod version;

pub use check::{Checked, check, check_file};
pub use configuration::Settings;
pub use control_group::{Cgroup, CgroupVersion, GroupMembership, LimitError, remove_group};
pub use destroy::{Listed, destroy, list, sweep};
pub use error::Error;
pub use install::{
    InstallError, Installed, Progress, RECIPES, Recipe, install, installed, uninstall,
};
pub use installation::Installation;
pub use process::program::version_output;
pub use process::spawner::{Lifetime, spawn, spawn_in};
pub use review::{Validated, review, validated};
pub use server::Server;
pub use snapshot::manifest::Method;
pub use snapshot::page_cache::evict_page_cache;
pub use snapshot::{Draft, NamedSnapshot, Snapshot};
pub use trial::{Trial, try_start};
pub use user_directory::{calibration_file, installs_root, servers_root};
pub use version::Flavour;
