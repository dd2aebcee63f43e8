//! The thinning of telemetry in records of very long runs: adjacent samples are merged.

use crate::{
    server_activity::ServerStatus,
    telemetry::{
        CgroupUse, CpuTimes, DiskRequests, DiskUse, InterfaceUse, LimitedRequests, MachineUse,
        Memory, Paging, Pressure, ProcessUse, Scheduling, TcpUse, Telemetry,
    },
};

/// Number of samples, and of readings, that a record keeps unmerged: more than an hour at one per second.
pub(crate) const SAMPLES_MAX: usize = 4_096;

/// Largest gap between samples that are merged, as a share of a sample.
const GAP_MAX: f64 = 0.5;

/// Samples that can be merged with the next one.
pub(crate) trait Join: Sized {
    /// Start and length, seconds.
    fn span(&self) -> (f64, f64);
    /// True if both have the same subject.
    fn is_alike(&self, next: &Self) -> bool;
    /// Merges the next sample: counts are added, states are those of the later one.
    fn join(&mut self, next: Self);
}

/// If there are too many samples, halves their number by merging pairs.
pub(crate) fn thin<T: Join>(samples: &mut Vec<T>) {
    // If gaps prevent merging, it is tried only once per 1,024 samples.
    if samples.len() > SAMPLES_MAX && samples.len().is_multiple_of(1_024) {
        join_up_to(samples, 2.0 * longest_s(samples));
    }
}

/// Merges the samples added after the last halving to the length of the others; does nothing if none was merged.
pub(crate) fn even_out<T: Join>(samples: &mut Vec<T>, were_joined: bool) {
    if were_joined {
        join_up_to(samples, longest_s(samples));
    }
}

fn longest_s<T: Join>(samples: &[T]) -> f64 {
    samples.iter().map(|it| it.span().1).fold(0.0, f64::max)
}

/// Merges adjacent samples up to this total length; gaps between them remain.
fn join_up_to<T: Join>(samples: &mut Vec<T>, length_s: f64) {
    let mut joined: Vec<T> = Vec::with_capacity(samples.len() / 2 + 1);
    for next in samples.drain(..) {
        let (begin_s, of_next_s) = next.span();
        let fits = |it: &T| {
            let (t_s, of_it_s) = it.span();
            let is_next = begin_s - (t_s + of_it_s) <= GAP_MAX * of_next_s;
            is_next && of_it_s + of_next_s <= 1.01 * length_s
        };
        // Samples of two hosts alternate.
        let mut recent = joined.iter_mut().rev().take(2);
        match recent.find(|it| it.is_alike(&next)) {
            Some(it) if fits(it) => it.join(next),
            _ => joined.push(next),
        }
    }
    *samples = joined;
}

impl Join for ServerStatus {
    fn span(&self) -> (f64, f64) {
        (self.t_s, self.length_s)
    }

    fn is_alike(&self, _: &Self) -> bool {
        true
    }

    fn join(&mut self, next: Self) {
        self.length_s += next.length_s;
        self.asked_s += next.asked_s;
        for (name, grown) in next.counters {
            *self.counters.entry(name).or_insert(0.0) += grown;
        }
        self.values.extend(next.values);
        self.innodb = next.innodb.or(self.innodb.take());
        self.processes = next.processes;
    }
}

/// Adds the fields of a struct.
macro_rules! add {
    ($sum:ident, $more:ident: $($field:ident),+) => {
        $($sum.$field += $more.$field;)+
    };
}

/// Adds fields that may not have been observed.
macro_rules! add_known {
    ($sum:ident, $more:ident: $($field:ident),+) => {
        $($sum.$field = joined($sum.$field, $more.$field, |sum, more| *sum += more);)+
    };
}

/// Replaces fields by the later value.
macro_rules! later {
    ($sum:ident, $more:ident: $($field:ident),+) => {
        $($sum.$field = $more.$field;)+
    };
}

