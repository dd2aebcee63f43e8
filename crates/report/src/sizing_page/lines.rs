//! The lines of the answer for a terminal, by their labels.

use sizing::{Prediction, prediction_lines};

/// The text of a line; `None` if the answer omits it.
pub(super) fn line(prediction: &Prediction, label: &str) -> Option<String> {
    let mut lines = prediction_lines(prediction).into_iter();
    lines.find(|it| it.label == label).map(|it| it.text)
}
