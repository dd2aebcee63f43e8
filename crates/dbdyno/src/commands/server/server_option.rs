//! A server option in the form of `--set`.

/// Parses `innodb_io_capacity=2000`; an option without a value is enabled.
pub(super) fn parse_set(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    match name.trim() {
        "" => Err("the name of the option is missing before the =".to_owned()),
        name => Ok((name.to_owned(), value.trim().to_owned())),
    }
}
