//! The limit of open files of this process, which must exceed its connections.

use blame::{Blame, Blamed};
use rustix::process::{Resource, getrlimit, setrlimit};

/// Open files besides the connections: pollers, timers, records, /proc, inherited ones.
const OTHER_FILES: u64 = 64;

/// Raises the soft limit to the hard one, before anything is started.
///
/// A private server inherits the limit and sizes its table caches by it. If it were raised only for the first load, the
/// first server of an experiment would differ from the next one.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let mut raised = limit;
    raised.current = limit.maximum;
    // Raising the soft limit is always permitted; on any failure the present limit applies.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Number of connections that the limit permits.
pub fn room_for_connections() -> u64 {
    // `None` means unlimited.
    let current = getrlimit(Resource::Nofile).current;
    current.unwrap_or(u64::MAX).saturating_sub(OTHER_FILES)
}

/// Ensures that this number of connections can be open at the same time; an error if the limit is too low.
pub fn provide_for(connections: u64) -> Result<(), Blamed> {
    let room = room_for_connections();
    if connections <= room {
        return Ok(());
    }
    let hard = room + OTHER_FILES;
    let message = format!(
        "{connections} connections need {} open files, but the limit of this process is {hard}",
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
