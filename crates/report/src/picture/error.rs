//! Why a chart is not drawn as PNG.

/// An SVG could not be drawn as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// This program was built without the feature `png`.
    #[error("this dbdyno was built without PNG")]
    NotBuilt,
    /// It is no SVG that can be drawn.
    #[error("cannot draw the chart: {0}")]
    Svg(String),
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
