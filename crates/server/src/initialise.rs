//! Makes a server's data directory in the way that its flavour and version need.

pub(crate) mod accounts;
pub(crate) mod template;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mycnf::{OptionFile, Options};

use crate::configuration::{decided_options, installation_options};
use crate::directory::layout::{Layout, make_private_dir};
use crate::directory::marker::write_private;
use crate::error::Error;
use crate::initialise::accounts::Accounts;
use crate::initialise::template::Template;
use crate::installation::Installation;
use crate::process::ProcessId;
use crate::process::interruption::Wait;
use crate::process::log;
use crate::process::spawner::{Lifetime, spawn};
use crate::user_directory::templates_root;

/// Time limit for making a data directory; it usually takes seconds.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Number of log lines in an error.
pub(crate) const LOG_LINES: usize = 20;

/// The SQL files of a bootstrap in their order; `mysql_` is `mariadb_` from MariaDB 11 on. A server has only the files
/// that its version needs.
const SYSTEM_SQL: [&str; 6] = [
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "fill_help_tables.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
];

/// Saves an initialisation thousands of disk syncs: an interrupted one is discarded anyway.
const UNSYNCED: [(&str, &str); 2] = [
    ("loose-innodb-flush-method", "nosync"),
    ("loose-innodb-flush-log-at-trx-commit", "0"),
];

/// The same for the system tables of a bootstrap, which are not InnoDB tables.
const UNSYNCED_BOOTSTRAP: [(&str, &str); 2] =
    [("loose-debug-no-sync", "1"), ("loose-sync-frm", "0")];

/// Makes the data directory with its accounts and the database `test`; copies a matching template if there is one.
pub(crate) fn make_data(
    layout: &Layout,
    installation: &Installation,
    options: &Options,
) -> Result<Accounts, Error> {
    let kept: Vec<String> = kept_options(installation, options)
        .iter()
        .map(|(name, value)| format!("{name}={value:?}\n"))
        .collect();
    let template =
        templates_root().and_then(|root| Template::of(root, installation, &kept.concat()));
    if let Some(template) = &template
        && let Some(accounts) = template.copy_to(&layout.data)?
    {
        return Ok(accounts);
    }
    make_private_dir(&layout.data).map_err(Error::io("create the directory", &layout.data))?;
    let accounts = Accounts::random()?;
    initialise(layout, installation, &accounts, options)?;
    if let Some(template) = template {
        template.keep(&layout.data, &accounts);
    }
    Ok(accounts)
}

fn initialise(
    layout: &Layout,
    installation: &Installation,
    accounts: &Accounts,
    options: &Options,
) -> Result<(), Error> {
    let option_file = layout.run.join("init.cnf");
    let sql_file = layout.run.join("init.sql");
    let by_itself = initialises_itself(installation);
    let has_dictionary = by_itself && installation.numbers().at_least([8]);

    write_option_file(&option_file, layout, installation, options)?;
    let mut command = installation.command();
    command.arg(format!("--defaults-file={}", option_file.display()));
    if by_itself {
        let mut sql = accounts.initialize_sql();
        if has_dictionary {
            sql.push_str("CREATE DATABASE test;\n");
        }
        write_private(&sql_file, sql.as_bytes())?;
        command.arg("--initialize-insecure");
        command.arg(format!("--init-file={}", sql_file.display()));
        command.stdin(Stdio::null());
    } else {
        make_private_dir(&layout.data.join("mysql")).map_err(Error::io("make", &layout.data))?;
        write_private(&sql_file, &bootstrap_sql(installation, accounts)?)?;
        let sql = File::open(&sql_file).map_err(Error::io("read", &sql_file))?;
        command.arg("--bootstrap").stdin(sql);
    }
    run(command, layout)?;
    if !has_dictionary {
        // Without a db.opt the database follows the server's character set, even if that changes later.
        let test = layout.data.join("test");
        make_private_dir(&test).map_err(Error::io("create the directory", &test))?;
    }
    for file in [option_file, sql_file] {
        std::fs::remove_file(&file).map_err(Error::io("remove", &file))?;
    }
    Ok(())
}

/// The options for an initialisation: of the user's options only those that take effect now. The others are applied at
/// the first start, which reports wrong ones.
fn write_option_file(
    path: &Path,
    layout: &Layout,
    installation: &Installation,
    options: &Options,
) -> Result<(), Error> {
    let mut file = OptionFile::default();
    let mut push = |name: &str, value: Option<String>| file.push("mysqld", name, value);
    for (name, value) in installation_options(installation) {
        push(name, Some(value))?;
    }
    for (name, value) in decided_options(layout, installation) {
        push(name, Some(value))?;
    }
    push(
        "tmpdir",
        Some(layout.temporary.to_string_lossy().into_owned()),
    )?;
    push(
        "secure-file-priv",
        Some(layout.files.to_string_lossy().into_owned()),
    )?;
    for (name, value) in UNSYNCED {
        push(name, Some(value.to_owned()))?;
    }
    if !initialises_itself(installation) {
        for (name, value) in UNSYNCED_BOOTSTRAP {
            push(name, Some(value.to_owned()))?;
        }
        push("max-allowed-packet", Some("8M".to_owned()))?;
        push("net-buffer-length", Some("16K".to_owned()))?;
        push("log-warnings", Some("0".to_owned()))?;
    }
    for (name, value) in kept_options(installation, options) {
        push(name, value)?;
    }
    write_private(path, file.to_string().as_bytes())
}

