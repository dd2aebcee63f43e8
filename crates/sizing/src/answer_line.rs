//! A line of an answer for people.

/// Columns of a label with the blank behind it.
const LABEL: usize = 13;

/// A text with its label. The caller breaks it into lines of the terminal's width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLine {
    /// Empty for a sentence about the whole answer.
    pub label: &'static str,
    pub text: String,
}

impl AnswerLine {
    pub(crate) fn new(label: &'static str, text: String) -> Self {
        Self { label, text }
    }

    /// The label, padded to the column of all texts; empty without a label.
    pub fn head(&self) -> String {
        if self.label.is_empty() {
            String::new()
        } else {
            format!("{:<LABEL$}", self.label)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_begin_in_one_column() {
        let head = |label| AnswerLine::new(label, "text".to_owned()).head();
        assert_eq!(head("cpus"), "cpus         ");
        assert_eq!(head("write_bytes"), "write_bytes  ");
        assert_eq!(head(""), "");
    }
}
