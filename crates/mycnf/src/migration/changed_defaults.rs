//! The defaults that a move changes.

use crate::assignment::is_same_setting;
use crate::catalogue::{Catalogue, Kind};
use crate::default_value::is_computed;
use crate::pinned_defaults::Pin;
use crate::rename::second_name;
use crate::subject::Subject;

/// Defaults of options that change, that the file does not set, and that are not pinned. What a server computes itself
/// has no default: the new server computes its own value.
pub(super) fn changed_defaults(
    before: &Subject<'_>,
    after: &Subject<'_>,
    pins: &[Pin],
) -> Vec<(&'static str, &'static str, &'static str)> {
    let has_effect = |catalogue: &Catalogue, name: &str| {
        let row = catalogue.row(name);
        row.is_some_and(|row| row.is_option() && row.kind != Kind::NoEffect)
    };
    let names = after.catalogue.names();
    let names = names
        .filter(|name| has_effect(&before.catalogue, name) && has_effect(&after.catalogue, name));
    let names = names.filter(|name| !is_computed(after.target, name));
    let changed = names.filter_map(|name| {
        let (old, new) = before
            .catalogue
            .default_value(name)
            .zip(after.catalogue.default_value(name))?;
        let is_set = before.set(name).is_some() || after.set(name).is_some();
        // No default decides it.
        let is_set = is_set
            || after.decided_by_another(name).is_some()
            || (after.is_mariadb() && second_name(name).is_some_and(|it| after.set(it).is_some()));
        // The collation follows the character set.
        let is_decided_by =
            |decider: &str| name == "collation_server" && decider == "character_set_server";
        let is_pinned = pins
            .iter()
            .any(|pin| pin.option == name || is_decided_by(pin.option))
            || (name == "collation_server" && after.set("character_set_server").is_some());
        // Of the Performance Schema, the server itself chooses a size of -1.
        let is_chosen = name.starts_with("performance_schema_") && [old, new].contains(&"-1");
        let is_kept = is_set || is_pinned || is_chosen;
        (!is_same_setting(name, old, new) && !is_kept).then_some((name, old, new))
    });
    changed.collect()
}
