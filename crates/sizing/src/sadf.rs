//! The load of a system in the output of `sadf -d`, which prints what sar has recorded.
//!
//! ```text
//! db1;-1;2026-11-20 00:00:01 UTC;LINUX-RESTART    (4 CPU)
//! # hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
//! db1;600;2026-11-20 00:10:01 UTC;-1;5.12;0.00;1.20;0.51;0.00;93.17
//! # hostname;interval;timestamp;tps;rtps;wtps;dtps;bread/s;bwrtn/s;bdscd/s
//! db1;600;2026-11-20 00:10:01 UTC;51.20;1.20;50.00;0.00;102.40;1638.40;0.00
//! ```
//!
//! Source: sadf(1) and sar(1) of sysstat 10 to 12. A time is the end of its interval; a block has 512 bytes.

use std::{collections::BTreeMap, io::BufRead};

use crate::{
    amount::{amount, cpu_count, is_stacked},
    error::Error,
    lines::each_line,
    load_curve::{LoadCurve, Sample},
    moment,
    resource::{Demand, Resource},
};

const KIND: &str = "sadf";
const HEADER: &str = "# hostname;interval;timestamp";
const RESTART: &str = ";LINUX-RESTART";
const BLOCK_BYTES: f64 = 512.0;
const KIB: f64 = 1024.0;

/// Whether a first line is one of `sadf -d`.
pub(crate) fn begins_with(line: &str) -> bool {
    line.starts_with(HEADER) || line.contains(RESTART)
}

pub(crate) fn read(name: &str, mut reader: impl BufRead) -> Result<LoadCurve, Error> {
    let mut output = Output::default();
    let is_torn = each_line(name, &mut reader, |line| output.take(line))?;
    let mut curve = LoadCurve::new(name, KIND);
    curve.cpus = output.cpus.or(output.cpus_listed);
    curve.hosts.extend(output.host);
    curve.is_utc.extend(output.is_utc);
    if is_torn {
        curve.remark(format!(
            "{name}: the last line is incomplete and is ignored"
        ));
    }
    for (end_s, moment) in &output.moments {
        curve.push(Sample {
            start_s: *end_s as f64 - moment.length_s,
            length_s: moment.length_s,
            demand: moment.demand(),
            cpu_share: moment.cpu_share,
        });
    }
    curve.finished()
}

/// What was read so far.
#[derive(Default)]
struct Output {
    host: Option<String>,
    /// Names of the columns of the current activity.
    columns: Vec<String>,
    moments: BTreeMap<i64, Moment>,
    /// Number of CPUs according to the restarts.
    cpus: Option<u32>,
    /// Number of CPUs that have lines of their own (`-P ALL`).
    cpus_listed: Option<u32>,
    is_utc: Option<bool>,
}

/// The activities of one time.
#[derive(Default)]
struct Moment {
    length_s: f64,
    cpu_share: Option<f64>,
    memory_bytes: Option<f64>,
    /// Reads, writes, bytes read and bytes written per second of all devices (`-b`).
    transfers: Option<[f64; 4]>,
    /// Bytes read and written per second, by device (`-d`).
    devices: BTreeMap<String, [f64; 2]>,
}

impl Moment {
    fn demand(&self) -> Demand {
        let mut demand = Demand::default();
        demand[Resource::Memory.index()] = self.memory_bytes;
        if let Some([reads, writes, read, written]) = self.transfers {
            demand[Resource::Reads.index()] = Some(reads);
            demand[Resource::Writes.index()] = Some(writes);
            demand[Resource::ReadBytes.index()] = Some(read);
            demand[Resource::WrittenBytes.index()] = Some(written);
        } else if !self.devices.is_empty() {
            let sum = |at: usize| self.devices.values().map(|it| it[at]).sum::<f64>();
            demand[Resource::ReadBytes.index()] = Some(sum(0));
            demand[Resource::WrittenBytes.index()] = Some(sum(1));
        }
        demand
    }
}

