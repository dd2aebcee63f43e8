//! The repeats of a pattern as one result: means of rates, percentiles of all requests together.

use crate::{
    latency::{Latency, LatencyBins},
    measurement_cpu::MeasurementCpu,
    storage_record::StorageRecord,
    storage_results::{PatternResult, Repeat, Requests},
};

impl StorageRecord {
    /// The same record with one result for each pattern, in the order of the set. Where patterns were repeated, its rates are
    /// means over the repeats, and [`Requests::repeats`] has the figures of each one. Percentiles are those of the merged
    /// bins; without bins those of the median repeat, never a mean of percentiles. The bins are left out.
    pub fn over_repeats(&self) -> Self {
        let mut record = self.clone();
        if self.header.repeats > 1 {
            record.patterns = self.repeats_together();
        }
        let rounds = record.rounds.iter_mut().map(|it| &mut it.result);
        for result in record.patterns.iter_mut().chain(rounds) {
            for side in result.read.iter_mut().chain(&mut result.write) {
                side.latency_bins = LatencyBins::default();
            }
        }
        record
    }

    fn repeats_together(&self) -> Vec<PatternResult> {
        let mut groups: Vec<Vec<&PatternResult>> = Vec::new();
        for result in &self.patterns {
            let is_same = |group: &&mut Vec<&PatternResult>| group[0].pattern == result.pattern;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.push(result),
                None => groups.push(vec![result]),
            }
        }
        let place = |group: &Vec<&PatternResult>| {
            let mut planned = self.header.patterns.iter();
            planned.position(|it| *it == group[0].pattern)
        };
        groups.sort_by_key(place);
        groups.iter().map(|group| together(group)).collect()
    }
}

/// The results of one pattern as one; at least one.
fn together(results: &[&PatternResult]) -> PatternResult {
    if let [one] = results {
        return (*one).clone();
    }
    let side = |of: fn(&PatternResult) -> Option<&Requests>| {
        let sides: Option<Vec<&Requests>> = results.iter().map(|it| of(it)).collect();
        sides.map(|sides| requests(&sides))
    };
    let cpus: Option<Vec<f64>> = results.iter().map(|it| it.cpu).collect();
    let machine_cpus = results.iter().filter_map(|it| it.machine_cpu.as_ref());
    PatternResult {
        read: side(|it| it.read.as_ref()),
        write: side(|it| it.write.as_ref()),
        cpu: cpus.map(|cpus| mean(&cpus)),
        machine_cpu: MeasurementCpu::together(machine_cpus),
        error: results.iter().find_map(|it| it.error.clone()),
        ..results[0].clone()
    }
}

fn requests(sides: &[&Requests]) -> Requests {
    let of_each = |of: fn(&Requests) -> f64| {
        let values: Vec<f64> = sides.iter().map(|it| of(it)).collect();
        mean(&values)
    };
    let latencies: Option<Vec<Latency>> = sides.iter().map(|it| it.latency).collect();
    Requests {
        count: sides.iter().map(|it| it.count).sum(),
        iops: of_each(|it| it.iops),
        // Pooled: the repeats' means differ by what `repeats` shows.
        iops_deviation: of_each(|it| it.iops_deviation.powi(2)).sqrt(),
        // A repeat that was sampled too few times tells nothing of its inside.
        rate_samples: sides.iter().map(|it| it.rate_samples).min().unwrap_or(0),
        bytes_per_s: of_each(|it| it.bytes_per_s),
        latency: latencies.and_then(|all| latency(sides, &all)),
        latency_bins: LatencyBins::default(),
        repeats: sides
            .iter()
            .map(|it| Repeat {
                iops: it.iops,
                latency: it.latency,
            })
            .collect(),
    }
}

