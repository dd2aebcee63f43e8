//! Lines over a socket or a pair of pipes, each with a deadline, so that a lost peer cannot block.

use std::{io, os::fd::OwnedFd, time::Duration};

use reactor::{Instant, system_now};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, ioctl_fionbio, read, write},
};
use serde::Serialize;

/// Maximum length of a line, bytes: the samples of a machine with a few thousand CPUs and disks.
pub(crate) const LINE_BYTES_AT_MOST: usize = 4 << 20;

/// Maximum length of a line before the login, bytes.
pub(crate) const LINE_OF_A_STRANGER: usize = 4 << 10;

/// Length of the part of an invalid line that is shown, bytes.
const SHOWN_BYTES: usize = 120;

/// An error of receiving or sending.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The other side has closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// Nothing was received for this time.
    #[error("nothing was received for {}", units::elapsed(*.0))]
    Silent(Duration),
    /// The peer did not accept any data for this time.
    #[error("nothing could be sent for {}", units::elapsed(*.0))]
    Stuck(Duration),
    /// The line is longer than this limit, bytes.
    #[error("a line of more than {0} bytes was received")]
    TooLong(usize),
    #[error("it sent '{said}', which is not a message of dbdyno observe: {why}")]
    NotUnderstood {
        /// The beginning of the line, without control characters.
        said: String,
        why: String,
    },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl WireError {
    /// The error for a line that is not a valid message.
    pub(crate) fn not_understood(line: &[u8], why: &serde_json::Error) -> Self {
        let begin = &line[..line.len().min(SHOWN_BYTES)];
        let said = String::from_utf8_lossy(begin).replace(char::is_control, "");
        Self::NotUnderstood {
            said,
            why: why.to_string(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Input {
    fd: OwnedFd,
    /// Bytes that were received but not returned yet.
    buffer: Vec<u8>,
    /// Number of these bytes that are known to contain no newline.
    searched: usize,
    /// Maximum length of a line, bytes.
    pub(crate) limit: usize,
}

impl Input {
    /// Reads lines from a socket or pipe, which is made non-blocking.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&fd, true)?;
        Ok(Self {
            fd,
            buffer: Vec::new(),
            searched: 0,
            limit: LINE_OF_A_STRANGER,
        })
    }

    /// The next line without its newline; it has to be complete within `patience`.
    pub(crate) fn line(&mut self, patience: Duration) -> Result<Vec<u8>, WireError> {
        let deadline = system_now() + patience;
        loop {
            let unseen = &self.buffer[self.searched..];
            if let Some(at) = unseen.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=self.searched + at).collect();
                line.pop();
                self.searched = 0;
                return Ok(line);
            }
            self.searched = self.buffer.len();
            if self.searched > self.limit {
                return Err(WireError::TooLong(self.limit));
            }
            if !wait(&self.fd, PollFlags::IN, deadline)? {
                return Err(WireError::Silent(patience));
            }
            let mut part = [0; 16 << 10];
            match read(&self.fd, &mut part) {
                Ok(0) | Err(Errno::CONNRESET) => return Err(WireError::Closed),
                Ok(count) => self.buffer.extend_from_slice(&part[..count]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Output {
    fd: OwnedFd,
    patience: Duration,
}

impl Output {
    /// Writes lines to a socket or pipe, which is made non-blocking; a peer that accepts nothing for `patience` is
    /// considered lost.
    pub(crate) fn new(fd: OwnedFd, patience: Duration) -> io::Result<Self> {
        ioctl_fionbio(&fd, true)?;
        Ok(Self { fd, patience })
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<(), WireError> {
        let mut line = serde_json::to_vec(message).expect("a message has only string keys");
        line.push(b'\n');
        let deadline = system_now() + self.patience;
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match write(&self.fd, rest) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(WireError::Closed),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !wait(&self.fd, PollFlags::OUT, deadline)? {
                        return Err(WireError::Stuck(self.patience));
                    }
                }
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        Ok(())
    }
}

/// Waits until a descriptor is ready; false if the deadline is reached first.
fn wait(fd: &OwnedFd, what: PollFlags, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = Timespec::try_from(deadline - system_now()).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(fd, what)];
        match poll(&mut fds, Some(&left)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::net::UnixStream};

    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    fn pair() -> (Input, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        (Input::new(near.into()).unwrap(), far)
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let (mut input, mut far) = pair();
        far.write_all(b"one\ntw").unwrap();
        assert_eq!(input.line(SOON).unwrap(), b"one");
        assert!(matches!(input.line(SOON), Err(WireError::Silent(_))));
        far.write_all(b"o\n\nthree").unwrap();
        assert_eq!(input.line(SOON).unwrap(), b"two");
        assert_eq!(input.line(SOON).unwrap(), b"");
        drop(far);
        assert!(matches!(input.line(SOON), Err(WireError::Closed)));
    }

    #[test]
    fn a_line_without_end_ends_it() {
        let (mut input, mut far) = pair();
        let sender = std::thread::spawn(move || far.write_all(&[b'x'; LINE_OF_A_STRANGER * 8]));
        let patience = Duration::from_secs(10);
        assert!(matches!(input.line(patience), Err(WireError::TooLong(_))));
        drop(input);
        // Either the whole data fitted into the socket buffer, or the peer stopped reading.
        let _ = sender.join().unwrap();
    }

    #[test]
    fn who_takes_nothing_is_gone() {
        let (near, far) = UnixStream::pair().unwrap();
        let mut output = Output::new(near.into(), SOON).unwrap();
        let long = "x".repeat(LINE_BYTES_AT_MOST);
        assert!(matches!(output.send(&long), Err(WireError::Stuck(_))));
        drop(far);
        assert!(matches!(output.send(&long), Err(WireError::Closed)));
    }

    #[test]
    fn a_long_line_arrives() {
        let (near, far) = UnixStream::pair().unwrap();
        let long = "x".repeat(LINE_BYTES_AT_MOST - 2);
        let sent = long.clone();
        let sender = std::thread::spawn(move || {
            Output::new(near.into(), Duration::from_secs(30))
                .unwrap()
                .send(&sent)
        });
        let mut input = Input::new(far.into()).unwrap();
        input.limit = LINE_BYTES_AT_MOST;
        let line = input.line(Duration::from_secs(30)).unwrap();
        assert_eq!(line.len(), long.len() + 2, "with its quotes");
        sender.join().unwrap().unwrap();
    }
}
