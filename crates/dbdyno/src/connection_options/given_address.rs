//! The endpoint of a server that an experiment names.

use std::path::PathBuf;

use blame::Blamed;
use experiment::ServerSpec;
use protocol::Endpoint;
use runs::named_server;

use super::ConnectionOptions;

/// The endpoint of a server that an experiment names; missing values come from the option files.
pub(crate) fn endpoint(spec: &ServerSpec) -> Result<Endpoint, Blamed> {
    let ServerSpec::Given {
        address,
        set: _,
        user,
        password_file,
        database,
        ssl_mode,
        ssl_ca,
        observe: _,
        access,
    } = spec
    else {
        unreachable!("a private server is not given");
    };
    let (socket, host, port) = split_address(address);
    let options = ConnectionOptions {
        host,
        port,
        socket,
        user: user.clone(),
        password_file: password_file.clone(),
        database: database.clone(),
        ssl_mode: ssl_mode.clone(),
        ssl_ca: ssl_ca.clone(),
        statement_timeout: access.statement_timeout,
        ..ConnectionOptions::default()
    };
    // A private server of this machine has an account of its own, which stands in no option file.
    let is_own = user.is_none() && password_file.is_none();
    let private = options.socket.as_deref().filter(|_| is_own);
    match private
        .map(named_server::endpoint_at)
        .transpose()?
        .flatten()
    {
        Some(private) => options.endpoint_of_server(private),
        None => options.endpoint(),
    }
}

/// A socket's path, or a host and perhaps a port; the experiment has checked the form.
pub(crate) fn split_address(address: &str) -> (Option<PathBuf>, Option<String>, Option<u16>) {
    if address.starts_with('/') {
        return (Some(address.into()), None, None);
    }
    let (host, port) = match address
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    (
        None,
        Some(host.to_owned()),
        port.and_then(|port| port.parse().ok()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split() {
        let host = |host: &str, port| (None, Some(host.to_owned()), port);
        let cases = [
            ("/run/x.sock", (Some("/run/x.sock".into()), None, None)),
            ("db1", host("db1", None)),
            ("db1:3307", host("db1", Some(3307))),
            ("[::1]:3307", host("::1", Some(3307))),
            ("[::1]", host("::1", None)),
        ];
        for (address, expected) in cases {
            assert_eq!(split_address(address), expected, "{address}");
        }
    }
}