/// The latency of all requests together.
fn latency(sides: &[&Requests], latencies: &[Latency]) -> Option<Latency> {
    let count: u64 = sides.iter().map(|it| it.count).sum();
    let both = sides.iter().zip(latencies);
    let weighted = both.map(|(side, latency)| latency.mean_ns * side.count as f64);
    let mean_ns = weighted.sum::<f64>() / count.max(1) as f64;
    let max_ns = latencies.iter().map(|it| it.max_ns).max()?;
    if sides.iter().all(|it| !it.latency_bins.is_empty()) {
        let bins = LatencyBins::merged(sides.iter().map(|it| &it.latency_bins));
        return bins.latency(mean_ns, max_ns);
    }
    let median = |of: fn(&Latency) -> u64| {
        let mut values: Vec<u64> = latencies.iter().map(of).collect();
        values.sort_unstable();
        values.get((values.len() - 1) / 2).copied()
    };
    Some(Latency {
        mean_ns,
        p50_ns: median(|it| it.p50_ns)?,
        p95_ns: median(|it| it.p95_ns)?,
        p99_ns: median(|it| it.p99_ns)?,
        p999_ns: median(|it| it.p999_ns)?,
        max_ns,
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        storage_results::{Access, Pattern},
        telemetry::{MachineUse, ProgramUse},
        testing::storage_header,
    };

    fn pattern(depth: u32) -> Pattern {
        Pattern {
            name: format!("q{depth}"),
            access: Access::Random,
            block_bytes: 4096,
            reads_percent: 100,
            depth,
        }
    }

    /// Reads with this rate, of which one in ten takes `slow_ns`.
    fn result(depth: u32, repeat: u32, iops: f64, slow_ns: u64) -> PatternResult {
        let bins = LatencyBins::of([(100, 90), (slow_ns, 10)]);
        PatternResult {
            pattern: pattern(depth),
            repeat,
            read: Some(Requests {
                count: 100,
                iops,
                iops_deviation: iops * 0.1,
                rate_samples: 4,
                bytes_per_s: iops * 4096.0,
                latency: bins.latency(100.0, slow_ns),
                latency_bins: bins,
                repeats: Vec::new(),
            }),
            write: None,
            cpu: None,
            machine_cpu: None,
            error: None,
            imported: None,
        }
    }

    fn record(patterns: Vec<PatternResult>) -> StorageRecord {
        let mut header = storage_header();
        header.patterns = vec![pattern(1), pattern(8)];
        header.repeats = 3;
        StorageRecord {
            patterns,
            ..StorageRecord::new(header)
        }
    }

    #[test]
    fn repeats_become_one_result_in_the_order_of_the_set() {
        let measured = record(vec![
            result(8, 1, 900.0, 4_000),
            result(1, 1, 100.0, 1_000),
            result(1, 2, 200.0, 9_000),
            result(8, 2, 900.0, 4_000),
            result(1, 3, 300.0, 2_000),
        ]);
        let both = measured.over_repeats().patterns;
        let depths: Vec<u32> = both.iter().map(|it| it.pattern.depth).collect();
        assert_eq!(depths, [1, 8]);
        let first = &both[0];
        assert_eq!(first.iops(), 200.0);
        assert_eq!(first.repeat_iops(), [100.0, 200.0, 300.0]);
        let latency = first.read.as_ref().unwrap().latency.unwrap();
        // Of 300 requests 30 are slow: the 95th percentile is the median of the slow ones, no mean of three percentiles.
        assert_eq!((latency.p95_ns, latency.p99_ns), (2_000, 9_000));
        assert_eq!(first.between(), Some(0.5));
        assert_eq!(first.variation(), Some(0.5), "the larger one of both");
        assert!(first.is_noisy() && !both[1].is_noisy());
        assert_eq!(both[1].between(), Some(0.0));
        assert!(
            both[1]
                .variation()
                .is_some_and(|it| (it - 0.1).abs() < 1e-9)
        );
    }

    #[test]
    fn without_bins_the_median_repeat_gives_each_percentile() {
        let mut results = vec![
            result(1, 1, 100.0, 1_000),
            result(1, 2, 100.0, 9_000),
            result(1, 3, 100.0, 2_000),
        ];
        for it in &mut results {
            it.read.as_mut().unwrap().latency_bins = LatencyBins::default();
        }
        let both = record(results).over_repeats();
        let read = both.patterns[0].read.as_ref().unwrap();
        assert_eq!(read.latency.unwrap().p99_ns, 2_000);
        assert_eq!(read.p99_range_ns(), Some((1_000, 9_000)));
    }

    #[test]
    fn one_run_of_each_stays_as_it_is() {
        let mut measured = record(vec![result(8, 1, 900.0, 1_000)]);
        for repeats in [3, 1] {
            measured.header.repeats = repeats;
            let mut shown = measured.over_repeats();
            let read = shown.patterns[0].read.as_mut().unwrap();
            assert!(read.latency_bins.is_empty());
            read.latency_bins = LatencyBins::of([(100, 90), (1_000, 10)]);
            assert_eq!(shown, measured);
        }
        assert_eq!(measured.patterns[0].between(), None);
    }

    #[test]
    fn the_cpu_time_is_that_of_all_repeats() {
        let measured = |user_s: f64, program: &str| MeasurementCpu {
            machine: MachineUse {
                user_s,
                ..MachineUse::default()
            },
            own_user_s: 0.25,
            programs: vec![ProgramUse {
                name: program.to_owned(),
                user_s: 0.5,
            }],
        };
        let mut results = vec![
            result(1, 1, 100.0, 1_000),
            result(1, 2, 100.0, 1_000),
            result(1, 3, 100.0, 1_000),
        ];
        let summed = |results: &[PatternResult]| {
            let together = record(results.to_vec()).over_repeats();
            together.patterns[0].machine_cpu.clone()
        };
        assert_eq!(summed(&results), None);
        results[0].machine_cpu = Some(measured(1.0, "rustc"));
        results[2].machine_cpu = Some(measured(2.0, "rustc"));
        let sum = summed(&results).unwrap();
        assert_eq!((sum.machine.user_s, sum.own_user_s), (3.0, 0.5));
        let programs: Vec<(&str, f64)> = sum
            .programs
            .iter()
            .map(|it| (it.name.as_str(), it.user_s))
            .collect();
        assert_eq!(programs, [("rustc", 1.0)]);
        // As many as one measurement has, the busiest first.
        for (result, program) in results.iter_mut().zip(["cc1", "ld", "tar"]) {
            let mut measured = measured(1.0, "rustc");
            let other = ProgramUse {
                name: program.to_owned(),
                user_s: 0.75,
            };
            measured.programs.insert(0, other);
            result.machine_cpu = Some(measured);
        }
        let sum = summed(&results).unwrap();
        let names: Vec<&str> = sum.programs.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["rustc", "cc1", "ld"]);
    }
}
