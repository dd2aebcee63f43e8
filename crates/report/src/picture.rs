//! The charts of the page as pictures of their own: SVG with the colours written in, and PNG.
//!
//! A picture is cut out of the page, so that both always show the same: each section with a chart in it makes one,
//! with its heading, its legend and its notes.

mod layout;
mod section;
mod style;

use resvg::{tiny_skia, usvg};
use samples::printable_lines;

use crate::{page, results::Results};

/// Device pixels of a PNG by unit of the SVG: sharp on a screen of twice the usual density, and in print.
const PNG_SCALE: f32 = 2.0;

/// A chart as a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// What it shows, for example `throughput`: the name of its section on the page.
    pub name: String,
    /// An SVG that needs nothing else.
    pub svg: String,
}

/// An SVG could not be drawn as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It is no SVG that can be drawn.
    #[error("cannot draw the chart: {0}")]
    Svg(#[from] usvg::Error),
    /// It is larger than a picture can be.
    #[error("cannot draw the chart: {width} × {height} pixels are too many")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The pixels could not be encoded.
    #[error("cannot draw the chart as PNG: {0}")]
    Encoding(String),
}

/// The charts of `results`, in the order of the page; none where nothing was varied.
pub fn pictures(results: &Results) -> Vec<Picture> {
    let page = page::html(results);
    let title = match results.question.trim() {
        "" => &results.name,
        question => question,
    };
    let servers = results.runs.iter().filter_map(|run| run.servers.first());
    let mut versions: Vec<&str> = servers.map(|server| server.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let foot = match versions.len() {
        0 => String::new(),
        1..=3 => format!(", server {}", versions.join(", ")),
        more => format!(", {more} versions of servers"),
    };
    let foot = format!(
        "{}{foot}; dbdyno {}",
        results.name,
        env!("CARGO_PKG_VERSION")
    );
    let sections = section::sections(&page);
    let pictures = sections.into_iter().map(|section| Picture {
        svg: printable_lines(&layout::picture(
            &section,
            title,
            &foot,
            &section::hatches(&page),
        ))
        .into_owned(),
        name: section.name,
    });
    pictures.collect()
}

/// Draws an SVG as PNG, with the fonts of this program and none of the machine's.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let mut options = usvg::Options {
        font_family: style::FONT.to_owned(),
        ..usvg::Options::default()
    };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    // The last resort for any family that is not there.
    fonts.set_serif_family(style::FONT);
    fonts.set_sans_serif_family(style::FONT);
    let tree = usvg::Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size();
    let (width, height) = (
        (size.width() as f32 * PNG_SCALE) as u32,
        (size.height() as f32 * PNG_SCALE) as u32,
    );
    let mut pixels =
        tiny_skia::Pixmap::new(width, height).ok_or(PictureError::Size { width, height })?;
    let scale = tiny_skia::Transform::from_scale(PNG_SCALE, PNG_SCALE);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    let encoded = pixels.encode_png();
    encoded.map_err(|error| PictureError::Encoding(error.to_string()))
}
