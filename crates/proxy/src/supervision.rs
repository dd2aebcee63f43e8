//! The processes of a proxy: in the background, watched by a guard, as another user. Each further process is this
//! program again, with its role in the environment.

mod background;
mod guard;
mod open_files;
mod pid_file;
mod role;
mod system_user;

pub(crate) use background::announce_ready;
pub use background::start_in_background;
pub use guard::Guard;
pub use open_files::limit_open_files;
pub(crate) use pid_file::write_pid_file;
pub(crate) use role::is_guarded;
pub use role::{Role, Supervision};
