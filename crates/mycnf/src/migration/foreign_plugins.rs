//! The plugins that the servers of the other family do not have, and the options of these plugins.

use std::path::Path;

use super::Migration;
use crate::entry::Entry;
use crate::plugins::{LoadedPlugin, loads_plugins, plugins_with, unloaded_plugin};
use crate::subject::Subject;

impl Migration {
    /// Leaves out the plugins that the new product does not ship, with their options: a library is made for one
    /// family, and a server does not start with an option of a plugin that it cannot load. Whether there is another
    /// plugin for the same purpose is the user's to decide.
    pub(super) fn leave_out_foreign_plugins(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        let target = after.target;
        if before.target.family() == target.family() {
            return;
        }
        let has_semi_sync = after.has("rpl_semi_sync_master_enabled");
        for line in after.read().filter(|line| loads_plugins(&line.entry.name)) {
            let plugins = LoadedPlugin::of([line.entry]);
            let is_kept = plugins.iter().all(|plugin| {
                plugin.is_shipped_by(target) || (plugin.is_semi_sync() && has_semi_sync)
            });
            if is_kept {
                continue;
            }
            let is_its = |entry: &Entry| plugins.iter().any(|plugin| plugin.has(&entry.name));
            let options = self.foreign_options(after, &is_its);
            for option in &options {
                let why = "an option of a plugin that is left out".to_owned();
                self.leave_out(option, why, path);
            }
            let missing = plugins.iter().filter(|plugin| plugin.is_missing_in(target));
            let missing: Vec<&str> = missing.map(|plugin| plugin.library.as_str()).collect();
            let why = if missing.is_empty() {
                format!("{target} may not have this plugin")
            } else {
                format!("{target} does not ship {}", missing.join(" and "))
            };
            // The version may have no such option, so that the line is left out already.
            if !self.has_settled(&line.entry.origin) {
                self.leave_out(line.entry, why.clone(), path);
                let with = if options.is_empty() {
                    ""
                } else {
                    " with its options"
                };
                self.leave(line.entry, format!("left out{with}: {why}"));
            } else if let Some(first) = options.first() {
                self.leave(first, format!("left out with its plugin: {why}"));
            }
        }
        // A plugin can also be installed by a statement.
        let is_foreign = |entry: &Entry| {
            plugins_with(&entry.name).is_some()
                && unloaded_plugin(target, &after.plugins, &entry.name).is_none()
                && !after.plugins.iter().any(|plugin| plugin.has(&entry.name))
        };
        for option in self.foreign_options(after, &is_foreign) {
            let plugin = plugins_with(&option.name).unwrap_or_default();
            let why = format!("{plugin}, which {target} does not ship");
            self.leave_out(option, why.clone(), path);
            self.leave(option, format!("left out: {why}"));
        }
    }

    /// The chosen lines whose options the new version itself does not have; a server ignores those with `loose-`.
    fn foreign_options<'a>(
        &self,
        after: &Subject<'a>,
        is_chosen: &dyn Fn(&Entry) -> bool,
    ) -> Vec<&'a Entry> {
        let lines = after.read().filter(|line| {
            line.option.is_none()
                && !line.entry.name.is_loose()
                && !after.has_beyond_catalogue(&line.entry.name)
                && !self.has_settled(&line.entry.origin)
                && is_chosen(line.entry)
        });
        lines.map(|line| line.entry).collect()
    }
}
