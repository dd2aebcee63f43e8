//! The current activity of a server and its load: reads the lines of a run record and shows them on a screen or as
//! plain lines.
//!
//! Everything here is a function of the input so far and of the user's selection: no clock, no terminal, no socket.
//! [`Model`] takes lines and moments, [`Screen`] keeps the selection by keys, [`draw`] draws, [`Plain`] writes one line
//! per interval.

mod draw;
mod figure;
mod load;
mod machine;
mod model;
mod palette;
mod plain;
mod playback;
mod screen;
mod server;
mod sorting;
mod timeline;

pub use draw::draw;
pub use model::{Model, Presence, Subject};
pub use palette::Palette;
pub use plain::Plain;
pub use playback::{Playback, Source};
pub use screen::{Answer, Key, Screen};
