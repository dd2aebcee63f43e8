//! Check that texts for users contain no hard-to-read phrasings.

use crate::repository::File;

/// Banned phrasings, each with its replacement.
const BANNED: [(&str, &str); 20] = [
    ("so often", "a sampling interval, or a number of times"),
    ("so many", "a number of"),
    ("so long", "a time, for this long"),
    ("is looked", "is sampled, is checked"),
    ("are looked", "are sampled, are checked"),
    ("was looked", "was sampled, was checked"),
    ("is told", "is reported, is shown"),
    ("are told", "are reported, are shown"),
    ("goes on", "continues, runs"),
    ("nobody", "no other program, no user, not observed"),
    ("somebody", "another program, another user"),
    ("comes round", "recurs, is periodic"),
    ("what it says", "a noun"),
    ("how a server is", "the status of a server"),
    ("honest figure", "a figure with its interval"),
    ("is nothing for", "is not written to"),
    ("in order (", "cleanly"),
    ("the mean hides", "stalls found"),
    ("law fits", "scaling model"),
    ("were not tried", "tested up to"),
];

/// Whether a file is a page for users: the README or a document.
fn is_page(path: &str) -> bool {
    let is_document = path.starts_with("docs/") && path.ends_with(".md");
    is_document || path == "README.md"
}

fn banned_in(text: &str) -> Vec<String> {
    let found = text.lines().enumerate().flat_map(|(line, words)| {
        let words = words.to_lowercase();
        let found = BANNED
            .iter()
            .filter(move |(phrase, _)| words.contains(phrase));
        found
            .map(move |(phrase, instead)| format!("line {}: {phrase:?}: write {instead}", line + 1))
    });
    found.collect()
}

/// Banned phrasings in texts for users.
pub(crate) fn riddles(file: &File) -> Vec<String> {
    let is_source = file.path.starts_with("crates/dbdyno/src/") && file.path.ends_with(".rs");
    let found = if is_page(&file.path) {
        banned_in(&file.text)
    } else if is_source {
        banned_in(&help_lines(&file.text))
    } else {
        Vec::new()
    };
    found
        .iter()
        .map(|it| format!("{}: {it}", file.path))
        .collect()
}

/// The lines of a file that become help: doc comments of options and of commands, and the texts after help.
fn help_lines(source: &str) -> String {
    let mut lines = Vec::new();
    let mut is_after_help = false;
    let mut comment = Vec::new();
    for line in source.lines() {
        let trimmed = line.trim();
        if trimmed.contains("after_help = \"") {
            is_after_help = true;
        }
        if is_after_help {
            lines.push(trimmed.to_owned());
            is_after_help = !trimmed.ends_with("\")]") && !trimmed.ends_with('"');
            continue;
        }
        match trimmed.strip_prefix("///") {
            Some(words) => comment.push(words.to_owned()),
            None => {
                if trimmed.starts_with("#[arg(") || trimmed.starts_with("#[command(") {
                    lines.append(&mut comment);
                }
                comment.clear();
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_phrasing_is_found() {
        assert_eq!(banned_in("Asks so often.\nfine").len(), 1);
        let help = help_lines(
            "    /// Ask so often\n    #[arg(long)]\n    every: u8,\n    /// so many\n    x: u8,\n",
        );
        assert_eq!(help.trim(), "Ask so often");
    }
}
