//! The load of a system in the CSV file that the CloudWatch console exports of a graph of metrics.
//!
//! ```text
//! Id,m1,m2
//! StatusCode,Complete,Complete
//! Messages,,
//! Full label,eu-west-1:AWS/RDS DBInstanceIdentifier:shop CPUUtilization Average 300,eu-west-1:AWS/RDS ...
//! Label,CPUUtilization,WriteIOPS
//! 2026/11/20 02:00:00,12.4,1802.33
//! ```
//!
//! Source: the console's "Download as .csv"; the metrics of "Amazon CloudWatch metrics for Amazon RDS", of EBS and of
//! EC2 in Amazon's user guides. A time is the start of its period.

use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};

use crate::{
    amount::amount,
    error::Error,
    load_curve::{LoadCurve, Sample},
    moment,
    resource::{Demand, Resource},
};

const KIND: &str = "CloudWatch";
/// First cells of the rows above the values.
const HEADS: [&str; 5] = ["id", "statuscode", "messages", "full label", "label"];

/// What a metric counts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    /// Percent of the CPUs.
    CpuPercent,
    /// A mean per second.
    Rate(Resource),
    /// A count, which is a rate only as the sum of a known period.
    Count(Resource),
}

const METRICS: [(&str, Meaning); 17] = [
    ("CPUUtilization", Meaning::CpuPercent),
    ("ReadIOPS", Meaning::Rate(Resource::Reads)),
    ("WriteIOPS", Meaning::Rate(Resource::Writes)),
    ("ReadThroughput", Meaning::Rate(Resource::ReadBytes)),
    ("WriteThroughput", Meaning::Rate(Resource::WrittenBytes)),
    ("VolumeReadOps", Meaning::Count(Resource::Reads)),
    ("VolumeWriteOps", Meaning::Count(Resource::Writes)),
    ("VolumeReadBytes", Meaning::Count(Resource::ReadBytes)),
    ("VolumeWriteBytes", Meaning::Count(Resource::WrittenBytes)),
    ("EBSReadOps", Meaning::Count(Resource::Reads)),
    ("EBSWriteOps", Meaning::Count(Resource::Writes)),
    ("EBSReadBytes", Meaning::Count(Resource::ReadBytes)),
    ("EBSWriteBytes", Meaning::Count(Resource::WrittenBytes)),
    ("DiskReadOps", Meaning::Count(Resource::Reads)),
    ("DiskWriteOps", Meaning::Count(Resource::Writes)),
    ("DiskReadBytes", Meaning::Count(Resource::ReadBytes)),
    ("DiskWriteBytes", Meaning::Count(Resource::WrittenBytes)),
];

/// Whether a first line is one of such a file.
pub(crate) fn begins_with(line: &str) -> bool {
    let first = line.split(',').next().unwrap_or_default();
    is_head(first.trim_matches('"'))
}

fn is_head(cell: &str) -> bool {
    HEADS.contains(&cell.trim().to_lowercase().as_str())
}

/// A column whose metric is known.
struct Column {
    at: usize,
    name: &'static str,
    meaning: Meaning,
    period_s: Option<f64>,
}

/// The values of one time.
struct Row {
    start_s: i64,
    demand: Demand,
    cpu_share: Option<f64>,
}

pub(crate) fn read(name: &str, reader: impl BufRead) -> Result<LoadCurve, Error> {
    let mut curve = LoadCurve::new(name, KIND);
    curve.is_utc.insert(false);
    let mut csv = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(reader);
    let mut labels = [StringRecord::new(), StringRecord::new()];
    let mut columns: Option<Vec<Column>> = None;
    let mut rows: Vec<Row> = Vec::new();
    let mut refused: Option<Error> = None;
    for record in csv.records() {
        let record = record.map_err(|error| not_csv(name, error))?;
        // A row that is refused for its form may only be the last one, which was torn.
        if let Some(error) = refused.take() {
            return Err(error);
        }
        let first = record.get(0).unwrap_or_default();
        if is_head(first) {
            match first.trim().to_lowercase().as_str() {
                "full label" => labels[0] = record,
                "label" => labels[1] = record,
                _ => {}
            }
            continue;
        }
        let columns = match &mut columns {
            Some(columns) => columns,
            none => none.insert(
                known_columns(&labels, &mut curve)
                    .map_err(|problem| at_line(name, &record, problem))?,
            ),
        };
        let width = labels[0].len().max(labels[1].len());
        let time = moment::parse(first).filter(|_| record.len() == width);
        let Some(start_s) = time else {
            let problem = format!(
                "not a time and {} values: {first:?}",
                width.saturating_sub(1)
            );
            refused = Some(at_line(name, &record, problem));
            continue;
        };
        let row = row(start_s, &record, columns);
        rows.push(row.map_err(|problem| at_line(name, &record, problem))?);
    }
    if let Some(error) = refused {
        if rows.is_empty() {
            return Err(error);
        }
        curve.remark(format!(
            "{name}: the last line is incomplete and is ignored"
        ));
    }
    add_samples(&mut curve, &columns.unwrap_or_default(), rows);
    curve.finished()
}

