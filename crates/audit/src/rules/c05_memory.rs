//! Rule C05: the server's memory settings do not suit the machine's memory.

use samples::{Peer, Telemetry};
use units::{bytes, mean_bytes, percent};

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
    set::Set,
};

/// Largest share of the memory for buffer pool and connections together.
const MOST: f64 = 0.85;
/// Share of the memory below which memory is left unused.
const LEAST: f64 = 0.25;
/// Bytes per second swapped in over the whole run from which the server's threads wait for memory: 16 pages.
const SWAPPED_PER_S: f64 = 65_536.0;
/// Bytes per second swapped in over a window from which the server stalls. Below, it can be any program of the machine
/// that was idle before.
const STALLING_PER_S: f64 = 4_194_304.0;
/// Seconds of such a window: the mean over a long run hides a burst.
const WINDOW_S: f64 = 10.0;
/// Buffers that each connection may allocate.
const PER_CONNECTION: [&str; 5] = [
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "binlog_cache_size",
];

pub(super) const RULE: Rule = Rule {
    id: "C05",
    name: "the server's memory settings suit the machine's memory",
    found: "the server's memory settings do not suit the machine's memory",
    measures: "The sum of the buffer pool and the memory that all connections together may use, compared with the memory of the machine or of the server's control group. The number of bytes swapped in during the measured phase.",
    threshold: "invalid if more than 64 KiB per second were swapped in over the run, or more than 4 MiB per second during any period of 10 s. Note if less was swapped in, by the server or another program. Warn if the sum is more than 85 % of the memory. Warn if the sum is less than 25 % of the memory and the data does not fit into the buffer pool. If the experiment sets the buffer pool size, for example to emulate another machine, a sum of less than 25 % is only a note",
    source: "a published test of two my.cnf files on an ioDrive (November 2012), which describes its buffer pool as 70 % of 32 GB but sets it to 20 GB, or 62 %",
    consequence: "If the buffer pool is too large, the server swaps. If the buffer pool is too small, the kernel's page cache takes over the buffer pool's work. In both cases the figures do not describe InnoDB.",
    remedy: "Give about 70 % of a dedicated machine's memory to the buffer pool. If the sum is too large, use fewer connections or smaller per-connection buffers.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let is_set = set.declared.variables.contains("innodb_buffer_pool_size");
    set.worst(|run| of_run(run, is_set))
}

fn of_run(run: &Run<'_>, is_set: bool) -> Outcome {
    let machine = run.machine()?;
    let pool = run.buffer_pool_bytes()?;
    let group = machine
        .cgroups
        .iter()
        .find(|group| group.of == Peer::Server);
    let limit = group
        .and_then(|group| group.memory_limit_bytes)
        .unwrap_or(u64::MAX);
    let memory = limit.min(machine.memory_bytes) as f64;
    let per_connection: f64 = PER_CONNECTION
        .iter()
        .filter_map(|name| run.number(name))
        .sum();
    let connections = per_connection * f64::from(run.connections());
    let share = (pool + connections) / memory;
    let samples = run.samples()?;
    let swapped = SwapIn::of(&samples);
    let does_not_fit = run.data_bytes().is_ok_and(|data| data > pool);
    let swapped_in_words = swapped.map(SwapIn::in_words).unwrap_or_default();
    let wanted = format!(
        "{swapped_in_words}{} for the buffer pool and up to {} for {} connections add up to {} of the memory ({})",
        mean_bytes(pool),
        mean_bytes(connections),
        run.connections(),
        percent(share),
        mean_bytes(memory)
    );
    let (level, evidence) = match swapped {
        Some(swapped) if swapped.is_slowing() => (Level::Invalid, wanted),
        _ if share > MOST => (Level::Warn, wanted),
        _ if share < LEAST && does_not_fit && is_set => (
            Level::Note,
            format!("{wanted}; the experiment sets the size of the buffer pool"),
        ),
        _ if share < LEAST && does_not_fit => (
            Level::Warn,
            format!("{wanted}; the data does not fit into the buffer pool"),
        ),
        Some(swapped) if swapped.bytes > 0 => (Level::Note, wanted),
        None => return Err(crate::finding::missing("the amount of swapped memory")),
        _ => (Level::Pass, wanted),
    };
    Ok(Finding::new(level, evidence).with("memory_share", share))
}

/// What was swapped in during the measured phase.
#[derive(Clone, Copy)]
struct SwapIn {
    bytes: u64,
    /// The rate over the whole run, bytes per second.
    per_s: f64,
    /// The highest rate of all windows, bytes per second.
    per_s_max: f64,
}

