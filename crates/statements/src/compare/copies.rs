//! The servers of the sides: a copy of a private one, or a new one, for each variant that changes it or its data.

mod new_servers;

use blame::{Blame, Blamed};
use runs::{
    Context, Event, Length, Purpose,
    buffer_pools::{BufferPools, RunningPool},
    named_server, redo_log, signals,
};
use server::{Lifetime, Server, Settings};

pub(crate) use self::new_servers::Setup;
use super::variant::Variant;
use crate::{session::in_session, statistics::analyze_filled};

/// How to compare with less memory, for a hint.
const FEWER: &str = "compare fewer sides at a time";

/// Running copies; they are removed when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Copies(Vec<Copy>);

/// A copy, or why there is none.
#[derive(Debug)]
struct Copy {
    name: String,
    server: Option<Server>,
    /// Whether the servers' directory has a link to it.
    is_linked: bool,
    /// Why it does not run.
    failure: Option<String>,
}

impl Copies {
    /// Makes and starts a copy of the server for each of these variants. The server is stopped while its data is
    /// copied, and started again if it was running. With `leaves_out` a copy that cannot be made or does not start is
    /// noted; without the first one there is nothing to compare with.
    pub(crate) fn make(
        name: &str,
        variants: &[&Variant],
        leaves_out: bool,
        context: &Context,
    ) -> Result<Self, Blamed> {
        sweep(context)?;
        let mut server = named_server::open(name)?;
        let was_running = server.is_running();
        let lacking = pools(name, &server, variants)?.lacking(leaves_out)?;
        if was_running {
            let step = context.step(
                &format!("stopping server {name} to copy its data"),
                Length::Unknown,
            );
            let back = Purpose::Change.control(&server.endpoint(), redo_log::bring_back)?;
            server.stop()?;
            drop(step);
            if back {
                context.notify(Event::Note("the redo log was switched off; it is on now"));
            }
        }
        let mut copies = Self::default();
        let copied = copies.copy_all(name, &server, variants, &lacking, leaves_out, context);
        if was_running {
            let _step = context.step(&format!("starting server {name}"), Length::Unknown);
            server.start_again(Lifetime::Detached)?;
        }
        copied?;
        for (at, copy) in copies.0.iter_mut().enumerate() {
            let Some(server) = &mut copy.server else {
                continue;
            };
            signals_end()?;
            let _step = context.step(&format!("starting {}", copy.name), Length::Unknown);
            let started = server.start(Lifetime::Owned).map_err(Blamed::from);
            copy.failure = tolerated(started, at, leaves_out)?;
        }
        copies.refresh_statistics(context)?;
        Ok(copies)
    }

    /// Refreshes statistics by which tables with rows are empty, on every copy that runs.
    fn refresh_statistics(&self, context: &Context) -> Result<(), Blamed> {
        let mut most = 0;
        for server in self.servers().filter_map(Result::ok) {
            let endpoint = server.endpoint();
            let refreshed = in_session(&endpoint, Purpose::Work.limit(), async |session| {
                analyze_filled(session, &endpoint).await
            })?;
            most = most.max(refreshed);
        }
        if most > 0 {
            context.notify(Event::Note(&format!(
                "{} had rows, but none in the server's statistics; they were refreshed on the copies with ANALYZE \
                 TABLE",
                units::counted(most, "table")
            )));
        }
        Ok(())
    }

    fn copy_all(
        &mut self,
        name: &str,
        server: &Server,
        variants: &[&Variant],
        lacking: &[Option<String>],
        leaves_out: bool,
        context: &Context,
    ) -> Result<(), Blamed> {
        for (at, variant) in variants.iter().enumerate() {
            signals_end()?;
            let copy = format!("{name}-{}-{}", std::process::id(), at + 1);
            if let Some(why) = &lacking[at] {
                self.0.push(Copy {
                    name: copy,
                    server: None,
                    is_linked: false,
                    failure: Some(why.clone()),
                });
                continue;
            }
            let _step = context.step(
                &format!("copying server {name} for {}", variant.name),
                Length::Unknown,
            );
            let made = self.copy(copy.clone(), server, variant);
            if let Some(why) = tolerated(made, at, leaves_out)? {
                // Where only its link is missing, the copy itself is there, and is removed with the others.
                let known = self.0.last_mut().filter(|last| last.name == copy);
                match known {
                    Some(known) => known.failure = Some(why),
                    None => self.0.push(Copy {
                        name: copy,
                        server: None,
                        is_linked: false,
                        failure: Some(why),
                    }),
                }
            }
        }
        Ok(())
    }

