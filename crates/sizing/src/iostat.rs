//! The load of a system in the output of `iostat -xt INTERVAL`.
//!
//! ```text
//! Linux 6.1.0-13-amd64 (db1)     11/20/2026     _x86_64_    (4 CPU)
//!
//! 11/20/2026 02:10:00 AM
//! avg-cpu:  %user   %nice %system %iowait  %steal   %idle
//!            5.12    0.00    1.20    0.51    0.00   93.17
//!
//! Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s
//! sda              1.20     50.00     0.10   7.69    0.50    41.67   20.00    400.00
//! ```
//!
//! Source: iostat(1) of sysstat 10 to 12. A time is the end of its interval. The first report is of the time since the
//! machine started, so it is left out.

use std::{collections::BTreeMap, io::BufRead};

use crate::{
    amount::{amount, cpu_count, is_stacked},
    error::Error,
    lines::each_line,
    load_curve::{LoadCurve, Sample},
    moment,
    resource::{Demand, Resource},
};

const KIND: &str = "iostat";
const SECTOR_BYTES: f64 = 512.0;
const KIB: f64 = 1024.0;

/// Whether a first line is one of iostat (or of another program of sysstat).
pub(crate) fn begins_with(line: &str) -> bool {
    line.starts_with("Linux ")
}

pub(crate) fn read(name: &str, mut reader: impl BufRead) -> Result<LoadCurve, Error> {
    let mut output = Output {
        curve: LoadCurve::new(name, KIND),
        previous_s: None,
        report: None,
        table: Table::None,
    };
    let is_torn = each_line(name, &mut reader, |line| output.take(line))?;
    if is_torn {
        // Devices may be missing in it.
        output.report = None;
    }
    output.end_report();
    let mut curve = output.curve;
    curve.is_utc.insert(false);
    if is_torn {
        curve.remark(format!(
            "{name}: the last report is incomplete and is ignored"
        ));
    }
    curve.finished()
}

struct Output {
    curve: LoadCurve,
    /// The time of the report before the current one; `None` at the first one.
    previous_s: Option<i64>,
    report: Option<Report>,
    table: Table,
}

/// The names of the columns that the next lines have.
enum Table {
    None,
    Cpu(Vec<String>),
    Devices(Vec<String>),
}

struct Report {
    end_s: i64,
    cpu_share: Option<f64>,
    /// Reads, writes, bytes read and bytes written per second, by device.
    devices: BTreeMap<String, [f64; 4]>,
}

impl Output {
    fn take(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first().copied() else {
            self.table = Table::None;
            return Ok(());
        };
        if begins_with(line) {
            self.end_report();
            // Another call of iostat: its first report is again of the time since the start.
            self.previous_s = None;
            self.curve.cpus = cpu_count(line).or(self.curve.cpus);
            self.curve.hosts.extend(host(line).map(str::to_owned));
        } else if first == "avg-cpu:" {
            self.table = Table::Cpu(owned(&words[1..]));
        } else if first.trim_end_matches(':') == "Device" {
            if !words.contains(&"r/s") || !words.contains(&"w/s") {
                return Err("no columns r/s and w/s: call iostat with -x".to_owned());
            }
            self.table = Table::Devices(owned(&words[1..]));
        } else {
            match std::mem::replace(&mut self.table, Table::None) {
                Table::Cpu(columns) => self.take_cpu(&columns, &words)?,
                Table::Devices(columns) => {
                    self.take_device(&columns, &words)?;
                    self.table = Table::Devices(columns);
                }
                Table::None => self.begin_report(line)?,
            }
        }
        Ok(())
    }

    fn begin_report(&mut self, line: &str) -> Result<(), String> {
        let Some(end_s) = moment::parse(line) else {
            return Err(format!(
                "neither a line of iostat -xt nor a time: {line:?} (S_TIME_FORMAT=ISO makes times that are read)"
            ));
        };
        self.end_report();
        self.report = Some(Report {
            end_s,
            cpu_share: None,
            devices: BTreeMap::new(),
        });
        Ok(())
    }

    fn report(&mut self) -> Result<&mut Report, String> {
        let report = self.report.as_mut();
        report.ok_or_else(|| "a report without its time: call iostat with -t".to_owned())
    }

    fn take_cpu(&mut self, columns: &[String], words: &[&str]) -> Result<(), String> {
        let mut idle = 0.0;
        for (column, word) in columns.iter().zip(words) {
            let percent = amount(word, column)?;
            if ["%idle", "%iowait", "%steal"].contains(&column.as_str()) {
                idle += percent;
            }
        }
        if columns.len() != words.len() {
            return Err(format!(
                "{} values, but {} columns",
                words.len(),
                columns.len()
            ));
        }
        self.report()?.cpu_share = Some((1.0 - idle / 100.0).max(0.0));
        Ok(())
    }

    fn take_device(&mut self, columns: &[String], words: &[&str]) -> Result<(), String> {
        let (device, values) = (words[0], &words[1..]);
        if values.len() != columns.len() {
            return Err(format!(
                "{} values, but {} columns",
                values.len(),
                columns.len()
            ));
        }
        let value = |column: &str| {
            let at = columns.iter().position(|it| it == column);
            at.map(|at| amount(values[at], column)).transpose()
        };
        let bytes = |letter: char| -> Result<f64, String> {
            for (unit, factor) in [("kB/s", KIB), ("MB/s", KIB * KIB), ("sec/s", SECTOR_BYTES)] {
                if let Some(number) = value(&format!("{letter}{unit}"))? {
                    return Ok(number * factor);
                }
            }
            Err(format!("no column {letter}kB/s"))
        };
        let rates = [
            value("r/s")?.unwrap_or(0.0),
            value("w/s")?.unwrap_or(0.0),
            bytes('r')?,
            bytes('w')?,
        ];
        let report = self.report()?;
        if !is_stacked(device) {
            report.devices.insert(device.to_owned(), rates);
        }
        Ok(())
    }

