//! Whether the other side of a terminal or a pipe has gone.

use std::os::fd::AsFd;

use rustix::{
    event::{PollFd, PollFlags, poll},
    time::Timespec,
};

/// Whether a terminal was closed, or nothing reads a pipe any more.
pub(super) fn has_hung_up(file: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&file, PollFlags::empty())];
    // Whatever is asked for, the kernel tells that the other side has hung up.
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(gone)
}
