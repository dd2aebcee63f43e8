//! Options of TLS, compression and logins of the proxy's own, which the original does not have.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use protocol::{ClientTls, Password, ServerTls, SslMode};
use proxy::{Account, ClientSide, ServerSide};
use runs::password_file;

use crate::terminal::Terminal;

/// TLS, compression and logins.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS, compression and logins (not in MySQL Proxy)")]
pub(super) struct SideOptions {
    /// Offer TLS to clients, with the certificate in this PEM file; intermediate certificates must be in the same file
    #[arg(long, value_name = "FILE", requires = "proxy_ssl_key")]
    proxy_ssl_cert: Option<PathBuf>,
    /// PEM file with the private key for --proxy-ssl-cert; the key must not have a passphrase
    #[arg(long, value_name = "FILE", requires = "proxy_ssl_cert")]
    proxy_ssl_key: Option<PathBuf>,
    /// Offer TLS to clients, with a certificate that the proxy generates at each start
    #[arg(long, conflicts_with = "proxy_ssl_cert")]
    proxy_ssl_auto: bool,
    /// Refuse TCP clients that do not use TLS
    #[arg(long)]
    proxy_ssl_required: bool,
    /// TLS mode of connections to backends: disabled, preferred (TLS on TCP connections if the backend offers it),
    /// required, verify_ca or verify_identity
    #[arg(long, value_name = "MODE", default_value = "disabled")]
    backend_ssl_mode: SslMode,
    /// With --backend-ssl-mode verify_ca or verify_identity: PEM file with the certificate authorities to trust
    #[arg(long, value_name = "FILE")]
    backend_ssl_ca: Option<PathBuf>,
    /// Offer compression (zlib) to clients
    #[arg(long)]
    proxy_compress: bool,
    /// Compress connections to backends that offer compression (zlib)
    #[arg(long)]
    backend_compress: bool,
    /// Account with which clients log in to the proxy, and with which the proxy logs in to the backends [default: the
    /// clients' logins are relayed to the backends]
    #[arg(long, value_name = "NAME", requires = "backend_password_file")]
    backend_user: Option<String>,
    /// File whose first line is the password of --backend-user
    #[arg(long, value_name = "FILE", requires = "backend_user")]
    backend_password_file: Option<PathBuf>,
}

/// Where a path of the command line is.
type Place<'a> = dyn Fn(&Path) -> Result<PathBuf, Blamed> + 'a;

/// The name in a certificate of the proxy's own.
const OWN_NAME: &str = "localhost";

impl SideOptions {
    /// Whether the proxy has an account of its own.
    pub(super) fn has_account(&self) -> bool {
        self.backend_user.is_some()
    }

    /// The connections of clients.
    pub(super) fn client_side(&self, place: &Place<'_>) -> Result<ClientSide, Blamed> {
        let tls = match (&self.proxy_ssl_cert, &self.proxy_ssl_key) {
            (Some(certificate), Some(key)) => {
                let (certificate, key) = (place(certificate)?, place(key)?);
                let tls = ServerTls::of_files(&certificate, &key);
                Some(tls.map_err(|error| {
                    let hint =
                        "--proxy-ssl-cert and --proxy-ssl-key name PEM files that belong together";
                    Blamed::new(Blame::Input, error).hint(hint.to_owned())
                })?)
            }
            _ if self.proxy_ssl_auto => {
                let tls = ServerTls::self_signed(vec![OWN_NAME.to_owned()]);
                Some(tls.map_err(Blamed::machine)?)
            }
            _ => None,
        };
        if self.proxy_ssl_required && tls.is_none() {
            let hint = "add --proxy-ssl-cert and --proxy-ssl-key, or --proxy-ssl-auto";
            let message = "--proxy-ssl-required: there is no certificate for TLS";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        Ok(ClientSide {
            tls,
            requires_tls: self.proxy_ssl_required,
            compresses: self.proxy_compress,
        })
    }

    /// The connections to servers.
    pub(super) fn server_side(&self, place: &Place<'_>) -> Result<ServerSide, Blamed> {
        let mode = self.backend_ssl_mode;
        let verifies = matches!(mode, SslMode::VerifyCa | SslMode::VerifyIdentity);
        if verifies && self.backend_ssl_ca.is_none() {
            let message = format!("--backend-ssl-mode={mode} needs --backend-ssl-ca=FILE");
            return Err(Blamed::new(Blame::Input, message));
        }
        if !verifies && self.backend_ssl_ca.is_some() {
            let message = format!("--backend-ssl-ca: --backend-ssl-mode={mode} verifies nothing");
            let hint = "add --backend-ssl-mode=verify_ca or verify_identity";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        let tls =
            if mode == SslMode::Disabled {
                None
            } else {
                let path = match &self.backend_ssl_ca {
                    Some(path) => Some(place(path)?),
                    None => None,
                };
                let tls = ClientTls::new(mode, path.as_deref());
                Some(tls.map_err(|error| {
                    Blamed::new(Blame::Input, format!("--backend-ssl-ca: {error}"))
                })?)
            };
        Ok(ServerSide {
            tls,
            compresses: self.backend_compress,
        })
    }

    /// The proxy's own account.
    pub(super) fn account(&self, place: &Place<'_>) -> Result<Option<Account>, Blamed> {
        let (Some(user), Some(path)) = (&self.backend_user, &self.backend_password_file) else {
            return Ok(None);
        };
        Ok(Some(Account {
            user: user.clone(),
            password: password(&place(path)?)?,
        }))
    }
}

fn password(path: &Path) -> Result<Password, Blamed> {
    password_file::read(path, "password", &Terminal).map(Password::from)
}
