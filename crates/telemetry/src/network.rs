//! Network traffic.

use std::collections::BTreeMap;

use procfs_core::{
    FromRead, ProcError,
    net::{DeviceStatus, InterfaceDeviceStatus},
};
use samples::{InterfaceUse, Link, TcpUse};

use crate::{
    error::NotObserved,
    kernel::{Kernel, difference, difference_of},
};

const INTERFACES: &str = "sys/class/net";

/// The interfaces whose speed the kernel knows. Interfaces of virtual networks report an invented one.
pub(crate) fn links(kernel: &Kernel) -> Vec<Link> {
    let links = kernel
        .names(INTERFACES)
        .into_iter()
        .filter_map(|interface| {
            let has = |part: &str| {
                let path = kernel.path(&format!("{INTERFACES}/{interface}/{part}"));
                path.exists()
            };
            // A bond is not a device, but has the sum of its members' speeds.
            if !has("device") && !has("bonding") {
                return None;
            }
            // A link that is down has -1, or cannot be read.
            let megabits = kernel.number(&format!("{INTERFACES}/{interface}/speed"))?;
            (megabits > 0).then_some(Link {
                interface,
                speed_bits_per_s: megabits * 1_000_000,
            })
        });
    links.collect()
}

/// Traffic of the interfaces since they came up.
#[derive(Debug)]
pub(crate) struct InterfaceCounters(BTreeMap<String, DeviceStatus>);

impl InterfaceCounters {
    pub(crate) fn read(kernel: &Kernel) -> Result<Self, NotObserved> {
        let InterfaceDeviceStatus(interfaces) =
            InterfaceDeviceStatus::from_file(kernel.path("proc/self/net/dev"))
                .map_err(|source| NotObserved::counters("network interfaces", source))?;
        Ok(Self(interfaces.into_iter().collect()))
    }

    /// Traffic of each interface since `earlier`; idle ones are left out.
    pub(crate) fn since(&self, earlier: &Self) -> Vec<InterfaceUse> {
        let uses = self.0.iter().filter_map(|(name, now)| {
            let before = earlier.0.get(name)?;
            let used = InterfaceUse {
                interface: name.clone(),
                received_bytes: difference(now.recv_bytes, before.recv_bytes),
                received_packets: difference(now.recv_packets, before.recv_packets),
                sent_bytes: difference(now.sent_bytes, before.sent_bytes),
                sent_packets: difference(now.sent_packets, before.sent_packets),
                errors: difference(now.recv_errs, before.recv_errs)
                    + difference(now.sent_errs, before.sent_errs),
                drops: difference(now.recv_drop, before.recv_drop)
                    + difference(now.sent_drop, before.sent_drop),
            };
            let moved = used.received_packets + used.sent_packets + used.errors + used.drops;
            (moved > 0).then_some(used)
        });
        uses.collect()
    }
}

/// TCP counters since the machine started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TcpCounters {
    segments_sent: u64,
    retransmitted: u64,
    listen_overflows: Option<u64>,
    listen_drops: Option<u64>,
}

impl TcpCounters {
    pub(crate) fn read(kernel: &Kernel) -> Result<Self, NotObserved> {
        let failed = |source| NotObserved::counters("TCP", source);
        let snmp = kernel.text("proc/self/net/snmp").map_err(failed)?;
        let needed =
            |name| counter(&snmp, "Tcp", name).ok_or_else(|| failed(ProcError::Incomplete(None)));
        let more = kernel.text("proc/self/net/netstat").unwrap_or_default();
        Ok(Self {
            segments_sent: needed("OutSegs")?,
            retransmitted: needed("RetransSegs")?,
            listen_overflows: counter(&more, "TcpExt", "ListenOverflows"),
            listen_drops: counter(&more, "TcpExt", "ListenDrops"),
        })
    }

    pub(crate) fn since(&self, earlier: &Self) -> TcpUse {
        TcpUse {
            segments_sent: difference(self.segments_sent, earlier.segments_sent),
            retransmitted: difference(self.retransmitted, earlier.retransmitted),
            listen_overflows: difference_of(self.listen_overflows, earlier.listen_overflows),
            listen_drops: difference_of(self.listen_drops, earlier.listen_drops),
        }
    }
}

/// A counter of /proc/net/snmp or /proc/net/netstat, where a line of names precedes a line of values.
///
/// procfs has no parser for netstat, and its parser for snmp requires a hundred counters that not every kernel has.
///
/// ```text
/// Tcp: RtoAlgorithm RtoMin OutSegs RetransSegs
/// Tcp: 1 200 4096 12
/// ```
fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text
        .lines()
        .filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(": "));
    let (names, values) = (lines.next()?, lines.next()?);
    let position = names.split(' ').position(|it| it == name)?;
    values.split(' ').nth(position)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::Fixture;

    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
                        Tcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 4096 12\n\
                        TcpExt: OutSegs\nTcpExt: 7\n";

    #[test]
    fn links_tell_their_speed_where_it_is_one() {
        let speeds = |text: &str| {
            let fixture = Fixture::unpack(text);
            let links = links(&fixture.kernel(100, 4096)).into_iter();
            links
                .map(|link| (link.interface, link.speed_bits_per_s / 1_000_000))
                .collect::<Vec<_>>()
        };
        let bonded = speeds(include_str!("../fixtures/linux-4.18-x86_64.txt"));
        let expected = [("bond0".to_owned(), 20_000), ("eno1".to_owned(), 10_000)];
        assert_eq!(bonded, expected, "eno2 is down");
        let virtual_ones = speeds(include_str!("../fixtures/linux-6.1-x86_64.txt"));
        assert_eq!(
            virtual_ones,
            [],
            "a virtio card knows no speed, and a veth makes one up"
        );
        assert_eq!(
            speeds(include_str!("../fixtures/linux-3.10-x86_64.txt")),
            []
        );
    }

    #[test]
    fn counters_are_found_by_protocol_and_name() {
        for (protocol, name, value) in [
            ("Tcp", "RetransSegs", Some(12)),
            ("TcpExt", "OutSegs", Some(7)),
            ("Ip", "DefaultTTL", Some(64)),
            ("Tcp", "MaxConn", None),
            ("Tcp", "ListenDrops", None),
            ("Udp", "OutSegs", None),
        ] {
            assert_eq!(counter(SNMP, protocol, name), value, "{protocol} {name}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(Tcp: |[a-zA-Z0-9 :\n-]{0,20}){0,6}") {
            counter(&text, "Tcp", "OutSegs");
        }

        #[test]
        fn what_was_written_is_found(values in prop::collection::vec(any::<u64>(), 1..9)) {
            let names: Vec<_> = (0..values.len()).map(|index| format!("N{index}")).collect();
            let numbers: Vec<_> = values.iter().map(u64::to_string).collect();
            let text = format!("Tcp: {}\nTcp: {}\n", names.join(" "), numbers.join(" "));
            for (name, value) in names.iter().zip(values) {
                prop_assert_eq!(counter(&text, "Tcp", name), Some(value));
            }
        }
    }
}