impl Output {
    fn take(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() {
            return Ok(());
        }
        if line.starts_with(HEADER) {
            if line.contains("[...]") {
                return Err(
                    "output of sadf -h, which has all devices in one line: leave -h out".to_owned(),
                );
            }
            let columns = line.trim_start_matches("# ").split(';');
            self.columns = columns.map(str::to_owned).collect();
            return Ok(());
        }
        let fields: Vec<&str> = line.split(';').collect();
        let [host, interval, time, ..] = fields[..] else {
            return Err("not a line of sadf -d".to_owned());
        };
        self.take_host(host)?;
        if interval == "-1" {
            // A restart or a comment; the number of CPUs may have changed.
            let restarted = line.contains(RESTART);
            self.cpus = cpu_count(line).filter(|_| restarted).or(self.cpus);
            return Ok(());
        }
        if self.columns.is_empty() {
            return Err("values before the line with the names of the columns".to_owned());
        }
        if fields.len() != self.columns.len() {
            return Err(format!(
                "{} fields, but {} columns",
                fields.len(),
                self.columns.len()
            ));
        }
        let end_s = self.take_time(time)?;
        let length_s = amount(interval, "interval")?;
        self.take_values(end_s, length_s, &fields)
    }

    fn take_host(&mut self, host: &str) -> Result<(), String> {
        let known = self.host.get_or_insert_with(|| host.to_owned());
        if known == host {
            return Ok(());
        }
        Err(format!(
            "host {host} after host {known}: a file is of one system"
        ))
    }

    /// `2026-11-20 00:10:01 UTC`, without a time zone with `-t`, seconds since 1970 with `-U`.
    fn take_time(&mut self, text: &str) -> Result<i64, String> {
        let unknown = || format!("unknown time {text:?}");
        let since_1970 = text
            .parse::<i64>()
            .ok()
            .filter(|it| (0..=1 << 34).contains(it));
        let plain = text.strip_suffix(" UTC");
        let is_utc = since_1970.is_some() || plain.is_some();
        let end_s = since_1970.or_else(|| moment::parse(plain.unwrap_or(text)));
        self.is_utc = Some(is_utc);
        end_s.ok_or_else(unknown)
    }

    fn take_values(&mut self, end_s: i64, length_s: f64, fields: &[&str]) -> Result<(), String> {
        let columns = &self.columns;
        let text = |column: &str| {
            let at = columns.iter().position(|it| it == column)?;
            fields.get(at).copied()
        };
        let value = |column: &str| text(column).map(|it| amount(it, column)).transpose();
        let moment = self.moments.entry(end_s).or_default();
        moment.length_s = length_s;
        if let Some(cpu) = text("CPU") {
            if cpu == "-1" || cpu == "all" {
                let idle = [value("%idle")?, value("%iowait")?, value("%steal")?];
                let idle: f64 = idle.into_iter().flatten().sum();
                moment.cpu_share = Some((1.0 - idle / 100.0).max(0.0));
            } else if let Ok(number) = cpu.parse::<u32>() {
                let listed = number.saturating_add(1);
                self.cpus_listed = self.cpus_listed.max(Some(listed));
            }
        }
        if let Some(used) = value("kbmemused")? {
            let caches = [value("kbbuffers")?, value("kbcached")?];
            let caches: f64 = caches.into_iter().flatten().sum();
            let free = value("kbmemfree")?.unwrap_or(0.0);
            let share = value("%memused")?.unwrap_or(0.0) / 100.0;
            moment.memory_bytes = Some(KIB * memory_used_kib(used, free, share, caches));
        }
        if let (Some(reads), Some(writes)) = (value("rtps")?, value("wtps")?) {
            let read = value("bread/s")?.unwrap_or(0.0) * BLOCK_BYTES;
            let written = value("bwrtn/s")?.unwrap_or(0.0) * BLOCK_BYTES;
            moment.transfers = Some([reads, writes, read, written]);
        }
        if let Some(device) = text("DEV").filter(|device| !is_stacked(device)) {
            let bytes = |kib: &str, sectors: &str| {
                let of_kib = value(kib)?.map(|it| it * KIB);
                let of_sectors = value(sectors)?.map(|it| it * BLOCK_BYTES);
                Ok::<_, String>(of_kib.or(of_sectors))
            };
            let read = bytes("rkB/s", "rd_sec/s")?;
            let written = bytes("wkB/s", "wr_sec/s")?;
            if let (Some(read), Some(written)) = (read, written) {
                moment.devices.insert(device.to_owned(), [read, written]);
            }
        }
        Ok(())
    }
}

