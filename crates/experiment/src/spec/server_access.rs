//! The connections to the server: by socket or TCP, compressed, with additional delay.

use std::time::Duration;

use settings::quantity;

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
};

/// How the clients connect to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerAccess {
    /// How they connect to a private server.
    pub connect: Connect,
    /// True if the traffic is compressed.
    pub compress: bool,
    /// Additional delay of every answer, as in a network.
    pub round_trip: Duration,
    /// Time limit for each statement outside of the measurement; `None` for the default of its purpose.
    pub statement_timeout: Option<Duration>,
}

/// How clients connect to a private server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Connect {
    /// By its unix socket.
    #[default]
    Socket,
    /// By TCP over the loopback interface, without TLS.
    Tcp,
}

impl ServerAccess {
    /// Reads the access from `[server]`; for a given server, the address decides how to connect.
    pub(crate) fn read(section: &Section<'_>, is_private: bool) -> Result<Self, Error> {
        let words = [("socket", Connect::Socket), ("tcp", Connect::Tcp)];
        let connect = section.choice("connect", &words)?;
        if connect.is_some() && !is_private {
            let problem = Problem::OtherServer {
                key: "connect",
                needs: "a private server",
                found: "`address`",
            };
            return Err(section.error_at("connect", problem));
        }
        let expected = "a time such as \"500us\" up to 10 s, or \"0\"";
        Ok(Self {
            connect: connect.unwrap_or_default(),
            compress: section.flag("compress")?.unwrap_or(false),
            round_trip: section
                .parsed("round_trip", expected, round_trip)?
                .unwrap_or_default(),
            statement_timeout: section.parsed(
                "statement_timeout",
                "a time above zero such as \"4h\", at most 30days",
                statement_timeout,
            )?,
        })
    }
}

fn statement_timeout(text: &str) -> Option<Duration> {
    quantity::duration(text).filter(|time| !time.is_zero())
}

/// A longer delay would exceed the time limit of a login.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(10);

fn round_trip(text: &str) -> Option<Duration> {
    match text.trim() {
        "0" => Some(Duration::ZERO),
        text => quantity::duration(text).filter(|time| *time <= ROUND_TRIP_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        let us = |us| Some(Duration::from_micros(us));
        for (text, expected) in [
            ("0", us(0)),
            ("500us", us(500)),
            ("1ms", us(1000)),
            ("2 s", us(2_000_000)),
            ("11s", None),
            ("none", None),
            ("-1ms", None),
        ] {
            assert_eq!(round_trip(text), expected, "{text}");
        }
    }
}
