//! Removal of passwords and other secrets from the text of an option file, so that a copy can be shared.

use crate::secret::secret_of;

/// The replacement of a line with a password.
const NOTE: &str = "# dbdyno left a password out of this copy";

/// The text without the lines that hold a password, in any group and also in comments; `None` if there are none. Line
/// numbers are preserved.
pub fn without_passwords(text: &str) -> Option<String> {
    let mut is_changed = false;
    let mut copy = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if secret_of(content).is_some() {
            is_changed = true;
            copy.push_str(NOTE);
            copy.push_str(&line[content.len()..]);
        } else {
            copy.push_str(line);
        }
    }
    is_changed.then_some(copy)
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
            ("wsrep_sst_auth=root:secret", true),
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
