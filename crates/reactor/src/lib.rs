//! The event loop: sockets, timers and the injected clock, with one small executor per thread; interrupts of waits.
//!
//! ```
//! # use std::time::Duration;
//! let reactor = reactor::Reactor::new(reactor::Clock::Driven)?;
//! let slept = reactor.run(async {
//!     let start = reactor::now();
//!     reactor::sleep(Duration::from_secs(3600)).await;
//!     reactor::now() - start
//! });
//! assert_eq!(slept, Duration::from_secs(3600));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Nothing here allocates or locks per wake-up. A task on the hot path that has to react to another thread (a stop flag)
//! reads an atomic at its next step; wakers work across threads, but take a lock then. All other work is ended by an
//! [`Interrupt`].

mod awake;
mod child;
mod clock;
mod executor;
mod interrupt;
mod lead;
mod listener;
mod source;
mod stream;
mod task;
mod timer;

/// Channels that an [`Interrupt`] is waited for beside.
pub use crossbeam_channel as channel;

pub use awake::{BusyPoll, stay_awake};
pub use child::{end_child, wait_for_child};
pub use clock::{Clock, Instant, process_cpu_time, system_now, thread_cpu_time, wall_now};
pub use executor::{Options, Reactor, block_on, now, spawn, yield_now};
pub use interrupt::{Interrupt, readable_within};
pub use listener::Listener;
pub use stream::{Accepted, EndAddress, Stream};
pub use timer::{Elapsed, sleep, sleep_until, timeout};
