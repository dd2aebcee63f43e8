//! The accounts of a private server, and the client.cnf with their passwords.

use std::path::Path;

use mycnf::{ClientOptions, OptionFile};
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

use crate::directory::layout::Layout;
use crate::directory::marker::write_private;
use crate::error::Error;
use crate::random::random_password;

/// The account that benchmarks use, over the socket and over TCP.
pub(crate) const BENCH: &str = "bench";

/// The passwords of `bench` and `root`.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Accounts {
    pub(crate) bench: String,
    root: String,
}

/// The connection parameters for clients.
pub(crate) struct Access<'a> {
    pub(crate) socket: &'a Path,
    pub(crate) port: u16,
    /// Whether a MariaDB client needs an option to disable TLS.
    pub(crate) without_tls: bool,
}

impl Accounts {
    pub(crate) fn random() -> Result<Self, Error> {
        Ok(Self {
            bench: random_password()?,
            root: random_password()?,
        })
    }

    /// The passwords that client.cnf holds.
    pub(crate) fn read(layout: &Layout) -> Result<Self, Error> {
        let file = OptionFile::read(&layout.client_file)?;
        let missing = |what| Error::Marker {
            path: layout.client_file.clone(),
            why: format!("contains no password of {what}"),
        };
        let bench = ClientOptions::from_file(&file)?.password;
        let root = mycnf::Options::from_groups(&file, &["client-root"]);
        Ok(Self {
            bench: bench.ok_or_else(|| missing(BENCH))?,
            root: root
                .value("password")
                .ok_or_else(|| missing("root"))?
                .to_owned(),
        })
    }

    /// Writes client.cnf. The group `client-root` is for `--defaults-group-suffix=-root`.
    pub(crate) fn write(&self, layout: &Layout, reach: &Access<'_>) -> Result<(), Error> {
        let mut file = OptionFile::default();
        let mut push = |group, name, value: &str| file.push(group, name, Some(value.to_owned()));
        push("client", "user", BENCH)?;
        push("client", "password", &self.bench)?;
        push("client", "socket", &reach.socket.to_string_lossy())?;
        push("client", "port", &reach.port.to_string())?;
        if reach.without_tls {
            // Only MariaDB's clients read this group; from 11.4 on they require TLS by default.
            push("client-mariadb", "ssl", "0")?;
        }
        push("client-root", "user", "root")?;
        push("client-root", "password", &self.root)?;
        write_private(&layout.client_file, file.to_string().as_bytes())
    }

    /// SQL at the end of a bootstrap: only hashes, because the log quotes a failing statement.
    /// `grant_table` holds the accounts; it differs between versions.
    pub(crate) fn bootstrap_sql(&self, grant_table: &str) -> String {
        format!(
            "DELETE FROM mysql.{grant_table} WHERE User='' OR (User='root' AND Host<>'localhost');\n\
             FLUSH PRIVILEGES;\n\
             SET PASSWORD FOR 'root'@'localhost' = '{root}';\n\
             CREATE USER '{BENCH}'@'%' IDENTIFIED BY PASSWORD '{bench}';\n\
             GRANT ALL PRIVILEGES ON *.* TO '{BENCH}'@'%' WITH GRANT OPTION;\n",
            root = native_hash(&self.root),
            bench = native_hash(&self.bench),
        )
    }

    /// SQL for the init file of `--initialize-insecure`; the server chooses the hash method.
    pub(crate) fn initialize_sql(&self) -> String {
        format!(
            "ALTER USER 'root'@'localhost' IDENTIFIED BY '{root}';\n\
             CREATE USER '{BENCH}'@'%' IDENTIFIED BY '{bench}';\n\
             GRANT ALL PRIVILEGES ON *.* TO '{BENCH}'@'%' WITH GRANT OPTION;\n",
            root = self.root,
            bench = self.bench,
        )
    }
}

/// The hash that `mysql_native_password` stores: `*` and the hexadecimal SHA1(SHA1(password)).
fn native_hash(password: &str) -> String {
    let hash = Sha1::digest(Sha1::digest(password));
    let digits: String = hash.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("*{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_servers() {
        // SELECT PASSWORD('password') on MariaDB 10.11.
        assert_eq!(
            native_hash("password"),
            "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19"
        );
    }

    #[test]
    fn client_cnf_gives_the_passwords_back_and_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let accounts = Accounts::random().unwrap();
        let reach = Access {
            socket: Path::new("/run/x y.sock"),
            port: 12345,
            without_tls: true,
        };
        accounts.write(&layout, &reach).unwrap();
        let again = Accounts::read(&layout).unwrap();
        assert_eq!(
            (&again.bench, &again.root),
            (&accounts.bench, &accounts.root)
        );
        let mode = std::fs::metadata(&layout.client_file)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let file = OptionFile::read(&layout.client_file).unwrap();
        let options = ClientOptions::from_file(&file).unwrap();
        assert_eq!(options.socket.as_deref(), Some(reach.socket));
        assert_eq!(options.ssl_mode.as_deref(), Some("DISABLED"));
        assert!(!accounts.bootstrap_sql("user").contains(&accounts.bench));
    }
}
