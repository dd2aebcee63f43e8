//! `dbdyno server`: create, start, stop, inspect and destroy private servers.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use blame::{Blame, Blamed};
use runs::{Purpose, named_server, redo_log, signals};
use server::{Flavour, Installation, Lifetime, Server, Settings};
use telemetry::usable_memory_bytes;

use crate::progress::Step;

mod buffer_pool;
mod check;
mod installs;
mod listing;
mod server_option;
mod snapshot;
mod table;

/// Private servers live in directories of their own, listen on 127.0.0.1 only, and survive until they are
/// destroyed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A private server is a server that dbdyno creates and removes. It has its own data directory, port and socket.

Examples:
  dbdyno server create one --cnf my.cnf --set innodb_buffer_pool_size=1G
  dbdyno server client one -- -e 'select version()'
  dbdyno server destroy one
  dbdyno server install mysql-8.0.33
  dbdyno server create two --run mysql-8.0.33")]
pub(crate) struct ServerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create a server and start it
    Create(CreateArgs),
    /// Check whether a server version accepts option files, without starting the server
    Check(check::CheckArgs),
    /// Start a server
    Start(Name),
    /// Shut a server down cleanly
    Stop(Name),
    /// Restart a server
    Restart(Name),
    /// Show the status of a server
    Status(Name),
    /// Connect to a server with its command-line client
    Client(ClientArgs),
    /// Show the last lines of a server's log
    Log(LogArgs),
    /// List all servers
    List,
    /// Save a server's data as a snapshot
    Snapshot(snapshot::SnapshotArgs),
    /// Restore a server's data from a snapshot
    Restore(snapshot::RestoreArgs),
    /// List a server's snapshots, or remove one of them
    Snapshots(snapshot::SnapshotsArgs),
    /// Stop a server, and remove it with all its data
    Destroy(Name),
    /// Install a server version; this needs no root privileges
    Install(installs::InstallArgs),
    /// List the installed server versions
    Installed(installs::InstalledArgs),
    /// Remove an installed server version
    Uninstall(VersionName),
}

#[derive(Debug, clap::Args)]
struct Name {
    /// Name of the server
    name: String,
}

#[derive(Debug, clap::Args)]
struct VersionName {
    /// Name of the installed version, as `dbdyno server installed` lists it
    name: String,
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// Name of the server
    name: String,
    /// Server binary for the private server [default: found automatically]
    #[arg(long, value_name = "FILE")]
    mysqld: Option<PathBuf>,
    /// Server version to run, such as mariadb-10.11, mysql-8.0, mariadb or percona; names of installed versions are
    /// also accepted
    #[arg(long, value_name = "VERSION")]
    run: Option<String>,
    /// Option file; may be repeated, and a later file overrides an earlier one [default: none; the buffer pool is then
    /// a quarter of memory]
    #[arg(long, value_name = "FILE")]
    cnf: Vec<PathBuf>,
    /// Server option, which overrides the option files; may be repeated
    #[arg(long, value_name = "OPTION=VALUE", value_parser = server_option::parse_set)]
    set: Vec<(String, String)>,
    /// TCP port of the server [default: a free port]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Directory for the server [default: ~/.local/share/dbdyno/servers/NAME]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Create the server without starting it
    #[arg(long)]
    no_start: bool,
}

