//! Addresses of the command line.

use std::net::{SocketAddr, ToSocketAddrs};

use blame::{Blame, Blamed};
use proxy::Address;

/// The port of a server if none is given.
const SERVER_PORT: u16 = 3306;

/// Where to listen: `:4040` is every address.
pub(super) fn to_listen(option: &str, text: &str) -> Result<Address, Blamed> {
    parsed(option, text, "0.0.0.0", None)
}

/// Where a server is: `:3307` is this machine.
pub(super) fn of_server(option: &str, text: &str) -> Result<Address, Blamed> {
    parsed(option, text, "127.0.0.1", Some(SERVER_PORT))
}

/// The name of a server's host, as it was typed; `None` without one.
pub(super) fn host(text: &str) -> Option<String> {
    if text.starts_with('/') {
        return None;
    }
    let (host, _) = split(text);
    (!host.is_empty()).then(|| host.to_owned())
}

/// The host without brackets, and the port.
fn split(text: &str) -> (&str, Option<&str>) {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port has colons, too.
        Some((host, _)) if host.contains(':') && !host.starts_with('[') => (text, None),
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let host = host
        .strip_prefix('[')
        .map_or(host, |host| host.trim_end_matches(']'));
    (host, port)
}

fn parsed(
    option: &str,
    text: &str,
    own_host: &str,
    own_port: Option<u16>,
) -> Result<Address, Blamed> {
    let wrong = |why: &dyn std::fmt::Display| {
        let hint = "an address is HOST:PORT, [IPV6]:PORT, :PORT, or the path of a unix socket";
        Blamed::new(Blame::Input, format!("--{option} {text}: {why}")).hint(hint.to_owned())
    };
    if text.starts_with('/') {
        return Ok(Address::Unix(text.into()));
    }
    let (host, port) = split(text);
    let port = match (port, own_port) {
        (Some(port), _) => port
            .parse()
            .map_err(|_| wrong(&"the port is not a number up to 65535"))?,
        (None, Some(port)) => port,
        (None, None) => return Err(wrong(&"the port is missing")),
    };
    let host = if host.is_empty() { own_host } else { host };
    let mut addresses = (host, port)
        .to_socket_addrs()
        .map_err(|error| wrong(&error))?;
    let first = addresses
        .next()
        .ok_or_else(|| wrong(&"the host has no address"))?;
    // A name that means both has IPv4 here, as servers listen by default.
    let v4 = [first]
        .into_iter()
        .chain(addresses)
        .find(SocketAddr::is_ipv4);
    Ok(Address::Tcp(v4.unwrap_or(first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_host() {
        let listen = |text| to_listen("proxy-address", text).map(|it| it.to_string());
        let server = |text| of_server("proxy-backend-addresses", text).map(|it| it.to_string());
        assert_eq!(listen(":4040").unwrap(), "0.0.0.0:4040");
        assert_eq!(listen("127.0.0.1:1").unwrap(), "127.0.0.1:1");
        assert_eq!(listen("/tmp/x.sock").unwrap(), "/tmp/x.sock");
        assert_eq!(listen("[::1]:5").unwrap(), "[::1]:5");
        assert_eq!(server(":3307").unwrap(), "127.0.0.1:3307");
        assert_eq!(server("127.0.0.2").unwrap(), "127.0.0.2:3306");
        assert_eq!(server("::1").unwrap(), "[::1]:3306");
        assert_eq!(host("[::1]:3306").as_deref(), Some("::1"));
        assert_eq!(host("db:3306").as_deref(), Some("db"));
        assert_eq!((host(":3306"), host("/tmp/x.sock")), (None, None));
        for wrong in ["127.0.0.1", ":70000", ":x"] {
            assert!(listen(wrong).is_err(), "{wrong}");
        }
    }
}
