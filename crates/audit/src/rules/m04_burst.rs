//! Rule M04: the disk became slower during the run, as at the end of burst credits.

use samples::{BlockDevice, StorageRecord};
use stats::{Threshold, burst, change_points};
use units::{change, count, counted, moment, per_s};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::{RAMP, Run},
};

/// Relative drop from which the disk changed its performance class.
const DROP: f64 = 0.3;
/// Probability of such a change from noise alone.
const P_VALUE: f64 = 0.001;
/// Requests per second below which the disk does not matter.
const REQUESTS: f64 = 50.0;
/// Samples below which a drop is one of a few seconds, and no change of the disk.
const SAMPLES_AT_LEAST: usize = 12;
/// Largest distance between the two drops, samples.
const TOGETHER: usize = 3;
/// Shortest burst of cloud disks, seconds.
const BURST_S: f64 = 180.0;
/// Parts of the model names of disks that may have burst credits: the name is the same for all types of a cloud's volumes,
/// of which only some have credits (gp2 and not gp3).
const BURSTABLE: &[&str] = &[
    "Elastic Block Store",
    "PersistentDisk",
    "Virtual Disk",
    "BlockVolume",
];

pub(super) const RULE: Rule = Rule {
    id: "M04",
    name: "the disk did not use up its burst credit",
    found: "the disk became slower during the run",
    measures: "Change points in the requests per second of the data directory's disk and in the throughput, during the measured phase. The model of the disk. With planned events, only the time before the first event counts. With stages, each stage is judged separately, except ramps. For storage: drops in each time series, and the longest time that was measured in one pattern, in one time series or in all rounds together.",
    threshold: "fail if the disk's requests and the throughput drop by 30 % or more at the same time. Warn if the measurement is shorter than 180 s on a disk that may have burst credits. For storage: fail if a time series drops by 30 % or more and stays low. For storage, note if the measurement is shorter than 180 s on any other disk",
    source: "MySQL 5.6 parameter review (MyNA, 2013): the rate dropped from 14,000 requests per second to between 300 and 600; tests of 16 s did not show the drop, and 30 s of rest restored the rate",
    consequence: "The mean mixes the rate during the burst with the rate after it. In production, the disk has only the rate after the burst.",
    remedy: "Measure until the burst credit is used up, and report the disk's rate after that point; or use a disk without bursts.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    if run.is_ramp() {
        return Err(no_subject(RAMP));
    }
    let samples = run.samples()?;
    let measured_s = run.measured_s()?;
    let first_event_s = run.record.first_event_s();
    let disks: Vec<_> = samples
        .iter()
        .filter(|it| it.t_s + it.length_s <= first_event_s)
        .filter_map(|it| Some((it.length_s, it.disk.as_ref()?)))
        .collect();
    if disks.is_empty() {
        return Err(missing("the disk of the data directory"));
    }
    let requests: Vec<f64> = disks
        .iter()
        .map(|(length_s, disk)| (disk.reads + disk.writes) as f64 / length_s)
        .collect();
    let mean = requests.iter().sum::<f64>() / requests.len() as f64;
    if mean < REQUESTS {
        return Err(no_subject(format!(
            "the disk had only {} requests per second",
            count(mean)
        )));
    }
    let threshold = Threshold {
        p_value: P_VALUE,
        change: DROP,
    };
    let drops = |series: &[f64]| -> Vec<(f64, stats::ChangePoint)> {
        let points = change_points(series, threshold).into_iter();
        let places = points.map(|point| (point.at as f64 / series.len() as f64, point));
        places
            .filter(|(_, point)| point.ratio() <= 1.0 - DROP)
            .collect()
    };
    let course = run.course();
    let of_load = drops(&course);
    let near = TOGETHER as f64 / course.len().min(requests.len()).max(1) as f64;
    let is_short = requests.len().min(course.len()) < SAMPLES_AT_LEAST;
    let together = drops(&requests)
        .into_iter()
        .filter(|_| !is_short)
        .find(|(at, _)| of_load.iter().any(|(other, _)| (at - other).abs() <= near));
    let model = burstable_model(run);
    let (level, evidence) = match (together, model) {
        (Some((at, point)), _) => (
            Level::Fail,
            format!(
                "after {} the disk dropped from {} to {} requests per second ({}), and so did the throughput",
                moment(at * measured_s),
                count(point.before),
                count(point.after),
                change(point.ratio())
            ),
        ),
        (None, Some(model)) if measured_s < BURST_S => (
            Level::Warn,
            format!(
                "the measurement lasted only {} on a disk that may have burst credits ({model})",
                moment(measured_s)
            ),
        ),
        _ if is_short => {
            let taken = counted(requests.len(), "sample");
            return Err(missing(format!(
                "{SAMPLES_AT_LEAST} samples of the disk (only {taken} taken)"
            )));
        }
        _ => (
            Level::Pass,
            format!(
                "{} requests per second, without a drop of 30 %",
                count(mean)
            ),
        ),
    };
    Ok(Finding::new(level, evidence).with("disk_requests_per_s", mean))
}

