//! A plan drawn for a terminal: the tree on the left, estimates and measurements in columns on the right.

use unicode_width::UnicodeWidthStr;

use crate::{
    findings::{dearest, worst_misestimate},
    node::{Node, Plan},
    text::wrapped,
};

/// Columns of text that a drawing takes at least.
pub const WIDTH_AT_LEAST: usize = 60;

/// Columns of a figure with its distance from the one before.
const FIGURE: usize = 9;
/// Columns of the tree's lines at most; a deeper nesting shows its lower part.
const LINES_AT_MOST: usize = 24;
/// Lines of a condition at most.
const DETAIL_LINES_AT_MOST: usize = 4;

impl Plan {
    /// The plan in lines of at most `width` columns ([`WIDTH_AT_LEAST`] at least), with its findings below.
    pub fn draw(&self, width: usize) -> String {
        let width = width.max(WIDTH_AT_LEAST);
        let mut drawing = Drawing {
            width,
            is_measured: self.root.is_measured(),
            text: String::new(),
        };
        drawing.heads();
        drawing.node(&self.root, "", "");
        let findings = [
            worst_misestimate(&self.root).map(|it| it.sentence()),
            dearest(&self.root).map(|it| it.sentence()),
        ];
        for sentence in findings.iter().flatten() {
            drawing.paragraph(sentence);
        }
        drawing.text
    }
}

struct Drawing {
    width: usize,
    is_measured: bool,
    text: String,
}

impl Drawing {
    fn heads(&mut self) {
        let heads: &[&str] = if self.is_measured {
            &["expected", "rows", "times", "time"]
        } else {
            &["rows", "kept %", "cost"]
        };
        let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
        self.line("", &heads);
    }

    fn node(&mut self, node: &Node, first: &str, rest: &str) {
        let figures = self.figures(node);
        let room = self.width.saturating_sub(figures.len() * FIGURE);
        let lines = wrapped(&node.label(), room.saturating_sub(first.width()).max(16));
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                self.line(&format!("{}{line}", cut_left(first)), &figures);
            } else {
                self.line(&format!("{}  {line}", cut_left(rest)), &[]);
            }
        }
        let stem = if node.children.is_empty() {
            "    "
        } else {
            "│   "
        };
        for detail in node.details() {
            let start = format!("{}{stem}", cut_left(rest));
            let room = self.width.saturating_sub(start.width()).max(16);
            let mut lines = wrapped(&detail, room);
            if lines.len() > DETAIL_LINES_AT_MOST {
                lines.truncate(DETAIL_LINES_AT_MOST);
                lines.push("…".to_owned());
            }
            for line in lines {
                self.line(&format!("{start}{line}"), &[]);
            }
        }
        for (at, child) in node.children.iter().enumerate() {
            let is_last = at + 1 == node.children.len();
            let (branch, below) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            self.node(child, &format!("{rest}{branch}"), &format!("{rest}{below}"));
        }
    }

    fn figures(&self, node: &Node) -> Vec<String> {
        let figures = if self.is_measured {
            let it = node.measured_figures();
            vec![it.expected, it.rows, it.times, it.time]
        } else {
            let it = node.estimated_figures();
            vec![it.rows, it.kept_percent, it.cost]
        };
        figures.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// A line with its figures at the right edge.
    fn line(&mut self, text: &str, figures: &[String]) {
        let mut line = text.to_owned();
        if !figures.is_empty() {
            let room = self.width.saturating_sub(figures.len() * FIGURE);
            line.push_str(&" ".repeat(room.saturating_sub(line.width())));
            for figure in figures {
                line.push_str(&" ".repeat(FIGURE.saturating_sub(figure.width())));
                line.push_str(figure);
            }
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn paragraph(&mut self, sentence: &str) {
        for line in wrapped(sentence, self.width) {
            self.line(&line, &[]);
        }
    }
}

/// The lower part of the tree's lines, where they are too many for the width.
fn cut_left(lines: &str) -> String {
    let width = lines.chars().count();
    if width <= LINES_AT_MOST {
        return lines.to_owned();
    }
    let kept: String = lines.chars().skip(width - LINES_AT_MOST + 1).collect();
    format!("…{kept}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked_for(
            text in "(( {0,12}-> )?[a-zA-Z<>(): 日=`.]{0,90}\n){0,12}",
            width in 60_usize..120,
        ) {
            if let Ok(plan) = Plan::of_tree(&text) {
                for line in plan.draw(width).lines() {
                    prop_assert!(line.width() <= width, "{line:?}");
                }
            }
        }
    }
}
