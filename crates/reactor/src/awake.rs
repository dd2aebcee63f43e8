//! A loop that stays awake for a while before it sleeps, for answers that are faster than a wake-up.

use std::{rc::Rc, sync::LazyLock, thread::available_parallelism, time::Duration};

use crate::executor::Inner;

/// Asked once: it reads files about control groups, which takes longer than a short answer.
static HAS_OTHER_CPUS: LazyLock<bool> =
    LazyLock::new(|| available_parallelism().is_ok_and(|cpus| cpus.get() > 1));

/// While this value lives, its loop stays awake; see [`stay_awake`].
#[must_use = "the loop stays awake only while this value lives"]
pub struct BusyPoll {
    reactor: Rc<Inner>,
    outer: Duration,
}

/// From now on, the running reactor looks at its sockets for this long before each sleep. A thread that sleeps gets an
/// answer tens of microseconds after it came, in a virtual machine later still; one that stays awake occupies a CPU.
///
/// No effect where there is a single CPU, which the peer may need, or on a driven clock.
pub fn stay_awake(before_sleep: Duration) -> BusyPoll {
    let reactor = Inner::current();
    let awake = HAS_OTHER_CPUS.then_some(before_sleep);
    let outer = reactor.awake.replace(awake.unwrap_or_default());
    BusyPoll { reactor, outer }
}

impl Drop for BusyPoll {
    fn drop(&mut self) {
        self.reactor.awake.set(self.outer);
    }
}
