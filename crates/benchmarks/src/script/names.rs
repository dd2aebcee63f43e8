//! The names of variables and their slots.

use std::collections::{HashMap, HashSet};

use super::expression::nearest;

/// The variables that every script has without setting them.
pub(super) const CLIENT_ID: u32 = 0;
pub(super) const DEFAULT_SEED: u32 = 1;
pub(super) const RANDOM_SEED: u32 = 2;
pub(super) const SCALE: u32 = 3;
const AUTOMATIC: [&str; 4] = ["client_id", "default_seed", "random_seed", "scale"];

/// The variables of all scripts of a load.
#[derive(Debug, Clone)]
pub(super) struct Names {
    slots: HashMap<String, u32>,
    names: Vec<String>,
    /// Beginnings of names whose ends only a server's answer says.
    open: HashSet<String>,
}

impl Names {
    pub(super) fn new() -> Self {
        let mut names = Self {
            slots: HashMap::new(),
            names: Vec::new(),
            open: HashSet::new(),
        };
        for name in AUTOMATIC {
            names.define(name);
        }
        names
    }

    /// The slot of a variable that something sets.
    pub(super) fn define(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    /// Variables whose names begin with `prefix` are set by what a server answers.
    pub(super) fn open(&mut self, prefix: &str) {
        self.open.insert(prefix.to_owned());
    }

    /// The slot of a variable that is used; an error if nothing sets it.
    pub(super) fn used(&mut self, name: &str) -> Result<u32, String> {
        if let Some(slot) = self.slots.get(name) {
            return Ok(*slot);
        }
        if self.is_open(name) {
            return Ok(self.define(name));
        }
        let near = nearest(name, self.names.iter().map(String::as_str));
        Err(format!("nothing sets the variable :{name}{near}"))
    }

    /// Whether what a server answers may set the variable.
    pub(super) fn is_open(&self, name: &str) -> bool {
        let mut ends = (0..=name.len()).filter(|end| name.is_char_boundary(*end));
        ends.any(|end| self.open.contains(&name[..end]))
    }

    /// The slot of a name; `None` if no script has a use for it.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.slots.get(name).copied()
    }

    pub(super) fn of_slot(&self, slot: u32) -> &str {
        &self.names[slot as usize]
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }
}

/// Whether a text can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && super::lexer::name_length(text.as_bytes()) == text.len()
}