/// Whether the server creates its system tables by itself; otherwise it reads them as SQL.
fn initialises_itself(installation: &Installation) -> bool {
    !installation.is_mariadb() && installation.numbers().at_least([5, 7])
}

/// The user's options whose values are fixed in the data directory.
fn kept_options(
    installation: &Installation,
    options: &Options,
) -> Vec<(&'static str, Option<String>)> {
    let mut kept: Vec<_> = mycnf::fixed_at_creation(options).into_iter().collect();
    if initialises_itself(installation) {
        // MySQL 8 stores the character set of the database `test` permanently.
        for name in ["character-set-server", "collation-server"] {
            if let Some(value) = options.value(name) {
                kept.push((name, Some(value.to_owned())));
            }
        }
    }
    kept
}

/// The input of a bootstrap: the system tables, then our accounts. A statement ends with its line, so each of the first
/// two needs a line of its own.
fn bootstrap_sql(installation: &Installation, accounts: &Accounts) -> Result<Vec<u8>, Error> {
    let directory = installation.system_sql_dir().ok_or_else(|| Error::Binary {
        path: installation.mysqld.clone(),
        why: format!(
            "no mysql_system_tables.sql under {}",
            installation.basedir.display()
        ),
    })?;
    let mut sql = b"create database if not exists mysql;\nuse mysql;\n".to_vec();
    if installation.is_mariadb() {
        // No unix_socket login for root: it would tie the account to the operating system's user.
        sql.extend_from_slice(b"SET @auth_root_socket=NULL;\n");
    }
    let mut grant_table = "user";
    for name in SYSTEM_SQL {
        let old = directory.join(name);
        let new = directory.join(name.replacen("mysql_", "mariadb_", 1));
        let Some(path) = [new, old].into_iter().find(|path| path.exists()) else {
            continue;
        };
        let text = std::fs::read(&path).map_err(Error::io("read", &path))?;
        if String::from_utf8_lossy(&text).contains("global_priv") {
            grant_table = "global_priv";
        }
        sql.extend_from_slice(&text);
        sql.push(b'\n');
    }
    writeln!(sql, "use mysql;\n{}", accounts.bootstrap_sql(grant_table))
        .expect("writing to a Vec cannot fail");
    Ok(sql)
}

/// Runs the server binary until it ends; its output goes to the server's log.
fn run(mut command: Command, layout: &Layout) -> Result<(), Error> {
    let from = log::length(&layout.log);
    let broken = |what| Error::io(what, &layout.log);
    let output = log::open(&layout.log).map_err(broken("open"))?;
    command.stdout(output.try_clone().map_err(broken("open"))?);
    command.stderr(output);
    command.current_dir(&layout.dir);
    without_mysql_variables(&mut command);
    let mysqld = Path::new(command.get_program()).to_owned();
    let mut child = spawn(command, Lifetime::Owned).map_err(Error::io("start", &mysqld))?;
    let in_time = match wait(&child) {
        Ok(in_time) => in_time,
        Err(error) => {
            // Its output directory is about to be removed.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::io("wait for", &mysqld)(error));
        }
    };
    if !in_time {
        child.kill().map_err(Error::io("kill", &mysqld))?;
    }
    let status = child.wait().map_err(Error::io("wait for", &mysqld))?;
    let log = log::tail(&layout.log, from, LOG_LINES);
    match (in_time, status.success()) {
        (true, true) => Ok(()),
        (true, false) if is_disk_full(&log) => Err(Error::DiskFull {
            path: layout.data.clone(),
        }),
        (true, false) => Err(Error::Initialise {
            dir: layout.dir.clone(),
            status: status.to_string(),
            log,
        }),
        (false, _) => Err(Error::TimedOut {
            dir: layout.dir.clone(),
            what: "create its data directory",
            timeout_s: TIMEOUT.as_secs(),
            log,
        }),
    }
}

fn wait(child: &Child) -> std::io::Result<bool> {
    match ProcessId::of(child.id())?.handle()? {
        Some(handle) => handle.wait(TIMEOUT, Wait::of_work()),
        None => Ok(true),
    }
}

/// Removes the environment's port, socket and home, so that the server does not use them.
pub(crate) fn without_mysql_variables(command: &mut Command) {
    for name in [
        "MYSQL_HOME",
        "MYSQL_TCP_PORT",
        "MYSQL_UNIX_PORT",
        "MYSQL_PWD",
    ] {
        command.env_remove(name);
    }
}

/// Whether a server's log reports a full disk, in words or by error number 28.
pub(crate) fn is_disk_full(log: &str) -> bool {
    let by_number = |words: &&str| {
        let mut rests = log
            .match_indices(*words)
            .map(|(at, _)| &log[at + words.len()..]);
        rests.any(|rest| {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            number == "28"
        })
    };
    log.contains("No space left on device")
        || ["error ", "error number ", "errno ", "errno: ", "Errcode: "]
            .iter()
            .any(by_number)
}

#[cfg(test)]
mod tests {
    use super::is_disk_full;

    #[test]
    fn a_full_disk_is_told_by_words_or_number() {
        for (log, full) in [
            (
                "preallocating 100663296 bytes for file ./ib_logfile101 failed with error 28",
                true,
            ),
            (
                "Error writing file './x' (errno: 28 \"No space left on device\")",
                true,
            ),
            ("(Errcode: 28 - x)", true),
            (
                "Operating system error number 28 in a file operation.",
                true,
            ),
            ("failed with error 280", false),
            ("error: 1064", false),
            ("", false),
        ] {
            assert_eq!(is_disk_full(log), full, "{log}");
        }
    }
}
