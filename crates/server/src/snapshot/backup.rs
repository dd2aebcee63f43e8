//! Copies the data of a running MariaDB with its own mariadb-backup.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::initialise::LOG_LINES;
use crate::installation::Installation;
use crate::process::interruption::{self, ProcessScope, wait_for};
use crate::process::{log, program::version_output};
use crate::server::Server;
use crate::snapshot::Draft;
use crate::version::Numbers;

/// The program's names, since MariaDB 10.4 and before.
const NAMES: [&str; 2] = ["mariadb-backup", "mariabackup"];

/// Prefixes of the files that mariadb-backup adds to the data.
const NOTES: [&str; 3] = ["xtrabackup_", "mariadb_backup_", "backup-my.cnf"];

impl Server {
    /// Copies the data of this running MariaDB into a draft, and brings the copy to the state of a single moment.
    /// Transactions continue meanwhile.
    pub fn back_up(&self, draft: &Draft) -> Result<(), Error> {
        let installation = self.installation()?;
        let program = find(&installation)?;
        let (data, log) = (draft.data(), draft.path().join("backup.log"));
        let run = |arguments: &[String]| {
            let file = log::open(&log).map_err(Error::io("open", &log))?;
            let both = file.try_clone().map_err(Error::io("open", &log))?;
            let mut child = program
                .command()
                .args(arguments)
                .arg(format!("--target-dir={}", data.display()))
                .stdin(Stdio::null())
                .stdout(Stdio::from(file))
                .stderr(Stdio::from(both))
                .spawn()
                .map_err(Error::io("run", &program.path))?;
            let status = wait_for(&mut child, ProcessScope::Alone, &mut |_| {})
                .map_err(Error::io("wait for", &program.path))?;
            if status.success() {
                Ok(())
            } else {
                Err(Error::Backup {
                    dir: self.layout.dir.clone(),
                    status: status.to_string(),
                    log: log::tail(&log, 0, LOG_LINES),
                })
            }
        };
        run(&[
            // Contains the password; must be the first option.
            format!("--defaults-file={}", self.layout.client_file.display()),
            "--backup".to_owned(),
            format!("--datadir={}", self.layout.data.display()),
        ])?;
        run(&["--no-defaults".to_owned(), "--prepare".to_owned()])?;
        remove_notes(&data)?;
        fs::remove_file(&log).map_err(Error::io("remove", &log))
    }
}

/// A mariadb-backup that matches a server.
struct Program {
    path: PathBuf,
    /// The server's installation, if the program belongs to it.
    own: Option<Installation>,
}

impl Program {
    fn command(&self) -> Command {
        match &self.own {
            Some(installation) => installation.program(&self.path),
            None => Command::new(&self.path),
        }
    }

    /// The server version that the program is built for:
    /// `mariadb-backup based on MariaDB server 10.11.19-MariaDB debian-linux-gnu (x86_64)`.
    fn version(&self) -> Option<Numbers> {
        let mut command = self.command();
        command.arg("--version");
        let output = version_output(command).ok()?;
        // Older versions print it to standard error.
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Numbers::parse(said.split_once("MariaDB server ")?.1)
    }
}

/// The server's own mariadb-backup, or one of the same series in PATH: a program of another series writes data that
/// this server may not be able to read.
fn find(installation: &Installation) -> Result<Program, Error> {
    let own = NAMES.map(|name| Program {
        path: installation.basedir.join("bin").join(name),
        own: Some(installation.clone()),
    });
    let others = NAMES.map(|name| Program {
        path: PathBuf::from(name),
        own: None,
    });
    let wanted = installation.numbers().series();
    let mut found = None;
    for program in own.into_iter().chain(others) {
        match program.version().map(|numbers| numbers.series()) {
            Some(series) if series == wanted => return Ok(program),
            Some(series) => found = found.or(Some(series)),
            None => {}
        }
    }
    interruption::check().map_err(Error::io("look for", NAMES[0].as_ref()))?;
    Err(Error::NoBackup { wanted, found })
}

fn remove_notes(data: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(data).map_err(Error::io("read the directory", data))? {
        let path = entry.map_err(Error::io("read the directory", data))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_note = NOTES.iter().any(|note| name.starts_with(note));
        // A directory with such a name may be a user's database.
        if is_note && path.symlink_metadata().is_ok_and(|it| it.is_file()) {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}
