//! The course of a running fio: what each of its reports, which are cumulative, adds to the one before.

use std::{collections::BTreeMap, io::BufRead};

use samples::Histogram;

use crate::{
    error::Error,
    fio_output::{FioLatency, Output},
};

/// Longest report, bytes.
const REPORT_AT_MOST: u64 = 64 << 20;

/// Requests of one job in one direction that were completed between two reports.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletedRequests {
    /// The job's section.
    pub job: String,
    /// Reads, otherwise writes.
    pub are_reads: bool,
    pub count: u64,
    /// Sum of their latencies, nanoseconds. All latencies are those of the middle of fio's bins, exact to 0.8 %: its exact
    /// mean and maximum are of a slightly other moment than the bins, because fio reports while it measures.
    pub sum_ns: u64,
    /// The shortest latency, nanoseconds.
    pub min_ns: u64,
    /// The longest latency, nanoseconds.
    pub max_ns: u64,
    /// Latencies from the submission to the completion, nanoseconds.
    pub histogram: Histogram,
}

/// The time between two reports.
#[derive(Debug, Clone, PartialEq)]
pub struct FioInterval {
    /// Begin, milliseconds since the jobs began.
    pub from_ms: u64,
    /// End, milliseconds since the jobs began.
    pub to_ms: u64,
    /// Completed requests by job and direction.
    pub requests: Vec<CompletedRequests>,
}

/// What fio has reported so far.
#[derive(Debug, Default)]
pub(crate) struct FioCourse {
    at_ms: u64,
    sums: BTreeMap<(String, bool), Sums>,
}

/// Everything since the begin: requests by latency.
#[derive(Debug, Clone, Default)]
struct Sums(BTreeMap<u64, u64>);

impl Sums {
    fn add(&mut self, latency: &FioLatency) {
        for (latency_ns, count) in latency.counts() {
            *self.0.entry(latency_ns).or_default() += count;
        }
    }

    fn since(&self, before: &Self) -> Option<(Histogram, [u64; 4])> {
        let mut histogram = Histogram::new();
        let (mut count, mut sum_ns, mut min_ns, mut max_ns) = (0, 0_u64, u64::MAX, 0);
        for (latency_ns, all) in &self.0 {
            let earlier = before.0.get(latency_ns).copied().unwrap_or(0);
            let new = all.saturating_sub(earlier);
            if new > 0 {
                histogram.record_many(*latency_ns, new);
                count += new;
                sum_ns = sum_ns.saturating_add(latency_ns.saturating_mul(new));
                min_ns = min_ns.min(*latency_ns);
                max_ns = max_ns.max(*latency_ns);
            }
        }
        (count > 0).then(|| (histogram.compacted(), [count, sum_ns, min_ns, max_ns]))
    }
}

impl FioCourse {
    /// What a report that came `elapsed_ms` after fio's start adds; `None` for one that adds no time. A job that failed is
    /// an error.
    ///
    /// Of a job that has not begun fio reports the time since the machine's start: such a report adds nothing.
    pub(crate) fn add(
        &mut self,
        report: &str,
        elapsed_ms: u64,
    ) -> Result<Option<FioInterval>, Error> {
        let output: Output =
            serde_json::from_str(report).map_err(|error| Error::Output(error.to_string()))?;
        let mut sums: BTreeMap<(String, bool), Sums> = BTreeMap::new();
        let mut at_ms = 0;
        for job in &output.jobs {
            if let Some(message) = job.failure() {
                return Err(Error::Fio {
                    pattern: job.jobname.clone(),
                    message,
                });
            }
            at_ms = at_ms.max(job.runtime_ms);
            for (are_reads, side) in [(true, &job.read), (false, &job.write)] {
                let of = sums.entry((job.jobname.clone(), are_reads)).or_default();
                of.add(&side.lat_ns);
            }
        }
        if at_ms <= self.at_ms || at_ms > elapsed_ms {
            return Ok(None);
        }
        let none = Sums::default();
        let requests = sums.iter().filter_map(|(key, sums)| {
            let before = self.sums.get(key).unwrap_or(&none);
            let (histogram, [count, sum_ns, min_ns, max_ns]) = sums.since(before)?;
            Some(CompletedRequests {
                job: key.0.clone(),
                are_reads: key.1,
                count,
                sum_ns,
                min_ns,
                max_ns,
                histogram,
            })
        });
        let interval = FioInterval {
            from_ms: self.at_ms,
            to_ms: at_ms,
            requests: requests.collect(),
        };
        (self.at_ms, self.sums) = (at_ms, sums);
        Ok(Some(interval))
    }
}

