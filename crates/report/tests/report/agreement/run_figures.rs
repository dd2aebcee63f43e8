//! Tests that the figures of each run are the same in every output.

use std::collections::BTreeMap;

use audit::{AuditedRun, Level, Subject};
use parquet::{file::reader::SerializedFileReader, record::Field};
use report::{Detail, Results, RunReport};
use samples::Record;
use serde_json::Value;
use verdict::Execution;

use super::means;

/// The cells of every run in the page's list of runs: as numbers if they are sorted by one, and as text.
fn rows_of_page(page: &str) -> BTreeMap<u32, Vec<String>> {
    let table = page.split("<table id=\"run-table\">").nth(1).unwrap();
    let body = table.split("<tbody>").nth(1).unwrap();
    let body = body.split("</tbody>").next().unwrap();
    let rows = body.split("</tr>").filter(|row| row.contains("<th"));
    rows.map(|row| {
        let run = row.split("data-value=\"").nth(1).unwrap();
        let run = run.split('"').next().unwrap().parse().unwrap();
        let cells = row.split("<td data-value=\"").skip(1);
        let cells = cells.map(|cell| cell.split('"').next().unwrap().to_owned());
        (run, cells.collect())
    })
    .collect()
}

/// Asserts the figures in the page's list of runs: throughput and percentiles, exact to the last digit.
fn assert_page_lists(cells: &[String], expected: [Option<f64>; 4]) {
    for (cell, expected) in cells.iter().zip(expected) {
        // A missing value is sorted before everything else.
        let found = Some(cell.parse::<f64>().unwrap()).filter(|it| *it >= 0.0);
        assert_eq!(found, expected);
    }
}

/// Asserts the terminal output of a single run: throughput, mean and percentiles with the digits of that table.
fn assert_terminal_says(alone: &RunReport, execution: &Execution<'_>) {
    let figures = execution.figures();
    let text = alone.text();
    let throughput = units::si(figures.throughput_per_s.unwrap());
    assert!(
        text.contains(&format!("throughput  {throughput} operations/s")),
        "{text}"
    );
    let row = text.lines().find(|it| it.contains("response time"));
    let cells: Vec<&str> = row.unwrap().split_whitespace().skip(2).collect();
    let response = figures.response.as_ref().unwrap();
    let ms = |ns: f64| format!("{:.3}", ns / 1e6);
    let mut expected = vec![figures.count.to_string(), throughput, ms(response.mean_ns)];
    for quantile in figures::QUANTILES {
        let percentile = response.percentile(quantile).unwrap();
        let measured = percentile.measured_ns();
        expected.push(measured.map_or("–".to_owned(), |ns| ms(ns as f64)));
        let is_marked = measured.is_some() && percentile.is_thin();
        expected.extend(is_marked.then(|| "~".to_owned()));
    }
    expected.push(ms(response.max_ns as f64));
    assert_eq!(cells, expected, "{text}");
}

/// The figures of a whole run in the Parquet file, by run and measure.
fn of_parquet(results: &Results) -> BTreeMap<(u32, String), f64> {
    let mut file = tempfile::tempfile().unwrap();
    let bytes = report::parquet(results, Detail::Runs).unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let mut figures = BTreeMap::new();
    for row in reader {
        let row = row.unwrap();
        let cells: BTreeMap<&String, &Field> = row.get_column_iter().collect();
        let cell = |name: &str| cells[&name.to_owned()];
        if *cell("operation") != Field::Null || *cell("statement") != Field::Null {
            continue;
        }
        let (Field::Long(run), Field::Str(measure), Field::Double(value)) =
            (cell("run"), cell("measure"), cell("value"))
        else {
            panic!("{row}");
        };
        figures.insert((*run as u32, measure.clone()), *value);
    }
    figures
}

/// A figure of a run in OpenMetrics, in its unit there.
fn of_openmetrics(text: &str, run: u32, name: &str, quantile: Option<&str>) -> Option<f64> {
    let run = format!("run=\"{run}\",");
    let quantile = quantile.map(|it| format!("quantile=\"{it}\""));
    let line = text.lines().find(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('{'))
            && line.contains(&run)
            && quantile.as_ref().is_none_or(|it| line.contains(it))
    });
    line.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// The same by the name of a measure, in its unit in the other formats.
fn figure_of_openmetrics(text: &str, run: u32, measure: &str) -> Option<f64> {
    const RESPONSE: &str = "dbdyno_response_seconds";
    let find = |metric: &str| of_openmetrics(text, run, metric, None);
    let quantile = |it| {
        let seconds = of_openmetrics(text, run, RESPONSE, Some(it));
        seconds.map(|it| it * 1e9)
    };
    match measure {
        "operations" => find("dbdyno_operations_total"),
        "throughput" => find("dbdyno_throughput_operations_per_second"),
        "mean" => {
            let sum_s = find(&format!("{RESPONSE}_sum"));
            let count = find(&format!("{RESPONSE}_count"));
            sum_s.zip(count).map(|(sum_s, count)| sum_s * 1e9 / count)
        }
        "p50" => quantile("0.5"),
        "p95" => quantile("0.95"),
        "p99" => quantile("0.99"),
        "p999" => quantile("0.999"),
        other => panic!("{other}"),
    }
}

