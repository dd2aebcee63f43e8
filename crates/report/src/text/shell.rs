//! Words of a command line that can be pasted into a shell.

use std::borrow::Cow;

/// A word as a POSIX shell reads it back; one of letters, digits and what has no meaning to a shell stays as it is.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |it: char| it.is_alphanumeric() || "_-./:=,@%+".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        for (word, expected) in [
            ("results/quick-1", "results/quick-1"),
            ("--only=mix=1:0", "--only=mix=1:0"),
            ("my results", "'my results'"),
            ("it's", r"'it'\''s'"),
            ("sql_mode=\"ANSI\"", "'sql_mode=\"ANSI\"'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
