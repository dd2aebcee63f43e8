//! `dbdyno observe`: samples the machine of a server for a dbdyno on another host that drives its load.

use std::{
    io::{IsTerminal, stdin, stdout},
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    os::fd::AsFd,
    path::PathBuf,
    process::ExitCode,
};

use blame::{Blame, Blamed};
use observer::{Access, listen, serve_pipes};
use runs::{server_host::secret, signals};

use crate::terminal::Terminal;

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("way").required(true).args(["stdio", "listen"]),
    after_help = "\
The observer only reads /proc and /sys, and changes nothing. If it cannot read a value, it names this value in its
report. As root, or with the account of the server process, the observer can read everything. docs/observe.md has the
details.

To let the dbdyno that drives the load start the observer over ssh:
  dbdyno run trial.toml          with  observe = \"ssh://dba@db1\"  under [server]
  dbdyno oltp read_write run --host db1 --observe ssh://dba@db1

To start a listening observer with a secret that both sides know:
  openssl rand -hex 32 > observe.secret; chmod 600 observe.secret
  dbdyno observe --listen 10.0.0.2:7306 --secret-file observe.secret
  dbdyno oltp read_write run --host db1 --observe tcp://db1:7306 --observe-secret-file observe.secret"
)]
pub(crate) struct ObserveArgs {
    /// Communicate over standard input and output, for use through ssh
    #[arg(long)]
    stdio: bool,
    /// Listen on this address and port (port 0 selects a free port)
    #[arg(long, value_name = "ADDRESS:PORT", requires = "secret_file")]
    listen: Option<String>,
    /// File whose first line is the secret that both sides share; it needs at least 16 characters
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    secret_file: Option<PathBuf>,
    /// Path of the server's pid file on this host; needed if the server reports another path, for example because it
    /// runs in a container
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// Allow the observation of paths below this directory, in addition to the directories of this machine's servers;
    /// may be repeated
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
}

pub(crate) fn run(args: ObserveArgs) -> anyhow::Result<ExitCode> {
    match &args.listen {
        Some(address) => listening(address, &args),
        None => over_pipes(&args),
    }
}

fn over_pipes(args: &ObserveArgs) -> anyhow::Result<ExitCode> {
    if stdin().is_terminal() || stdout().is_terminal() {
        let message =
            "--stdio is for communication with another dbdyno, but standard input is a terminal";
        let hint = "dbdyno oltp ... --observe ssh://HOST starts it, as does observe = \"ssh://HOST\" in an experiment";
        return Err(Blamed::new(Blame::Input, message)
            .hint(hint.to_owned())
            .into());
    }
    let place = Access::new(None, args.pid_file.clone(), args.allow.clone());
    let of_machine = |error| Blamed::new(Blame::Machine, error);
    let input = stdin().as_fd().try_clone_to_owned().map_err(of_machine)?;
    let output = stdout().as_fd().try_clone_to_owned().map_err(of_machine)?;
    let served = serve_pipes(&place, input, output);
    served.map_err(|error| Blamed::new(Blame::Input, error))?;
    Ok(ExitCode::SUCCESS)
}

fn listening(address: &str, args: &ObserveArgs) -> anyhow::Result<ExitCode> {
    let secret_file = args.secret_file.as_deref().unwrap_or("".as_ref());
    let secret = Some(secret(secret_file, &Terminal)?);
    let place = Access::new(secret, args.pid_file.clone(), args.allow.clone());
    let refused = |error: std::io::Error| Blamed::new(Blame::Input, format!("{address}: {error}"));
    let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(refused)?.collect();
    let listener = TcpListener::bind(addresses.as_slice()).map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    let interrupt = signals::silent_interrupt()?;
    println!("listening on {bound}");
    let ended = listen(listener, &place, &interrupt, &|said| eprintln!("{said}"));
    ended.map_err(|error| Blamed::new(Blame::Machine, format!("{bound}: {error}")))?;
    eprintln!("stopped");
    Ok(ExitCode::SUCCESS)
}
