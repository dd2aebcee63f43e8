//! Colours and weights of the screen; without colours the weights are left.

use ratatui::style::{Color, Modifier, Style};

/// How things on the screen look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    is_coloured: bool,
}

impl Palette {
    /// With the terminal's own sixteen colours, which its user chose to be readable.
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

    /// The line at the top.
    pub(crate) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The panel that is shown, and what the reader has to know at once.
    pub(crate) fn chosen(self) -> Style {
        self.colour(Color::Yellow)
            .add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// The name of a group of figures, and of a column.
    pub(crate) fn heading(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// A figure.
    pub(crate) fn value(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// A figure that is worse than it should be.
    pub(crate) fn alarming(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// The line behind a figure.
    pub(crate) fn spark(self) -> Style {
        self.colour(Color::Green)
    }

    /// What explains, or is missing.
    pub(crate) fn aside(self) -> Style {
        self.colour(Color::DarkGray)
    }
}
