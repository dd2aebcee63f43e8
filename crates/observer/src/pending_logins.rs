//! Connections that have not shown yet that they know the secret: a few at a time, and the newest displaces an old one.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Shutdown, SocketAddr, TcpStream},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Strangers at a time. One who knows the secret is one for some milliseconds.
const STRANGERS_AT_MOST: usize = 64;

/// Who has come and is not let in yet, oldest first.
#[derive(Debug, Default)]
pub(crate) struct PendingLogins {
    present: Vec<(u64, SocketAddr, Option<TcpStream>)>,
    count: u64,
}

/// One of them; no longer one when this is dropped.
pub(crate) struct PendingLogin<'s> {
    all: &'s Mutex<PendingLogins>,
    number: u64,
    /// Where it comes from.
    pub(crate) peer: SocketAddr,
}

impl<'s> PendingLogin<'s> {
    /// One more; where there are too many already, another one has to go.
    pub(crate) fn arrived(
        all: &'s Mutex<PendingLogins>,
        stream: &TcpStream,
        peer: SocketAddr,
    ) -> Self {
        // One that cannot be cut off ends with its handshake's time.
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
                // Its thread reads the end of the connection; it may be gone anyway.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.count += 1;
        self.present.push((self.count, peer, handle));
        self.count
    }

    /// The oldest one of the address that most of them come from: one host cannot displace those of another.
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

/// A thread that panicked left the list whole.
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
