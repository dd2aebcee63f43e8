//! Options of rules, metrics and checks, which the original does not have.

use std::{path::PathBuf, time::Duration};

/// Rules, metrics and checks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rules and metrics (not in MySQL Proxy)")]
pub(super) struct OwnOptions {
    /// File of rules (TOML) that replace, block, fail, delay, answer, route or copy statements; a changed file is
    /// reloaded for new clients
    #[arg(long, value_name = "FILE", conflicts_with = "proxy_lua_script")]
    pub(super) rewrite: Option<PathBuf>,
    /// Address for metrics: /metrics (OpenMetrics) and /metrics.json. Without a host, they can be read only from
    /// this machine
    #[arg(long, value_name = "[HOST]:PORT")]
    pub(super) metrics_address: Option<String>,
    /// Interval between checks of each backend, in seconds [default: no periodic checks; a backend counts as down when
    /// connecting to it for a client fails]
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
