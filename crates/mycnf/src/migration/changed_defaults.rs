//! The defaults that a move changes.

use crate::assignment::is_same_setting;
use crate::default_value::is_computed;
use crate::pin::Pin;
use crate::subject::Subject;

/// Defaults of options with a text that change, that the file does not set, and that are not pinned. What a server
/// computes itself has no default: the new server computes its own value.
pub(super) fn changed_defaults(
    before: &Subject<'_>,
    after: &Subject<'_>,
    pins: &[Pin],
) -> Vec<(&'static str, &'static str, &'static str)> {
    let names = crate::explanation::explained_names();
    let names = names.filter(|name| !is_computed(after.target, name));
    let changed = names.filter_map(|name| {
        let (old, new) = before
            .catalogue
            .default_value(name)
            .zip(after.catalogue.default_value(name))?;
        let is_set = before.set(name).is_some() || after.set(name).is_some();
        // No default decides it.
        let is_set = is_set || after.decided_by_another(name).is_some();
        // The collation follows the character set.
        let is_decided_by =
            |decider: &str| name == "collation_server" && decider == "character_set_server";
        let is_pinned = pins
            .iter()
            .any(|pin| pin.option == name || is_decided_by(pin.option))
            || (name == "collation_server" && after.set("character_set_server").is_some());
        (!is_same_setting(name, old, new) && !is_set && !is_pinned).then_some((name, old, new))
    });
    changed.collect()
}
