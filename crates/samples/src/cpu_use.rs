//! CPU usage of the machine during a measurement, by server, client and others.

use std::collections::BTreeMap;

use crate::{machine::Host, reader::Record};

/// Shares of the machine's CPU capacity, 0 to 1, adding up to 1 with the idle rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuUse {
    /// The server's process, user and system time; `None` if it is not on the observed machine.
    pub server: Option<f64>,
    /// dbdyno itself, user and system time; `None` on a machine without it.
    pub client: Option<f64>,
    /// The proxy between clients and server, user and system time; `None` without one.
    pub proxy: Option<f64>,
    /// All other programs: busy time of the machine minus server, client and proxy.
    pub rest: f64,
    /// Idle with I/O outstanding.
    pub iowait: f64,
    /// Stolen by the hypervisor.
    pub steal: f64,
    /// Idle without outstanding I/O.
    pub idle: f64,
    /// user + nice of the whole machine.
    pub user: f64,
    /// system + irq + softirq of the whole machine.
    pub system: f64,
}

impl CpuUse {
    /// Busy share of the machine: everything except idle, I/O wait and steal.
    pub fn busy(&self) -> f64 {
        self.user + self.system
    }
}

impl CpuUse {
    /// CPU shares of the server's machine over the measurement phase; `None` if it was not observed.
    pub fn of_server(record: &Record) -> Option<Self> {
        Self::of_one(record, [Host::Server, Host::Both])
    }

    /// CPU shares of the machine that dbdyno ran on; `None` if it was not observed.
    pub fn of_client(record: &Record) -> Option<Self> {
        Self::of_one(record, [Host::Client, Host::Both])
    }

    /// CPU shares of the first of these machines that was observed.
    fn of_one<const N: usize>(record: &Record, hosts: [Host; N]) -> Option<Self> {
        let measured = record.measured()?;
        let mut by_host: BTreeMap<Host, Sums> = BTreeMap::new();
        for sample in measured.telemetry() {
            let Some(machine) = sample.machine else {
                continue;
            };
            let sums = by_host.entry(sample.host).or_default();
            sums.user_s += machine.user_s;
            sums.system_s += machine.system_s;
            sums.iowait_s += machine.iowait_s;
            sums.steal_s += machine.steal_s;
            sums.idle_s += machine.idle_s;
            if let Some(server) = sample.server {
                *sums.server_s.get_or_insert(0.0) += server.user_s + server.system_s;
            }
            if let Some(client) = sample.client {
                *sums.client_s.get_or_insert(0.0) += client.user_s + client.system_s;
            }
            if let Some(proxy) = sample.proxy {
                *sums.proxy_s.get_or_insert(0.0) += proxy.user_s + proxy.system_s;
            }
        }
        let observed = hosts.into_iter().find_map(|host| by_host.remove(&host));
        observed.and_then(|sums| sums.shares())
    }
}

#[derive(Default)]
struct Sums {
    user_s: f64,
    system_s: f64,
    iowait_s: f64,
    steal_s: f64,
    idle_s: f64,
    server_s: Option<f64>,
    client_s: Option<f64>,
    proxy_s: Option<f64>,
}

impl Sums {
    fn shares(&self) -> Option<CpuUse> {
        let busy_s = self.user_s + self.system_s;
        let capacity_s = busy_s + self.iowait_s + self.steal_s + self.idle_s;
        if capacity_s <= 0.0 {
            return None;
        }
        let share = |seconds: f64| seconds / capacity_s;
        let ours = [self.server_s, self.client_s, self.proxy_s];
        let ours_s: f64 = ours.into_iter().flatten().sum();
        Some(CpuUse {
            server: self.server_s.map(share),
            client: self.client_s.map(share),
            proxy: self.proxy_s.map(share),
            rest: share((busy_s - ours_s).max(0.0)),
            iowait: share(self.iowait_s),
            steal: share(self.steal_s),
            idle: share(self.idle_s),
            user: share(self.user_s),
            system: share(self.system_s),
        })
    }
}
