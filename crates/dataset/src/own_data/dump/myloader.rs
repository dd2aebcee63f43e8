//! The session in which myloader restores a directory of mydumper: its own defaults, over them those of `metadata`.

use bstr::ByteSlice;

/// Source: mydumper's documentation, "Configuration": the defaults of `[myloader_session_variables]`. Its `UNIQUE_CHECKS`
/// only saves time.
const DEFAULTS: &str = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0";
const GROUP: &[u8] = b"[myloader_session_variables]";

/// The statements that set it up. A line of the metadata: `SQL_MODE='NO_AUTO_VALUE_ON_ZERO,' /*!40101`.
pub fn myloader_session(metadata: &[u8]) -> Vec<String> {
    let lines = metadata.lines().map(<[u8]>::trim_ascii);
    let group = lines.skip_while(|line| *line != GROUP).skip(1);
    let group = group.take_while(|line| !line.starts_with(b"["));
    let sets = group.filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let (value, version) = value.split_once("/*!").unwrap_or((value, ""));
        let set = format!("SET SESSION {name} = {}", value.trim());
        Some(match version.trim() {
            "" => set,
            version => format!("/*!{version} {set} */"),
        })
    });
    std::iter::once(DEFAULTS.to_owned()).chain(sets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_that_of_myloader() {
        let metadata = "# Started dump at: 2026-01-02 03:04:05\n[config]\nquote_character = BACKTICK\n\n\
             [myloader_session_variables]\nSQL_MODE='NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES' /*!40101\n# note\ntime_zone = '+00:00'\n\n\
             [master]\nFile = binlog.000002\n";
        let expected = [
            DEFAULTS,
            "/*!40101 SET SESSION SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES' */",
            "SET SESSION time_zone = '+00:00'",
        ];
        assert_eq!(myloader_session(metadata.as_bytes()), expected);
        let old = b"Started dump at: 2026-11-26 13:07:14\nSHOW MASTER STATUS:\n\tLog: a.1\n";
        assert_eq!(myloader_session(old), [DEFAULTS]);
    }
}
