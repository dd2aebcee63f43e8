//! What a server and a load on it do now: the lines of a run record, gathered, drawn on a screen or told in plain lines.
//!
//! Everything here is a function of what was taken in and of where the reader looks: no clock, no terminal, no socket.
//! [`Model`] takes lines and moments, [`Screen`] keeps what the keys chose, [`draw`] draws, [`Plain`] writes one line per
//! interval.

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
