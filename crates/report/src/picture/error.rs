//! Errors of drawing a chart as PNG.

/// An error of drawing an SVG as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// This program was built without the feature `png`.
    #[error("this dbdyno was built without PNG")]
    NotBuilt,
    /// It is not an SVG that can be drawn.
    #[error("cannot draw the chart: {0}")]
    Svg(String),
    /// It is too large for a picture.
    #[error("cannot draw the chart: {width} × {height} pixels are too many")]
    Size {
        /// Width, pixels.
        width: u32,
        /// Height, pixels.
        height: u32,
    },
    /// The pixels could not be encoded.
    #[error("cannot draw the chart as PNG: {0}")]
    Encoding(String),
}
