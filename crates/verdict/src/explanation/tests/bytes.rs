//! Tests of the bytes that are a cause, and of those that are too few.

use super::*;

/// The rules for a cost and a throughput that grew worse from 10,000 to 8,000 operations/s, so that the time per operation
/// grew by 1e6 / 8,000 - 1e6 / 10,000 = 25 µs.
fn rules(bytes: [f64; 2], evidence: fn(&mut Evidence<'_>)) -> Vec<&'static str> {
    let mut case = Case::of(&[
        (Cost::BytesSent, bytes[0], bytes[1]),
        (Cost::ServerCpu, 140.0, 160.0),
    ])
    .and(evidence);
    case.metrics = vec![compared(
        Measure::Metric(Metric::Throughput),
        10_000.0,
        8_000.0,
    )];
    case.rules()
}

#[test]
fn bytes_are_a_cause_only_if_they_take_the_time() {
    // 600 bytes take 6 µs on a network, which is less than half of 25 µs; 2,000 take 20 µs.
    assert_eq!(rules([156.0, 756.0], |_| {}), ["server CPU"]);
    assert_eq!(rules([156.0, 2_156.0], |_| {}), ["bytes sent"]);
    // Within a machine, 2,000 bytes take 2 µs, and 20,000 take 20 µs.
    let local = |it: &mut Evidence<'_>| it.is_within_machine = true;
    assert_eq!(rules([156.0, 2_156.0], local), ["server CPU"]);
    assert_eq!(rules([156.0, 20_156.0], local), ["bytes sent"]);
}

/// Of 200 MB/s, 600 bytes take 3 µs, and 4,000 take 20 µs.
#[test]
fn written_bytes_are_a_cause_only_if_they_take_the_time() {
    let of = |bytes: f64| {
        let mut case = Case::of(&[
            (Cost::WrittenBytes, 429.0, 429.0 + bytes),
            (Cost::ServerCpu, 140.0, 160.0),
        ]);
        case.metrics = vec![compared(
            Measure::Metric(Metric::Throughput),
            10_000.0,
            8_000.0,
        )];
        case.rules()
    };
    assert_eq!(of(600.0), ["server CPU"]);
    assert_eq!(of(4_000.0), ["bytes written"]);
}

#[test]
fn the_protocols_of_two_products_are_no_cause() {
    let products = |it: &mut Evidence<'_>| {
        it.variables
            .insert("version", ["10.11.19-MariaDB", "8.0.33"]);
    };
    assert_eq!(rules([156.0, 20_156.0], products), ["server CPU"]);
    let versions = |it: &mut Evidence<'_>| {
        it.variables.insert("version", ["5.7.44", "8.0.33"]);
    };
    assert_eq!(rules([156.0, 20_156.0], versions), ["bytes sent"]);
}

#[test]
fn the_median_counts_where_throughput_is_the_same() {
    // The same rate: 2,000 bytes take 20 µs on a network.
    let of = |p50_b_ns: f64| {
        let mut case = Case::of(&[(Cost::BytesSent, 156.0, 2_156.0)]);
        case.metrics = vec![
            compared(Measure::Metric(Metric::Throughput), 100.0, 100.0),
            compared(Measure::Metric(Metric::P50), 300e3, p50_b_ns),
        ];
        case.rules()
    };
    assert_eq!(of(330e3), ["bytes sent"], "30 µs");
    assert_eq!(of(400e3), [""; 0], "100 µs");
}