/// The reports in fio's output: each begins with a line `{` and ends with a line `}`; what stands between them is not for
/// programs.
pub(crate) fn reports(output: impl BufRead) -> impl Iterator<Item = String> {
    let mut output = output.take(REPORT_AT_MOST);
    std::iter::from_fn(move || {
        output.set_limit(REPORT_AT_MOST);
        let mut report = String::new();
        loop {
            let begin = report.len();
            match output.read_line(&mut report) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            match report[begin..].trim_end_matches(['\r', '\n']) {
                _ if begin == 0 && report.trim_end() != "{" => report.clear(),
                "}" => return Some(report),
                _ => {}
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(at_ms: u64, bins: &[(u64, u64)]) -> String {
        let count: u64 = bins.iter().map(|(_, count)| count).sum();
        let texts = bins.iter().map(|(ns, count)| format!("\"{ns}\":{count}"));
        let texts: Vec<_> = texts.collect();
        let side = |bins: &str, count: u64| {
            format!(
                "{{\"total_ios\":{count},\"iops\":1,\"bw_bytes\":1,\"clat_ns\":{{}},\
                 \"lat_ns\":{{\"N\":{count},\"bins\":{{{bins}}}}}}}"
            )
        };
        let read = side(&texts.join(","), count);
        let write = side("", 0);
        // Two threads of one job have the same name.
        let thread = format!(
            "{{\"jobname\":\"a\",\"error\":0,\"job_runtime\":{at_ms},\"read\":{read},\"write\":{write}}}"
        );
        format!("{{\n\"jobs\":[{thread},{thread}]\n}}\n")
    }

    #[test]
    fn each_report_adds_what_is_new() {
        let mut course = FioCourse::default();
        let before = course.add(&report(37_848_000, &[]), 100).unwrap();
        assert_eq!(before, None, "the job has not begun");
        let first = course.add(&report(500, &[(1000, 3)]), 600).unwrap();
        let first = first.unwrap();
        assert_eq!((first.from_ms, first.to_ms), (0, 500));
        let reads = &first.requests[0];
        assert_eq!(first.requests.len(), 1, "no writes: {first:?}");
        assert_eq!((reads.count, reads.sum_ns, reads.max_ns), (6, 6000, 1000));
        assert_eq!(course.add(&report(500, &[(1000, 3)]), 600).unwrap(), None);
        let second = course.add(&report(1500, &[(1000, 4), (2000, 1)]), 1600);
        let second = second.unwrap().unwrap();
        let reads = &second.requests[0];
        assert_eq!((second.from_ms, second.to_ms), (500, 1500));
        assert_eq!((reads.count, reads.sum_ns), (4, 6000));
        assert_eq!((reads.min_ns, reads.max_ns), (1000, 2000));
        assert_eq!(reads.histogram.count(), 4);
        let idle = course.add(&report(2500, &[(1000, 4), (2000, 1)]), 2600);
        assert_eq!(idle.unwrap().unwrap().requests, []);
    }

    #[test]
    fn a_failed_job_is_an_error() {
        let failed = report(500, &[]).replacen("\"error\":0", "\"error\":28", 1);
        let error = FioCourse::default().add(&failed, 600).unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert!(FioCourse::default().add("{}", 600).is_err());
    }

    #[test]
    fn reports_are_found_among_other_lines() {
        let text = "note: a\n{\n  \"a\": {\n  }\n}\nfio: more\n{\n2\n}\n{\ncut";
        let found: Vec<_> = reports(text.as_bytes()).collect();
        assert_eq!(found, ["{\n  \"a\": {\n  }\n}\n", "{\n2\n}\n"]);
    }
}
