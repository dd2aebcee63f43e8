//! The charts of results as files.

use std::path::Path;

use blame::{Blame, Blamed};
use report::{Picture, PictureError};

use super::format::Format;
use crate::output::write_file;

/// The chart with this name, or the first one.
pub(super) fn chosen(mut pictures: Vec<Picture>, name: Option<&str>) -> Result<Picture, Blamed> {
    let at = match name {
        Some(name) => pictures.iter().position(|picture| picture.name == name),
        None => (!pictures.is_empty()).then_some(0),
    };
    match at {
        Some(at) => Ok(pictures.swap_remove(at)),
        None => Err(no_chart(&pictures, name)),
    }
}

fn no_chart(pictures: &[Picture], name: Option<&str>) -> Blamed {
    let names: Vec<&str> = pictures
        .iter()
        .map(|picture| picture.name.as_str())
        .collect();
    let (message, hint) = if names.is_empty() {
        (
            "these results have no chart".to_owned(),
            "charts show the levels of a factor, or for storage, depths and time".to_owned(),
        )
    } else {
        (
            format!("no chart {:?}", name.unwrap_or_default()),
            format!("available: {}", names.join(", ")),
        )
    };
    Blamed::new(Blame::Input, message).hint(hint)
}

pub(super) fn document_of(picture: &Picture, format: Format) -> Result<Vec<u8>, Blamed> {
    match format {
        Format::Png => report::png(&picture.svg).map_err(|error| match error {
            PictureError::NotBuilt => not_built(error),
            error => Blamed::new(Blame::Machine, error),
        }),
        _ => Ok(picture.svg.clone().into_bytes()),
    }
}

/// The error of a build without a format.
pub(super) fn not_built(error: impl std::fmt::Display) -> Blamed {
    let hint = "`make quickstart` builds without it; the packages and `make build` include it";
    Blamed::new(Blame::Input, error).hint(hint.to_owned())
}

/// Writes all charts as files named after them.
pub(super) fn write_charts(
    pictures: Vec<Picture>,
    format: Format,
    directory: &Path,
) -> Result<(), Blamed> {
    if pictures.is_empty() {
        return Err(no_chart(&pictures, None));
    }
    std::fs::create_dir_all(directory).map_err(Blamed::io(Blame::Input, directory))?;
    for picture in pictures {
        let file = directory.join(&picture.name);
        let file = file.with_extension(format.endings()[0]);
        write_file(&file, &document_of(&picture, format)?)?;
        println!("{}", file.display());
    }
    Ok(())
}
