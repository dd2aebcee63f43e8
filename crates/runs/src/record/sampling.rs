//! The thread that samples the machine during a load.

use std::{
    collections::VecDeque,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

use reactor::Instant;
use samples::{Collected, Line, RunWriter, WriteError};
use telemetry::Sampler;

/// A shorter last part of an interval is omitted: the kernel's clock ticks are too coarse for it.
const PART_AT_LEAST: Duration = Duration::from_millis(20);

/// Allowed values of `--sample-every`: the kernel's counters tick every 10 ms, so shorter intervals show little.
const EVERY: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(60);

/// Default sampling interval of the server: the record intervals of a short run are shorter, and each sample costs
/// server time that belongs to the load.
const SERVER_EVERY: Duration = Duration::from_secs(1);

/// Sampling intervals of machine and server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cadence {
    /// Of the machine.
    pub machine: Duration,
    /// Of the server's counters.
    pub server: Duration,
}

impl Cadence {
    /// The requested interval for both; by default the record's interval for the machine and one second for the server.
    pub(crate) fn new(asked: Option<Duration>, interval: Duration) -> Self {
        Self {
            machine: asked.unwrap_or(interval),
            server: asked.unwrap_or(SERVER_EVERY),
        }
    }
}

/// Moments at which samples are taken, in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// Samples of the machine and its processes.
    pub machine: Vec<Instant>,
    /// Readings of the server's counters.
    pub server: Vec<Instant>,
}

/// Parses the value of `--sample-every`.
pub fn sample_every(text: &str) -> Result<Duration, String> {
    let every = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; for example 100ms or 5s"))?;
    if !EVERY.contains(&every) {
        return Err("from 100ms to 60s".to_owned());
    }
    Ok(every)
}

/// Orders for the thread while it samples.
enum Order {
    /// The server has this process from now on.
    ServerRuns(u32),
    /// Samples are taken at these moments, and no longer at the interval.
    SampleAt(Vec<Instant>),
    Stop,
}

/// Samples from the start of a load to its end.
pub(crate) struct Sampling {
    orders: Sender<Order>,
    thread: JoinHandle<Sampled>,
}

pub(crate) struct Sampled {
    pub sampler: Sampler,
    pub collected: Collected,
    /// The line that could not be written, which ended the sampling.
    pub failed: Option<WriteError>,
}

/// Inputs of the thread.
struct Work {
    sampler: Sampler,
    writer: RunWriter,
    started: Instant,
    every: Duration,
    /// The moments of the samples to come; `None` for samples at the interval.
    moments: Option<VecDeque<Instant>>,
    collected: Collected,
}

impl Sampling {
    /// Starts to sample at this interval, at the start of the load.
    pub(crate) fn start(
        sampler: Sampler,
        writer: RunWriter,
        started: Instant,
        every: Duration,
    ) -> Self {
        let (orders, received) = channel();
        let mut work = Work {
            sampler,
            writer,
            started,
            every,
            moments: None,
            collected: Collected {
                collector: "machine".to_owned(),
                every_s: every.as_secs_f64(),
                ..Collected::default()
            },
        };
        let thread = std::thread::spawn(move || {
            let failed = work.until_stopped(&received).err();
            Sampled {
                sampler: work.sampler,
                collected: work.collected,
                failed,
            }
        });
        Self { orders, thread }
    }

    /// The server was restarted, and has this process from now on.
    pub(crate) fn server_runs(&self, pid: u32) {
        // A thread that has already ended samples nothing more.
        let _ = self.orders.send(Order::ServerRuns(pid));
    }

    /// Takes samples at these moments, which are later than all before; from now on no longer at the interval.
    pub(crate) fn sample_at(&self, moments: Vec<Instant>) {
        // A thread that has already ended samples nothing more.
        let _ = self.orders.send(Order::SampleAt(moments));
    }

    /// Takes the last sample and ends.
    pub(crate) fn stop(self) -> Sampled {
        // A thread that has already ended no longer receives it.
        let _ = self.orders.send(Order::Stop);
        match self.thread.join() {
            Ok(sampled) => sampled,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Work {
    fn until_stopped(&mut self, orders: &Receiver<Order>) -> Result<(), WriteError> {
        // The time between the sampler's first reading and the start is not recorded.
        let mut last = self.elapsed();
        let started = self.started;
        self.sampler.sample(&|| elapsed_s(started));
        let mut due = self.every;
        loop {
            let order = match self.until_next(due) {
                Some(wait) => orders.recv_timeout(wait),
                None => orders.recv().map_err(RecvTimeoutError::from),
            };
            let is_over = match order {
                Ok(Order::ServerRuns(pid)) => {
                    self.sampler.server_runs(pid);
                    continue;
                }
                Ok(Order::SampleAt(moments)) => {
                    self.moments.get_or_insert_default().extend(moments);
                    continue;
                }
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => true,
                Err(RecvTimeoutError::Timeout) => false,
            };
            let now = self.elapsed();
            if !is_over || now - last >= PART_AT_LEAST {
                last = now;
                self.sample(now)?;
            }
            if is_over {
                return Ok(());
            }
            match &mut self.moments {
                Some(moments) => {
                    let passed = pass(moments, reactor::system_now());
                    self.collected.missed += passed.saturating_sub(1);
                }
                None => {
                    due += self.every;
                    while due <= self.elapsed() {
                        due += self.every;
                        self.collected.missed += 1;
                    }
                }
            }
        }
    }

    /// Time until the next sample, at the interval due at this time after the start; `None` while none is planned.
    fn until_next(&self, due: Duration) -> Option<Duration> {
        match &self.moments {
            Some(moments) => moments.front().map(|next| *next - reactor::system_now()),
            None => Some(due.saturating_sub(self.elapsed())),
        }
    }

    fn sample(&mut self, now: Duration) -> Result<(), WriteError> {
        let started = self.started;
        let telemetry = self.sampler.sample(&|| elapsed_s(started));
        self.writer.append(&Line::Telemetry(Box::new(telemetry)))?;
        let collected = &mut self.collected;
        let took_s = (reactor::system_now() - self.started)
            .saturating_sub(now)
            .as_secs_f64();
        collected.samples += 1;
        collected.length_s = now.as_secs_f64();
        collected.longest_s = collected.longest_s.max(took_s);
        // The thread does nothing else: its total CPU time is the cost of collecting.
        collected.cpu_s = reactor::thread_cpu_time().as_secs_f64();
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        reactor::system_now() - self.started
    }
}

/// The time since the start of the load, seconds.
fn elapsed_s(started: Instant) -> f64 {
    (reactor::system_now() - started).as_secs_f64()
}

/// Removes the moments up to this time; returns their number.
fn pass(moments: &mut VecDeque<Instant>, now: Instant) -> u64 {
    let passed = moments.partition_point(|moment| *moment <= now);
    moments.drain(..passed);
    passed as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_sample_passes_the_moments_before_it() {
        let at = Instant::from_ns;
        let mut moments: VecDeque<Instant> = [10, 20, 30].map(at).into();
        for (now, passed) in [(9, 0), (10, 1), (35, 2), (40, 0)] {
            assert_eq!(pass(&mut moments, at(now)), passed, "at {now}");
        }
    }

    #[test]
    fn how_often_has_limits() {
        assert_eq!(sample_every("100ms"), Ok(Duration::from_millis(100)));
        assert_eq!(sample_every("1m"), Ok(Duration::from_secs(60)));
        for text in ["99ms", "61s", "0s", "often", ""] {
            assert!(sample_every(text).is_err(), "{text:?}");
        }
    }
}
