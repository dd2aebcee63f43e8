//! Random requests without fio: a thread for each request in flight, each of which reads or writes and waits.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use hdrhistogram::Histogram;
use reactor::{Interrupt, system_now};
use rustix::fs::OFlags;
use samples::{Access, LatencyBins, Pattern, PatternResult, Requests};

use crate::{
    aligned::{AlignedBuffer, SplitMix},
    commit_probe::latency,
    error::Error,
};

/// More threads than this measure the scheduler.
const THREADS_AT_MOST: u32 = 64;
/// The rate is sampled as fio samples it.
const SAMPLE_EVERY: Duration = Duration::from_millis(500);

/// Runs a pattern of random requests of one kind, all reads or all writes, over the first `file_bytes` of a file.
pub fn native_pattern(
    pattern: &Pattern,
    path: &Path,
    file_bytes: u64,
    direct: bool,
    each: Duration,
    interrupt: &Interrupt,
) -> Result<PatternResult, Error> {
    let is_whole = matches!(pattern.reads_percent, 0 | 100);
    let blocks = file_bytes / pattern.block_bytes;
    if pattern.access != Access::Random
        || !is_whole
        || pattern.depth > THREADS_AT_MOST
        || blocks == 0
    {
        return Err(Error::Patterns(format!(
            "pattern {}: only fio can run it",
            pattern.name
        )));
    }
    let reads = pattern.reads_percent == 100;
    let file = open(path, direct).map_err(Error::io("open", path))?;
    let job = Job {
        file: &file,
        block_bytes: pattern.block_bytes,
        blocks,
        reads,
        end: interrupt.child(),
        done: AtomicU64::new(0),
    };
    let begun = system_now();
    let (threads, rates) = thread::scope(|scope| {
        let job = &job;
        let threads: Vec<_> = (0..pattern.depth)
            .map(|number| scope.spawn(move || job.run(u64::from(number))))
            .collect();
        let rates = job.sample(each);
        let joined = threads.into_iter().map(|it| {
            it.join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
        });
        (joined.collect::<Result<Vec<_>, _>>(), rates)
    });
    let elapsed_s = (system_now() - begun).as_secs_f64();
    if interrupt.is_raised() {
        return Err(Error::Interrupted);
    }
    let mut spans = histogram();
    for one in &threads.map_err(Error::io("measure", path))? {
        spans.add(one).expect("all have the same bounds");
    }
    let iops = spans.len() as f64 / elapsed_s;
    let requests = Requests {
        count: spans.len(),
        iops,
        iops_deviation: deviation(&rates),
        rate_samples: rates.len() as u64,
        bytes_per_s: iops * pattern.block_bytes as f64,
        latency: Some(latency(&spans)),
        latency_bins: LatencyBins::of(
            spans
                .iter_recorded()
                .map(|it| (it.value_iterated_to(), it.count_at_value())),
        ),
        repeats: Vec::new(),
    };
    let (read, write) = if reads {
        (Some(requests), None)
    } else {
        (None, Some(requests))
    };
    Ok(PatternResult {
        pattern: pattern.clone(),
        repeat: 1,
        read,
        write,
        cpu: None,
        machine_cpu: None,
        error: None,
        imported: None,
    })
}

fn open(path: &Path, direct: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    if direct {
        options.custom_flags(OFlags::DIRECT.bits().cast_signed());
    }
    options.open(path)
}

/// What all threads share.
struct Job<'a> {
    file: &'a File,
    block_bytes: u64,
    blocks: u64,
    reads: bool,
    /// Raised when the time is over, by an interruption, or by a thread that fails.
    end: Interrupt,
    done: AtomicU64,
}

impl Job<'_> {
    /// One request after the other until the time is over.
    fn run(&self, seed: u64) -> io::Result<Histogram<u64>> {
        let mut random = SplitMix(seed);
        let mut buffer = AlignedBuffer::random(self.block_bytes as usize, seed);
        let mut spans = histogram();
        while !self.end.is_raised() {
            let at = random.below(self.blocks) * self.block_bytes;
            let begun = system_now();
            let result = if self.reads {
                self.file.read_exact_at(buffer.bytes_mut(), at)
            } else {
                self.file.write_all_at(buffer.bytes(), at)
            };
            if result.is_err() {
                self.end.raise();
            }
            result?;
            spans.saturating_record((system_now() - begun).as_nanos() as u64);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(spans)
    }

    /// Waits for the time to pass, ends the threads and returns the rates of the intervals, per second.
    fn sample(&self, each: Duration) -> Vec<f64> {
        let begun = system_now();
        let mut rates = Vec::new();
        let (mut last_at, mut last_done) = (begun, 0);
        loop {
            let now = system_now();
            if now - last_at >= SAMPLE_EVERY {
                let done = self.done.load(Ordering::Relaxed);
                rates.push((done - last_done) as f64 / (now - last_at).as_secs_f64());
                (last_at, last_done) = (now, done);
            }
            let next = (last_at + SAMPLE_EVERY).min(begun + each);
            if now - begun >= each || self.end.wait(next - now) {
                break;
            }
        }
        self.end.raise();
        rates
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000_000, 3).expect("the bounds are valid")
}

/// Standard deviation of some values; 0 of fewer than two.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_set::mysql_30;

    #[test]
    fn reads_and_writes_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let interrupt = Interrupt::default();
        let run = |pattern: &Pattern| {
            let time = Duration::from_millis(60);
            native_pattern(pattern, &path, 1 << 20, false, time, &interrupt)
        };
        let patterns = mysql_30();
        let (reads, writes) = (&patterns[1], &patterns[11]);
        let result = run(reads).unwrap();
        let read = result.read.as_ref().unwrap();
        assert!(read.count > 0 && result.write.is_none());
        let latency = read.latency.unwrap();
        assert!(latency.p50_ns <= latency.p99_ns);
        assert_eq!(result.bytes_per_s(), result.iops() * 4096.0);
        assert!(run(writes).unwrap().write.unwrap().count > 0);
        let half = &patterns[5];
        assert!(run(half).unwrap_err().to_string().contains("only fio"));
        interrupt.raise();
        assert!(matches!(run(reads), Err(Error::Interrupted)));
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(deviation(&[1.0, 3.0]), 2f64.sqrt());
        assert_eq!(deviation(&[1.0]), 0.0);
    }
}
