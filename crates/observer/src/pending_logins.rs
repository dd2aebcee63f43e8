//! Connections that have not yet proved the secret: their number is limited, and a new one displaces an old one.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Shutdown, SocketAddr, TcpStream},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Maximum number of pending logins. A client with the secret is pending for some milliseconds.
const STRANGERS_AT_MOST: usize = 64;

/// The clients that are connected but not yet admitted, oldest first.
#[derive(Debug, Default)]
pub(crate) struct PendingLogins {
    present: Vec<(u64, SocketAddr, Option<TcpStream>)>,
    count: u64,
}

/// One pending login; it is removed when this is dropped.
pub(crate) struct PendingLogin<'s> {
    all: &'s Mutex<PendingLogins>,
    number: u64,
    pub(crate) peer: SocketAddr,
}

impl<'s> PendingLogin<'s> {
    /// Adds a login; if there are too many, another one is displaced.
    pub(crate) fn arrived(
        all: &'s Mutex<PendingLogins>,
        stream: &TcpStream,
        peer: SocketAddr,
    ) -> Self {
        // One that cannot be closed ends with the time limit of its handshake.
        let handle = stream.try_clone().ok();
        let number = locked(all).add(peer, handle);
        Self { all, number, peer }
    }
}

impl Drop for PendingLogin<'_> {
    fn drop(&mut self) {
        let mut all = locked(self.all);
        all.present.retain(|(number, ..)| *number != self.number);
    }
}

impl PendingLogins {
    fn add(&mut self, peer: SocketAddr, handle: Option<TcpStream>) -> u64 {
        if self.present.len() >= STRANGERS_AT_MOST {
            let at = self.displaced();
            let (_, _, handle) = self.present.remove(at);
            if let Some(stream) = handle {
                // Its thread reads the end of the connection; it may have ended anyway.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.count += 1;
        self.present.push((self.count, peer, handle));
        self.count
    }

    /// The oldest login of the address with the most logins: one host cannot displace those of another.
    fn displaced(&self) -> usize {
        let mut by_address: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (_, peer, _) in &self.present {
            *by_address.entry(peer.ip()).or_default() += 1;
        }
        let most = by_address.values().max().copied();
        let is_of_most = |(_, peer, _): &(u64, SocketAddr, Option<TcpStream>)| {
            by_address.get(&peer.ip()).copied() == most
        };
        self.present.iter().position(is_of_most).unwrap_or(0)
    }
}

/// A thread that panicked left the list intact.
fn locked(all: &Mutex<PendingLogins>) -> MutexGuard<'_, PendingLogins> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_displaces_its_own() {
        let peer = |host: u8, port: u16| SocketAddr::from(([10, 0, 0, host], port));
        let mut pending_logins = PendingLogins::default();
        pending_logins.add(peer(1, 1), None);
        for port in 0..1000 {
            pending_logins.add(peer(2, port), None);
        }
        pending_logins.add(peer(3, 1), None);
        let present: Vec<SocketAddr> = pending_logins
            .present
            .iter()
            .map(|(_, it, _)| *it)
            .collect();
        assert_eq!(present.len(), STRANGERS_AT_MOST);
        assert!(present.contains(&peer(1, 1)) && present.contains(&peer(3, 1)));
        assert!(!present.contains(&peer(2, 0)) && present.contains(&peer(2, 999)));
    }
}
