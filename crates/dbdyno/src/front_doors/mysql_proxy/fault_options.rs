//! Options of faults on purpose, which the original does not have.

use proxy::{Delay, Faults};
use settings::quantity;

use crate::commands::null_server::share;

/// Faults on purpose.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Injected faults (not in MySQL Proxy)")]
pub(super) struct FaultOptions {
    /// Delay each command by this time (2ms), or by a uniformly distributed random time from TIME - JITTER to TIME +
    /// JITTER (2ms:500us)
    #[arg(long, value_name = "TIME[:JITTER]")]
    add_delay: Option<Delay>,
    /// Maximum number of commands per second, for all clients together
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,
    /// Maximum number of bytes per second, such as 10M, for all clients and both directions together
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    bandwidth: Option<u64>,
    /// Share of commands to drop; for each dropped command, the connections to the client and to the server are closed
    #[arg(long, value_name = "0..1", value_parser = share)]
    drop: Option<f64>,
    /// Close the connections to the client and to the server after this number of the client's commands
    #[arg(long, value_name = "N")]
    kill_after: Option<u64>,
    /// Random seed for --add-delay, --drop and the rules of --rewrite
    #[arg(long, value_name = "N", default_value_t = 1)]
    fault_seed: u64,
}

impl FaultOptions {
    /// The faults.
    pub(super) fn faults(&self) -> Faults {
        Faults {
            delay: self.add_delay.unwrap_or_default(),
            commands_per_s: self.rate,
            bytes_per_s: self.bandwidth,
            drop_share: self.drop.unwrap_or(0.0),
            kill_after: self.kill_after,
            seed: self.fault_seed,
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    quantity::rate(text).ok_or_else(|| "not a number above 0 and up to 1000000".to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    quantity::bytes(text)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "not a number of bytes above 0, such as 500k or 10M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_between_none_and_all() {
        assert!(share("1.5").is_err() && share("NaN").is_err());
    }
}
