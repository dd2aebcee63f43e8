//! The answer of one run in at most a dozen lines.
//!
//! ```text
//! 6.30k operations/s, 126k statements/s; p50 2.50 ms, p95 4.10 ms, p99 5.00 ms
//!
//! measured  10 s: oltp read_write on 10.11.19-MariaDB, unix socket, 16 connections, closed loop
//! settings  rand-type uniform, statements prepared, table-size 10000, tables 1
//! limit     CPU: 97 % busy (server 66 %, client 21 %, others 10 %)
//! trust     rough, no grade: 1 execution; machine quiet; 4 warnings
//! next      dbdyno audit results/script-1/record.jsonl
//! ```

use std::path::Path;

use audit::Audit;
use samples::ErrorCount;
use units::{counted, duration, moment, si};

use super::{RunReport, Times, text::error_in_words};
use crate::{
    grid::percentiles::{mark_explained, marked},
    summary::{ANSWER_LINES_MAX, LINES_MAX, NARROWEST, trust},
    text::{
        facts::{Facts, cut},
        shell::shell_word,
    },
};

/// Facts that make room for the answer.
const LESS_IMPORTANT: [&str; 2] = ["settings", "limit"];

impl RunReport {
    /// The answer as text of at most `width` columns and eleven lines, ending with a line feed; the caller's line that
    /// names the page is the twelfth.
    pub fn summary(&self, audit: &Audit, record: &Path, width: u16) -> String {
        self.summary_of(&self.answer(), audit, record, width)
    }

    /// The same with a given answer, such as New-Orders per minute.
    pub fn summary_of(&self, answer: &str, audit: &Audit, record: &Path, width: u16) -> String {
        let width = usize::from(width).max(NARROWEST);
        let incomplete = if self.is_incomplete {
            format!("incomplete after {}: ", moment(self.measured_s))
        } else {
            String::new()
        };
        let answer = format!("{incomplete}{answer}");
        let mut facts = Facts::new(width);
        facts.add("measured", 1, &self.measured());
        facts.add("settings", 1, &self.settings_in_words());
        facts.add_some("rate", self.rate_in_words());
        for error in self.errors_in_words() {
            facts.add("errors", 1, &error);
        }
        facts.add_some("host", self.server_host.clone());
        facts.add_some("limit", self.limited_by.clone());
        facts.add("trust", 1, &trust(audit));
        let record = record.display().to_string();
        facts.add_command("next", &format!("dbdyno audit {}", shell_word(&record)));
        // The mark is explained wherever it is printed.
        let whole = cut("", &answer, width, ANSWER_LINES_MAX);
        let left = LINES_MAX - 2 - usize::from(mark_explained(&whole).is_some());
        let facts = facts.into_lines_within(left - whole.len(), &LESS_IMPORTANT);
        let room = left.saturating_sub(facts.len()).min(ANSWER_LINES_MAX);
        let mut answer = cut("", &answer, width, room);
        let explanation = mark_explained(&answer);
        answer.extend(explanation);
        [answer, vec![String::new()], facts].concat().join("\n") + "\n"
    }

    /// The answer in words: `6.30k operations/s, 126k statements/s; p50 2.50 ms, p95 4.10 ms, p99 5.00 ms`.
    fn answer(&self) -> String {
        let classes = self.statements_per_s;
        let statements = classes.read + classes.write + classes.other;
        let throughput = si(self.throughput_per_s.unwrap_or(0.0));
        let service = self.service.as_ref().and_then(percentiles);
        let service = service.map_or_else(String::new, |it| format!("; service time {it}"));
        let response = match (percentiles(&self.response), self.service.is_some()) {
            (None, _) => String::new(),
            (Some(times), false) => format!("; {times}"),
            (Some(times), true) => format!("; response time {times}"),
        };
        format!(
            "{throughput} operations/s, {} statements/s{response}{service}",
            si(statements)
        )
    }

    fn measured(&self) -> String {
        format!(
            "{}: {} on {}, {}, {}, {}",
            moment(self.measured_s),
            self.name,
            self.server,
            self.transport,
            self.connections_in_words(),
            self.arrivals_in_words()
        )
    }

    /// A line for failed operations, one for the most frequent error with its message, and one for the other numbers.
    fn errors_in_words(&self) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        if self.failed > 0 {
            said.push(format!(
                "{} failed",
                counted(self.failed as usize, "operation")
            ));
        }
        let errors = by_number(&self.errors);
        if let [first, others @ ..] = &errors[..] {
            said.push(error_in_words(first));
            let others = others.iter();
            let others: Vec<String> = others
                .map(|it| format!("{} x {}", it.code(), it.count))
                .collect();
            if !others.is_empty() {
                said.push(format!("also {}", others.join(", ")));
            }
        }
        said
    }
}

/// The errors of all operations by number, the most frequent one first; of each the message of its first operation.
fn by_number(errors: &[ErrorCount]) -> Vec<ErrorCount> {
    let mut folded: Vec<ErrorCount> = Vec::new();
    for error in errors {
        match folded.iter_mut().find(|it| it.code() == error.code()) {
            Some(same) => {
                same.count += error.count;
                same.retried += error.retried;
            }
            None => folded.push(error.clone()),
        }
    }
    folded.sort_by_key(|error| std::cmp::Reverse(error.count));
    folded
}

/// The percentiles in words: `p50 2.50 ms, p95 4.10 ms`; `None` if none was measured.
fn percentiles(times: &Times) -> Option<String> {
    let measured = times.percentiles.iter().filter_map(|value| {
        let ms = marked(duration(value.ms? * 1e6), value.thin);
        Some(format!("p{} {ms}", value.percentile))
    });
    let told: Vec<String> = measured.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_several_operations_are_one_of_each_number() {
        let error = |operation: &str, number, count| ErrorCount {
            operation: operation.to_owned(),
            number,
            count,
            retried: count,
            ..ErrorCount::default()
        };
        let errors = [
            error("New-Order", 1205, 1),
            error("New-Order", 1213, 3),
            error("Payment", 1205, 24),
        ];
        let folded = by_number(&errors);
        let figures: Vec<(u16, u64, u64)> = folded
            .iter()
            .map(|it| (it.number, it.count, it.retried))
            .collect();
        assert_eq!(figures, [(1205, 25, 25), (1213, 3, 3)]);
    }
}
