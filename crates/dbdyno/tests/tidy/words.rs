//! Checks that documents, help texts and comments contain no hard-to-read phrasings.

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

/// Banned phrasings in documents, help texts and comments.
pub(crate) fn riddles(file: &File) -> Vec<String> {
    let found = if is_page(&file.path) {
        banned_in(&file.text)
    } else if file.path.ends_with(".rs") {
        banned_in(&prose(&file.text))
    } else {
        Vec::new()
    };
    found
        .iter()
        .map(|it| format!("{}: {it}", file.path))
        .collect()
}

/// The comments of a source file, which include the help of its options, and the texts after a help; every other line
/// is empty, so that line numbers are those of the file.
fn prose(source: &str) -> String {
    let mut is_after_help = false;
    let lines = source.lines().map(|line| {
        let trimmed = line.trim();
        let is_comment = trimmed.starts_with("//");
        is_after_help |= trimmed.contains("after_help = \"");
        let is_prose = is_comment || is_after_help;
        if trimmed.ends_with("\")]") || trimmed.ends_with('"') {
            is_after_help = false;
        }
        if is_prose { line } else { "" }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_phrasing_is_found() {
        assert_eq!(banned_in("Asks so often.\nfine").len(), 1);
        let source = "let x = \"so often\";\n    // Asks so often.\n#[command(after_help = \"\\\nNobody.\n\")]\n";
        let found = banned_in(&prose(source));
        assert_eq!(
            found,
            [
                "line 2: \"so often\": write a sampling interval, or a number of times",
                "line 4: \"nobody\": write no other program, no user, not observed",
            ]
        );
    }
}
