//! A planned event in all combinations that had it.

use units::moment;

use super::summary::{EventSummary, Place, summaries};
use crate::{grid::Grid, results::Results};

/// An event of the experiment with its cost in each combination.
#[derive(Debug)]
pub(crate) struct EventOverview {
    /// Its name and time as far as they are the same in all combinations: `ALTER TABLE at 30 s`.
    pub(crate) title: String,
    /// True if the title has the name, and the time, of all.
    is_named: bool,
    is_timed: bool,
    /// One for each combination that had it, in the order of the grid; at least one.
    pub(crate) summaries: Vec<EventSummary>,
}

/// The events of the runs in the order of their times; empty where no run had one.
pub(crate) fn overviews(results: &Results, grid: &Grid<'_>) -> Vec<EventOverview> {
    let mut events: Vec<Vec<EventSummary>> = Vec::new();
    for summary in summaries(results, grid) {
        match events.last_mut() {
            Some(same) if same[0].number == summary.number => same.push(summary),
            _ => events.push(vec![summary]),
        }
    }
    events.into_iter().map(EventOverview::of).collect()
}

impl EventOverview {
    fn of(summaries: Vec<EventSummary>) -> Self {
        let first = &summaries[0];
        let is_named = summaries.iter().all(|it| it.name == first.name);
        let is_timed = summaries.iter().all(|it| it.at_s == first.at_s);
        let name = match common_words(summaries.iter().map(|it| it.name.as_str())) {
            _ if is_named => first.name.clone(),
            none if none.is_empty() => format!("event {}", first.number),
            // A name that the experiment does not give is the statement, which has the levels in it.
            common => format!("{common} …"),
        };
        let at = is_timed.then(|| format!(" at {}", moment(first.at_s)));
        Self {
            title: name + &at.unwrap_or_default(),
            is_named,
            is_timed,
            summaries,
        }
    }

    pub(crate) fn at(&self, place: Place) -> Option<&EventSummary> {
        self.summaries.iter().find(|it| it.place == place)
    }

    /// The name and the time of an event as far as they are not those of the title: `ADD INDEX (c) at 30 s`.
    pub(crate) fn own(&self, summary: &EventSummary) -> Option<String> {
        let name = (!self.is_named).then(|| summary.name.clone());
        let at = (!self.is_timed).then(|| format!("at {}", moment(summary.at_s)));
        let words: Vec<String> = name.into_iter().chain(at).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The combinations in which it succeeded, with the operations that it cost, from the least to the most.
    pub(crate) fn by_loss(&self) -> Vec<(&EventSummary, f64)> {
        let succeeded = self.summaries.iter().filter(|it| !it.always_failed());
        let mut known: Vec<_> = succeeded
            .filter_map(|it| Some((it, it.lost?.mean)))
            .collect();
        known.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        known
    }

    /// The most operations that were lost in the mean of a combination in which it succeeded, at least 0.
    pub(crate) fn most_lost(&self) -> f64 {
        let most = self.by_loss().last().map_or(0.0, |(_, mean)| *mean);
        most.max(0.0)
    }
}

/// The words with which all of the texts begin.
fn common_words<'t>(mut texts: impl Iterator<Item = &'t str>) -> String {
    let first = texts.next().unwrap_or_default();
    let mut common: Vec<&str> = first.split(' ').collect();
    for text in texts {
        let same = common.iter().zip(text.split(' '));
        let same = same.take_while(|(a, b)| *a == b).count();
        common.truncate(same);
    }
    common.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_whole() {
        for (texts, common) in [
            (["ALTER TABLE a", "ALTER TABLE ab"], "ALTER TABLE"),
            (["same", "same"], "same"),
            (["one", "two"], ""),
        ] {
            assert_eq!(common_words(texts.into_iter()), common);
        }
    }
}
