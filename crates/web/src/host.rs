//! Which names a request may call the server by.
//!
//! A page elsewhere can have its own name lead to 127.0.0.1 (DNS rebinding), and a browser would then let it read what is
//! served here. Such a request carries that name, which is none of these.

use std::net::IpAddr;

/// The names by which a server may be called.
pub(crate) struct AllowedHosts {
    /// As the user wrote it, without the port.
    named: String,
    address: IpAddr,
}

impl AllowedHosts {
    /// The names of a server that listens at `address`, which the user wrote as `HOST:PORT`.
    pub(crate) fn of(wanted: &str, address: IpAddr) -> Self {
        let named = wanted.rsplit_once(':').map_or(wanted, |(host, _)| host);
        Self {
            named: named.to_ascii_lowercase(),
            address,
        }
    }

    /// True for the value of a header `Host` that names this server. Its port may be another one: that of a tunnel.
    pub(crate) fn allow(&self, host: &str) -> bool {
        let host = host.trim().to_ascii_lowercase();
        let name = name_of(&host);
        if name == "localhost" || name == self.named {
            return true;
        }
        let address = name.trim_start_matches('[').trim_end_matches(']');
        match address.parse::<IpAddr>() {
            Ok(address) if self.address.is_loopback() => address.is_loopback(),
            // Behind several interfaces or a translated address it has others; a number is no name that leads elsewhere.
            Ok(_) => true,
            Err(_) => false,
        }
    }
}

/// A host without its port: `localhost:80`, `[::1]:80`, `::1`.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            let is_whole = name.ends_with(']') || !name.contains(':');
            if is_whole { name } else { host }
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_server_are_allowed() {
        let local = AllowedHosts::of("127.0.0.1:9100", IpAddr::from([127, 0, 0, 1]));
        let named = AllowedHosts::of("DB1.example:9100", IpAddr::from([10, 0, 0, 2]));
        let every = AllowedHosts::of("[::]:9100", IpAddr::from([0; 16]));
        for (host, in_local, in_named, in_every) in [
            ("127.0.0.1:9100", true, true, true),
            ("localhost", true, true, true),
            ("LOCALHOST:8080", true, true, true),
            ("[::1]:9100", true, true, true),
            ("127.9.9.9", true, true, true),
            ("db1.example:9100", false, true, false),
            ("10.0.0.2:9100", false, true, true),
            ("evil.example", false, false, false),
            ("localhost.evil.example", false, false, false),
            ("127.0.0.1.evil.example:9100", false, false, false),
            ("", false, false, false),
            (":9100", false, false, false),
        ] {
            assert_eq!(local.allow(host), in_local, "{host:?}");
            assert_eq!(named.allow(host), in_named, "{host:?}");
            assert_eq!(every.allow(host), in_every, "{host:?}");
        }
    }
}
