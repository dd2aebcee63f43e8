//! Where `migrate` writes new lines of the server.

use std::path::Path;

use crate::file::OptionFile;
use crate::instances::is_instance;
use crate::line::{Line, parse_line};

/// Groups of MariaDB that are no place for a pin: clients read the first, too, and not every server reads the second.
const SHARED_GROUPS: [&str; 2] = ["client-server", "galera"];

/// Where new lines of the server go.
pub(super) struct Place {
    /// Behind this line; 0 is the beginning.
    pub(super) line: u32,
    /// Whether they need a group of their own.
    pub(super) is_without_group: bool,
}

/// The place of the pins: behind the last line of a group that only servers read, and before all instances of
/// mysqld_multi, whose own lines then decide.
pub(super) fn place_of_pins(
    file: &OptionFile,
    path: &Path,
    text: &[u8],
    is_read: &dyn Fn(&str) -> bool,
) -> Place {
    let is_shared = |group: &str| {
        let mut shared = SHARED_GROUPS.iter();
        shared.any(|shared| shared.eq_ignore_ascii_case(group))
    };
    let mut headers = headers(text).into_iter();
    let instance = headers.find(|(_, group)| is_instance(group));
    let before_instances = instance.map(|(number, _)| number - 1);
    let own = file.entries().iter().filter(|entry| {
        entry.origin.path() == path && is_read(&entry.group) && !is_shared(&entry.group)
    });
    let own = own.filter_map(|entry| entry.origin.number());
    let last = own
        .filter(|line| before_instances.is_none_or(|before| *line <= before))
        .max();
    let end = u32::try_from(text.split_inclusive(|byte| *byte == b'\n').count());
    Place {
        line: last.or(before_instances).or(end.ok()).unwrap_or(0),
        is_without_group: last.is_none(),
    }
}

/// The group lines of a text with their numbers.
pub(super) fn headers(text: &[u8]) -> Vec<(u32, String)> {
    let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    let headers =
        lines.filter_map(
            |(number, line)| match parse_line(std::str::from_utf8(line).ok()?) {
                Ok(Line::Group(group)) => Some((number, group.to_owned())),
                _ => None,
            },
        );
    headers.collect()
}
