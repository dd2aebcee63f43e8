//! How many files this process may have open: a connection is one.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::blame::{Blame, Blamed};

/// What a process holds besides its connections: pollers, timers, records, /proc, what it was given.
const OTHER_FILES: u64 = 64;

/// Raises the soft limit to the hard one, before anything is started.
///
/// A private server inherits the limit and sizes its caches of tables by it: were it raised only for the first load, the
/// first server of an experiment would be another one than the next.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let mut raised = limit;
    raised.current = limit.maximum;
    // It may always be raised that far; where it is not, what is there counts.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// How many connections the limit leaves room for.
pub fn room_for_connections() -> u64 {
    // No limit at all is `None`.
    let current = getrlimit(Resource::Nofile).current;
    current.unwrap_or(u64::MAX).saturating_sub(OTHER_FILES)
}

/// Makes sure that so many connections can be open at the same time.
pub fn provide_for(connections: u64) -> Result<(), Blamed> {
    let room = room_for_connections();
    if connections <= room {
        return Ok(());
    }
    let hard = room + OTHER_FILES;
    let message = format!(
        "{connections} connections need {} open files, and this process may have {hard}",
        connections + OTHER_FILES
    );
    Err(Blamed::new(Blame::Machine, message).hint(
        "raise the hard limit (LimitNOFILE of a systemd service, nofile in /etc/security/limits.conf), \
         or use fewer connections"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_the_machines_fault() {
        assert!(provide_for(1).is_ok());
        let room = room_for_connections();
        if room < u64::MAX - OTHER_FILES {
            let refused = provide_for(room + 1).unwrap_err();
            assert_eq!(refused.blame, Blame::Machine);
            assert!(refused.message.contains(&(room + OTHER_FILES).to_string()));
        }
    }
}
