//! Colours and text attributes of the screen; without colours only the attributes.

use ratatui::style::{Color, Modifier, Style};

/// The styles of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    is_coloured: bool,
}

impl Palette {
    /// With the terminal's own sixteen colours, which its user configured.
    pub fn coloured() -> Self {
        Self { is_coloured: true }
    }

    /// Without colours.
    pub fn plain() -> Self {
        Self { is_coloured: false }
    }

    fn colour(self, colour: Color) -> Style {
        if self.is_coloured {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    pub(crate) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The selected panel, and urgent messages.
    pub(crate) fn chosen(self) -> Style {
        self.colour(Color::Yellow)
            .add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// The heading of a group of figures, or of a column.
    pub(crate) fn heading(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn value(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// A figure in its alarming range.
    pub(crate) fn alarming(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// The sparkline of a figure.
    pub(crate) fn spark(self) -> Style {
        self.colour(Color::Green)
    }

    /// Explanations and missing values.
    pub(crate) fn aside(self) -> Style {
        self.colour(Color::DarkGray)
    }
}
