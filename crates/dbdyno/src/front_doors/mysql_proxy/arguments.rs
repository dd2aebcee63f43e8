//! The command line, completed by the defaults file.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use blame::{Blame, Blamed};
use clap::{CommandFactory, FromArgMatches, Parser, parser::ValueSource};
use proxy::Level;

use super::{
    defaults_file,
    fault_options::FaultOptions,
    own_options::{OwnOptions, seconds},
    side_options::SideOptions,
};

/// The environment variable with the admin interface's password.
pub(super) const PASSWORD_VARIABLE: &str = "MYSQL_PROXY_ADMIN_PASSWORD";

/// Relay MySQL connections to servers; the command line is that of MySQL Proxy
#[derive(Debug, Parser)]
#[command(
    name = "mysql-proxy",
    version,
    after_help = "\
An address is HOST:PORT, :PORT, or the path of a unix socket. Without a host, an address to listen on means every \
address of this machine, and a backend's address means this machine. Options can also be set in the group \
[mysql-proxy] of the --defaults-file, where the values of a list are separated by commas. SIGINT or SIGTERM ends the \
proxy with exit code 0.

Examples:
  mysql-proxy --proxy-address=:3306 --proxy-backend-addresses=:3307
  mysql-proxy -b db1:3306 -b db2:3306 -r replica:3306 --event-threads=4 --pid-file=/run/proxy.pid --daemon"
)]
pub(crate) struct Arguments {
    /// Address to which clients connect
    #[arg(short = 'P', long, value_name = "ADDRESS", default_value = ":4040")]
    pub(super) proxy_address: String,
    /// Address of a server for reads and writes (a backend); may be repeated
    #[arg(
        short = 'b',
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:3306"
    )]
    pub(super) proxy_backend_addresses: Vec<String>,
    /// Address of a read-only backend, which is used only if a script or a --rewrite rule chooses it; may be repeated
    #[arg(short = 'r', long, value_name = "ADDRESS")]
    pub(super) proxy_read_only_backend_addresses: Vec<String>,
    /// Lua script whose hooks can observe and change sessions; if the file changes, it is reloaded for new clients
    #[arg(short = 's', long, value_name = "FILE")]
    pub(super) proxy_lua_script: Option<PathBuf>,
    /// Start only the admin interface, without the proxy
    #[arg(long)]
    pub(super) no_proxy: bool,
    /// Open a new server connection for each client; without this option, clients are logged in on idle connections
    /// from the pool (COM_CHANGE_USER)
    #[arg(long)]
    pub(super) proxy_pool_no_change_user: bool,
    /// Time limit for connecting to a backend, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2.0", value_parser = seconds)]
    pub(super) proxy_connect_timeout: Duration,
    /// Time limit for a client or a server that sends no data, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "28800", value_parser = seconds)]
    pub(super) proxy_read_timeout: Duration,
    /// Time limit for a client or a server that accepts no data, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "28800", value_parser = seconds)]
    pub(super) proxy_write_timeout: Duration,

    /// Plugin to start: proxy or admin; may be repeated
    #[arg(long, value_name = "NAME", value_parser = ["proxy", "admin"], default_value = "proxy")]
    pub(super) plugins: Vec<String>,
    /// With --plugins=admin: address of the admin interface
    #[arg(long, value_name = "ADDRESS", default_value = ":4041")]
    pub(super) admin_address: String,
    /// User name for the admin interface
    #[arg(long, value_name = "NAME")]
    pub(super) admin_username: Option<String>,
    /// Password for the admin interface; for safety, set it in the defaults file or in the environment variable
    /// MYSQL_PROXY_ADMIN_PASSWORD instead
    #[arg(long, value_name = "PASSWORD")]
    pub(super) admin_password: Option<String>,

    /// Lua script for the admin interface; commands that its hook read_query does not answer get a built-in answer
    #[arg(long, value_name = "FILE")]
    pub(super) admin_lua_script: Option<PathBuf>,

    /// Search path for modules that scripts load [default: the environment variable LUA_PATH; if it is not set,
    /// BASEDIR/lib/mysql-proxy/lua/?.lua with --basedir]
    #[arg(long, value_name = "PATH")]
    pub(super) lua_path: Option<String>,
    /// Memory limit for all scripts in an event thread, including the results that they keep: a number of bytes, or a
    /// size such as 64M [default: unlimited]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(super) lua_memory_limit: Option<u64>,
    /// Maximum number of Lua instructions in one call of a hook; a call that needs more fails. The default is reached
    /// after a few seconds. With 0, there is no limit, and scripts are compiled instead of interpreted
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    pub(super) lua_instruction_limit: u64,
    /// Read options from the group [mysql-proxy] of this file; only the file's owner and group may have access to it
    #[arg(long, value_name = "FILE")]
    pub(super) defaults_file: Option<PathBuf>,
    /// Write a last line to the log when the proxy ends, regardless of --log-level
    #[arg(long)]
    pub(super) verbose_shutdown: bool,
    /// Run in the background
    #[arg(long)]
    pub(super) daemon: bool,
    /// Run as this user (needs root)
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// Directory from which relative paths are resolved; must be an absolute path
    #[arg(long, value_name = "DIR")]
    pub(super) basedir: Option<PathBuf>,
    /// Write the process id to this file; the file remains when the proxy ends
    #[arg(long, value_name = "FILE")]
    pub(super) pid_file: Option<PathBuf>,
    /// Has no effect, because the plugins are built in; the proxy accepts the option for existing start scripts, and
    /// logs a note
    #[arg(long, value_name = "DIR")]
    pub(super) plugin_dir: Option<PathBuf>,
    /// Lowest level of messages to log: error, critical, warning, message, info or debug
    #[arg(long, value_name = "LEVEL", default_value = "critical", value_parser = level)]
    pub(super) log_level: Level,
    /// Append the log to this file instead of standard error
    #[arg(long, value_name = "FILE")]
    pub(super) log_file: Option<PathBuf>,
    /// Restart the proxy when it crashes
    #[arg(long)]
    pub(super) keepalive: bool,
    /// Maximum number of open files; each client needs two of them
    #[arg(long, value_name = "N")]
    pub(super) max_open_files: Option<u64>,
    /// Number of event threads (threads that serve the clients)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) event_threads: u16,
    #[command(flatten)]
    pub(super) sides: SideOptions,
    #[command(flatten)]
    pub(super) faults: FaultOptions,
    #[command(flatten)]
    pub(super) own: OwnOptions,
}

