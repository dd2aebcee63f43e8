//! The machine over time: CPU, pressure and the disk of the data directory.

use samples::{Host, Telemetry};

use super::data::{ChartData, Instants, lines_with_values};

/// Shares of the machine's capacity; `None` if no machine was observed.
pub(super) fn cpu(telemetry: &[&Telemetry], host: Option<Host>) -> Option<ChartData> {
    let samples: Vec<_> = telemetry
        .iter()
        .filter_map(|sample| Some((*sample, sample.machine?)))
        .filter(|(_, machine)| {
            machine.user_s + machine.system_s + machine.iowait_s + machine.steal_s + machine.idle_s
                > 0.0
        })
        .collect();
    if samples.is_empty() {
        return None;
    }
    let (mut server, mut client, mut proxy, mut rest) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut iowait, mut steal) = (Vec::new(), Vec::new());
    for (sample, machine) in &samples {
        let busy_s = machine.user_s + machine.system_s;
        let capacity_s = busy_s + machine.iowait_s + machine.steal_s + machine.idle_s;
        let percent = |seconds: f64| seconds / capacity_s * 100.0;
        let processes = [sample.server, sample.client, sample.proxy];
        let seconds = processes.map(|process| process.map(|p| p.user_s + p.system_s));
        let known_s: f64 = seconds.iter().flatten().sum();
        let [server_s, client_s, proxy_s] = seconds;
        server.push(server_s.map(percent));
        client.push(client_s.map(percent));
        proxy.push(proxy_s.map(percent));
        rest.push(Some(percent((busy_s - known_s).max(0.0))));
        iowait.push(Some(percent(machine.iowait_s)));
        steal.push(Some(percent(machine.steal_s)).filter(|share| *share > 0.0));
    }
    let lines = [
        ("server", 0, server),
        ("client", 1, client),
        ("proxy", 2, proxy),
        ("rest", 5, rest),
        ("iowait", 3, iowait),
        ("steal", 4, steal),
    ];
    Some(ChartData {
        title: match host {
            Some(Host::Server) => "CPU of the server's machine",
            Some(Host::Client) => "CPU of the client's machine (not the server's)",
            _ if samples.iter().all(|(sample, _)| sample.server.is_none()) => "CPU of the machine",
            _ => "CPU of the machine that client and server share",
        },
        unit: "% of all CPUs",
        logarithmic: false,
        t: Instants(samples.iter().map(|(sample, _)| sample.t_s).collect()),
        bands: Vec::new(),
        lines: lines_with_values(lines),
    })
}

/// The disk that holds the data directory; `None` if none was observed.
pub(super) fn disk(telemetry: &[&Telemetry]) -> Option<ChartData> {
    let samples: Vec<_> = telemetry
        .iter()
        .filter(|sample| sample.length_s > 0.0)
        .filter_map(|sample| Some((*sample, sample.disk.as_ref()?)))
        .collect();
    if samples.is_empty() {
        return None;
    }
    let column = |value: &dyn Fn(&samples::DiskUse) -> f64| -> Vec<Option<f64>> {
        samples
            .iter()
            .map(|(sample, disk)| Some(value(disk) / sample.length_s))
            .collect()
    };
    let lines = [
        ("read MB/s", 0, column(&|disk| disk.read_bytes as f64 / 1e6)),
        (
            "written MB/s",
            1,
            column(&|disk| disk.written_bytes as f64 / 1e6),
        ),
        ("busy %", 5, column(&|disk| disk.busy_s * 100.0)),
    ];
    Some(ChartData {
        title: "Disk of the data directory",
        unit: "MB/s, busy %",
        logarithmic: false,
        t: Instants(samples.iter().map(|(sample, _)| sample.t_s).collect()),
        bands: Vec::new(),
        lines: lines_with_values(lines),
    })
}

/// The waiting time of the disk's requests; `None` if no disk was observed.
pub(super) fn disk_waits(telemetry: &[&Telemetry]) -> Option<ChartData> {
    type Value = fn(&samples::DiskUse) -> Option<f64>;
    let lines: [(&str, usize, Value); 3] = [
        ("read", 0, samples::DiskUse::read_wait_s),
        ("write", 1, samples::DiskUse::write_wait_s),
        ("flush", 5, samples::DiskUse::flush_wait_s),
    ];
    let samples: Vec<_> = telemetry
        .iter()
        .filter_map(|sample| Some((*sample, sample.disk.as_ref()?)))
        .filter(|(_, disk)| disk.requests.is_some())
        .collect();
    let lines = lines.map(|(name, style, value)| {
        let ms = samples
            .iter()
            .map(|(_, disk)| value(disk).map(|seconds| seconds * 1e3));
        (name, style, ms.collect())
    });
    let lines = lines_with_values(lines);
    (!lines.is_empty()).then(|| ChartData {
        title: "Disk of the data directory: mean time of a request",
        unit: "ms",
        logarithmic: true,
        t: Instants(samples.iter().map(|(sample, _)| sample.t_s).collect()),
        bands: Vec::new(),
        lines,
    })
}

/// The time that tasks of the machine waited for a resource; `None` if the kernel does not report it.
pub(super) fn pressure(telemetry: &[&Telemetry], host: Option<Host>) -> Option<ChartData> {
    let samples: Vec<_> = telemetry
        .iter()
        .filter(|sample| sample.length_s > 0.0)
        .filter_map(|sample| Some((*sample, sample.pressure?)))
        .collect();
    let column = |value: fn(&samples::Pressure) -> f64| -> Vec<Option<f64>> {
        let share = |sample: &Telemetry, pressure| value(pressure) / sample.length_s;
        // The kernel adds a stall when it ends, which may be in the next sample.
        let shares = samples
            .iter()
            .map(|(sample, it)| share(sample, it).min(1.0));
        shares.map(|share| Some(share * 100.0)).collect()
    };
    let lines = [
        ("for a CPU", 0, column(|it| it.cpu_some_s)),
        ("for a disk", 1, column(|it| it.io_some_s)),
        ("for memory", 5, column(|it| it.memory_some_s)),
    ];
    (!samples.is_empty()).then(|| ChartData {
        title: match host {
            Some(Host::Server) => "Pressure on the server's machine: time in which some task waited",
            Some(Host::Client) => "Pressure on the client's machine (not the server's): time in which some task waited",
            _ => "Pressure: time in which some task waited",
        },
        unit: "% of the time",
        logarithmic: false,
        t: Instants(samples.iter().map(|(sample, _)| sample.t_s).collect()),
        bands: Vec::new(),
        lines: lines_with_values(lines),
    })
}
