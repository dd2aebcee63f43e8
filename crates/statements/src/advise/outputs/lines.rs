//! Lines of an answer, and how many of them are shown.

use report::cut_to_width;

/// Lines of a short answer at most; the rest comes with --verbose.
const LINES_AT_MOST: usize = 12;
/// Columns of text at least and at most.
const WIDTHS: (usize, usize) = (80, 110);

/// The lines of an answer.
pub(super) struct Lines {
    all: Vec<String>,
    /// The line behind the others, if there is one.
    last: Option<String>,
    width: usize,
}

impl Lines {
    /// No lines yet, for a terminal with this number of columns.
    pub(super) fn of(width: usize) -> Self {
        Self {
            all: Vec::new(),
            last: None,
            width: width.clamp(WIDTHS.0, WIDTHS.1),
        }
    }

    /// Adds a line that is shown to its end, such as SQL.
    pub(super) fn whole(&mut self, line: String) {
        self.all.push(line);
    }

    /// Adds a line that ends within the width, with a clause or a word.
    pub(super) fn cut(&mut self, line: String) {
        self.all.push(cut_to_width(&line, self.width));
    }

    /// Sets the line behind the others.
    pub(super) fn last(&mut self, line: String) {
        self.last = Some(line);
    }

    /// Whether a short answer shows all of them.
    pub(super) fn are_few(&self) -> bool {
        self.number() <= LINES_AT_MOST
    }

    fn number(&self) -> usize {
        self.all.len() + usize::from(self.last.is_some())
    }

    pub(super) fn all(mut self) -> String {
        self.all.extend(self.last);
        self.all.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The first ones as text, with the number of the others.
    pub(super) fn first(mut self) -> String {
        if !self.are_few() {
            let more = self.all.len() - (LINES_AT_MOST - 1);
            self.all.truncate(LINES_AT_MOST - 1);
            let more = format!("{} more", units::counted(more, "line"));
            self.last = Some(match self.last {
                Some(last) => format!("{more}, {last}"),
                None => format!("{more} (--verbose)"),
            });
        }
        self.all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_lines_are_shown_and_the_others_counted() {
        let of = |number: usize, last: Option<&str>| {
            let mut lines = Lines::of(80);
            for at in 0..number {
                lines.whole(at.to_string());
            }
            if let Some(last) = last {
                lines.last(last.to_owned());
            }
            let text = lines.first();
            (text.lines().count(), text.lines().last().map(str::to_owned))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of(12, None), (12, text("11")));
        assert_eq!(of(13, None), (12, text("2 lines more (--verbose)")));
        assert_eq!(of(11, Some("end")), (12, text("end")));
        assert_eq!(
            of(12, Some("1 not tried (--verbose)")),
            (12, text("1 line more, 1 not tried (--verbose)"))
        );
    }

    #[test]
    fn a_line_ends_within_the_width() {
        let mut lines = Lines::of(80);
        lines.cut("é".repeat(80));
        lines.cut(format!("  statement 1: {}", "select ".repeat(10)));
        let expected = format!(
            "{}\n  statement 1: {}…\n",
            "é".repeat(80),
            "select ".repeat(9)
        );
        assert_eq!(lines.all(), expected);
    }
}