/// What a command line comes to.
pub(super) enum Parsed {
    Arguments(Box<Arguments>),
    /// Help, the version, or a mistake.
    Message(clap::Error),
}

/// Reads the command line and the defaults file that it names.
pub(super) fn parse(words: &[OsString]) -> Result<Parsed, Blamed> {
    let words: Vec<OsString> = words.iter().map(without_variants).collect();
    let command = Arguments::command();
    let typed = match command.clone().try_get_matches_from(called(&words)) {
        Ok(typed) => typed,
        Err(message) => return Ok(Parsed::Message(message)),
    };
    let mut all = Vec::new();
    if let Some(path) = typed.get_one::<PathBuf>("defaults_file") {
        for entry in defaults_file::read(path)? {
            let arg = command
                .get_arguments()
                .find(|arg| arg.get_long() == Some(entry.key.as_str()));
            let Some(arg) = arg.filter(|arg| arg.get_id() != "defaults_file") else {
                let place = format!("{}: line {}", path.display(), entry.line);
                let message = format!("{place}: --{} is not an option of mysql-proxy", entry.key);
                let hint = "mysql-proxy --help lists the options; docs/proxy.md lists the options of MySQL Proxy \
                     that are left out";
                return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
            };
            let id = arg.get_id().as_str();
            if typed.value_source(id) == Some(ValueSource::CommandLine) {
                continue;
            }
            let is_list = matches!(arg.get_action(), clap::ArgAction::Append);
            let is_flag = matches!(arg.get_action(), clap::ArgAction::SetTrue);
            all.extend(entry.words(is_list, is_flag, path)?);
        }
    }
    all.extend(words);
    let matches = match command.try_get_matches_from(called(&all)) {
        Ok(matches) => matches,
        Err(message) => return Ok(Parsed::Message(message)),
    };
    let mut arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(message) => return Ok(Parsed::Message(message)),
    };
    if arguments.admin_password.is_none() {
        arguments.admin_password = std::env::var(PASSWORD_VARIABLE).ok();
    }
    Ok(Parsed::Arguments(Box::new(arguments)))
}