fn not_csv(name: &str, error: csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::Io {
            name: name.to_owned(),
            source,
        },
        _ => Error::Line {
            name: name.to_owned(),
            line,
            problem: "not CSV in UTF-8".to_owned(),
        },
    }
}

fn at_line(name: &str, record: &StringRecord, problem: String) -> Error {
    Error::Line {
        name: name.to_owned(),
        line: record.position().map_or(0, csv::Position::line),
        problem,
    }
}

/// The columns with a known metric; the others are remarked.
fn known_columns(labels: &[StringRecord; 2], curve: &mut LoadCurve) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for at in 1..labels[0].len().max(labels[1].len()) {
        let full = labels[0].get(at).unwrap_or_default();
        let label = labels[1].get(at).unwrap_or_default();
        let shown = if label.is_empty() { full } else { label };
        let words = || full.split_whitespace().chain(label.split_whitespace());
        let metric = METRICS
            .into_iter()
            .find(|(name, _)| words().any(|it| it == *name));
        let (statistic, period_s) = statistic(full);
        let Some((name, meaning)) = metric else {
            curve.remark(format!(
                "{}: {shown} is left out: not a metric that is read here",
                curve.name
            ));
            continue;
        };
        let is_sum = statistic == Some("Sum");
        let usable = match meaning {
            Meaning::CpuPercent | Meaning::Rate(_) => !is_sum,
            Meaning::Count(_) => is_sum && period_s.is_some(),
        };
        if !usable {
            let wanted = match meaning {
                Meaning::Count(_) => "the statistic Sum, in a file with the row `Full label`",
                _ => "the statistic Average or Maximum",
            };
            curve.remark(format!(
                "{}: {shown} is left out: it needs {wanted}",
                curve.name
            ));
            continue;
        }
        if meaning == Meaning::CpuPercent && columns.iter().any(|it| it.meaning == meaning) {
            return Err("two columns with CPUUtilization: a file is of one system".to_owned());
        }
        columns.push(Column {
            at,
            name,
            meaning,
            period_s,
        });
    }
    if columns.is_empty() {
        return Err("no column with a metric that is read here".to_owned());
    }
    Ok(columns)
}

/// The statistic and the period at the end of a full label: `... WriteIOPS Average 300`.
fn statistic(full: &str) -> (Option<&str>, Option<f64>) {
    let mut words = full.split_whitespace().rev();
    let period_s = words.next().and_then(|it| it.parse::<u32>().ok());
    match period_s {
        Some(period_s) if period_s > 0 => (words.next(), Some(f64::from(period_s))),
        _ => (None, None),
    }
}

fn row(start_s: i64, record: &StringRecord, columns: &[Column]) -> Result<Row, String> {
    let mut demand = Demand::default();
    let mut cpu_share = None;
    // A resource of several columns (volumes) is known only if all of them have a value.
    let mut incomplete: Vec<Resource> = Vec::new();
    for column in columns {
        let text = record.get(column.at).unwrap_or_default();
        let value = match text.trim() {
            "" => None,
            text => Some(amount(text, column.name)?),
        };
        let (resource, per_s) = match column.meaning {
            Meaning::CpuPercent => {
                cpu_share = value.map(|percent| percent / 100.0);
                continue;
            }
            Meaning::Rate(resource) => (resource, value),
            Meaning::Count(resource) => {
                let period_s = column.period_s.unwrap_or(1.0);
                (resource, value.map(|count| count / period_s))
            }
        };
        match per_s {
            Some(per_s) => *demand[resource.index()].get_or_insert(0.0) += per_s,
            None => incomplete.push(resource),
        }
    }
    for resource in incomplete {
        demand[resource.index()] = None;
    }
    Ok(Row {
        start_s,
        demand,
        cpu_share,
    })
}

