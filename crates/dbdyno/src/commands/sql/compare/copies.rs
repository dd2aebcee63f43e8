//! Copies of a private server, one for each variant that changes the server or its data.

use std::collections::BTreeMap;

use runs::{Blame, Blamed, Purpose, named_server, redo_log, signals};
use server::{Lifetime, Server};

use super::variant::Variant;
use crate::progress::Step;

/// Running copies; they are removed when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Copies(Vec<Copy>);

#[derive(Debug)]
struct Copy {
    name: String,
    server: Server,
    /// Whether the servers' directory has a link to it.
    is_linked: bool,
}

impl Copies {
    /// Makes and starts a copy of the server for each of these variants. The server is stopped while its data is copied,
    /// and started again if it was running.
    pub(super) fn make(name: &str, variants: &[&Variant]) -> Result<Self, Blamed> {
        let root = named_server::root()?;
        for removed in server::sweep(&root)? {
            eprintln!(
                "note: removed what a crashed dbdyno left behind: {}",
                removed.display()
            );
        }
        let mut server = named_server::open(name)?;
        let was_running = server.is_running();
        check_memory(name, &server, variants)?;
        if was_running {
            let step = Step::spinner(format!("stopping server {name} to copy its data"));
            let back = Purpose::Change.control(&server.endpoint(), redo_log::bring_back)?;
            server.stop()?;
            drop(step);
            if back {
                eprintln!("note: the redo log was switched off; it is on now");
            }
        }
        let mut copies = Self::default();
        let copied = copies.copy(name, &server, variants);
        if was_running {
            let _step = Step::spinner(format!("starting server {name}"));
            server.start_again(Lifetime::Detached)?;
        }
        copied?;
        for copy in &mut copies.0 {
            let _step = Step::spinner(format!("starting {}", copy.name));
            copy.server.start(Lifetime::Owned)?;
        }
        Ok(copies)
    }

    fn copy(&mut self, name: &str, server: &Server, variants: &[&Variant]) -> Result<(), Blamed> {
        for (at, variant) in variants.iter().enumerate() {
            signals_end()?;
            let copy = format!("{name}-{}-{}", std::process::id(), at + 1);
            let _step = Step::spinner(format!("copying server {name} for {}", variant.name));
            let path = named_server::path(&copy)?;
            let directory = server.dir().with_file_name(&copy);
            let made = server.duplicate(&directory, &options_of(variant))?;
            let is_linked = made.dir() != path && path.parent() != made.dir().parent();
            self.0.push(Copy {
                name: copy,
                server: made,
                is_linked,
            });
            if is_linked {
                named_server::link(&path, &directory)?;
            }
        }
        Ok(())
    }

    /// The copies in the order of their variants.
    pub(super) fn servers(&self) -> impl Iterator<Item = &Server> {
        self.0.iter().map(|copy| &copy.server)
    }

    /// Stops and removes the copies.
    pub(super) fn destroy(mut self) -> Result<(), Blamed> {
        self.remove()
    }

    /// Removes all copies, also after a failure; returns the first error.
    fn remove(&mut self) -> Result<(), Blamed> {
        let mut result = Ok(());
        for copy in self.0.drain(..) {
            let destroyed = copy.server.destroy().map_err(Blamed::from);
            let unlinked = if copy.is_linked {
                named_server::path(&copy.name).and_then(|path| named_server::unlink(&path))
            } else {
                Ok(())
            };
            result = result.and(destroyed).and(unlinked);
        }
        result
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        // After another error, which is the one to report; the next start of dbdyno removes the rest.
        let _ = self.remove();
    }
}

fn options_of(variant: &Variant) -> BTreeMap<String, String> {
    variant.options.iter().cloned().collect()
}

/// An error if the buffer pools of the copies, and of the server where it runs beside them, exceed the free memory.
fn check_memory(name: &str, server: &Server, variants: &[&Variant]) -> Result<(), Blamed> {
    let Some(mut free_bytes) = telemetry::available_memory_bytes() else {
        return Ok(());
    };
    let mut needed_bytes = 0_u64;
    let mut add = |options: &BTreeMap<String, String>| -> Result<(), Blamed> {
        needed_bytes = needed_bytes.saturating_add(server.buffer_pool_bytes(options)?);
        Ok(())
    };
    for variant in variants {
        add(&options_of(variant))?;
    }
    let running = server.pid().filter(|_| server.is_running());
    if let Some(pid) = running {
        add(&BTreeMap::new())?;
        // It is stopped, and takes its pool again.
        free_bytes = free_bytes.saturating_add(telemetry::resident_bytes(pid).unwrap_or(0));
    }
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let itself = if running.is_some() {
        " and the server itself"
    } else {
        ""
    };
    let copies = match variants.len() {
        1 => "1 copy".to_owned(),
        number => format!("{number} copies"),
    };
    let message = format!(
        "{copies} of server {name}{itself} need {} for their buffer pools, and {} of memory are free",
        units::bytes(needed_bytes),
        units::bytes(free_bytes)
    );
    let hint = "take fewer variants (of sql advise: --at-most), or give the server a smaller innodb_buffer_pool_size";
    Err(Blamed::new(Blame::Machine, message).hint(hint.to_owned()))
}

/// An error after a signal.
fn signals_end() -> Result<(), Blamed> {
    match signals::raised_for() {
        Some(_) => Err(Blamed::new(Blame::Interrupted, "interrupted")),
        None => Ok(()),
    }
}
