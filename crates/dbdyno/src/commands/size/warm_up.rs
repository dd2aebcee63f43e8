//! Whether the warm-up of an emulated target fills its buffer pool.

use experiment::{Experiment, PlannedRun};
use sizing::{EMULATED, EMULATED_LEVELS};

use super::experiment_check::{buffer_pool_bytes, first_block};

/// Size of a page of InnoDB.
const PAGE_BYTES: f64 = 16_384.0;

/// A note if the warm-up of a target with limited reads ends before its buffer pool is full: operations of the
/// measurement then read more pages than those of the target. The data may be smaller than the buffer pool.
pub(super) fn short_warm_up(experiment: &Experiment) -> Option<String> {
    let [_, emulated] = EMULATED_LEVELS;
    let is_of_target = |run: &&PlannedRun| {
        let level = run.combination.get(EMULATED);
        level.is_some_and(|level| level == emulated)
    };
    let mut runs = first_block(experiment).filter(is_of_target);
    runs.find_map(|run| {
        let read_iops = run.server.limit().disk.read_iops? as f64;
        let pool_bytes = buffer_pool_bytes(run)?;
        let warm_up_s = run.loads.first()?.spec.warmup.at_most().as_secs_f64();
        let full_after_s = pool_bytes as f64 / PAGE_BYTES / read_iops;
        (warm_up_s < full_after_s).then(|| {
            format!(
                "the warm-up of {} may be too short: at {} reads/s, a buffer pool of {} is full after {}",
                units::moment(warm_up_s),
                units::count(read_iops),
                units::bytes(pool_bytes),
                units::moment(full_after_s)
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use benchmarks::VOCABULARY;
    use experiment::Overrides;

    use super::*;

    const FILE: &str = r#"format = 1
repeats = 2
zip = ["emulated", "reads"]

[matrix]
emulated = [{ label = "no", value = "none" }, { label = "yes", value = "1" }]
reads = ["none", "READS"]

[server]
limit = { cpus = "{emulated}", read_iops = "{reads}" }
set = { innodb_buffer_pool_size = "96M" }

[data]
oltp = { tables = 1, table_size = "1M" }

[load]
oltp = { script = "read_write" }
connections = 16
warmup = "12s"
duration = "8s"
"#;

    fn note(reads: &str) -> Option<String> {
        let text = FILE.replace("READS", reads);
        let path = Path::new("/a/shop.toml");
        let experiment = Experiment::parse(path, &text, &Overrides::default(), &VOCABULARY);
        short_warm_up(&experiment.unwrap())
    }

    #[test]
    fn a_warm_up_that_does_not_fill_the_buffer_pool_is_noted() {
        // 96 MiB are 6144 pages: 6.1 s at 1000 reads per second, and 20.5 s at 300.
        assert_eq!(note("1000"), None);
        let expected = "the warm-up of 12 s may be too short: at 300 reads/s, a buffer pool of 96.0 MiB is full after \
                        20.5 s";
        assert_eq!(note("300").as_deref(), Some(expected));
    }
}
