//! Options of rules, metrics and checks, which the original does not have.

use std::{path::PathBuf, time::Duration};

/// Rules, metrics and checks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rules and metrics (not in MySQL Proxy)")]
pub(super) struct OwnOptions {
    /// TOML file with rules that replace, block, fail, delay, answer, route or copy statements; if the file changes, it
    /// is reloaded for new clients
    #[arg(long, value_name = "FILE", conflicts_with = "proxy_lua_script")]
    pub(super) rewrite: Option<PathBuf>,
    /// Serve metrics at this address, under the paths /metrics (OpenMetrics) and /metrics.json. If the address has no
    /// host, only this machine can read the metrics
    #[arg(long, value_name = "[HOST]:PORT")]
    pub(super) metrics_address: Option<String>,
    /// Interval between checks of each backend, in seconds [default: no periodic checks; if the proxy cannot connect a
    /// client to a backend, the backend counts as down]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) backend_check_interval: Option<Duration>,
}

/// A number of seconds above 0.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    const MOST: f64 = 1e9;
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= MOST => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("not a number of seconds above 0, such as 2.5".to_owned()),
    }
}