    /// Adds the current report, unless it is the first one.
    fn end_report(&mut self) {
        let Some(report) = self.report.take() else {
            return;
        };
        let mut demand = Demand::default();
        let disks = report.devices.iter();
        let disks: Vec<&[f64; 4]> = disks
            .filter(|(name, _)| !is_partition(name, &report.devices))
            .map(|(_, rates)| rates)
            .collect();
        if !disks.is_empty() {
            let resources = [
                Resource::Reads,
                Resource::Writes,
                Resource::ReadBytes,
                Resource::WrittenBytes,
            ];
            for (at, resource) in resources.into_iter().enumerate() {
                demand[resource.index()] = Some(disks.iter().map(|rates| rates[at]).sum());
            }
        }
        if let Some(previous_s) = self.previous_s {
            self.curve.push(Sample {
                start_s: previous_s as f64,
                length_s: (report.end_s - previous_s) as f64,
                demand,
                cpu_share: report.cpu_share,
            });
        }
        self.previous_s = Some(report.end_s);
    }
}

/// The name of the machine in a line such as `Linux 6.1.0-13-amd64 (db1) ...`.
fn host(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once('(')?;
    Some(rest.split_once(')')?.0)
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&it| it.to_owned()).collect()
}

/// Whether a device is a partition of another one (`sda1` of `sda`, `nvme0n1p2` of `nvme0n1`), which counts it too.
fn is_partition(name: &str, devices: &BTreeMap<String, [f64; 4]>) -> bool {
    let disk = name.trim_end_matches(|it: char| it.is_ascii_digit());
    disk.len() < name.len()
        && [disk, disk.strip_suffix('p').unwrap_or(disk)]
            .iter()
            .any(|&disk| disk != name && devices.contains_key(disk))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "Linux 6.1.0-13-amd64 (db1) \t11/20/2026 \t_x86_64_\t(4 CPU)\n\n";

    /// Two reports in the layout of sysstat 12: the first one is since the start.
    fn reports(times: [&str; 2]) -> String {
        let report = |time: &str, reads: &str| {
            format!(
                "{time}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          \
                 20.00    0.00    5.00   10.00    5.00   60.00\n\n\
                 Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  aqu-sz  %util\n\
                 sda              {reads}     10.00     0.00   0.00    0.50    40.00   30.00    20.00     0.00    0.10   1.00\n\
                 sda1             {reads}     10.00     0.00   0.00    0.50    40.00   30.00    20.00     0.00    0.10   1.00\n\
                 dm-0             {reads}     10.00     0.00   0.00    0.50    40.00   30.00    20.00     0.00    0.10   1.00\n\n"
            )
        };
        format!(
            "{HEAD}{}{}",
            report(times[0], "9.00"),
            report(times[1], "5.00")
        )
    }

    fn curve(text: &str) -> LoadCurve {
        read("db1", text.as_bytes()).unwrap()
    }

    fn refusal(text: &str) -> String {
        read("db1", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn the_second_report_is_a_sample_in_all_formats_of_time() {
        for times in [
            ["11/20/2026 02:00:00 AM", "11/20/2026 02:10:00 AM"],
            ["11/20/26 02:00:00", "11/20/26 02:10:00"],
            ["2026-11-20T02:00:00+0100", "2026-11-20T02:10:00+0100"],
        ] {
            let curve = curve(&reports(times));
            assert_eq!(curve.samples.len(), 1, "{times:?}");
            assert!(curve.hosts.iter().eq(["db1"]));
            let sample = curve.samples[0];
            assert_eq!((sample.start_s, sample.length_s), (1_795_140_000.0, 600.0));
            // A quarter of 4 CPUs; sda alone.
            let expected = [1.0, 5.0, 30.0, 10.0 * 1024.0, 20.0 * 1024.0].map(Some);
            assert_eq!(sample.demand[..1], expected[..1]);
            assert_eq!(sample.demand[2..6], expected[1..]);
        }
    }

    #[test]
    fn older_columns_are_read() {
        let text = format!(
            "{HEAD}11/20/26 02:00:00\n\n11/20/26 02:10:00\n\
             Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n\
             sda               0.00     1.00    2.00    3.00     4.00     6.00    10.00     0.00    0.10   0.10   0.05\n"
        );
        let demand = curve(&text).samples[0].demand;
        assert_eq!(demand[2..6], [2.0, 3.0, 2048.0, 3072.0].map(Some));
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let good = reports(["11/20/26 02:00:00", "11/20/26 02:10:00"]);
        assert_eq!(
            refusal(&good.replace("5.00     10.00", "-5.00     10.00")),
            "db1: line 17: r/s is negative: -5.00"
        );
        assert!(
            refusal(&good.replace("11/20/26 02:10:00", "20/11/26 02:10:00"))
                .contains("S_TIME_FORMAT")
        );
        assert!(refusal(&good.replace("11/20/26 02:00:00\n", "")).contains("call iostat with -t"));
        assert!(refusal(&good.replace(" r/s ", " tps ")).contains("call iostat with -x"));
        assert_eq!(refusal(HEAD), "db1: no sample with a time and a length");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), lines in prop::collection::vec("(sda|Device|avg-cpu:|11/20/26 02:10:00)?[-0-9a-z .:%/]{0,40}", 0..12)) {
            let _ = read("a", text.as_bytes());
            let _ = read("a", format!("{HEAD}{}", lines.join("\n")).as_bytes());
        }
    }
}
