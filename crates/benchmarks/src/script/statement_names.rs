//! The names of a script's statements in reports.

use std::collections::HashMap;

/// Characters of a statement in its name.
const NAME_CHARS: usize = 40;

/// Names the statements of one script: `orders:3 SELECT c FROM customer WHERE id = :id`.
pub(super) struct StatementNames<'n> {
    operation: &'n str,
    /// As wide as the last line's number, so that names sort as the script has them.
    width: usize,
    /// The names so far, each with the number that its next namesake gets.
    taken: HashMap<String, u32>,
}

impl<'n> StatementNames<'n> {
    pub(super) fn new(operation: &'n str, script: &str) -> Self {
        let lines = 1 + script.bytes().filter(|byte| *byte == b'\n').count();
        Self {
            operation,
            width: lines.to_string().len(),
            taken: HashMap::new(),
        }
    }

    /// The name of the next statement, with a number where two have the same name.
    pub(super) fn add(&mut self, line: usize, sql: &str) -> String {
        let mut words = String::new();
        for word in sql.split_whitespace() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
        let mut short: String = words.chars().take(NAME_CHARS).collect();
        if short.len() < words.len() {
            short.truncate(short.trim_end().len());
            short.push_str("...");
        }
        let (operation, width) = (self.operation, self.width);
        let name = format!("{operation}:{line:0width$} {short}");
        let mut number = self.taken.get(&name).copied().unwrap_or(1);
        let mut found = name.clone();
        while self.taken.contains_key(&found) {
            number += 1;
            found = format!("{name} ({number})");
        }
        self.taken.insert(found.clone(), 1);
        self.taken.insert(name, number);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namesakes_get_numbers() {
        let mut names = StatementNames::new("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10");
        for (sql, name) in [
            ("SELECT\n 1", "a:01 SELECT 1"),
            ("SELECT 1", "a:01 SELECT 1 (2)"),
            ("SELECT 1 (2)", "a:01 SELECT 1 (2) (2)"),
            ("SELECT 1", "a:01 SELECT 1 (3)"),
        ] {
            assert_eq!(names.add(1, sql), name);
        }
    }
}
