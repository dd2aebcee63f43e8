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

mod catalogue;
mod client;
mod default_value;
mod entry;
mod error;
mod file;
mod finding;
mod given_options;
mod judge;
mod line;
mod name;
mod passwords;
mod print;
mod private;
mod size;
mod trap;
mod unknown;

pub use catalogue::{Catalogue, Family};
pub use client::{ClientFiles, ClientOptions, Transport};
pub use entry::{Entry, Origin};
pub use error::Error;
pub use file::OptionFile;
pub use finding::{Finding, Severity};
pub use given_options::Options;
pub use judge::{allowed, judge, parse_number};
pub use name::{OptionName, is_switched_on};
pub use passwords::without_passwords;
pub use private::{PrivateOptions, Replaced, Sources, fixed_at_creation};
pub use size::parse_size_bytes;
pub use trap::traps;
pub use unknown::{Unknown, explain_unknown};
