//! The observation of the server's host, in words.

use std::collections::BTreeMap;

use samples::{ClockOffset, Observer, ObserverLoss, Record};
use units::{counted, moment, seconds};

use crate::results::Results;

/// How the server's host was observed in one run; `None` if it was not requested.
pub(crate) fn in_words(record: &Record) -> Option<String> {
    let first = record.observers.first()?;
    let mut parts = vec![format!("observed through {}", first.address)];
    parts.extend(
        first
            .same_machine
            .filter(|same| *same)
            .map(|_| "which turned out to be the client's own machine".to_owned()),
    );
    if let Some(clock) = first.clock {
        parts.push(format!(
            "its time of day {} (\u{b1} {})",
            ahead(clock.wall_offset_s, clock.wall_offset_s),
            seconds(clock.uncertainty_s)
        ));
    }
    if let Some(drift) = record.observers.last().and_then(|last| last.drift) {
        parts.push(format!(
            "drift {:.1} \u{b1} {:.1} ppm",
            drift.ppm, drift.uncertainty_ppm
        ));
    }
    parts.extend(observer_loss(record).map(lost_in_words));
    Some(parts.join(", "))
}

/// The time from which the server's host was no longer observed; `None` if it was to the end, or if it was not
/// requested.
pub(crate) fn observer_loss(record: &Record) -> Option<&ObserverLoss> {
    record
        .observers
        .iter()
        .find_map(|observer| observer.lost.as_ref())
}

pub(crate) fn lost_in_words(lost: &ObserverLoss) -> String {
    if lost.t_s > 0.0 {
        format!("not observed from {} on: {}", moment(lost.t_s), lost.why)
    } else {
        format!("not observed: {}", lost.why)
    }
}

/// How the server's host was observed in all runs: a sentence for each transport, and one for each run without it.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let mut by_address: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in results.first_loads() {
        if let Some(observer) = record.observers.first() {
            by_address
                .entry(&observer.address)
                .or_default()
                .push(record);
        }
    }
    let ways = by_address.iter().map(|(address, records)| {
        let lines = || records.iter().flat_map(|record| &record.observers);
        let is_same = lines().any(|line| line.same_machine == Some(true));
        let host = if is_same {
            "The machine that client and server share was observed"
        } else {
            "The server's host was observed"
        };
        let runs = counted(records.len(), "run");
        format!("{host} through {address} in {runs}. {}", clocks(lines()))
    });
    let lost = results.first_loads().filter_map(|record| {
        let lost = lost_in_words(observer_loss(record)?);
        Some(format!("Run {}: server host {lost}.", record.header.run))
    });
    ways.chain(lost).collect()
}

/// The state of a host's clock over several runs.
fn clocks<'o>(lines: impl Iterator<Item = &'o Observer> + Clone) -> String {
    let clocks: Vec<ClockOffset> = lines.clone().filter_map(|line| line.clock).collect();
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let offsets = || clocks.iter().map(|clock| clock.wall_offset_s);
    let (low, high) = offsets().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
        (low.min(it), high.max(it))
    });
    if clocks.is_empty() {
        return "Its clock is not known.".to_owned();
    }
    let uncertainty = most(&mut clocks.iter().map(|clock| clock.uncertainty_s));
    let drifts: Vec<_> = lines.filter_map(|line| line.drift).collect();
    let drift = if drifts.is_empty() {
        String::new()
    } else {
        format!(
            " The two clocks drifted apart by at most {:.1} ppm (known to \u{b1} {:.1} ppm).",
            most(&mut drifts.iter().map(|drift| drift.ppm.abs())),
            most(&mut drifts.iter().map(|drift| drift.uncertainty_ppm)),
        )
    };
    format!(
        "Its time of day was {} (\u{b1} {}); times in charts and record are the client's.{drift}",
        ahead(low, high),
        seconds(uncertainty)
    )
}

/// The offset of another clock to ours, from the lowest to the highest.
fn ahead(low_s: f64, high_s: f64) -> String {
    let (low, high) = (seconds(low_s.abs()), seconds(high_s.abs()));
    let side = |s: f64| if s < 0.0 { "behind" } else { "ahead of" };
    match () {
        () if (low_s < 0.0) != (high_s < 0.0) => {
            format!("{low} behind to {high} ahead of the client's")
        }
        () if low == high => format!("{low} {} the client's", side(high_s)),
        () => format!("{low} to {high} {} the client's", side(high_s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_read_like_this() {
        for (low_s, high_s, expected) in [
            (0.412, 0.412, "412 ms ahead of the client's"),
            (-1.5, -1.5, "1.50 s behind the client's"),
            (
                0.000_012,
                0.001_5,
                "12.0 µs to 1.50 ms ahead of the client's",
            ),
            (
                -0.000_001,
                0.000_002,
                "1.00 µs behind to 2.00 µs ahead of the client's",
            ),
        ] {
            assert_eq!(ahead(low_s, high_s), expected);
        }
    }
}
