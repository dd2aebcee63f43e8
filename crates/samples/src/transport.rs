//! The kind of connection between the clients of a run and its server.

use std::fmt;

/// A kind of connection, whatever is done to its bytes on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A Unix socket.
    UnixSocket,
    /// TCP to a loopback address.
    TcpLoopback,
    /// TCP to any other address.
    TcpRemote,
}

impl Transport {
    const ALL: [Self; 3] = [Self::UnixSocket, Self::TcpLoopback, Self::TcpRemote];

    /// The kind that the words of a record begin with: `tcp remote, compressed`; `None` for a run without a server.
    pub fn of(words: &str) -> Option<Self> {
        let kind = words.split(',').next()?;
        Self::ALL.into_iter().find(|it| it.in_words() == kind)
    }

    /// As in the header of a run record.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::UnixSocket => "unix socket",
            Self::TcpLoopback => "tcp loopback",
            Self::TcpRemote => "tcp remote",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.in_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_on_the_way_does_not_change_the_kind() {
        for (words, kind) in [
            ("unix socket", Some(Transport::UnixSocket)),
            (
                "tcp loopback, 500µs added to the round trip",
                Some(Transport::TcpLoopback),
            ),
            ("tcp remote, compressed", Some(Transport::TcpRemote)),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(Transport::of(words), kind, "{words}");
        }
    }
}
