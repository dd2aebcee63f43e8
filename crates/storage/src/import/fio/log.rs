//! fio's log of requests per second: `1000, 7986, 0, 0, 0` is milliseconds, requests per second, direction, block size,
//! offset.

use std::collections::BTreeMap;

/// A longer course is none: a day, seconds.
const SECONDS_MAX: u64 = 86_400;
/// Times above this are those of a clock (`log_unix_epoch`), not of the run: three years, milliseconds.
const OF_A_CLOCK_MS: u64 = 100_000_000_000;
/// A higher rate is no rate.
const RATE_MAX: f64 = 1e12;

/// `NAME_iops.1.log`, or `NAME_iops.log` of all threads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogName {
    pub(super) prefix: String,
    pub(super) thread: Option<u64>,
}

impl LogName {
    /// `None` for a file of another name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".log")?;
        if let Some(prefix) = name.strip_suffix("_iops") {
            let prefix = prefix.to_owned();
            return Some(Self {
                prefix,
                thread: None,
            });
        }
        let (name, thread) = name.rsplit_once('.')?;
        Some(Self {
            prefix: name.strip_suffix("_iops")?.to_owned(),
            thread: Some(thread.parse().ok()?),
        })
    }
}

/// Requests of each second, of all directions together. `avg_ms` is what a line stands for, milliseconds; 0 for a line of
/// each request. A second without a line is 0.
pub(super) fn course(log: &str, avg_ms: u64) -> Vec<f64> {
    let lines: Vec<(u64, f64, u8)> = log.lines().filter_map(line).collect();
    let begin_ms = match lines.first() {
        Some((first_ms, ..)) if *first_ms > OF_A_CLOCK_MS => first_ms.saturating_sub(avg_ms),
        _ => 0,
    };
    // Sum and number of the lines by second and direction.
    let mut seconds: BTreeMap<(u64, u8), (f64, u32)> = BTreeMap::new();
    for (time_ms, rate, direction) in lines {
        for second in seconds_of(time_ms.saturating_sub(begin_ms), avg_ms) {
            let (sum, count) = seconds.entry((second, direction)).or_default();
            *sum += rate;
            *count += 1;
        }
    }
    let length = seconds.keys().map(|(second, _)| second + 1).max();
    let mut course = vec![0.0; length.unwrap_or(0) as usize];
    for ((second, _), (sum, count)) in seconds {
        let share = if avg_ms == 0 { 1 } else { count };
        course[second as usize] += sum / f64::from(share);
    }
    course
}

/// The seconds that a line stands for; none after a day. fio writes a line some milliseconds after its interval.
fn seconds_of(time_ms: u64, avg_ms: u64) -> std::ops::Range<u64> {
    let (begin_ms, length_ms) = match avg_ms {
        0 => (time_ms.saturating_sub(1), 0),
        _ => {
            let intervals = (time_ms as f64 / avg_ms as f64).round().max(1.0);
            (((intervals - 1.0) * avg_ms as f64) as u64, avg_ms)
        }
    };
    let first = begin_ms / 1000;
    let end = first.saturating_add((length_ms / 1000).max(1));
    if end > SECONDS_MAX { 0..0 } else { first..end }
}

/// Milliseconds, rate and direction of a line.
fn line(text: &str) -> Option<(u64, f64, u8)> {
    let mut fields = text.split(',').map(str::trim);
    let time_ms = fields.next()?.parse().ok()?;
    let rate: f64 = fields.next()?.parse().ok()?;
    let direction = fields.next()?.parse().ok()?;
    (0.0..RATE_MAX)
        .contains(&rate)
        .then_some((time_ms, rate, direction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_prefix_and_a_thread() {
        let name = |text| LogName::of(text).map(|it| (it.prefix, it.thread));
        assert_eq!(name("a_iops.12.log"), Some(("a".to_owned(), Some(12))));
        assert_eq!(name("a_b_iops.log"), Some(("a_b".to_owned(), None)));
        for bad in ["a_bw.1.log", "a_iops.x.log", "a.log", "a_iops.1.txt"] {
            assert_eq!(name(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_course_has_a_number_for_each_second() {
        let seconds =
            "1000, 14000, 0, 0, 0\n2001, 300, 0, 0, 0\n2001, 100, 1, 0, 0\n4000, 7, 0, 4096\n";
        assert_eq!(course(seconds, 1000), [14000.0, 400.0, 0.0, 7.0]);
        let halves = "500, 10, 0, 0\n1001, 30, 0, 0\n1500, 50, 0, 0\n2002, 70, 0, 0\n";
        assert_eq!(course(halves, 500), [20.0, 60.0]);
        let two = "2000, 5, 0, 0\n4000, 7, 0, 0\n";
        assert_eq!(course(two, 2000), [5.0, 5.0, 7.0, 7.0]);
        let each = "0, 1, 0, 4096\n10, 1, 1, 4096\n1500, 1, 0, 4096\n";
        assert_eq!(course(each, 0), [2.0, 1.0]);
        let clock = "1795498781000, 5, 0, 0\n1795498782000, 6, 0, 0\n";
        assert_eq!(course(clock, 1000), [5.0, 6.0]);
        for none in ["", "x\n", "1000, nan, 0\n", "99999999999, 1, 0\n"] {
            assert!(course(none, 1000).is_empty(), "{none}");
        }
    }
}
