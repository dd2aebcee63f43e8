//! Compares the sampler's figures with those of vmstat, iostat, mpstat and pidstat over the same time.
//!
//! The tools start a little later than dbdyno, and their second takes a little longer: their figure has to agree with
//! ours for some window of that length that begins within two seconds. The default is six seconds and 10 %; with
//! `DBDYNO_SYSSTAT_SECONDS=60` a minute and 2 %.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    os::unix::fs::FileExt,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use samples::{CpuTimes, Host, Telemetry};
use serde_json::Value;
use telemetry::{Sampler, Targets};

/// A figure from both sides, summed over the time.
struct Pair {
    what: String,
    /// The lowest and the highest of the windows.
    ours: (f64, f64),
    theirs: f64,
    /// A smaller difference is within the resolution of the compared figures.
    resolution: f64,
}

fn start(command: &str, arguments: &[&str]) -> Child {
    Command::new(command)
        .args(arguments)
        .env("LC_ALL", "C")
        .env("S_TIME_FORMAT", "ISO")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was there when it was asked for its version")
}

fn text(child: Child) -> String {
    let output = child.wait_with_output().expect("it is our child");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("digits and names")
}

/// Uses CPU in user mode and in the kernel, and writes to a disk, at an even pace.
fn work(file: &File, stop: &AtomicBool) {
    let block = vec![7_u8; 64 << 10];
    let mut sum = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        for round in 0..2_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(round));
        }
        file.write_all_at(&block, 0).expect("a file of our own");
        file.sync_data().expect("a file of our own");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "a long round: make test-all"]
fn figures_are_those_of_sysstat() {
    let tools = ["vmstat", "iostat", "mpstat", "pidstat"];
    let is_there = |tool: &str| Command::new(tool).arg("-V").output().is_ok();
    if !tools.into_iter().all(is_there) {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: sysstat is not installed (scripts/install-packages.sh test)"
        );
        return;
    }
    let seconds: u32 = std::env::var("DBDYNO_SYSSTAT_SECONDS")
        .ok()
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or(6);
    let tolerance = if seconds >= 60 { 0.02 } else { 0.1 };
    // A burst of other activity at the edge of the window affects one side only; a real error appears every time.
    let attempts = if seconds >= 60 { 1 } else { 3 };
    let mut wrong = Vec::new();
    for _ in 0..attempts {
        wrong = differences(seconds, tolerance);
        if wrong.is_empty() {
            return;
        }
    }
    panic!("{wrong:#?}");
}

/// The figures that differ by more than `tolerance`, under a load of our own.
fn differences(seconds: u32, tolerance: f64) -> Vec<String> {
    let directory = env!("CARGO_TARGET_TMPDIR");
    fs::create_dir_all(directory).expect("it is writable");
    let directory = tempfile::tempdir_in(directory).expect("it is writable");
    let file = File::create(directory.path().join("blocks")).expect("it is writable");
    let stop = AtomicBool::new(false);
    let pairs = thread::scope(|scope| {
        scope.spawn(|| work(&file, &stop));
        // Set even if observing panics, because the scope waits for the work.
        let _stop = StopAtEnd(&stop);
        observe(seconds, directory.path())
    });
    assert!(pairs.len() > 20, "{} figures", pairs.len());
    let mut wrong = Vec::new();
    for pair in &pairs {
        let Pair { what, theirs, .. } = pair;
        let (low, high) = pair.ours;
        let line = format!("{what}: ours {low:.3} to {high:.3}, theirs {theirs:.3}");
        let _ = writeln!(std::io::stderr(), "{line}");
        let off = (low - theirs).max(theirs - high);
        if off > (tolerance * theirs.abs()).max(pair.resolution) {
            wrong.push(line);
        }
    }
    wrong
}

/// Sets a flag when dropped.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Seconds of a monotonic clock.
fn now_s() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// All sides sample every second, from the same moment on.
fn observe(seconds: u32, datadir: &std::path::Path) -> Vec<Pair> {
    let count = seconds.to_string();
    // The first report of vmstat covers the time since the machine started.
    let one_more = (seconds + 1).to_string();
    let pid = std::process::id().to_string();
    let mut sampler = Sampler::new(Targets {
        host: Host::Both,
        server_pid: None,
        datadir: Some(datadir.to_owned()),
    });
    // Named explicitly, because iostat's JSON is broken when a device is added or removed.
    let disk = sampler.sample(&|| 0.0).disk.map(|disk| disk.device);
    sampler.sample(&|| 0.0);
    let begin_s = now_s();
    let mut telemetry = Vec::new();
    let vmstat = start("vmstat", &["-n", "1", &one_more]);
    let iostat = disk.as_ref().map(|disk| {
        let arguments = ["-y", "-x", "-k", "-o", "JSON", disk, "1", &count];
        start("iostat", &arguments)
    });
    let mpstat = start("mpstat", &["-P", "ALL", "-o", "JSON", "1", &count]);
    let pidstat = start(
        "pidstat",
        &["-h", "-u", "-r", "-d", "-p", &pid, "1", &count],
    );
    for look in 1..=(seconds + LATER_S) * LOOKS_PER_S {
        let left_s = begin_s + f64::from(look) / f64::from(LOOKS_PER_S) - now_s();
        thread::sleep(Duration::from_secs_f64(left_s.max(0.0)));
        telemetry.push(sampler.sample(&|| now_s() - begin_s));
    }
    let windows = Windows { telemetry, seconds };
    let mut pairs = Vec::new();
    of_mpstat(&text(mpstat), &windows, &mut pairs);
    if let Some((disk, iostat)) = disk.zip(iostat) {
        of_iostat(&text(iostat), &disk, &windows, &mut pairs);
    }
    of_vmstat(&text(vmstat), &windows, &mut pairs);
    of_pidstat(&text(pidstat), &windows, &mut pairs);
    pairs
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1);
    values.sum::<f64>() / count as f64
}

