//! Removal of passwords from the text of an option file, so that a copy can be shared.

use crate::{line::is_space, name::OptionName};

/// The replacement of a line with a password.
const NOTE: &str = "# dbdyno left a password out of this copy";

/// The text without the lines that hold a password, in any group and also in comments; `None` if there are none. Line
/// numbers are preserved.
pub fn without_passwords(text: &str) -> Option<String> {
    let mut is_changed = false;
    let mut copy = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if holds_password(content) {
            is_changed = true;
            copy.push_str(NOTE);
            copy.push_str(&line[content.len()..]);
        } else {
            copy.push_str(line);
        }
    }
    is_changed.then_some(copy)
}

/// Whether a line sets `password`, a numbered variant, or an abbreviation that MySQL's programs accept.
fn holds_password(line: &str) -> bool {
    let begin = |character: char| is_space(character) || matches!(character, '#' | ';');
    let Some((name, value)) = line.trim_start_matches(begin).split_once('=') else {
        return false;
    };
    let name = OptionName::new(&name.trim_end_matches(is_space).to_ascii_lowercase());
    let name = name.base().trim_end_matches(['1', '2', '3']);
    let is_abbreviation = name.len() >= 4 && "password".starts_with(name);
    is_abbreviation && !value.trim_matches(is_space).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_go_and_everything_else_stays() {
        for (line, is_secret) in [
            ("password=secret", true),
            ("  PassWord = \"se#cret\"", true),
            ("loose-password=secret", true),
            ("password2=secret", true),
            ("pass=secret", true),
            ("# password=old", true),
            ("password=", false),
            ("password", false),
            ("password_history=5", false),
            ("default_password_lifetime=1", false),
            ("validate_password.policy=LOW", false),
            ("user=root", false),
        ] {
            let text = format!("[client]\r\n{line}\r\n[mysqld]\nport=1");
            let copy = without_passwords(&text);
            let expected = is_secret.then(|| format!("[client]\r\n{NOTE}\r\n[mysqld]\nport=1"));
            assert_eq!(copy, expected, "{line}");
        }
    }
}
