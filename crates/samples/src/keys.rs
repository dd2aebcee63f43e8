//! Which keys a load asks for, as far as it draws them from a list.

use serde::{Deserialize, Serialize};

/// A list of words that the statements of a load draw their keys from: a dictionary of a .smack file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    /// Name of the load.
    pub load: String,
    /// Name of the dictionary.
    pub dictionary: String,
    /// How they are drawn: `random` (each as likely as any other), `sequential` (each client from the first on, over and
    /// over) or `unique` (never twice).
    pub drawn: String,
    /// Words that are drawn; `None` where they have no end.
    pub used: Option<u64>,
    /// Words that their source has; `None` where they have no end.
    pub offered: Option<u64>,
}
