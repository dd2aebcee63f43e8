//! Whether other programs used the machine in most of the runs behind an answer.

use audit::Rule;

/// The rule about other programs if it holds in more than half of the runs, of which `judged` has one each.
pub(crate) fn mostly_shared(
    judged: impl Iterator<Item = Option<&'static Rule>>,
) -> Option<&'static Rule> {
    let judged: Vec<_> = judged.collect();
    let mut shared = judged.iter().flatten();
    let are_most = 2 * shared.clone().count() > judged.len();
    shared.next().copied().filter(|_| are_most)
}