/// The audit's rule of percentiles for a run: it passes if every output has all of them without a mark.
fn is_supported_by_the_audit(record: &Record) -> bool {
    let subject = Subject {
        runs: vec![AuditedRun {
            record,
            limit: None,
            side: None,
        }],
        ..Subject::default()
    };
    let outcome = audit::judge(audit::rule("M09").unwrap(), &subject).unwrap();
    outcome.level == Level::Pass
}

/// Asserts that every output has the same figures of each run.
pub(super) fn assert_runs_agree(results: &Results, json: &Value, page: &str) {
    let of_page = rows_of_page(page);
    let of_parquet = of_parquet(results);
    let openmetrics = report::openmetrics(results);
    let csv = report::csv(results, Detail::Runs);
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|it| *it == name).unwrap();
    let (run, operation, statement) = (column("run"), column("operation"), column("statement"));
    let (measure, value, thin) = (column("measure"), column("value"), column("thin"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.sqlite");
    report::write_summary(results, &path).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    for (record, of_json) in results.runs.iter().zip(json["runs"].as_array().unwrap()) {
        let number = record.header.run;
        assert_eq!(of_json["run"], number);
        let row_of_csv = |name: &str| {
            let mut whole = rows
                .iter()
                .filter(|row| row[operation].is_empty() && row[statement].is_empty());
            whole.find(|row| row[run] == number.to_string() && row[measure] == name)
        };
        let of_csv = |name: &str| row_of_csv(name).map(|row| row[value].parse::<f64>().unwrap());
        let is_thin_in_csv = |name: &str| row_of_csv(name).is_some_and(|row| row[thin] == "true");
        let of_sqlite = |column: &str| {
            let sql = format!("SELECT {column} FROM runs WHERE run = {number}");
            database
                .query_row(&sql, [], |row| row.get::<_, Option<f64>>(0))
                .unwrap()
        };
        let of_json = |name: &str| {
            let metrics = of_json["metrics"].as_array().unwrap();
            let metric = metrics.iter().find(|it| it["measure"] == name);
            metric.map(|it| it["value"].as_f64().unwrap())
        };
        let alone = RunReport::of(record, &[50.0, 95.0, 99.0, 99.9]);
        let execution = Execution::of(record, 1);
        assert_terminal_says(&alone, &execution);
        let percentiles = ["p50", "p95", "p99", "p999"];
        let is_firm = |name: &str| of_csv(name).is_some() && !is_thin_in_csv(name);
        assert_eq!(
            percentiles.into_iter().all(is_firm),
            is_supported_by_the_audit(record)
        );
        let told = ["throughput", "p50", "p95", "p99"].map(of_csv);
        assert_page_lists(&of_page[&number], told);
        let percentile = |at: usize| alone.response.percentiles[at].ms.map(|ms| ms * 1e6);
        for (name, in_sqlite, unit, of_report) in [
            (
                "operations",
                "count",
                1.0,
                Some(alone.response.count as f64),
            ),
            (
                "throughput",
                "throughput_per_s",
                1.0,
                alone.throughput_per_s,
            ),
            ("mean", "mean_us", 1e3, Some(alone.response.mean_ms * 1e6)),
            ("p50", "p50_us", 1e3, percentile(0)),
            ("p95", "p95_us", 1e3, percentile(1)),
            ("p99", "p99_us", 1e3, percentile(2)),
            ("p999", "p999_us", 1e3, percentile(3)),
        ] {
            let expected = of_csv(name);
            for found in [
                of_json(name),
                of_parquet.get(&(number, name.to_owned())).copied(),
                figure_of_openmetrics(&openmetrics, number, name),
                of_sqlite(in_sqlite).map(|it| it * unit),
                of_report,
            ] {
                assert_eq!(
                    found.is_some(),
                    expected.is_some(),
                    "{name} of run {number}"
                );
                if let (Some(found), Some(expected)) = (found, expected) {
                    assert!(
                        (found - expected).abs() <= 1e-9 * expected.abs(),
                        "{name}: {found} {expected}"
                    );
                }
            }
        }
    }
    // The headline of the results in a history is the highest of the report's means.
    let headline = verdict::headline(&results.runs).unwrap();
    let highest = means(json)
        .into_values()
        .map(|[mean, ..]| mean)
        .fold(0.0, f64::max);
    assert!(
        (headline.mean - highest).abs() <= 1e-12 * highest,
        "{} {highest}",
        headline.mean
    );
}
