//! Contradictions between what a record says of its load: what was offered, done, refused and left.

use samples::{Edge, Interval, Phase, Record};
use units::{count, fine_percent, per_s, percent};

/// Largest deviation of one count from another that says the same, as a share.
const COUNT: f64 = 0.01;
/// Operations of difference that no share is taken of.
const COUNT_AT_LEAST: f64 = 50.0;
/// Largest deviation of a share of the ceiling from the figures that it is made of.
const CEILING: f64 = 0.05;
/// Standard deviations by which the number of Poisson arrivals may be off.
const DEVIATIONS: f64 = 6.0;

/// Operations of a phase that came back or failed for good, in whatever phase that was.
fn of_measurement(record: &Record) -> u64 {
    let in_time = record.measured_intervals().flat_map(|it| &it.operations);
    let carried = record
        .intervals
        .iter()
        .flat_map(|it: &Interval| &it.carried);
    let carried = carried.filter(|it| it.due_in == Phase::Measurement);
    let later = carried.flat_map(|it| &it.operations);
    in_time.chain(later).map(|it| it.count + it.errors).sum()
}

/// Checks that the operations that were due are those that came back, failed or were left.
pub(super) fn due(record: &Record) -> Option<String> {
    let offered = record.offered.as_ref()?;
    let back = of_measurement(record);
    let all = back + offered.not_started + offered.unfinished;
    let room =
        (COUNT * all as f64).max(COUNT_AT_LEAST) + 2.0 * f64::from(record.header.connections);
    let apart = (offered.due as f64 - all as f64).abs();
    (apart > room).then(|| {
        format!(
            "{} operations were due in the measurement, but {} were answered or reported as unfinished",
            count(offered.due as f64),
            count(all as f64)
        )
    })
}

/// Checks that a rate makes the operations that were due.
pub(super) fn rate(record: &Record) -> Option<String> {
    let offered = record.offered.as_ref()?;
    let rate = offered.rate_per_s?;
    // Stages and several loads have rates of their own.
    if !record.stages.is_empty() {
        return None;
    }
    let (begin_s, end_s) = record.measured_window_s()?;
    let expected = rate * (end_s - begin_s);
    let room = (COUNT * expected).max(DEVIATIONS * expected.sqrt()) + rate.max(COUNT_AT_LEAST);
    let apart = (offered.due as f64 - expected).abs();
    (apart > room).then(|| {
        format!(
            "at the rate of {}, {} operations would be due, but {} were",
            per_s(rate),
            count(expected),
            count(offered.due as f64)
        )
    })
}

/// Checks that the share of the client's ceiling is that of the figures beside it.
pub(super) fn ceiling(record: &Record) -> Option<String> {
    let ceiling = record.ceiling.as_ref()?;
    let (share, calibrated) = (ceiling.share?, ceiling.calibrated_queries_per_s?);
    let measured_s: f64 = record.measured_intervals().map(|it| it.length_s).sum();
    let statements: u64 = record
        .measured_intervals()
        .map(Interval::statements_back)
        .sum();
    if measured_s <= 0.0 || calibrated <= 0.0 || !record.header.beside.is_empty() {
        return None;
    }
    let made = statements as f64 / measured_s / calibrated;
    let is_apart = !share.is_finite() || (share - made).abs() > CEILING * made.max(0.01);
    is_apart.then(|| {
        format!(
            "according to the record, {} of the client's ceiling of {} was used, but its operations used {}",
            percent(share),
            per_s(calibrated),
            fine_percent(made)
        )
    })
}

/// Checks that failed attempts in the measurement are some of all.
pub(super) fn errors(record: &Record) -> Option<String> {
    record.errors.iter().find_map(|it| {
        let is_apart = it.in_measurement > it.count || it.retried > it.count;
        is_apart.then(|| {
            format!(
                "{} failed {} times in total, but {} times in the measurement or before a retry",
                it.operation,
                it.count,
                it.in_measurement.max(it.retried)
            )
        })
    })
}

/// Checks the times of opening connections.
pub(super) fn connects(record: &Record) -> Option<String> {
    record.connects.iter().find_map(|it| {
        let mean = it.sum_ns.checked_div(it.count)?;
        let is_apart = it.min_ns > it.max_ns || mean > it.max_ns || mean < it.min_ns;
        is_apart.then(|| {
            "the mean time to open a connection is not between the shortest and the longest"
                .to_owned()
        })
    })
}

/// Checks that service times are parts of the response times.
pub(super) fn service(record: &Record) -> Option<String> {
    let operations = record.intervals.iter().flat_map(|it| &it.operations);
    let with_service = operations.filter_map(|it| Some((it, it.service.as_ref()?)));
    let mut apart = with_service.filter(|(it, service)| {
        service.count != it.count || service.sum_ns as f64 > it.sum_ns as f64 * (1.0 + COUNT)
    });
    apart.next().map(|(it, _)| {
        format!(
            "{}: the server's time is longer than the whole response time",
            it.operation
        )
    })
}

/// Checks that a record that ended as planned has what such an end writes.
pub(super) fn end(record: &Record) -> Option<String> {
    let is_of_server = !record.servers.is_empty() && record.disk_load.is_none();
    if !record.is_complete() || !is_of_server || record.loaded.is_some() {
        return None;
    }
    let missing = if record.offered.is_none() {
        "the offered load"
    } else if record.servers.iter().any(|it| it.at == Edge::Start)
        && record.servers.iter().all(|it| it.at != Edge::End)
    {
        "the server's variables at the end"
    } else {
        return None;
    };
    Some(format!(
        "the run ended as planned but its record lacks {missing}"
    ))
}