#[derive(Debug, clap::Args)]
struct ClientArgs {
    /// Name of the server
    name: String,
    /// Arguments for the client (mysql or mariadb)
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct LogArgs {
    /// Name of the server
    name: String,
    /// Number of lines to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,
}

pub(crate) fn run(args: ServerArgs) -> anyhow::Result<ExitCode> {
    // Also operations without a server, such as copying, end at the first signal and clean up.
    signals::interrupt()?;
    for removed in server::sweep(&named_server::root()?).map_err(Blamed::from)? {
        eprintln!(
            "note: removed leftovers of a crashed dbdyno: {}",
            removed.display()
        );
    }
    match args.action {
        Action::Create(args) => create(args)?,
        Action::Check(args) => return Ok(check::run(args)?),
        Action::Start(Name { name }) => start(&name, &mut named_server::open(&name)?)?,
        Action::Stop(Name { name }) => stop(&name, &mut named_server::open(&name)?)?,
        Action::Restart(Name { name }) => {
            let mut server = named_server::open(&name)?;
            if server.is_running() {
                stop(&name, &mut server)?;
            }
            start(&name, &mut server)?;
        }
        Action::Status(Name { name }) => {
            let server = named_server::open(&name)?;
            print!("{}", listing::status(&name, &server)?);
        }
        Action::Client(args) => match become_client(args)? {},
        Action::Log(args) => {
            let server = named_server::open(&args.name)?;
            eprintln!("note: the whole log is {}", server.log_file().display());
            println!("{}", server.log_tail(args.lines));
        }
        Action::List => print!("{}", listing::table(&named_server::root()?)?),
        Action::Snapshot(args) => snapshot::snapshot(&args)?,
        Action::Restore(args) => snapshot::restore(&args)?,
        Action::Snapshots(args) => snapshot::snapshots(&args)?,
        Action::Destroy(Name { name }) => destroy(&name)?,
        Action::Install(args) => installs::install(&args)?,
        Action::Installed(args) => print!("{}", installs::table(&args)?),
        Action::Uninstall(VersionName { name }) => installs::uninstall(&name)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn create(args: CreateArgs) -> Result<(), Blamed> {
    let name = args.name;
    let path = named_server::path(&name)?;
    if !named_server::is_free(&path)? {
        return Err(server::Error::NameTaken { dir: path }.into());
    }
    let installation = Installation::find(args.run.as_deref(), args.mysqld.as_deref())?;
    let mut set: BTreeMap<_, _> = args.set.into_iter().collect();
    // With a user's option file, options missing from it are meant to have the server's defaults.
    let memory = usable_memory_bytes().filter(|_| args.cnf.is_empty());
    if let Some(bytes) = memory.and_then(|memory| buffer_pool::chosen_bytes(&set, memory)) {
        eprintln!(
            "note: buffer pool {}, a quarter of the memory here; --set innodb_buffer_pool_size=SIZE sets another one",
            units::bytes(bytes)
        );
        buffer_pool::set_to(&mut set, bytes);
    }
    let settings = Settings {
        cnf: args.cnf,
        set,
        port: args.port,
        ..Settings::default()
    };
    let dir = args.dir.unwrap_or_else(|| path.clone());
    let step = Step::spinner(format!(
        "creating server {name} ({} {})",
        installation.flavour, installation.version
    ));
    let mut server = Server::create(&dir, &installation, &settings)?;
    drop(step);
    for replaced in server.replaced() {
        eprintln!("note: {replaced}");
    }
    for note in server.notes() {
        eprintln!("note: {note}");
    }
    let finished = finish(&name, &path, &mut server, args.no_start);
    if finished.is_err() {
        // The error shows the end of the log; the name is free again, so the next attempt needs no cleanup.
        server.destroy()?;
    }
    finished
}

/// Starts a new server, or leaves it stopped, and registers its name.
fn finish(name: &str, path: &Path, server: &mut Server, no_start: bool) -> Result<(), Blamed> {
    if no_start {
        server.keep()?
    } else {
        start(name, server)?
    }
    if path.exists() {
        Ok(())
    } else {
        named_server::link(path, server.dir())
    }
}

fn start(name: &str, server: &mut Server) -> Result<(), Blamed> {
    let step = Step::spinner(format!("starting server {name}"));
    server.start(Lifetime::Detached)?;
    drop(step);
    let pid = server.pid().unwrap_or_default();
    println!(
        "{name}: running, pid {pid}, port {}, socket {}",
        server.port(),
        server.socket().display()
    );
    if server.redo_log_is_off() {
        eprintln!("warning: its redo log is switched off, as before: a crash would lose all data");
    }
    Ok(())
}

/// Stops a server; a disabled redo log is enabled first, because the server would start without it again.
fn stop(name: &str, server: &mut Server) -> Result<(), Blamed> {
    if server.is_running() {
        match Purpose::Change.control(&server.endpoint(), redo_log::bring_back) {
            Ok(true) => eprintln!("note: the redo log was switched off; it is on now"),
            Ok(false) => {}
            // After an interruption, the wait for the stop would continue as a cleanup.
            Err(error) if error.blame == Blame::Interrupted => return Err(error),
            // A server that refuses logins must be stopped nevertheless.
            Err(error) => {
                eprintln!("warning: cannot find out whether its redo log is on: {error:#}")
            }
        }
    }
    let _step = Step::spinner(format!("stopping server {name}"));
    Ok(server.stop()?)
}

fn destroy(name: &str) -> Result<(), Blamed> {
    let path = named_server::path(name)?;
    server::destroy(&path)?;
    if path.is_symlink() {
        named_server::unlink(&path)
    } else {
        Ok(())
    }
}

/// Replaces this process by the command-line client; returns only an error.
fn become_client(args: ClientArgs) -> Result<Infallible, Blamed> {
    let server = named_server::open(&args.name)?;
    if !server.is_running() {
        let dir = server.dir().to_owned();
        return Err(server::Error::NotRunning { dir }.into());
    }
    let installation = server.installation()?;
    let names = match installation.flavour {
        Flavour::MariaDb => ["mariadb", "mysql"],
        Flavour::MySql | Flavour::Percona => ["mysql", "mariadb"],
    };
    // The server's own client first: others may not support its login methods.
    let own = names.map(|name| installation.basedir.join("bin").join(name));
    let own = own
        .into_iter()
        .filter(|path| runs(installation.program(path)));
    // An unpacked client searches its character sets in the directory of its build.
    let character_sets = installation.character_sets_dir();
    let character_sets =
        character_sets.map(|dir| format!("--character-sets-dir={}", dir.display()));
    let own = own.map(|path| (installation.program(&path), path, character_sets.as_ref()));
    let others = names.map(|name| (Command::new(name), PathBuf::from(name), None));
    let options = format!("--defaults-file={}", server.client_file().display());
    for (mut command, client, character_sets) in own.chain(others) {
        let error = command
            .arg(&options)
            .args(character_sets)
            .args(&args.args)
            .exec();
        if error.kind() != std::io::ErrorKind::NotFound {
            let message = format!("{}: cannot run: {error}", client.display());
            return Err(Blamed::new(Blame::Input, message));
        }
    }
    let hint = "apt-get install mariadb-client-core".to_owned();
    Err(Blamed::new(
        Blame::Input,
        "no command-line client found: neither mariadb nor mysql",
    )
    .hint(hint))
}

/// Whether a client is executable: an unpacked one may lack a library that the server does not need.
fn runs(mut client: Command) -> bool {
    client.arg("--version");
    let output = server::version_output(client);
    output.is_ok_and(|output| output.status.success())
}
