//! A process that is a proxy and does nothing else: its start, its messages, its metrics and its end.

use std::{path::PathBuf, sync::Arc};

use reactor::Interrupt;

use crate::{
    Level, Log, Proxy, Settings, StartError,
    metrics_site::MetricsSite,
    supervision::{announce_ready, is_guarded, write_pid_file},
};

/// A process that is a proxy.
pub struct ProxyProcess {
    /// What the proxy is to do.
    pub settings: Settings,
    /// Its log.
    pub log: Arc<Log>,
    /// What serves its metrics; `None` without metrics.
    pub metrics: Option<web::Server>,
    /// The file for the process id, which a guard has written already.
    pub pid_file: Option<PathBuf>,
    /// Whether the last line is also written to a log of errors alone.
    pub always_logs_end: bool,
    /// Receives warnings.
    pub warn: fn(&str),
}

impl ProxyProcess {
    /// Serves until it is interrupted, or a script ends it.
    pub fn run(self, interrupt: &Interrupt) -> Result<(), StartError> {
        let log = self.log;
        let metrics = Arc::clone(&self.settings.metrics);
        let proxy = Proxy::start(self.settings, Arc::clone(&log), interrupt)?;
        if let Some(server) = self.metrics {
            let address = server.start(move || MetricsSite::new(metrics), self.warn);
            let address = address.map_err(StartError::Process)?;
            let text =
                format!("metrics: http://{address}/metrics and http://{address}/metrics.json");
            log.write(Level::Message, &text);
        }
        // A guard has written its own id, which ends both.
        if let Some(path) = self.pid_file.filter(|_| !is_guarded()) {
            write_pid_file(&path)?;
        }
        announce_ready();
        let places = proxy.addresses().join(", ");
        log.write(
            Level::Message,
            &format!(
                "dbdyno {} proxy started, listens on {places}",
                env!("CARGO_PKG_VERSION")
            ),
        );
        proxy.wait();
        proxy.stop();
        let level = if self.always_logs_end {
            Level::Error
        } else {
            Level::Message
        };
        log.write(level, "shut down, exit code 0");
        Ok(())
    }
}
