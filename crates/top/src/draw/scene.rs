//! The scene: the model, the time and the selection from which all panels are drawn.

use crate::{input::Screen, model::Model};

/// The input of all panels: the model, the selected time, and the user's selection.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) model: &'a Model,
    pub(crate) screen: &'a Screen,
    pub(crate) at_s: f64,
}
