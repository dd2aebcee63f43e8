//! The client's use of its own maximum throughput (ceiling), in sentences.

use std::collections::BTreeSet;

use units::percent;

use crate::results::Results;

/// From this share on, a run measured the client as much as the server.
const CLIENT_BOUND: f64 = 0.7;

/// The sentences: the range of the shares, and why runs have none.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let ceilings = || results.runs.iter().filter_map(|run| run.ceiling.as_ref());
    let mut sentences = Vec::new();
    if let Some((least, most)) = shares(results) {
        let of = "of what this client reaches on this machine with a server that does nothing";
        let range = if percent(least) == percent(most) {
            percent(most)
        } else {
            format!("{} to {}", percent(least), percent(most))
        };
        sentences.push(format!("The client used {range} {of} (dbdyno calibrate)."));
    }
    let without = ceilings().filter(|ceiling| ceiling.calibrated_queries_per_s.is_none());
    let notes: BTreeSet<&str> = without.map(|ceiling| ceiling.note.as_str()).collect();
    sentences.extend(notes.into_iter().map(|note| {
        format!("The client's share of its maximum rate is unknown: {note} (dbdyno calibrate measures it).")
    }));
    sentences
}

/// A warning if runs come close to the client's ceiling.
pub(crate) fn warning(results: &Results) -> Option<String> {
    let (_, most) = shares(results)?;
    (most > CLIENT_BOUND).then(|| {
        format!(
            "warning: the client used up to {} of what it reaches on this machine with a server that does nothing: the server may be faster than these figures",
            percent(most)
        )
    })
}

/// The lowest and the highest share.
fn shares(results: &Results) -> Option<(f64, f64)> {
    let shares = results
        .runs
        .iter()
        .filter_map(|run| run.ceiling.as_ref()?.share);
    shares.fold(None, |range, share| match range {
        None => Some((share, share)),
        Some((least, most)) => Some((share.min(least), share.max(most))),
    })
}

#[cfg(test)]
mod tests {
    use samples::{Ceiling, Record};

    use super::*;

    fn results(shares: &[Option<f64>]) -> Results {
        let header = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"x","experiment_sha256":"",
            "seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll",
            "transport":"unix socket"}"#
            .replace('\n', "");
        let runs = shares.iter().map(|share| {
            let mut record = Record::read(header.as_bytes()).unwrap();
            record.ceiling = Some(Ceiling {
                calibrated_queries_per_s: share.map(|_| 1e5),
                calibrated_connections: share.map(|_| 64),
                share: *share,
                note: "not calibrated".to_owned(),
            });
            record
        });
        Results::of_runs(runs.collect())
    }

    #[test]
    fn shares_are_told_and_those_near_one_warned_of() {
        let told = sentences(&results(&[Some(0.12), Some(0.5), None]));
        assert_eq!(told.len(), 2);
        assert!(
            told[0].starts_with("The client used 12 % to 50 % of"),
            "{}",
            told[0]
        );
        assert!(told[1].contains("unknown: not calibrated"));
        assert_eq!(sentences(&results(&[])), Vec::<String>::new());
        assert_eq!(warning(&results(&[Some(0.12), Some(0.7)])), None);
        let warned = warning(&results(&[Some(0.12), Some(0.85)])).unwrap();
        assert!(warned.contains("up to 85 %"), "{warned}");
    }
}
