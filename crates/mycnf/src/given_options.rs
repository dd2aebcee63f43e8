//! The options of several groups, of which the last setting takes precedence.

use crate::entry::Entry;
use crate::file::OptionFile;
use crate::name::OptionName;

/// Options in reading order. Of repeated options the last one takes effect; all are kept, because some options
/// (`replicate-ignore-db`, `plugin-load-add`) accumulate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    entries: Vec<Entry>,
}

impl Options {
    /// The options of a file from any of these groups. Group names are compared case-insensitively.
    pub fn from_groups(file: &OptionFile, groups: &[impl AsRef<str>]) -> Self {
        let mut options = Self::default();
        options.add(file, groups);
        options
    }

    /// Adds the options of another file, which take precedence over the present ones.
    pub fn add(&mut self, file: &OptionFile, groups: &[impl AsRef<str>]) {
        let read = |entry: &&Entry| {
            groups
                .iter()
                .any(|group| group.as_ref().eq_ignore_ascii_case(&entry.group))
        };
        self.entries
            .extend(file.entries().iter().filter(read).cloned());
    }

    /// The effective entry of an option, in any spelling.
    pub fn last(&self, name: &str) -> Option<&Entry> {
        let wanted = OptionName::new(name);
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.name.base() == wanted.base())
    }

    /// The effective value of an option; `None` if it is absent or has no value.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.last(name)?.value.as_deref()
    }

    /// All entries in reading order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Removes every entry of an option, in any spelling.
    pub(crate) fn remove(&mut self, name: &str) {
        let wanted = OptionName::new(name);
        self.entries
            .retain(|entry| entry.name.base() != wanted.base());
    }
}
