//! The charts of the page as separate pictures: SVG with literal colours, and PNG.
//!
//! A picture is cut out of the page, so that both always show the same: each section that contains a chart makes one,
//! with its heading, its legend and its notes.

mod error;
mod heat;
mod layout;
#[cfg(feature = "png")]
mod raster;
mod section;
mod style;

use audit::Audit;
pub use error::PictureError;
use samples::{StorageRecord, printable_lines};

use crate::{
    page,
    results::Results,
    storage::{name, storage_html},
};

/// A chart as a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its content, for example `throughput`: the name of its section on the page.
    pub name: String,
    /// A self-contained SVG.
    pub svg: String,
}

/// The charts of `results`, in the order of the page; none if no factor was varied.
pub fn pictures(results: &Results) -> Vec<Picture> {
    let page = page::html(results);
    let title = results.title();
    let servers = results.runs.iter().filter_map(|run| run.servers.first());
    let mut versions: Vec<&str> = servers.map(|server| server.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let foot = match versions.len() {
        0 => String::new(),
        1..=3 => format!(", server {}", versions.join(", ")),
        more => format!(", {more} server versions"),
    };
    let foot = format!(
        "{}{foot}; dbdyno {}",
        results.name,
        env!("CARGO_PKG_VERSION")
    );
    cut_out(&page, title, &foot)
}

/// The charts of a measurement of storage: the heat table (`heat`), the curves over the depth (`curves`) and the courses of a
/// burst (`courses`), as far as it has them.
pub fn storage_pictures(record: &StorageRecord, audit: &Audit) -> Vec<Picture> {
    let page = heat::section(record) + &storage_html(record, audit, None);
    let header = &record.header;
    let with = header.fio_version.as_deref().unwrap_or("without fio");
    let title = format!("dbdyno storage {}: {}", header.mode.name(), name(record));
    let foot = format!("{with}, {}; dbdyno {}", header.at, header.dbdyno_version);
    cut_out(&page, &title, &foot)
}

/// Each section of a page that has charts, as a picture.
fn cut_out(page: &str, title: &str, foot: &str) -> Vec<Picture> {
    let sections = section::sections(page);
    let pictures = sections.into_iter().map(|section| Picture {
        svg: printable_lines(&layout::picture(
            &section,
            title,
            foot,
            &section::hatches(page),
        ))
        .into_owned(),
        name: section.name,
    });
    pictures.collect()
}

/// Draws an SVG as PNG, with the fonts of this program only, not the machine's.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    #[cfg(feature = "png")]
    let drawn = raster::png(svg);
    #[cfg(not(feature = "png"))]
    let drawn = {
        let _ = svg;
        Err(PictureError::NotBuilt)
    };
    drawn
}
