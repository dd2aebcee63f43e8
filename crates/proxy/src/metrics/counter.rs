//! Counters.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use super::snapshot::RuleFigures;

/// A count that one thread writes and others read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the count; only its own thread may.
    pub(crate) fn add(&self, count: u64) {
        // With a single writer this needs no locked addition.
        self.0
            .store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What a rule did, in all sessions.
#[derive(Debug)]
pub struct RuleCounter {
    name: String,
    matches: AtomicU64,
    dropped: AtomicU64,
}

impl RuleCounter {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// It applied to a command.
    pub(crate) fn matches_one(&self) {
        self.matches.fetch_add(1, Relaxed);
    }

    /// A copy was not sent, or a statement did not get another backend.
    pub(crate) fn drop_one(&self) {
        self.dropped.fetch_add(1, Relaxed);
    }
}

/// The counters of all rules. A rule keeps its counter when its file is read again.
#[derive(Debug, Default)]
pub(crate) struct RuleCounters(Mutex<BTreeMap<String, Arc<RuleCounter>>>);

impl RuleCounters {
    pub(crate) fn of(&self, name: &str) -> Arc<RuleCounter> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(name) {
            return Arc::clone(known);
        }
        let counter = Arc::new(RuleCounter {
            name: name.to_owned(),
            matches: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        });
        all.insert(name.to_owned(), Arc::clone(&counter));
        counter
    }

    pub(super) fn figures(&self) -> Vec<RuleFigures> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let figures = all.values().map(|counter| RuleFigures {
            rule: counter.name.clone(),
            matches: counter.matches.load(Relaxed),
            dropped: counter.dropped.load(Relaxed),
        });
        figures.collect()
    }
}
