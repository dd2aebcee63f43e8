//! The endpoints of a .smack file's clients: the command line has precedence over the file, the file over option files.

use std::sync::Arc;

use benchmarks::smack::{ClientSection, Script};
use protocol::{Endpoint, Password};

use crate::connection_options::ConnectionOptions;

/// One endpoint for each client section, in file order.
pub(super) struct Endpoints(Vec<Arc<Endpoint>>);

impl Endpoints {
    /// Resolves the endpoints; `password` comes from the command line and applies to every section.
    pub(super) fn new(
        script: &Script,
        options: &ConnectionOptions,
        password: Option<&str>,
    ) -> anyhow::Result<Self> {
        script
            .clients
            .iter()
            .map(|client| endpoint(client, options, password).map(Arc::new))
            .collect::<anyhow::Result<_>>()
            .map(Self)
    }

    /// The endpoint of the client with this index.
    pub(super) fn of(&self, client: usize) -> &Arc<Endpoint> {
        &self.0[client]
    }
}

fn endpoint(
    client: &ClientSection,
    options: &ConnectionOptions,
    password: Option<&str>,
) -> anyhow::Result<Endpoint> {
    let mut endpoint = completed(client, options).endpoint()?;
    if let Some(password) = password {
        endpoint.password = Some(Password::from(password));
        return Ok(endpoint);
    }
    // A password is used only with the account of the same source.
    let same_account = options.user.is_none() || options.user == client.user;
    if options.server.is_none()
        && options.password_file.is_none()
        && same_account
        && let Some(password) = &client.password
    {
        endpoint.password = Some(password.clone());
    }
    Ok(endpoint)
}

/// The command line's options, completed with those of the section.
fn completed(client: &ClientSection, options: &ConnectionOptions) -> ConnectionOptions {
    let mut completed = options.clone();
    completed.database = options.database.clone().or_else(|| client.database.clone());
    if options.server.is_some() {
        return completed;
    }
    completed.user = options.user.clone().or_else(|| client.user.clone());
    // A host or socket of the command line replaces the section's address completely: its socket is not used with
    // another host. A port alone applies to sections without one, as with the original's -P.
    if options.host.is_none() && options.socket.is_none() {
        completed.host.clone_from(&client.host);
        let is_local = client.host.as_ref().is_none_or(|host| host == "localhost");
        // The C library connects to localhost through the socket, whatever port a section names.
        completed.port = client.port.filter(|_| !is_local).or(options.port);
        if is_local && options.port.is_none() {
            completed.socket = client.socket.as_ref().map(Into::into);
        }
    }
    completed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host, port and socket for a client section and a command line.
    fn place(section: &str, options: ConnectionOptions) -> (String, u16, String) {
        let text = format!("client \"c\" {{ {section} }} main {{}}");
        let script = Script::parse("t", text.as_bytes()).unwrap();
        let place = completed(&script.clients[0], &options);
        (
            place.host.unwrap_or_default(),
            place.port.unwrap_or_default(),
            place.socket.unwrap_or_default().display().to_string(),
        )
    }

    #[test]
    fn the_command_line_replaces_the_place() {
        let none = ConnectionOptions::default;
        let host = || ConnectionOptions {
            host: Some("db2".to_owned()),
            ..none()
        };
        let port = || ConnectionOptions {
            port: Some(9),
            ..none()
        };
        let socket = || ConnectionOptions {
            socket: Some("/o.sock".into()),
            ..none()
        };
        let remote = r#"host "db1"; port "3307"; socket "/f.sock";"#;
        let local = r#"host "localhost"; port "3307"; socket "/f.sock";"#;
        for (section, options, (found_host, found_port, found_socket)) in [
            (remote, none(), ("db1", 3307, "")),
            (remote, host(), ("db2", 0, "")),
            (remote, port(), ("db1", 3307, "")),
            (remote, socket(), ("", 0, "/o.sock")),
            (local, none(), ("localhost", 0, "/f.sock")),
            (local, port(), ("localhost", 9, "")),
            (local, host(), ("db2", 0, "")),
            ("", none(), ("", 0, "")),
            (r#"host "db1";"#, port(), ("db1", 9, "")),
        ] {
            assert_eq!(
                place(section, options.clone()),
                (found_host.to_owned(), found_port, found_socket.to_owned()),
                "{section} {options:?}"
            );
        }
    }

    #[test]
    fn a_password_stays_with_its_account() {
        let text = br#"client "c" { user "a"; pass "secret"; db "shop"; } main {}"#;
        let script = Script::parse("t", text).unwrap();
        let password = |user: Option<&str>| {
            let options = ConnectionOptions {
                user: user.map(str::to_owned),
                no_defaults: true,
                ..ConnectionOptions::default()
            };
            let endpoint = endpoint(&script.clients[0], &options, None).unwrap();
            assert_eq!(endpoint.database.as_deref(), Some("shop"));
            endpoint.password == Some("secret".into())
        };
        assert!(password(None));
        assert!(password(Some("a")));
        assert!(!password(Some("b")));
    }
}
