//! Servers of live views and metrics, with their messages on standard error.

use blame::Blamed;
use web::{Server, Site};

/// Listens on an address as the user wrote it with this option, `HOST:PORT`; warns if other machines can reach it.
pub(crate) fn bind(option: &str, wanted: &str) -> Result<Server, Blamed> {
    let server = Server::bind(option, wanted)?;
    if let Some(exposure) = server.exposure() {
        warn(&exposure);
    }
    Ok(server)
}

/// Serves what `site` makes until dbdyno ends; says where.
pub(crate) fn start<S: Site + 'static>(
    server: Server,
    site: impl FnOnce() -> S + Send + 'static,
) -> Result<(), Blamed> {
    let address = server.start(site, warn).map_err(Blamed::machine)?;
    eprintln!("live view: http://{address}/ (read-only; Prometheus: /metrics)");
    Ok(())
}

/// Prints a warning.
pub(crate) fn warn(warning: &str) {
    eprintln!("warning: {warning}");
}