impl SwapIn {
    /// `None` if a sample does not have it.
    fn of(samples: &[&Telemetry]) -> Option<Self> {
        let all_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
        let window_s = WINDOW_S.min(all_s);
        let (mut bytes, mut per_s_max) = (0, 0.0_f64);
        let (mut of_window, mut length_s) = (0, 0.0);
        for sample in samples {
            let swapped = sample.paging?.swapped_in_bytes;
            bytes += swapped;
            of_window += swapped;
            length_s += sample.length_s;
            per_s_max = per_s_max.max(of_window as f64 / window_s.max(length_s));
            if length_s >= window_s {
                (of_window, length_s) = (0, 0.0);
            }
        }
        Some(Self {
            bytes,
            per_s: bytes as f64 / all_s,
            per_s_max,
        })
    }

    /// Whether the server waited for memory.
    fn is_slowing(self) -> bool {
        self.per_s > SWAPPED_PER_S || self.per_s_max > STALLING_PER_S
    }

    /// `4.00 KiB were swapped in by the server or another program; `; empty if nothing was.
    fn in_words(self) -> String {
        if self.bytes == 0 {
            return String::new();
        }
        format!(
            "{} were swapped in by the server or another program, at most {}/s over 10 s; ",
            bytes(self.bytes),
            mean_bytes(self.per_s_max)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn pool(gib: f64) -> Outcome {
        let size = (gib * 1073741824.0) as u64;
        judged(&RULE, |record| {
            set(record, "innodb_buffer_pool_size", &size.to_string())
        })
    }

    #[test]
    fn found() {
        assert_found(&pool(15.0), Level::Warn, "93.8 % of the memory (16.0 GiB)");
        assert_found(&pool(1.0), Level::Warn, "the data does not fit");
        let swapped = |bytes_each: u64| {
            judged(&RULE, |record| {
                each_sample(record, |sample| {
                    sample.paging.as_mut().unwrap().swapped_in_bytes = bytes_each;
                });
            })
        };
        assert_found(&swapped(1 << 20), Level::Invalid, "were swapped in");
        let little = swapped(4096);
        let by_whom = "swapped in by the server or another program";
        assert_found(&little, Level::Note, by_whom);
    }

    #[test]
    fn a_burst_of_swapping_is_not_hidden_by_a_long_run() {
        let burst = |bytes_each: u64, pool: &str| {
            judged(&RULE, |record| {
                set(record, "innodb_buffer_pool_size", pool);
                for sample in &mut record.telemetry[60..65] {
                    sample.paging.as_mut().unwrap().swapped_in_bytes = bytes_each;
                }
            })
        };
        let half = (8_u64 << 30).to_string();
        // 5 MiB in 120 s are 43 KiB/s.
        let outcome = burst(1 << 20, &half);
        assert_found(&outcome, Level::Note, "5.00 MiB were swapped in");
        assert_found(&outcome, Level::Note, "at most 512 KiB/s over 10 s");
        assert_eq!(level(&burst(16 << 20, &half)), Level::Invalid);
        assert_eq!(level(&burst(64 << 10, &half)), Level::Note);
        // A pool that is too large is the worse finding, and the swapped bytes are named.
        let large = burst(4096, &(15_u64 << 30).to_string());
        assert_found(&large, Level::Warn, "20.0 KiB were swapped in");
    }

    #[test]
    fn a_burst_counts_in_a_long_run_if_it_stalls_a_server() {
        let is_slowing = |burst_bytes: u64| {
            let of_window = |number: u32| Telemetry {
                length_s: 10.0,
                paging: Some(samples::Paging {
                    swapped_in_bytes: if number == 50 { burst_bytes } else { 0 },
                    ..samples::Paging::default()
                }),
                ..Telemetry::default()
            };
            let windows: Vec<Telemetry> = (0..100).map(of_window).collect();
            let samples: Vec<&Telemetry> = windows.iter().collect();
            SwapIn::of(&samples).unwrap().is_slowing()
        };
        // 50 MiB in 1000 s are 51 KiB/s.
        assert!(is_slowing(50 << 20));
        assert!(!is_slowing(30 << 20));
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "50 % of the memory (16.0 GiB)",
        );
        assert_eq!(level(&pool(3.0)), Level::Pass, "small, but the data fits");
    }

    #[test]
    fn swapping_that_nobody_saw_is_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| sample.paging = None)
        });
        assert_missing(&outcome, "swapped");
    }
}
