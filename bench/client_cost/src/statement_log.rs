//! The null server's log of statements, and the truth about a run that it holds.

use std::str::FromStr;

use anyhow::{Context, Error, Result};

/// When each statement of the load came and was answered, in the order of coming; nanoseconds of the monotonic
/// clock.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct StatementLog {
    received_ns: Vec<u64>,
    answered_ns: Vec<u64>,
}

/// Reads lines such as `3 88012345678901 88012345689012 execute rows`; questions beside the load are no `execute`.
impl FromStr for StatementLog {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut log = Self::default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(' ').collect();
            let [_, received, answered, command, _] = fields[..] else {
                return Err(Error::msg(format!("no five fields: {line:?}")));
            };
            if command == "execute" {
                log.received_ns.push(received.parse().context("received")?);
                log.answered_ns.push(answered.parse().context("answered")?);
            }
        }
        log.received_ns.sort_unstable();
        log.answered_ns.sort_unstable();
        Ok(log)
    }
}

impl StatementLog {
    /// How many came per second, from the first to the last; `None` for fewer than two.
    pub(crate) fn rate_per_s(&self) -> Option<f64> {
        let (first, last) = (self.received_ns.first()?, self.received_ns.last()?);
        let gaps = self.received_ns.len() - 1;
        (gaps > 0).then(|| gaps as f64 * 1e9 / (last - first) as f64)
    }

    /// The response time of each statement of a constant schedule, in milliseconds: from when it was due to when
    /// its answer left.
    ///
    /// The schedule began so that the most punctual of all was sent on time. Answers leave in the order in which
    /// statements were due, so that the n-th answer belongs to the n-th due time.
    pub(crate) fn response_ms(&self, rate_per_s: f64) -> Vec<f64> {
        let Some(first) = self.received_ns.first() else {
            return Vec::new();
        };
        let gap_ns = 1e9 / rate_per_s;
        let since_first = |ns: &u64| (ns - first) as f64;
        let due = |index: usize| index as f64 * gap_ns;
        let sent = self.received_ns.iter().enumerate();
        let begin_ns = sent
            .map(|(index, ns)| since_first(ns) - due(index))
            .fold(f64::INFINITY, f64::min);
        let answered = self.answered_ns.iter().enumerate();
        answered
            .map(|(index, ns)| (since_first(ns) - due(index) - begin_ns) / 1e6)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "connection received_ns answered_ns command result\n";

    fn log(lines: &[(u64, u64)]) -> StatementLog {
        let lines = lines
            .iter()
            .map(|(received, answered)| format!("1 {received} {answered} execute rows\n"));
        (HEADING.to_owned() + &lines.collect::<String>())
            .parse()
            .unwrap()
    }

    #[test]
    fn only_the_load_counts() {
        let text = format!(
            "{HEADING}1 10 20 query ok\n2 2000000010 2000000020 execute rows\n3 10 21 execute rows\n"
        );
        let log: StatementLog = text.parse().unwrap();
        assert_eq!(log.received_ns, [10, 2_000_000_010]);
        assert_eq!(log.rate_per_s(), Some(0.5));
        assert!(format!("{HEADING}1 2 3\n").parse::<StatementLog>().is_err());
        assert_eq!(StatementLog::default().rate_per_s(), None);
    }

    #[test]
    fn what_came_late_was_due_earlier() {
        // Every millisecond one is due; the first is sent 20 µs late, the third 1.5 ms late, and each takes 100 µs.
        let ms = |ms: f64| 1_000_000_000 + (ms * 1e6) as u64;
        let log = log(&[
            (ms(0.02), ms(0.12)),
            (ms(1.0), ms(1.1)),
            (ms(3.5), ms(3.6)),
            (ms(3.6), ms(3.7)),
        ]);
        let response: Vec<f64> = log
            .response_ms(1_000.0)
            .iter()
            .map(|ms| (ms * 1e3).round() / 1e3)
            .collect();
        assert_eq!(response, [0.12, 0.1, 1.6, 0.7]);
    }
}