    fn copy(&mut self, name: String, server: &Server, variant: &Variant) -> Result<(), Blamed> {
        let path = named_server::path(&name)?;
        let directory = server.dir().with_file_name(&name);
        let made = server.duplicate(&directory, &variant.server_settings())?;
        let is_linked = made.dir() != path && path.parent() != made.dir().parent();
        self.0.push(Copy {
            name,
            server: Some(made),
            is_linked,
            failure: None,
        });
        if is_linked {
            named_server::link(&path, &directory)?;
        }
        Ok(())
    }

    /// The copies in the order of their variants, or why one does not run.
    pub(crate) fn servers(&self) -> impl Iterator<Item = Result<&Server, String>> {
        self.0
            .iter()
            .map(|copy| match (&copy.server, &copy.failure) {
                (Some(server), None) => Ok(server),
                (_, failure) => Err(failure.clone().unwrap_or_default()),
            })
    }

    /// The processes of those that run.
    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> {
        self.servers()
            .filter_map(Result::ok)
            .filter_map(Server::pid)
    }

    pub(crate) fn destroy(mut self) -> Result<(), Blamed> {
        self.remove()
    }

    /// Removes all copies, also after a failure; returns the first error.
    fn remove(&mut self) -> Result<(), Blamed> {
        let mut result = Ok(());
        for copy in self.0.drain(..) {
            let destroyed = copy.server.map_or(Ok(()), Server::destroy);
            let destroyed = destroyed.map_err(Blamed::from);
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

/// Removes servers of a dbdyno that crashed.
fn sweep(context: &Context) -> Result<(), Blamed> {
    for removed in server::sweep(&named_server::root()?)? {
        context.notify(Event::Note(&format!(
            "removed leftovers of a crashed dbdyno: {}",
            removed.display()
        )));
    }
    Ok(())
}

/// The message of a failure that only leaves out its variant; the first copy and an interruption are never left out.
fn tolerated<T>(
    result: Result<T, Blamed>,
    at: usize,
    leaves_out: bool,
) -> Result<Option<String>, Blamed> {
    match result {
        Ok(_) => Ok(None),
        Err(error) if leaves_out && at > 0 && error.blame != Blame::Interrupted => {
            Ok(Some(error.message))
        }
        Err(error) => Err(error),
    }
}

/// The buffer pools of copies of a server for these variants.
fn pools(name: &str, server: &Server, variants: &[&Variant]) -> Result<BufferPools, server::Error> {
    let copies = match variants.len() {
        1 => "1 copy".to_owned(),
        number => format!("{number} copies"),
    };
    let bytes = variants
        .iter()
        .map(|variant| server.buffer_pool_bytes(&variant.server_settings()));
    let running = server.pid().filter(|_| server.is_running());
    let beside = running.map(|pid| {
        Ok::<_, server::Error>(RunningPool {
            bytes: server.buffer_pool_bytes(&Settings::default())?,
            resident_bytes: telemetry::resident_bytes(pid).unwrap_or(0),
        })
    });
    Ok(BufferPools {
        servers: format!("{copies} of server {name}"),
        bytes: bytes.collect::<Result<Vec<_>, _>>()?,
        beside: beside.transpose()?,
        fewer: FEWER,
        option_place: "as the part `option innodb_buffer_pool_size=SIZE` of --baseline and of each --variant",
    })
}

/// An error after a signal.
fn signals_end() -> Result<(), Blamed> {
    match signals::raised_for() {
        Some(_) => Err(Blamed::new(Blame::Interrupted, "interrupted")),
        None => Ok(()),
    }
}
