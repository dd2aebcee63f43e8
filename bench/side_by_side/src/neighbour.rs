//! A noisy neighbour: a process that takes a part of a core, which changes after seconds to minutes.

use std::{
    env, hint,
    os::unix::process::parent_id,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// Shortest and longest burst, seconds.
const BURST_S: [f64; 2] = [2.0, 120.0];
/// Within a burst, work and sleep take turns in this time.
const PERIOD: Duration = Duration::from_millis(20);

/// A time in which the neighbour takes the same part of a core.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Burst {
    length: Duration,
    /// Part of a core, 0 to 1.
    share: f64,
}

/// The bursts of a seed, without end: each share is equally likely, and so is each order of magnitude of the length.
fn bursts(seed: u64) -> impl Iterator<Item = Burst> {
    let mut random = fastrand::Rng::with_seed(seed);
    let [shortest, longest] = BURST_S;
    std::iter::repeat_with(move || Burst {
        length: Duration::from_secs_f64(shortest * (longest / shortest).powf(random.f64())),
        share: random.f64(),
    })
}

/// Is the neighbour, until the process that started it is gone.
pub(crate) fn be_neighbour(seed: u64) {
    let parent = parent_id();
    for burst in bursts(seed) {
        let begin = Instant::now();
        while begin.elapsed() < burst.length {
            if parent_id() != parent {
                return;
            }
            work(PERIOD.mul_f64(burst.share));
            thread::sleep(PERIOD.mul_f64(1.0 - burst.share));
        }
    }
}

/// Takes a core for this time.
fn work(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        hint::spin_loop();
    }
}

/// The running neighbour, which ends with this.
pub(crate) struct Neighbour(Child);

impl Neighbour {
    /// Starts one in a session of its own, as another user's process would be: within the session of the benchmark it
    /// would share the client's part of the CPUs.
    pub(crate) fn start(seed: u64) -> Result<Self> {
        let mut command = Command::new("setsid");
        command.arg(env::current_exe()?);
        command.args(["be-neighbour", "--seed", &seed.to_string()]);
        let child = command.stdin(Stdio::null()).spawn();
        child.map(Self).context("cannot start the neighbour")
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // One that ended by itself needs no end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_come_from_the_seed_and_have_all_shares_and_lengths() {
        let drawn = |seed| -> Vec<Burst> { bursts(seed).take(2000).collect() };
        let all = drawn(1);
        assert_eq!(all, drawn(1));
        assert_ne!(all, drawn(2));
        let lengths = all.iter().map(|it| it.length.as_secs_f64());
        assert!(lengths.clone().all(|it| (2.0..=120.0).contains(&it)));
        // Half of them are shorter than the geometric mean of both ends, 15.5 s.
        let short = lengths.filter(|it| *it < 15.5).count();
        assert!((900..1100).contains(&short), "{short}");
        let busy = all.iter().filter(|it| it.share > 0.5).count();
        assert!((900..1100).contains(&busy), "{busy}");
        assert!(all.iter().all(|it| (0.0..1.0).contains(&it.share)));
    }
}
