//! The current activity of a server and its load: reads the lines of a run record and shows them on a screen or as
//! plain lines.
//!
//! Everything here is a function of what was taken in and of where the reader looks: no clock, no terminal, no socket.
//! [`Model`] takes lines and moments, [`Screen`] keeps what the keys chose, [`draw`] draws, [`Plain`] writes one line per
//! interval, [`html`] makes a page, [`Reading`]s are the newest figures for programs.

mod draw;
mod figure;
mod html;
mod input;
mod load;
mod machine;
mod model;
mod palette;
mod plain;
mod playback;
mod reading;
mod server;
mod sorting;
mod timeline;

pub use draw::draw;
pub use html::{BrowserView, html, html_before, panel_at};
pub use input::{Answer, Key, Screen};
pub use model::{Model, Presence, Subject};
pub use palette::Palette;
pub use plain::Plain;
pub use playback::{Playback, Source};
pub use reading::Reading;
