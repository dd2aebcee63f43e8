//! The scene: the model, the time and the selection from which all panels are drawn.

use crate::{model::Model, screen::Screen};

/// The input of all panels: the model, the selected time, and the user's selection.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) model: &'a Model,
    pub(crate) screen: &'a Screen,
    pub(crate) at_s: f64,
}
