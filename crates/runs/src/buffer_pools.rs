//! Whether the buffer pools of servers that run beside each other fit into the free memory.

use blame::{Blame, Blamed};
use units::bytes;

/// Sizes of a buffer pool that a hint proposes are multiples of this, bytes.
const STEP_BYTES: u64 = 32 << 20;

/// The buffer pools of servers that are to run beside each other.
pub struct BufferPools {
    /// The servers, for a message: `2 copies of server demo`.
    pub servers: String,
    /// Of each server, bytes.
    pub bytes: Vec<u64>,
    /// The server that runs beside them.
    pub beside: Option<RunningPool>,
    /// What a user can do to start fewer servers, for a hint.
    pub fewer: &'static str,
    /// The place where a user gives each of them an option, for a hint.
    pub option_place: &'static str,
}

/// A running server that is stopped for a while, and then takes its buffer pool again.
pub struct RunningPool {
    /// Its buffer pool, bytes.
    pub bytes: u64,
    /// Memory that it has now, bytes.
    pub resident_bytes: u64,
}

impl BufferPools {
    /// For each server why it is left out, if the memory has no room for its pool. Without `leaves_out`, and for the
    /// first one, that is an error instead.
    pub fn lacking(&self, leaves_out: bool) -> Result<Vec<Option<String>>, Blamed> {
        match telemetry::available_memory_bytes() {
            Some(free_bytes) => self.lacking_of(free_bytes, leaves_out),
            None => Ok(vec![None; self.bytes.len()]),
        }
    }

    fn lacking_of(&self, free_bytes: u64, leaves_out: bool) -> Result<Vec<Option<String>>, Blamed> {
        let beside = self.beside.as_ref();
        let free_bytes = free_bytes.saturating_add(beside.map_or(0, |it| it.resident_bytes));
        let mut needed_bytes = beside.map_or(0, |it| it.bytes);
        let mut lacking = Vec::new();
        for (at, own_bytes) in self.bytes.iter().enumerate() {
            let with_it = needed_bytes.saturating_add(*own_bytes);
            let is_left_out = leaves_out && at > 0 && with_it > free_bytes;
            lacking.push(is_left_out.then(|| {
                format!(
                    "its server needs {} for its buffer pool, and {} of memory are left",
                    bytes(*own_bytes),
                    bytes(free_bytes.saturating_sub(needed_bytes))
                )
            }));
            if !is_left_out {
                needed_bytes = with_it;
            }
        }
        if needed_bytes <= free_bytes {
            return Ok(lacking);
        }
        let itself = if beside.is_some() {
            " and the server itself"
        } else {
            ""
        };
        let message = format!(
            "not enough memory for {}{itself}: the buffer pools need {}, and {} are free",
            self.servers,
            bytes(needed_bytes),
            bytes(free_bytes)
        );
        let smaller = self
            .smaller_bytes(free_bytes)
            .map(|size| format!(", at most {}M", size >> 20));
        let hint = format!(
            "{}, or give each server a smaller innodb_buffer_pool_size{}, {}",
            self.fewer,
            smaller.unwrap_or_default(),
            self.option_place
        );
        Err(Blamed::new(Blame::Machine, message).hint(hint))
    }

    /// The largest equal buffer pool of all servers for which the memory has room; `None` without room for a useful one.
    fn smaller_bytes(&self, free_bytes: u64) -> Option<u64> {
        let beside_bytes = self.beside.as_ref().map_or(0, |it| it.bytes);
        let each = free_bytes.checked_sub(beside_bytes)? / self.bytes.len() as u64;
        Some(each - each % STEP_BYTES).filter(|size| *size > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn pools(beside: Option<RunningPool>) -> BufferPools {
        BufferPools {
            servers: "3 copies of server one".to_owned(),
            bytes: vec![32 * MIB, 64 * MIB, 16 * MIB],
            beside,
            fewer: "compare fewer sides at a time",
            option_place: "in each variant",
        }
    }

    #[test]
    fn servers_must_fit_or_are_left_out() {
        let of_free =
            |free_mib: u64, leaves_out| pools(None).lacking_of(free_mib * MIB, leaves_out);
        assert_eq!(of_free(112, false).unwrap(), [None, None, None]);
        let error = of_free(111, false).unwrap_err();
        assert_eq!(
            (error.blame, error.message.as_str()),
            (
                Blame::Machine,
                "not enough memory for 3 copies of server one: the buffer pools need 112 MiB, and 111 MiB are free"
            )
        );
        assert_eq!(
            error.hints.first().map(String::as_str),
            Some(
                "compare fewer sides at a time, or give each server a smaller innodb_buffer_pool_size, at most 32M, \
                 in each variant"
            )
        );
        // The third one finds room, because the second one takes none.
        let why = "its server needs 64.0 MiB for its buffer pool, and 28.0 MiB of memory are left";
        assert_eq!(
            of_free(60, true).unwrap(),
            [None, Some(why.to_owned()), None]
        );
        // Nothing can be compared without the first one.
        assert!(of_free(31, true).is_err());
    }

    #[test]
    fn a_running_server_takes_its_pool_again() {
        let beside = |resident_mib: u64| {
            let running = RunningPool {
                bytes: 40 * MIB,
                resident_bytes: resident_mib * MIB,
            };
            pools(Some(running)).lacking_of(112 * MIB, false)
        };
        assert!(beside(40).is_ok());
        let error = beside(39).unwrap_err();
        assert!(
            error
                .message
                .contains("one and the server itself: the buffer pools need 152 MiB"),
            "{}",
            error.message
        );
    }
}
