//! A private server restarted with an empty buffer pool, its files not in the memory of the operating system.

use std::io;

use blame::{Blame, Blamed};
use runs::named_server;
use server::Lifetime;
use telemetry::{Directory, storage_behind};

/// Where InnoDB notes the pages that it reads again at a start.
const NOTED_PAGES: &str = "ib_buffer_pool";

/// Restarts the server; the pages that it held before are not read again, and its files are dropped from the page cache.
/// Returns why they stay in memory, if they do.
pub(super) fn restart(name: &str) -> Result<Option<String>, Blamed> {
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
    let stays = stays_in_memory(&server).or_else(|| {
        server::evict_page_cache(server.datadir())
            .err()
            .map(|error| error.to_string())
    });
    server.start(Lifetime::Detached)?;
    Ok(stays)
}

/// Why dropping files from the page cache changes nothing: a file system in memory.
fn stays_in_memory(server: &server::Server) -> Option<String> {
    let directory = Directory {
        holds: "data".to_owned(),
        path: server.datadir().to_owned(),
    };
    let storage = storage_behind(directory);
    let mut kinds = storage.places.iter().map(|place| place.filesystem.as_str());
    let kind = kinds.find(|kind| matches!(*kind, "tmpfs" | "ramfs"))?;
    Some(format!("the data is on {kind}, which is memory"))
}
