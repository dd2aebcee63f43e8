//! A calibration as a table and as JSON.

use benchmarks::calibration::Figures;
use runs::calibration::Calibration;
use serde_json::{Value, json};

/// Polling mechanism of the event loops.
const IO: &str = "epoll";

/// The answer: the highest rate of each transport, and the send lag of an open loop.
pub(super) fn answer(figures: &[Figures]) -> String {
    let mut out = String::new();
    let closed: Vec<&Figures> = (figures.iter())
        .filter(|it| it.cell.rate().is_none())
        .collect();
    let mut transports: Vec<_> = closed.iter().map(|it| it.cell.transport()).collect();
    transports.dedup();
    for transport in transports {
        let of = closed.iter().filter(|it| it.cell.transport() == transport);
        let best = of.max_by(|a, b| a.queries_per_s.total_cmp(&b.queries_per_s));
        out.extend(best.map(|best| {
            let cell = &best.cell;
            format!(
                "{transport:12}  at most {} queries/s ({}, {}; client CPU {} us per query, p99 {} us)\n",
                units::si(best.queries_per_s),
                cell.statements(),
                units::counted(cell.connections as usize, "connection"),
                shown(best.client_cpu_us),
                shown(best.p99_us)
            )
        }));
    }
    let open = figures.iter().filter(|it| it.cell.rate().is_some());
    out.extend(open.map(|it| {
        format!(
            "{:12}  {} of {} queries/s; sent {} us late in the median, p99 {} us\n",
            "open loop",
            units::si(it.queries_per_s),
            units::si(it.cell.rate().unwrap_or_default()),
            shown(it.send_lag_p50_us),
            shown(it.send_lag_p99_us)
        )
    }));
    out + "Run records now contain the share of this that a run used; -v shows every measurement.\n"
}

/// A table for people: one row per measurement.
pub(super) fn text(figures: &[Figures]) -> String {
    let mut out = format!(
        "{:12} {:8} {:>11} {:>5} {:>6} {:>10} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8}\n",
        "transport",
        "queries",
        "connections",
        "loops",
        "io",
        "queries/s",
        "client",
        "server",
        "client",
        "server",
        "p50",
        "p99",
        "send lag"
    );
    out.push_str(&format!(
        "{:56} {:>17} {:>19} {:>17} {:>8}\n",
        "", "CPU us/query", "memory MB", "us", "p50 us"
    ));
    for figures in figures {
        let cell = &figures.cell;
        let mb = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e6);
        let asked = match cell.rate() {
            Some(rate) => format!("  ({rate} queries/s requested)"),
            None => String::new(),
        };
        out.push_str(&format!(
            "{:12} {:8} {:>11} {:>5} {:>6} {:>10.0} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8}{asked}\n",
            cell.transport(),
            cell.statements(),
            cell.connections,
            cell.loops,
            IO,
            figures.queries_per_s,
            shown(figures.client_cpu_us),
            shown(figures.server_cpu_us),
            shown(mb(figures.client_resident_bytes)),
            shown(mb(figures.server_resident_bytes)),
            shown(figures.p50_us),
            shown(figures.p99_us),
            shown(figures.send_lag_p50_us),
        ));
    }
    out
}

fn shown(value: Option<f64>) -> String {
    match value {
        Some(value) => format!("{value:.1}"),
        None => "-".to_owned(),
    }
}

/// JSON for programs.
pub(super) fn json(calibration: &Calibration, figures: &[Figures]) -> String {
    let cells: Vec<Value> = figures
        .iter()
        .map(|figures| {
            let cell = &figures.cell;
            json!({
                "transport": cell.transport().in_words(),
                "statements": cell.statements(),
                "connections": cell.connections,
                "loops": cell.loops,
                "io": IO,
                "asked_per_s": cell.rate(),
                "queries_per_s": figures.queries_per_s,
                "client_cpu_us_per_query": figures.client_cpu_us,
                "server_cpu_us_per_query": figures.server_cpu_us,
                "client_resident_bytes": figures.client_resident_bytes,
                "server_resident_bytes": figures.server_resident_bytes,
                "p50_us": figures.p50_us,
                "p99_us": figures.p99_us,
                "send_lag_p50_us": figures.send_lag_p50_us,
                "send_lag_p99_us": figures.send_lag_p99_us,
                "connect_mean_us": figures.connect_us,
            })
        })
        .collect();
    let document = json!({
        "dbdyno_version": calibration.dbdyno_version,
        "measured_at": calibration.measured_at,
        "machine": calibration.machine,
        "measurements": cells,
    });
    format!("{document:#}")
}
