//! Options of faults on purpose, which the original does not have.

use std::time::Duration;

use proxy::Faults;
use settings::quantity;

use crate::commands::null_server::share;

/// Faults on purpose.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Faults on purpose, not of the original")]
pub(super) struct FaultOptions {
    /// Delay each command by this time, varied evenly by the jitter: 2ms, 2ms:500us
    #[arg(long, value_name = "TIME[:JITTER]", value_parser = delay)]
    add_delay: Option<(Duration, Duration)>,
    /// Commands per second, of all clients together
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,
    /// Bytes per second, of all clients together and in both directions: 10M
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    bandwidth: Option<u64>,
    /// Share of commands at which the client's and the server's connection are closed and the command is lost
    #[arg(long, value_name = "0..1", value_parser = share)]
    drop: Option<f64>,
    /// Close the connections of each client after this number of commands
    #[arg(long, value_name = "N")]
    kill_after: Option<u64>,
    /// Seed of --add-delay and --drop
    #[arg(long, value_name = "N", default_value_t = 1)]
    fault_seed: u64,
}

impl FaultOptions {
    /// The faults.
    pub(super) fn faults(&self) -> Faults {
        Faults {
            delay: self.add_delay.unwrap_or_default().0,
            jitter: self.add_delay.unwrap_or_default().1,
            commands_per_s: self.rate,
            bytes_per_s: self.bandwidth,
            drop_share: self.drop.unwrap_or(0.0),
            kill_after: self.kill_after,
            seed: self.fault_seed,
        }
    }
}

fn delay(text: &str) -> Result<(Duration, Duration), String> {
    quantity::varied(text).ok_or_else(|| {
        format!(
            "a time such as 2ms, or with a jitter that is no longer, 2ms:500us; {}",
            quantity::DURATION_LIMIT
        )
    })
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
    fn delays_have_a_jitter_that_fits() {
        let delay_of = |mean, jitter| (Duration::from_micros(mean), Duration::from_micros(jitter));
        assert_eq!(delay("2ms"), Ok(delay_of(2000, 0)));
        assert_eq!(delay("2ms:500us"), Ok(delay_of(2000, 500)));
        for wrong in ["2", "1ms:2ms", "-1ms", "1ms:"] {
            assert!(delay(wrong).is_err(), "{wrong}");
        }
        assert!(share("1.5").is_err() && share("NaN").is_err());
    }
}