/// Extra observation time compared to the tools, seconds.
const LATER_S: u32 = 2;
const LOOKS_PER_S: u32 = 10;

/// The samples, in windows as long as sysstat's.
struct Windows {
    telemetry: Vec<Telemetry>,
    seconds: u32,
}

impl Windows {
    /// The lowest and the highest value of `of` over them.
    fn spread(&self, of: impl Fn(&[Telemetry]) -> f64) -> (f64, f64) {
        let all = self
            .telemetry
            .windows((self.seconds * LOOKS_PER_S) as usize);
        let values: Vec<f64> = all.map(of).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (
            low,
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    /// The lowest and the highest rate per second of a value over the windows.
    fn rates(&self, value: &dyn Fn(&Telemetry) -> Option<f64>) -> (f64, f64) {
        self.spread(|window| {
            let length_s: f64 = window.iter().map(|sample| sample.length_s).sum();
            window.iter().filter_map(value).sum::<f64>() / length_s
        })
    }
}

fn statistics(json: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(json).expect("JSON was asked for");
    let all = value["sysstat"]["hosts"][0]["statistics"].as_array();
    all.cloned().expect("as sysstat writes it")
}

fn of_mpstat(json: &str, windows: &Windows, pairs: &mut Vec<Pair>) {
    let reports = statistics(json);
    let numbers = windows.telemetry.iter().flat_map(|sample| &sample.cpus);
    let numbers: std::collections::BTreeSet<u32> = numbers.map(|cpu| cpu.cpu).collect();
    type Part = (&'static str, fn(&CpuTimes) -> f64);
    let parts: [Part; 8] = [
        ("usr", |cpu| cpu.user_s - cpu.guest_s),
        ("nice", |cpu| cpu.nice_s),
        ("sys", |cpu| cpu.system_s),
        ("iowait", |cpu| cpu.iowait_s),
        ("irq", |cpu| cpu.irq_s),
        ("soft", |cpu| cpu.softirq_s),
        ("steal", |cpu| cpu.steal_s),
        ("idle", |cpu| cpu.idle_s),
    ];
    for number in numbers {
        let named = number.to_string();
        let share = |window: &[Telemetry], part: fn(&CpuTimes) -> f64| {
            let times = window.iter().flat_map(|sample| &sample.cpus);
            let times: Vec<_> = times.filter(|cpu| cpu.cpu == number).collect();
            let all = parts.map(|(_, part)| times.iter().map(|cpu| part(cpu)).sum::<f64>());
            times.iter().map(|cpu| part(cpu)).sum::<f64>() / all.iter().sum::<f64>() * 100.0
        };
        for (name, part) in parts {
            let theirs = reports.iter().flat_map(|report| {
                let cpus = report["cpu-load"].as_array().expect("as mpstat writes it");
                cpus.iter().filter(|cpu| cpu["cpu"] == named.as_str())
            });
            pairs.push(Pair {
                what: format!("mpstat cpu{number} %{name}"),
                ours: windows.spread(|window| share(window, part)),
                theirs: mean(theirs.filter_map(|cpu| cpu[name].as_f64())),
                // A clock tick in a second.
                resolution: 1.0,
            });
        }
    }
}

fn of_iostat(json: &str, disk: &str, windows: &Windows, pairs: &mut Vec<Pair>) {
    let seconds = f64::from(windows.seconds);
    let mut theirs: BTreeMap<String, BTreeMap<&str, f64>> = BTreeMap::new();
    for report in statistics(json) {
        for disk in report["disk"].as_array().expect("as iostat writes it") {
            let name = disk["disk_device"].as_str().expect("a name");
            let sums = theirs.entry(name.to_owned()).or_default();
            let value = |field: &str| disk[field].as_f64().unwrap_or(0.0);
            for field in ["r/s", "w/s", "f/s", "rkB/s", "wkB/s", "aqu-sz", "util"] {
                *sums.entry(field).or_default() += value(field) / seconds;
            }
            // A mean over requests, and not over seconds.
            *sums.entry("write ms/s").or_default() += value("w_await") * value("w/s") / seconds;
        }
    }
    let sums = &theirs[disk];
    let ours = |value: &dyn Fn(&samples::DiskUse) -> f64| {
        windows.rates(&|sample| sample.disk.as_ref().map(value))
    };
    let requests = |disk: &samples::DiskUse| disk.requests.unwrap_or_default();
    let figures = [
        ("r/s", ours(&|disk| disk.reads as f64), 1.0),
        ("w/s", ours(&|disk| disk.writes as f64), 2.0),
        (
            "f/s",
            ours(&|disk| requests(disk).flushes.unwrap_or(0) as f64),
            1.0,
        ),
        ("rkB/s", ours(&|disk| disk.read_bytes as f64 / 1024.0), 16.0),
        (
            "wkB/s",
            ours(&|disk| disk.written_bytes as f64 / 1024.0),
            64.0,
        ),
        ("aqu-sz", ours(&|disk| requests(disk).queued_s), 0.02),
        ("util", ours(&|disk| disk.busy_s * 100.0), 1.0),
        (
            "write ms/s",
            ours(&|disk| requests(disk).write_s * 1000.0),
            4.0,
        ),
    ];
    for (name, ours, resolution) in figures {
        pairs.push(Pair {
            what: format!("iostat {disk} {name}"),
            ours,
            theirs: sums[name],
            resolution,
        });
    }
}

fn of_vmstat(report: &str, windows: &Windows, pairs: &mut Vec<Pair>) {
    let mut lines = report.lines().skip(1);
    let names: Vec<_> = lines
        .next()
        .expect("a heading")
        .split_whitespace()
        .collect();
    let rows: Vec<Vec<f64>> = lines
        .skip(1)
        .map(|line| {
            line.split_whitespace()
                .filter_map(|it| it.parse().ok())
                .collect()
        })
        .collect();
    let theirs = |name: &str| {
        let column = names
            .iter()
            .position(|it| *it == name)
            .expect("a column of vmstat");
        mean(rows.iter().map(|row| row[column]))
    };
    let ours = |value: &dyn Fn(&Telemetry) -> Option<f64>| windows.rates(value);
    let figures = [
        (
            "bi",
            ours(&|it| Some(it.paging?.in_bytes as f64 / 1024.0)),
            16.0,
        ),
        (
            "bo",
            ours(&|it| Some(it.paging?.out_bytes as f64 / 1024.0)),
            64.0,
        ),
        (
            "si",
            ours(&|it| Some(it.paging?.swapped_in_bytes as f64 / 1024.0)),
            4.0,
        ),
        (
            "so",
            ours(&|it| Some(it.paging?.swapped_out_bytes as f64 / 1024.0)),
            4.0,
        ),
        (
            "in",
            ours(&|it| Some(it.scheduling?.interrupts? as f64)),
            50.0,
        ),
        (
            "cs",
            ours(&|it| Some(it.scheduling?.context_switches as f64)),
            100.0,
        ),
    ];
    for (name, ours, resolution) in figures {
        pairs.push(Pair {
            what: format!("vmstat {name}"),
            ours,
            theirs: theirs(name),
            resolution,
        });
    }
}

fn of_pidstat(report: &str, windows: &Windows, pairs: &mut Vec<Pair>) {
    let heading = report
        .lines()
        .find(|line| line.starts_with('#'))
        .expect("a heading");
    let names: Vec<_> = heading.trim_start_matches('#').split_whitespace().collect();
    let rows: Vec<Vec<&str>> = report
        .lines()
        .skip(1)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let theirs = |name: &str| {
        let column = names
            .iter()
            .position(|it| *it == name)
            .expect("a column of pidstat");
        mean(
            rows.iter()
                .filter_map(|row| row[column].parse().ok())
                .collect::<Vec<_>>()
                .into_iter(),
        )
    };
    let ours = |value: &dyn Fn(&samples::ProcessUse) -> f64| {
        windows.rates(&|sample| sample.client.as_ref().map(value))
    };
    let resident = windows.spread(|window| {
        let last = window.last().and_then(|sample| sample.client);
        last.map_or(0.0, |it| it.resident_bytes as f64 / 1024.0)
    });
    let figures = [
        ("%usr", ours(&|it| it.user_s * 100.0), 2.0),
        ("%system", ours(&|it| it.system_s * 100.0), 2.0),
        (
            "minflt/s",
            ours(&|it| it.minor_faults.unwrap_or(0) as f64),
            20.0,
        ),
        ("RSS", resident, 1024.0),
        (
            "kB_wr/s",
            ours(&|it| it.written_bytes.unwrap_or(0) as f64 / 1024.0),
            64.0,
        ),
    ];
    for (name, ours, resolution) in figures {
        pairs.push(Pair {
            what: format!("pidstat {name}"),
            ours,
            theirs: theirs(name),
            resolution,
        });
    }
}
