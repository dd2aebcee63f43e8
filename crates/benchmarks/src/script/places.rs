//! The lines and columns of a script's steps, in one pass over its text.

use super::program::Place;

/// Finds places that are asked for in their order, so that a long line is read once.
pub(super) struct Places<'s> {
    script: &'s str,
    /// Byte offset of the last place.
    at: usize,
    last: Place,
}

impl<'s> Places<'s> {
    pub(super) fn new(script: &'s str) -> Self {
        Self {
            script,
            at: 0,
            last: Place { line: 1, column: 1 },
        }
    }

    /// The place of a byte offset, which is no smaller than the one before.
    pub(super) fn of(&mut self, at: usize) -> Place {
        debug_assert!(at >= self.at, "places are asked for in their order");
        let passed = self.script.get(self.at..at).unwrap_or_default();
        for character in passed.chars() {
            if character == '\n' {
                self.last.line += 1;
                self.last.column = 1;
            } else {
                self.last.column += 1;
            }
        }
        self.at = at.max(self.at);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let script = "a\u{e4}b\n\ncd";
        let mut places = Places::new(script);
        let found = [0, 3, 4, 5, 6, 7].map(|at| {
            let Place { line, column } = places.of(at);
            (line, column)
        });
        assert_eq!(found, [(1, 1), (1, 3), (1, 4), (2, 1), (3, 1), (3, 2)]);
    }
}