fn burstable_model<'r>(run: &Run<'r>) -> Option<&'r str> {
    let storage = run.record.storage.iter();
    burstable(storage.flat_map(|storage| &storage.devices))
}

fn burstable<'d>(devices: impl Iterator<Item = &'d BlockDevice>) -> Option<&'d str> {
    let mut models = devices.filter_map(|device| device.model.as_deref());
    models.find(|model| BURSTABLE.iter().any(|part| model.contains(part)))
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let courses = record.bursts.iter().filter(|it| !it.is_recovery);
    let lengths = courses.clone().map(|it| it.iops.len() as f64);
    let of_patterns = record.patterns.iter().map(|it| record.measured_s(it));
    let rounds_s = record.header.each_s * record.rounds.len() as f64;
    let longest_s = lengths.chain(of_patterns).fold(rounds_s, f64::max);
    if longest_s == 0.0 {
        return Err(no_subject("only commits were measured"));
    }
    let ended = courses.clone().find_map(|it| Some((it, burst(&it.iops)?)));
    let longest = moment(longest_s);
    let model = burstable(record.header.storage.devices.iter());
    let (level, evidence) = match (ended, model) {
        (Some((cell, end)), _) => (
            Level::Fail,
            format!(
                "{}: after {} the disk dropped from {} to {}",
                cell.pattern.name,
                moment(end.end as f64),
                per_s(end.before),
                per_s(end.after)
            ),
        ),
        (None, Some(model)) if longest_s < BURST_S => (
            Level::Warn,
            format!(
                "the longest measurement lasted {longest} on a disk that may have burst credits ({model})"
            ),
        ),
        (None, None) if longest_s < BURST_S => (
            Level::Note,
            format!("the longest measurement lasted {longest}: a burst may last longer"),
        ),
        _ => (
            Level::Pass,
            format!("measured for up to {longest}, without a drop of 30 %"),
        ),
    };
    Ok(Finding::new(level, evidence).with("longest_s", longest_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            for interval in record.intervals.iter_mut().filter(|it| it.t_s >= 80.0) {
                interval.operations[0].count /= 4;
            }
            each_sample(record, |sample| {
                let late = sample.t_s >= 80.0;
                let wobble = (sample.t_s as u64 * 7) % 13;
                sample.disk.as_mut().unwrap().writes = if late { 150 } else { 700 } + wobble;
            });
        });
        assert_found(
            &outcome,
            Level::Fail,
            "after 60 s the disk dropped from 706 to 156",
        );
        let outcome = judged(&RULE, |record| {
            record.storage[0].devices[0].model = Some("Amazon Elastic Block Store".to_owned());
        });
        assert_found(
            &outcome,
            Level::Warn,
            "the measurement lasted only 120 s on a disk that may have burst credits",
        );
    }

    #[test]
    fn a_run_of_seconds_cannot_tell() {
        let outcome = judged(&RULE, |record| {
            record.intervals.retain(|it| it.t_s < 25.0);
            for interval in record.intervals.iter_mut().filter(|it| it.t_s >= 23.0) {
                interval.operations[0].count /= 4;
            }
            record.telemetry.retain(|it| it.t_s < 25.0);
            each_sample(record, |sample| {
                sample.disk.as_mut().unwrap().writes = if sample.t_s >= 23.0 { 150 } else { 700 };
            });
        });
        assert_missing(&outcome, "12 samples of the disk (only 5 samples taken)");
    }

    #[test]
    fn storage_has_to_be_measured_beyond_a_burst() {
        let outcome = judged_storage(&RULE, |_| {});
        assert_found(
            &outcome,
            Level::Note,
            "lasted 60 s: a burst may last longer",
        );
        let outcome = judged_storage(&RULE, |record| {
            let model = "Amazon Elastic Block Store".to_owned();
            record.header.storage.devices[0].model = Some(model);
        });
        assert_found(&outcome, Level::Warn, "may have burst credits");
        let falling = judged_storage(&RULE, |record| {
            record.bursts = vec![course(&[14_000.0, 400.0, 400.0])];
        });
        assert_found(
            &falling,
            Level::Fail,
            "after 60 s the disk dropped from 14.0k/s to 400/s",
        );
        let level_one = judged_storage(&RULE, |record| {
            record.bursts = vec![course(&[14_000.0; 3])];
        });
        assert_found(&level_one, Level::Pass, "up to 180 s");
        let steady = judged_storage(&RULE, |record| record.rounds = rounds(&[1_000.0; 5]));
        assert_eq!(level(&steady), Level::Pass);
        assert_no_subject(&judged_storage(&RULE, |record| record.patterns.clear()));
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "700 requests per second",
        );
    }

    #[test]
    fn a_disk_that_nobody_saw_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| each_sample(record, |it| it.disk = None)),
            "disk",
        );
        assert_no_subject(&judged(&RULE, |record| {
            each_sample(record, |it| it.disk.as_mut().unwrap().writes = 2);
        }));
    }
}
