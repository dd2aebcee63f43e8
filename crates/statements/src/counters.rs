//! What an execution adds to the session's counters.

use std::collections::BTreeMap;

use super::session::{Failure, Session};

/// Counters of the server that say where a statement's time goes.
const COUNTERS: &[&str] = &[
    "Bytes_sent",
    "Created_tmp_disk_tables",
    "Created_tmp_tables",
    "Handler_delete",
    "Handler_read_first",
    "Handler_read_key",
    "Handler_read_last",
    "Handler_read_next",
    "Handler_read_prev",
    "Handler_read_rnd",
    "Handler_read_rnd_next",
    "Handler_tmp_write",
    "Handler_update",
    "Handler_write",
    "Select_full_join",
    "Select_scan",
    "Sort_merge_passes",
    "Sort_rows",
];
/// Counters of the whole server, which other sessions change, too.
const GLOBAL_COUNTERS: &[&str] = &[
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_os_log_fsyncs",
    "Innodb_pages_read",
    "Qcache_hits",
];

/// The counters at one moment.
#[derive(Debug, Default)]
pub(super) struct Counters(BTreeMap<String, i64>);

impl Counters {
    /// Number of statements that read them.
    pub(super) const STATEMENTS: u32 = 2;

    pub(super) async fn read(session: &mut Session) -> Result<Self, Failure> {
        let mut all = BTreeMap::new();
        for (scope, names) in [("SESSION", COUNTERS), ("GLOBAL", GLOBAL_COUNTERS)] {
            let sets = session.rows(&format!("SHOW {scope} STATUS")).await?;
            for row in sets.iter().flat_map(|set| &set.rows) {
                let text = |at: usize| {
                    String::from_utf8_lossy(row.get(at)?.as_deref()?)
                        .into_owned()
                        .into()
                };
                let (name, value): (Option<String>, Option<String>) = (text(0), text(1));
                if let (Some(name), Some(value)) =
                    (name, value.and_then(|value| value.parse().ok()))
                    && names.contains(&name.as_str())
                {
                    all.insert(name, value);
                }
            }
        }
        Ok(Self(all))
    }

    /// What was added since `before`, without what reading the counters adds itself (`reading`).
    pub(super) fn since(
        &self,
        before: &Self,
        reading: &Self,
        reading_before: &Self,
    ) -> Vec<(String, i64)> {
        let of = |counters: &Self, name: &str| counters.0.get(name).copied().unwrap_or(0);
        let added = self.0.iter().map(|(name, value)| {
            let own = of(reading, name) - of(reading_before, name);
            (name.clone(), value - of(before, name) - own)
        });
        added.filter(|(_, added)| *added > 0).collect()
    }
}