/// Both joined, or the one that is present.
fn joined<T>(one: Option<T>, next: Option<T>, join: impl FnOnce(&mut T, T)) -> Option<T> {
    match (one, next) {
        (Some(mut one), Some(next)) => {
            join(&mut one, next);
            Some(one)
        }
        (one, next) => one.or(next),
    }
}

/// Joins each element with the matching one of the next sample.
fn each<T>(all: &mut Vec<T>, next: Vec<T>, is_same: fn(&T, &T) -> bool, join: fn(&mut T, T)) {
    for more in next {
        match all.iter_mut().find(|it| is_same(it, &more)) {
            Some(it) => join(it, more),
            None => all.push(more),
        }
    }
}

impl Join for Telemetry {
    fn span(&self) -> (f64, f64) {
        (self.t_s, self.length_s)
    }

    fn is_alike(&self, next: &Self) -> bool {
        let device = |it: &Self| it.disk.as_ref().map(|disk| disk.device.clone());
        self.host == next.host && device(self) == device(next)
    }

    fn join(&mut self, next: Self) {
        self.length_s += next.length_s;
        self.machine = joined(self.machine, next.machine, machine);
        self.server = joined(self.server, next.server, process);
        self.client = joined(self.client, next.client, process);
        self.proxy = joined(self.proxy, next.proxy, process);
        each(
            &mut self.programs,
            next.programs,
            |one, other| one.name == other.name,
            |sum, more| sum.user_s += more.user_s,
        );
        self.memory = joined(self.memory, next.memory, |it: &mut Memory, next| *it = next);
        self.disk = joined(self.disk.take(), next.disk, disk);
        each(
            &mut self.other_disks,
            next.other_disks,
            |one, other| one.device == other.device,
            disk,
        );
        each(
            &mut self.cpus,
            next.cpus,
            |one, other| one.cpu == other.cpu,
            cpu,
        );
        self.scheduling = joined(self.scheduling, next.scheduling, scheduling);
        self.pressure = joined(self.pressure, next.pressure, pressure);
        self.paging = joined(self.paging, next.paging, paging);
        each(
            &mut self.interfaces,
            next.interfaces,
            |one, other| one.interface == other.interface,
            interface,
        );
        self.tcp = joined(self.tcp, next.tcp, tcp);
        self.cgroup = joined(self.cgroup.take(), next.cgroup, cgroup);
    }
}

fn machine(sum: &mut MachineUse, more: MachineUse) {
    add!(sum, more: user_s, system_s, iowait_s, steal_s, idle_s);
}

fn process(sum: &mut ProcessUse, more: ProcessUse) {
    add!(sum, more: user_s, system_s);
    later!(sum, more: resident_bytes, threads, open_files);
    add_known!(sum, more: read_bytes, written_bytes, voluntary_switches, involuntary_switches, minor_faults, major_faults);
}

fn disk(sum: &mut DiskUse, more: DiskUse) {
    add!(sum, more: reads, writes, read_bytes, written_bytes, busy_s);
    sum.requests = joined(sum.requests, more.requests, requests);
}

fn requests(sum: &mut DiskRequests, more: DiskRequests) {
    add!(sum, more: read_s, write_s, queued_s, reads_merged, writes_merged);
    add_known!(sum, more: discards, discarded_bytes, discard_s, flushes, flush_s);
}

fn cpu(sum: &mut CpuTimes, more: CpuTimes) {
    add!(sum, more: user_s, nice_s, system_s, idle_s, iowait_s, irq_s, softirq_s, steal_s, guest_s);
}

fn scheduling(sum: &mut Scheduling, more: Scheduling) {
    later!(sum, more: running, blocked, load_1m);
    add!(sum, more: context_switches, forks);
    add_known!(sum, more: interrupts);
}

fn pressure(sum: &mut Pressure, more: Pressure) {
    add!(sum, more: cpu_some_s, io_some_s, io_full_s, memory_some_s, memory_full_s);
}

