//! The observer of a remote server's machine: the options of every command that drives a server.

use std::path::PathBuf;

use blame::{Blame, Blamed};
use experiment::{Observe, ObserverAddress};

/// The options of `dbdyno observe`'s clients.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Server on another host")]
pub(crate) struct ObserveOptions {
    /// Observe the server's machine through dbdyno on that machine. ssh://[USER@]HOST[:PORT] starts dbdyno there;
    /// tcp://HOST:PORT connects to dbdyno observe --listen, which must already run there [default: a server's machine
    /// is observed only if it is this machine]
    #[arg(long, value_name = "WHERE")]
    observe: Option<ObserverAddress>,
    /// With --observe tcp://: file whose first line is the same secret as in the --secret-file of dbdyno observe
    #[arg(long, value_name = "FILE", requires = "observe")]
    observe_secret_file: Option<PathBuf>,
    /// With --observe ssh://: command that starts dbdyno on the server's host [default: dbdyno]
    #[arg(long, value_name = "COMMAND", requires = "observe")]
    observe_program: Option<String>,
    /// With --observe ssh://: ssh program and its options, separated by spaces [default: ssh]
    #[arg(long, value_name = "COMMAND", requires = "observe")]
    observe_ssh: Option<String>,
}

impl ObserveOptions {
    /// The observer that the options describe; an error if an option has no meaning for the address, or is missing.
    pub(crate) fn observe(&self) -> Result<Option<Observe>, Blamed> {
        let Some(address) = &self.observe else {
            return Ok(None);
        };
        let is_tcp = matches!(address, ObserverAddress::Tcp { .. });
        let beside = [
            (
                "--observe-secret-file",
                self.observe_secret_file.is_some(),
                is_tcp,
            ),
            ("--observe-program", self.observe_program.is_some(), !is_tcp),
            ("--observe-ssh", self.observe_ssh.is_some(), !is_tcp),
        ];
        for (option, is_there, has_meaning) in beside {
            if is_there && !has_meaning {
                let message = format!("{option} has no effect with --observe {address}");
                return Err(Blamed::new(Blame::Input, message));
            }
        }
        if is_tcp && self.observe_secret_file.is_none() {
            let message = format!("--observe {address} needs --observe-secret-file");
            let hint = "name a file with the same first line as the observer's secret file";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        Ok(Some(Observe {
            address: address.clone(),
            secret_file: self.observe_secret_file.clone(),
            program: self.observe_program.clone(),
            ssh: self.observe_ssh.clone(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        observe: ObserveOptions,
    }

    fn said(line: &str) -> String {
        let line = ["dbdyno"].into_iter().chain(line.split_whitespace());
        match Cli::try_parse_from(line).map(|cli| cli.observe.observe()) {
            Ok(Ok(observe)) => observe.map_or("nobody".to_owned(), |it| it.address.to_string()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_go_with_their_way() {
        for (line, expected) in [
            ("", "nobody"),
            ("--observe ssh://dba@db1", "ssh://dba@db1"),
            (
                "--observe tcp://db1:7306 --observe-secret-file x",
                "tcp://db1:7306",
            ),
            (
                "--observe tcp://db1:7306",
                "--observe tcp://db1:7306 needs --observe-secret-file",
            ),
            (
                "--observe ssh://db1 --observe-secret-file x",
                "--observe-secret-file has no effect with --observe ssh://db1",
            ),
            (
                "--observe tcp://db1:7306 --observe-secret-file x --observe-ssh y",
                "--observe-ssh has no effect with --observe tcp://db1:7306",
            ),
        ] {
            assert_eq!(said(line), expected, "{line}");
        }
        assert!(said("--observe db1").contains("expected ssh://host"));
        assert!(said("--observe-program x").contains("--observe"));
    }
}