/// The original's other names for help.
fn without_variants(word: &OsString) -> OsString {
    match word.to_str() {
        Some("--help-all" | "--help-proxy" | "--help-admin") => "--help".into(),
        _ => word.clone(),
    }
}

fn called(words: &[OsString]) -> Vec<OsString> {
    let mut called = vec!["mysql-proxy".into()];
    called.extend_from_slice(words);
    called
}

fn bytes(text: &str) -> Result<u64, String> {
    settings::quantity::bytes(text)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "not a number of bytes above 0, such as 64M".to_owned())
}

fn level(text: &str) -> Result<Level, String> {
    Level::of_word(text)
        .ok_or_else(|| "not one of error, critical, warning, message, info, debug".to_owned())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn parsed(words: &[&str]) -> Result<Arguments, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        match parse(&words) {
            Ok(Parsed::Arguments(arguments)) => Ok(*arguments),
            Ok(Parsed::Message(message)) => Err(message.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn the_originals_command_line() {
        let arguments = parsed(&[
            "--proxy-address=:3306",
            "-b",
            ":3307",
            "-b",
            "db:3306",
            "--proxy-connect-timeout=0.5",
            "--plugins=proxy",
            "--plugins=admin",
        ])
        .unwrap();
        assert_eq!(arguments.proxy_backend_addresses, [":3307", "db:3306"]);
        assert_eq!(arguments.proxy_connect_timeout, Duration::from_millis(500));
        assert_eq!(arguments.plugins, ["proxy", "admin"]);
        assert_eq!(arguments.admin_address, ":4041");
        for wrong in [
            "--plugins=proxy,admin",
            "--log-use-syslog",
            "--proxy-read-timeout=-1",
        ] {
            assert!(parsed(&[wrong]).is_err(), "{wrong}");
        }
        assert!(
            parsed(&["--help-all"])
                .unwrap_err()
                .contains("--proxy-address")
        );
    }

    #[test]
    fn the_defaults_file_completes_the_command_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("proxy.cnf");
        let file = "[other]\nx=1\n[mysql-proxy]\n# a comment\nproxy-backend-addresses = db1:3306, db2:3306\n\
                    proxy-address=:3310\ndaemon=false\nkeepalive=true\nadmin-password=secret\n";
        fs::write(&path, file).unwrap();
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let named = format!("--defaults-file={}", path.display());
        mode(0o600);
        let arguments = parsed(&[&named, "--proxy-address=:3311"]).unwrap();
        assert_eq!(arguments.proxy_backend_addresses, ["db1:3306", "db2:3306"]);
        assert_eq!(arguments.proxy_address, ":3311");
        assert!(!arguments.daemon && arguments.keepalive);
        assert_eq!(arguments.admin_password.as_deref(), Some("secret"));
        mode(0o644);
        assert!(parsed(&[&named]).unwrap_err().contains("0660"));
        mode(0o600);
        fs::write(&path, "[mysql-proxy]\nlog-use-syslog=true\n").unwrap();
        let error = parsed(&[&named]).unwrap_err();
        assert!(error.contains("line 2: --log-use-syslog"), "{error}");
    }
}
