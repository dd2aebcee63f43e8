//! One rule: when it applies, and what it does.

use std::sync::Arc;

use regex::bytes::Regex;

use super::{answers::Reply, mirror::Target};
use crate::{Delay, metrics::RuleCounter};

/// One rule: all conditions have to hold, all actions are done.
#[derive(Debug)]
pub(super) struct Rule {
    /// Its name and what it did.
    pub(super) counter: Arc<RuleCounter>,
    pub(super) digest: Option<Vec<u8>>,
    pub(super) pattern: Option<Regex>,
    pub(super) user: Option<Vec<u8>>,
    pub(super) database: Option<Vec<u8>>,
    /// It applies to `COM_QUERY`.
    pub(super) to_queries: bool,
    /// It applies to `COM_STMT_PREPARE`.
    pub(super) to_prepares: bool,
    /// Share of the commands to which it applies, drawn.
    pub(super) share: Option<f64>,
    /// The text in place of the pattern's first match, or of the whole statement.
    pub(super) replace: Option<Vec<u8>>,
    /// Statements that are sent first.
    pub(super) before: Vec<Vec<u8>>,
    pub(super) reply: Option<Reply>,
    pub(super) delay: Delay,
    pub(super) route: Option<RouteTarget>,
    pub(super) mirror: Option<Arc<Target>>,
    pub(super) is_logged: bool,
    /// Following rules see the statement, too.
    pub(super) continues: bool,
}

/// Another backend for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RouteTarget {
    /// The one for reads that has the fewest clients.
    ReadOnly,
    /// The one at this place.
    Backend(usize),
}

impl Rule {
    /// The statement after the replacement; `None` if it stays.
    pub(super) fn replaced(&self, text: &[u8]) -> Option<Vec<u8>> {
        let replacement = self.replace.as_ref()?;
        match &self.pattern {
            Some(pattern) => Some(pattern.replace(text, replacement.as_slice()).into_owned()),
            None => Some(replacement.clone()),
        }
    }
}
