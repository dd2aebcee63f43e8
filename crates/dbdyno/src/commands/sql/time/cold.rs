//! A private server restarted with an empty buffer pool.

use std::io;

use runs::{Blame, Blamed, named_server};
use server::Lifetime;

/// Where InnoDB notes the pages that it reads again at a start.
const NOTED_PAGES: &str = "ib_buffer_pool";

/// Restarts the server; the pages that it held before are not read again.
pub(super) fn restart(name: &str) -> Result<(), Blamed> {
    let mut server = named_server::open(name)?;
    if !server.is_running() {
        let message = format!("server {name} is not running");
        return Err(Blamed::new(Blame::Input, message).hint(format!("dbdyno server start {name}")));
    }
    server.stop()?;
    let noted = server.datadir().join(NOTED_PAGES);
    match std::fs::remove_file(&noted) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Blamed::io(Blame::Machine, &noted)(error));
        }
        _ => {}
    }
    Ok(server.start(Lifetime::Detached)?)
}
