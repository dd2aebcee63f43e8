//! What the proxy changed, by the digest of the client's statement.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use protocol::relay::com;

use super::snapshot::ChangeFigures;
use crate::digest::digest_up_to;

/// Digests that are counted apart; the others together.
const DIGESTS_MAX: usize = 1000;
/// Bytes of a digest that is shown.
const DIGEST_LENGTH_MAX: usize = 2048;
/// The digest of the others.
const OTHER: &str = "other";
/// Statements whose digest a thread remembers, and their length.
const RECENT_MAX: usize = 256;
const RECENT_LENGTH_MAX: usize = 512;

/// What became of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Replaced,
    InjectedBefore,
    InjectedAfter,
    Answered,
    Refused,
    ResultDropped,
    ResultReplaced,
    Delayed,
    Routed,
}

/// Every change and its name, in the order of the enum.
const NAMES: [&str; 9] = [
    "replaced",
    "injected before",
    "injected after",
    "answered",
    "refused",
    "result dropped",
    "result replaced",
    "delayed",
    "routed",
];

type Counts = [u64; NAMES.len()];

/// The changes of one event thread. Only changed commands take its lock, and only a snapshot takes it as well.
#[derive(Debug, Default)]
pub(crate) struct Changes(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    places: HashMap<String, usize>,
    counts: Vec<(String, Counts)>,
    /// Places of statements that came recently.
    recent: HashMap<Vec<u8>, usize>,
}

impl Changes {
    /// The place of a command of the client, by which its changes are counted.
    pub(crate) fn place(&self, packet: &[u8]) -> usize {
        let mut known = self.known();
        if let Some(place) = known.recent.get(packet) {
            return *place;
        }
        let text = text_of(packet);
        let place = known.place(text);
        if packet.len() <= RECENT_LENGTH_MAX {
            if known.recent.len() >= RECENT_MAX {
                known.recent.clear();
            }
            known.recent.insert(packet.to_vec(), place);
        }
        place
    }

    pub(crate) fn count(&self, place: usize, change: Change) {
        self.known().counts[place].1[change as usize] += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn place(&mut self, text: String) -> usize {
        if let Some(place) = self.places.get(&text) {
            return *place;
        }
        let text = if self.places.len() < DIGESTS_MAX {
            text
        } else {
            OTHER.to_owned()
        };
        let place = *self.places.entry(text.clone()).or_insert(self.counts.len());
        if place == self.counts.len() {
            self.counts.push((text, Counts::default()));
        }
        place
    }
}

/// The digest of a command that has a text, the number of another one.
fn text_of(packet: &[u8]) -> String {
    match packet.split_first() {
        Some((&(com::QUERY | com::STMT_PREPARE), text)) => {
            let mut digest = digest_up_to(text, DIGEST_LENGTH_MAX);
            if digest.len() > DIGEST_LENGTH_MAX {
                digest.truncate(DIGEST_LENGTH_MAX);
                digest.extend_from_slice(b"...");
            }
            String::from_utf8_lossy(&digest).into_owned()
        }
        Some((command, _)) => format!("command {command}"),
        None => "empty command".to_owned(),
    }
}

/// The changes of all threads; digests beyond the limit are counted together.
pub(super) fn figures<'a>(threads: impl Iterator<Item = &'a Changes>) -> Vec<ChangeFigures> {
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    for changes in threads {
        for (digest, counts) in &changes.known().counts {
            let name = if all.len() < DIGESTS_MAX || all.contains_key(digest) {
                digest.as_str()
            } else {
                OTHER
            };
            let sums = all.entry(name.to_owned()).or_default();
            sums.iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
    }
    let figures = all.into_iter().flat_map(|(digest, counts)| {
        let counted = NAMES.iter().zip(counts).filter(|(_, count)| *count > 0);
        counted
            .map(|(name, count)| ChangeFigures {
                digest: digest.clone(),
                change: (*name).to_owned(),
                count,
            })
            .collect::<Vec<_>>()
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(changes: &Changes, text: &str, change: Change) {
        let packet = [b"\x03", text.as_bytes()].concat();
        changes.count(changes.place(&packet), change);
    }

    #[test]
    fn statements_of_one_shape_are_counted_together() {
        let (one, two) = (Changes::default(), Changes::default());
        count(&one, "select 1", Change::Replaced);
        count(&one, "SELECT 2", Change::Replaced);
        count(&two, "select 'x'", Change::Replaced);
        count(&two, "select 3", Change::Routed);
        let figures = figures([&one, &two].into_iter());
        let shown: Vec<_> = figures
            .iter()
            .map(|it| (it.digest.as_str(), it.change.as_str(), it.count))
            .collect();
        assert_eq!(
            shown,
            [("SELECT ?", "replaced", 3), ("SELECT ?", "routed", 1)]
        );
        assert_eq!(NAMES[Change::Routed as usize], "routed");
        assert_eq!(NAMES[Change::Replaced as usize], "replaced");
    }

    #[test]
    fn the_number_of_digests_is_limited() {
        let changes = Changes::default();
        for number in 0..DIGESTS_MAX + 7 {
            count(&changes, &format!("select a{number}"), Change::Answered);
        }
        let figures = figures([&changes].into_iter());
        assert_eq!(figures.len(), DIGESTS_MAX + 1);
        let other = figures.iter().find(|it| it.digest == OTHER).unwrap();
        assert_eq!(other.count, 7);
    }
}
