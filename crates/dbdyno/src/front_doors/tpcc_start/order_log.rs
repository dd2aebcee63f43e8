//! The files of options f and t: a line for each New-Order.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use benchmarks::tpcc::Terminal;
use blame::{Blame, Blamed};
use load::{Failure, Next, OperationObserver, User};
use reactor::Instant;

/// Index of the New-Order operation.
const NEW_ORDER: usize = 0;

/// Both files, if requested.
pub(super) struct OrderLog {
    response_times: Option<LogFile>,
    transactions: Option<LogFile>,
    /// Second of the last periodic line.
    interval_start_s: AtomicU32,
    /// A moment, and its time since 1970.
    origin: (Instant, Duration),
    /// A line could not be written; this is reported once.
    is_broken: AtomicBool,
}

type LogFile = Mutex<BufWriter<File>>;

impl OrderLog {
    pub(super) fn create(
        response_times: Option<&str>,
        transactions: Option<&str>,
    ) -> Result<Self, Blamed> {
        let create = |path: &str| -> Result<LogFile, Blamed> {
            let file = File::create(Path::new(path))
                .map_err(|error| Blamed::new(Blame::Input, format!("{path}: {error}")))?;
            Ok(Mutex::new(BufWriter::new(file)))
        };
        let since_1970 = reactor::wall_now().duration_since(UNIX_EPOCH);
        Ok(Self {
            response_times: response_times.map(create).transpose()?,
            transactions: transactions.map(create).transpose()?,
            interval_start_s: AtomicU32::new(0),
            origin: (reactor::system_now(), since_1970.unwrap_or_default()),
            is_broken: AtomicBool::new(false),
        })
    }

    /// Records that a periodic line was printed for this second.
    pub(super) fn printed(&self, second: u32) {
        self.interval_start_s.store(second, Ordering::Relaxed);
    }

    /// Writes the buffered lines.
    pub(super) fn finish(&self) -> Result<(), Blamed> {
        for file in [&self.response_times, &self.transactions]
            .into_iter()
            .flatten()
        {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let flushed = file.flush();
            flushed.map_err(Blamed::machine)?;
        }
        if self.is_broken.load(Ordering::Relaxed) {
            Err(Blamed::new(
                Blame::Machine,
                "the files of options f and t are incomplete: a line could not be written",
            ))
        } else {
            Ok(())
        }
    }

    fn is_wanted(&self) -> bool {
        self.response_times.is_some() || self.transactions.is_some()
    }

    fn order(&self, thread: u32, begin: Instant, end: Instant, is_rolled_back: bool) {
        if let Some(file) = &self.response_times {
            let second = self.interval_start_s.load(Ordering::Relaxed);
            self.put(file, &response_line(second, end - begin));
        }
        if let Some(file) = &self.transactions
            && !is_rolled_back
        {
            let (origin, since_1970) = self.origin;
            let wall = |moment: Instant| since_1970 + (moment - origin);
            self.put(file, &transaction_line(thread, wall(begin), wall(end)));
        }
    }

    fn put(&self, file: &LogFile, line: &str) {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.write_all(line.as_bytes()).is_err() {
            self.is_broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Second of the last periodic line and the response time in milliseconds, such as `0 5.750`.
fn response_line(second: u32, response: Duration) -> String {
    format!("{second} {:.3}\n", response.as_secs_f64() * 1e3)
}

/// Seconds and nanoseconds since 1970, such as
/// `t_num: 6 finish: 1795218853 648493037 start: 1795218853 642762479`.
fn transaction_line(thread: u32, begin: Duration, end: Duration) -> String {
    format!(
        "t_num: {thread} finish: {} {} start: {} {}\n",
        end.as_secs(),
        end.subsec_nanos(),
        begin.as_secs(),
        begin.subsec_nanos()
    )
}

/// A terminal whose New-Orders are logged.
pub(super) struct LoggedTerminal {
    terminal: Terminal,
    log: Arc<OrderLog>,
    thread: u32,
    /// Start of the current New-Order, its earlier attempts included.
    begin: Option<Instant>,
    is_new_order: bool,
}

impl LoggedTerminal {
    pub(super) fn new(terminal: Terminal, log: Arc<OrderLog>, thread: u32) -> Self {
        Self {
            terminal,
            log,
            thread,
            begin: None,
            is_new_order: false,
        }
    }
}

impl User for LoggedTerminal {
    fn operations(&self) -> &[String] {
        self.terminal.operations()
    }

    fn statements(&self) -> &[String] {
        self.terminal.statements()
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.terminal.connect().await
    }

    fn next(&mut self) -> Next {
        let next = self.terminal.next();
        self.begin = None;
        self.is_new_order = next == Next::Operation(NEW_ORDER) && self.log.is_wanted();
        next
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        if !self.is_new_order {
            return self.terminal.execute(watch).await;
        }
        let begin = *self.begin.get_or_insert_with(reactor::now);
        self.terminal.execute(watch).await?;
        let is_rolled_back = self.terminal.is_rolled_back();
        self.log
            .order(self.thread, begin, reactor::now(), is_rolled_back);
        Ok(())
    }

    async fn disconnect(&mut self) {
        self.terminal.disconnect().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_as_the_scripts_read_them() {
        let ns = Duration::from_nanos;
        assert_eq!(response_line(0, ns(5_750_400)), "0 5.750\n");
        assert_eq!(
            transaction_line(
                6,
                ns(1_795_218_853_642_762_479),
                ns(1_795_218_853_648_493_037)
            ),
            "t_num: 6 finish: 1795218853 648493037 start: 1795218853 642762479\n"
        );
    }
}
