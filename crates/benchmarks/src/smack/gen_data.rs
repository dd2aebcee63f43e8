//! gen-data: rows of random letters and numbers, byte for byte those of Super Smack's program.
//!
//! ```text
//! $ gen-data -n 2 -f '%12-12s%n,%25-25s,%n,%d'
//! ilcpsklryvmc1,pjnbpbwllsrehfmxrkecwitrs,1,2089018456
//! lrexvtjmxypu2,nbqfgxmuvgfajclfvenhyuhuo,2,1548233367
//! ```

mod command;
mod field;
mod format;
mod rows;

pub use command::{CommandError, GenData, GenDataStream, Request};
pub use format::FormatError;