/// Memory in use without caches. In older versions of sysstat `kbmemused` contains them: together with what is free it is
/// the whole memory.
fn memory_used_kib(used: f64, free: f64, share: f64, caches: f64) -> f64 {
    let total = used / share;
    let contains_caches = total.is_finite() && (used + free - total).abs() < 0.02 * total;
    if contains_caches {
        (used - caches).max(0.0)
    } else {
        used
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CPU: &str = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
                       db1;600;2026-11-20 00:10:01 UTC;-1;20.00;0.00;5.00;10.00;5.00;60.00\n";
    const RESTARTED: &str = "db1;-1;2026-11-20 00:00:01 UTC;LINUX-RESTART\t(4 CPU)\n";

    fn curve(text: &str) -> LoadCurve {
        read("db1", text.as_bytes()).unwrap()
    }

    fn refusal(text: &str) -> String {
        read("db1", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn cpus_in_use_need_their_number() {
        // 100 - 60 - 10 - 5 = 25 % of 4 CPUs.
        let with = curve(&format!("{RESTARTED}{CPU}"));
        assert_eq!(with.samples[0].demand[Resource::Cpus.index()], Some(1.0));
        assert_eq!(with.samples[0].start_s, 1_795_133_401.0 - 600.0);
        assert!(with.hosts.iter().eq(["db1"]));
        let without = curve(CPU);
        assert!(without.lacks_cpus() && !without.has(Resource::Cpus));
        let listed = format!("{CPU}db1;600;2026-11-20 00:10:01 UTC;1;0;0;0;0;0;100\n");
        assert_eq!(curve(&listed).samples[0].demand[0], Some(0.5));
    }

    #[test]
    fn memory_is_without_caches_in_old_and_new_versions() {
        // 1000 KiB: 200 free, 500 in caches.
        let old = "# hostname;interval;timestamp;kbmemfree;kbmemused;%memused;kbbuffers;kbcached;kbcommit\n\
                   db1;600;2026-11-20 00:10:01 UTC;200;800;80.00;100;400;900\n";
        let new = "# hostname;interval;timestamp;kbmemfree;kbavail;kbmemused;%memused;kbbuffers;kbcached\n\
                   db1;600;2026-11-20 00:10:01 UTC;200;650;300;30.00;100;400\n";
        for text in [old, new] {
            let memory = curve(text).samples[0].demand[Resource::Memory.index()];
            assert_eq!(memory, Some(300.0 * 1024.0), "{text}");
        }
    }

    #[test]
    fn transfers_of_the_machine_are_preferred_to_those_of_devices() {
        let devices = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n\
                       db1;600;2026-11-20 00:10:01 UTC;sda;9.00;1.00;2.00;0.00;0.00;0.00;0.00;0.00\n\
                       db1;600;2026-11-20 00:10:01 UTC;sdb;9.00;3.00;4.00;0.00;0.00;0.00;0.00;0.00\n\
                       db1;600;2026-11-20 00:10:01 UTC;dm-0;9.00;3.00;4.00;0.00;0.00;0.00;0.00;0.00\n";
        let demand = curve(devices).samples[0].demand;
        assert_eq!(demand[2..6], [None, None, Some(4096.0), Some(6144.0)]);
        let machine = "# hostname;interval;timestamp;tps;rtps;wtps;dtps;bread/s;bwrtn/s;bdscd/s\n\
                       db1;600;2026-11-20 00:10:01 UTC;5.00;2.00;3.00;0.00;4.00;6.00;0.00\n";
        let demand = curve(&format!("{devices}{machine}")).samples[0].demand;
        assert_eq!(demand[2..6], [2.0, 3.0, 2048.0, 3072.0].map(Some));
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let negative = CPU.replace("60.00", "-60.00");
        assert_eq!(refusal(&negative), "db1: line 2: %idle is negative: -60.00");
        let other = format!("{CPU}db2;600;2026-11-20 00:20:01 UTC;-1;1;0;0;0;0;99\n");
        assert!(refusal(&other).contains("line 3: host db2 after host db1"));
        let short = format!("{CPU}db1;600;2026-11-20 00:20:01 UTC;-1;1\n");
        assert_eq!(refusal(&short), "db1: line 3: 5 fields, but 10 columns");
        assert!(refusal(&CPU.replace("2026-11-20 00", "noon")).contains("unknown time"));
        // Without the end of the line it is one that was still being written.
        let torn = curve(short.trim_end());
        assert_eq!(torn.samples.len(), 1);
        assert!(torn.remarks[0].contains("incomplete"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), lines in prop::collection::vec("[-0-9a-z;.: %/#]{0,60}", 0..8)) {
            let _ = read("a", text.as_bytes());
            let _ = read("a", format!("{RESTARTED}{CPU}{}", lines.join("\n")).as_bytes());
        }

        #[test]
        fn no_value_makes_it_panic(fields in prop::collection::vec("[-+0-9.e,]{0,9}", 6)) {
            let line = format!("db1;{};{};-1;{}\n", fields[0], fields[1], fields.join(";"));
            let _ = read("a", format!("{CPU}{line}").as_bytes());
        }
    }
}
