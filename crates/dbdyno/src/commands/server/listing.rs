//! Private servers as text for people.

use std::path::Path;

use blame::Blamed;
use server::Server;

use crate::commands::server::table::aligned;

/// The columns of the table.
const HEAD: [&str; 5] = ["NAME", "VERSION", "STATE", "PORT", "DIRECTORY"];

/// All servers in a directory of servers, one line each.
pub(super) fn table(root: &Path) -> Result<String, Blamed> {
    let mut rows = vec![HEAD.map(str::to_owned)];
    for server::Listed { path, server } in server::list(root)? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        rows.push(match server {
            Ok(server) => {
                let dir = server.dir().display().to_string();
                let state = if server.is_running() {
                    "running"
                } else {
                    "stopped"
                };
                [
                    name,
                    version(&server)?,
                    state.to_owned(),
                    server.port().to_string(),
                    dir,
                ]
            }
            Err(error) => {
                let state = match error {
                    server::Error::BeingMade { .. } => "being made",
                    error => {
                        eprintln!("warning: {error}");
                        "broken"
                    }
                };
                let unknown = || "-".to_owned();
                [
                    name,
                    unknown(),
                    state.to_owned(),
                    unknown(),
                    path.display().to_string(),
                ]
            }
        });
    }
    Ok(aligned(&rows))
}

/// The status of one server, one property per line.
pub(super) fn status(name: &str, server: &Server) -> Result<String, Blamed> {
    let state = if server.is_running() {
        "running"
    } else {
        "stopped"
    };
    let mut rows = vec![
        ["name", name].map(str::to_owned),
        ["state", state].map(str::to_owned),
    ];
    let mut push = |property: &str, value: String| rows.push([property.to_owned(), value]);
    if let (Some(pid), Some(uptime)) = (server.pid(), server.uptime()) {
        push("pid", pid.to_string());
        push("uptime", units::span(uptime));
    }
    if server.redo_log_is_off() {
        push(
            "redo log",
            "switched off: a crash would lose all data".to_owned(),
        );
    }
    push("version", version(server)?);
    push("port", server.port().to_string());
    push("socket", server.socket().display().to_string());
    push("data", units::bytes(server.data_bytes()?));
    push("directory", server.dir().display().to_string());
    push("connect", format!("dbdyno server client {name}"));
    push(
        "account",
        format!(
            "{}; other programs: --defaults-extra-file={}",
            server.endpoint().user,
            server.client_file().display()
        ),
    );
    Ok(aligned(&rows))
}

fn version(server: &Server) -> Result<String, Blamed> {
    let installation = server.installation()?;
    Ok(format!("{} {}", installation.flavour, installation.version))
}
