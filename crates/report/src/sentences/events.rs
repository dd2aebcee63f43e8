//! What planned events cost the load, in words.

pub(crate) mod answer;
pub(crate) mod matrix;
pub(crate) mod overview;
pub(crate) mod summary;

use samples::{EventOutcome, Record, printable_within};
use units::{counted, moment};

use overview::EventOverview;
use summary::{EventSummary, NAME_CHARS_MAX};

/// A sentence for each event of each combination.
pub(crate) fn sentences(events: &[EventOverview]) -> Vec<String> {
    let summaries = events.iter().flat_map(|it| &it.summaries);
    summaries.map(EventSummary::sentence).collect()
}

/// The events of one run in words, for its charts: `event add index from 62.0 s to 76.2 s`.
pub(crate) fn marks_in_words(record: &Record) -> String {
    let begun = record.events.iter().filter(|it| it.begin_s.is_some());
    let words: Vec<String> = begun
        .map(|event| {
            let name = printable_within(&event.name, NAME_CHARS_MAX);
            let end = match (event.took_s(), event.outcome) {
                (Some(took_s), EventOutcome::Done) => format!(" to {}", moment(event.t_s + took_s)),
                (Some(took_s), outcome) => {
                    format!(" to {} ({})", moment(event.t_s + took_s), outcome.word())
                }
                (None, outcome) => format!(" ({})", outcome.word()),
            };
            format!("{name} from {}{end}", moment(event.t_s))
        })
        .collect();
    match words.len() {
        0 => String::new(),
        count => format!(
            "Marked: {} ({}). ",
            counted(count, "event"),
            words.join("; ")
        ),
    }
}

#[cfg(test)]
mod tests;