/// The period is that of the labels, else the shortest distance between two rows.
fn add_samples(curve: &mut LoadCurve, columns: &[Column], mut rows: Vec<Row>) {
    rows.sort_by_key(|row| row.start_s);
    let labelled = columns.iter().filter_map(|it| it.period_s).reduce(f64::max);
    let distances = rows
        .windows(2)
        .map(|two| (two[1].start_s - two[0].start_s) as f64);
    let shortest = distances.filter(|it| *it > 0.0).reduce(f64::min);
    let Some(length_s) = labelled.or(shortest) else {
        return;
    };
    for row in rows {
        curve.push(Sample {
            start_s: row.start_s as f64,
            length_s,
            demand: row.demand,
            cpu_share: row.cpu_share,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FULL: &str = "Id,m1,m2,m3,m4\n\
        StatusCode,Complete,Complete,Complete,Complete\n\
        Messages,,,,\n\
        Full label,eu-west-1:AWS/RDS DBInstanceIdentifier:shop CPUUtilization Average 300,eu-west-1:AWS/EBS VolumeId:v1 VolumeWriteOps Sum 300,eu-west-1:AWS/EBS VolumeId:v2 VolumeWriteOps Sum 300,eu-west-1:AWS/RDS DBInstanceIdentifier:shop FreeableMemory Average 300\n\
        Label,CPUUtilization,VolumeWriteOps,VolumeWriteOps,FreeableMemory\n\
        2026/11/20 02:00:00,25.0,300,600,1000\n\
        2026/11/20 02:05:00,50.0,,600,1000\n";

    fn curve(text: &str) -> LoadCurve {
        read("shop", text.as_bytes()).unwrap()
    }

    fn refusal(text: &str) -> String {
        read("shop", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn volumes_are_added_up_and_sums_divided_by_the_period() {
        let mut curve = curve(FULL);
        curve.set_cpus(8);
        assert_eq!(curve.samples[0].demand[Resource::Cpus.index()], Some(2.0));
        // (300 + 600) / 300 s; in the second period a volume has no value.
        let writes = |at: usize| curve.samples[at].demand[Resource::Writes.index()];
        assert_eq!([writes(0), writes(1)], [Some(3.0), None]);
        assert_eq!(curve.samples[0].length_s, 300.0);
        assert_eq!(
            curve.remarks,
            ["shop: FreeableMemory is left out: not a metric that is read here"]
        );
    }

    #[test]
    fn a_file_with_short_labels_alone_has_the_distance_of_its_rows() {
        let curve = curve(
            "Label,ReadIOPS,VolumeReadOps\n2026/11/20 02:01:00,7,1\n2026/11/20 02:00:00,5,1\n",
        );
        assert_eq!(curve.samples[0].start_s, 1_795_140_000.0);
        assert_eq!(curve.samples[0].length_s, 60.0);
        assert_eq!(curve.samples[0].demand[Resource::Reads.index()], Some(5.0));
        assert!(
            curve.remarks[0].contains("it needs the statistic Sum"),
            "{:?}",
            curve.remarks
        );
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let refused = refusal(&FULL.replace("50.0", "-50.0"));
        assert_eq!(refused, "shop: line 7: CPUUtilization is negative: -50.0");
        let refused = refusal(&FULL.replace("2026/11/20 02:00:00", "noon"));
        assert_eq!(refused, "shop: line 6: not a time and 4 values: \"noon\"");
        let two = "Label,CPUUtilization,CPUUtilization\n2026/11/20 02:00:00,5,1\n";
        assert!(refusal(two).contains("two columns with CPUUtilization"));
        let unknown = "Label,Latency\n2026/11/20 02:00:00,5\n";
        assert!(refusal(unknown).contains("no column with a metric"));
        assert!(refusal("Label,ReadIOPS\n").contains("no sample"));
    }

    #[test]
    fn a_torn_last_line_is_left_out() {
        let curve = curve(&format!("{FULL}2026/11/20 02:"));
        assert_eq!(curve.samples.len(), 2);
        assert!(
            curve
                .remarks
                .iter()
                .any(|it| it.contains("last line is incomplete"))
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), lines in prop::collection::vec("(2026/11/20 0[0-9]:00:00)?[-0-9a-zA-Z,.: \"/]{0,40}", 0..8)) {
            let _ = read("a", text.as_bytes());
            let _ = read("a", format!("{FULL}{}", lines.join("\n")).as_bytes());
        }
    }
}
