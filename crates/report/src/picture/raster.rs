//! Pictures as PNG.

use resvg::{tiny_skia, usvg};

use super::{error::PictureError, style};

/// Device pixels of a PNG per unit of the SVG: sharp on a screen of twice the usual density, and in print.
const PNG_SCALE: f32 = 2.0;

pub(super) fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let mut options = usvg::Options {
        font_family: style::FONT.to_owned(),
        ..usvg::Options::default()
    };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    // The fallback for any missing family.
    fonts.set_serif_family(style::FONT);
    fonts.set_sans_serif_family(style::FONT);
    let tree = usvg::Tree::from_str(svg, &options)
        .map_err(|error| PictureError::Svg(error.to_string()))?;
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