fn paging(sum: &mut Paging, more: Paging) {
    add!(sum, more: in_bytes, out_bytes, swapped_in_bytes, swapped_out_bytes, faults, major_faults);
    add_known!(sum, more: oom_kills);
}

fn interface(sum: &mut InterfaceUse, more: InterfaceUse) {
    add!(sum, more: received_bytes, received_packets, sent_bytes, sent_packets, errors, drops);
}

fn tcp(sum: &mut TcpUse, more: TcpUse) {
    add!(sum, more: segments_sent, retransmitted);
    add_known!(sum, more: listen_overflows, listen_drops);
}

fn cgroup(sum: &mut CgroupUse, more: CgroupUse) {
    add_known!(sum, more: cpu_s, periods, throttled_periods, throttled_s, memory_limit_hits, oom_kills, reads, writes, read_bytes, written_bytes);
    later!(sum, more: memory_bytes);
    sum.limited = joined(sum.limited, more.limited, limited);
    sum.pressure = joined(sum.pressure, more.pressure, pressure);
}

fn limited(sum: &mut LimitedRequests, more: LimitedRequests) {
    add!(sum, more: reads, writes, read_bytes, written_bytes);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::machine::Host;

    #[test]
    fn what_was_counted_stays_and_what_stands_is_the_later() {
        let seconds = 3 * SAMPLES_MAX;
        let mut samples = Vec::new();
        let mut readings = Vec::new();
        for second in 0..seconds {
            for host in [Host::Client, Host::Server] {
                samples.push(Telemetry {
                    t_s: second as f64,
                    length_s: 1.0,
                    host,
                    memory: Some(Memory {
                        total_bytes: second as u64,
                        ..Memory::default()
                    }),
                    disk: Some(DiskUse {
                        writes: 3,
                        ..DiskUse::default()
                    }),
                    ..Telemetry::default()
                });
                thin(&mut samples);
            }
            readings.push(ServerStatus {
                t_s: second as f64,
                length_s: 1.0,
                counters: BTreeMap::from([("Questions".to_owned(), 2.0)]),
                values: BTreeMap::from([("Threads_running".to_owned(), second as f64)]),
                ..ServerStatus::default()
            });
            thin(&mut readings);
        }
        even_out(&mut samples, true);
        even_out(&mut readings, true);
        assert!(samples.len() <= SAMPLES_MAX && readings.len() <= SAMPLES_MAX);
        let longest = longest_s(&readings);
        let shorter = readings.iter().filter(|it| it.length_s < longest).count();
        assert!(shorter <= 1, "{shorter} are shorter than {longest} s");
        let questions: f64 = readings.iter().map(|it| it.counters["Questions"]).sum();
        assert_eq!(questions, 2.0 * seconds as f64);
        let last = readings.last().unwrap();
        assert_eq!(last.values["Threads_running"], seconds as f64 - 1.0);
        for host in [Host::Client, Host::Server] {
            let own = || samples.iter().filter(|it| it.host == host);
            assert_eq!(own().map(|it| it.length_s).sum::<f64>(), seconds as f64);
            assert_eq!(
                own()
                    .map(|it| it.disk.as_ref().unwrap().writes)
                    .sum::<u64>(),
                3 * seconds as u64
            );
            assert_eq!(
                own().next_back().unwrap().memory.unwrap().total_bytes,
                seconds as u64 - 1
            );
        }
    }

    #[test]
    fn a_gap_stays_one() {
        let reading = |t_s| ServerStatus {
            t_s,
            length_s: 1.0,
            ..ServerStatus::default()
        };
        let mut readings = [0.0, 1.0, 5.0, 6.0].map(reading).to_vec();
        join_up_to(&mut readings, 4.0);
        let spans: Vec<_> = readings.iter().map(Join::span).collect();
        assert_eq!(spans, [(0.0, 2.0), (5.0, 2.0)]);
        even_out(&mut readings, false);
        assert_eq!(readings.len(), 2);
    }
}
