//! The scene: the model, the time and the choices that all panels are drawn from.

use crate::{model::Model, screen::Screen};

/// What everything is drawn from: the model, the time that is looked at, and what the reader chose.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) model: &'a Model,
    pub(crate) screen: &'a Screen,
    pub(crate) at_s: f64,
}
