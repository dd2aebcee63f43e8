//! The compact form of an interval in memory: all operations merged.

use histogram::Histogram;

use crate::{
    durations::Durations,
    line::{Interval, LateOperations, OperationInterval, StatementInterval},
    returned_rows::ReturnedRows,
};

/// An interval without the names of its operations and statements, whose sums are in the record's totals.
pub(crate) fn folded(interval: Interval) -> Interval {
    let carried = interval.carried.into_iter().map(|carried| LateOperations {
        operations: operations(&carried.operations),
        statements: statements(&carried.statements),
        send_lag: without_histogram(&carried.send_lag),
        client_lag: None,
        ..carried
    });
    Interval {
        operations: operations(&interval.operations),
        statements: statements(&interval.statements),
        send_lag: None,
        client_lag: None,
        carried: carried.collect(),
        ..interval
    }
}

fn operations(parts: &[OperationInterval]) -> Vec<OperationInterval> {
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let mut response = first.response();
    for part in &parts[1..] {
        response.add(&part.response());
    }
    let services = parts.iter().filter_map(|part| part.service.as_ref());
    let service = services.map(without_histogram).reduce(|mut sum, more| {
        add_without_histogram(&mut sum, &more);
        sum
    });
    vec![OperationInterval {
        load: String::new(),
        operation: String::new(),
        count: response.count,
        errors: parts.iter().map(|part| part.errors).sum(),
        sum_ns: response.sum_ns,
        min_ns: response.min_ns,
        max_ns: response.max_ns,
        histogram: response.histogram.compacted(),
        service,
        returned: ReturnedRows::default(),
    }]
}

fn statements(parts: &[StatementInterval]) -> Vec<StatementInterval> {
    if parts.is_empty() {
        return Vec::new();
    }
    let mut times = Durations {
        histogram: Histogram::none(),
        ..Durations::default()
    };
    let mut sum = StatementInterval {
        load: String::new(),
        statement: String::new(),
        reads: 0,
        writes: 0,
        others: 0,
        sum_ns: 0,
        min_ns: 0,
        max_ns: 0,
        histogram: Histogram::none(),
        returned: ReturnedRows::default(),
    };
    for part in parts {
        sum.reads += part.reads;
        sum.writes += part.writes;
        sum.others += part.others;
        add_without_histogram(&mut times, &part.times());
    }
    (sum.sum_ns, sum.min_ns, sum.max_ns) = (times.sum_ns, times.min_ns, times.max_ns);
    vec![sum]
}

fn without_histogram(durations: &Durations) -> Durations {
    Durations {
        histogram: Histogram::none(),
        ..*durations
    }
}

fn add_without_histogram(sum: &mut Durations, more: &Durations) {
    if more.count == 0 {
        return;
    }
    sum.min_ns = match sum.count {
        0 => more.min_ns,
        _ => sum.min_ns.min(more.min_ns),
    };
    sum.max_ns = sum.max_ns.max(more.max_ns);
    sum.count += more.count;
    sum.sum_ns += more.sum_ns;
}
