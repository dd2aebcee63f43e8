//! What a site has at a path.

use std::sync::Arc;

/// What is at a path.
#[derive(Debug, Clone)]
pub struct Content {
    pub kind: Kind,
    /// The bytes, shared with whatever keeps them.
    pub body: Arc<str>,
    /// After how many seconds a browser asks again.
    pub refresh_s: Option<u32>,
}

/// How to read content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Html,
    Script,
    Text,
    Json,
    /// OpenMetrics.
    Metrics,
    /// It is not there yet, and will be.
    Unavailable,
}

impl Content {
    /// Content that a browser asks for once.
    pub fn new(kind: Kind, body: impl Into<Arc<str>>) -> Self {
        Self {
            kind,
            body: body.into(),
            refresh_s: None,
        }
    }

    /// A page that a browser asks for again and again.
    pub fn refreshed(page: String, refresh_s: u32) -> Self {
        Self {
            refresh_s: Some(refresh_s),
            ..Self::new(Kind::Html, page)
        }
    }
}
