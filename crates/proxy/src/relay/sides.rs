//! The two sides of a session: TLS on each, and how safe a password is on them.

use protocol::{
    SslMode,
    relay::{ChangeUser, ClientLogin, capability, error_packet},
};

use super::{Ended, Relay};
use crate::{
    Address,
    watch::{First, Wait, first_of},
};

/// Length of a request for TLS.
const TLS_REQUEST: usize = 32;
/// The method whose first packet is the password, or the request for a key.
pub(super) const SHA256: &[u8] = b"sha256_password";
/// The method that may need the password in its second packet.
pub(super) const CACHING_SHA2: &[u8] = b"caching_sha2_password";
/// The name of no method: the server asks for the account's own.
pub(super) const NO_METHOD: &[u8] = b"none";

/// Whether a method always sends the password itself.
pub(super) fn is_clear(plugin: &[u8]) -> bool {
    matches!(plugin, b"mysql_clear_password" | b"dialog")
}

/// Whether the first packet of a method may be the password itself.
pub(super) fn sends_password(plugin: &[u8]) -> bool {
    plugin == SHA256 || is_clear(plugin)
}

/// Which sides are safe from eavesdropping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Safety {
    pub(super) client: bool,
    pub(super) server: bool,
}

impl Relay {
    /// How safe the sides are, in the eyes of the clients and servers of this method: by `sha256_password` a unix socket
    /// is not safe.
    pub(super) fn safety(&self, plugin: &[u8]) -> Safety {
        let is_unix = |address: &Address| matches!(address, Address::Unix(_)) && plugin != SHA256;
        let client = &self.session.borrow().client;
        Safety {
            client: self.client.is_tls() || is_unix(&client.dst),
            server: self
                .server
                .as_ref()
                .is_some_and(|server| server.wire.is_tls() || is_unix(&server.peer.dst)),
        }
    }

    /// Begins TLS with a client that asks for it.
    pub(super) async fn encrypt_client(&mut self, request: &ClientLogin) -> Result<(), Ended> {
        let tls = self.thread.settings.client_side.tls.clone();
        let Some(tls) = tls.filter(|_| self.offered & capability::SSL != 0) else {
            let text =
                "(proxy) TLS is not offered: connect with --ssl-mode=DISABLED, or --skip-ssl";
            let packet = error_packet(1043, "08S01", text);
            let why = "the client asks for TLS".to_owned();
            return Err(self.refuse(packet, why).await);
        };
        if request.payload.len() > TLS_REQUEST {
            let text = "(proxy) the login was sent before the TLS handshake that it asks for";
            let packet = error_packet(1043, "08S01", text);
            return Err(self.refuse(packet, text.to_owned()).await);
        }
        let agreed = Box::pin(self.client.encrypt_to_client(&tls));
        let agreed = match &self.server {
            None => self.watch.within(Wait::Read, agreed).await.map(First::A),
            Some(server) => {
                let wait = first_of(agreed, server.wire.stream.closed());
                self.watch.within(Wait::Read, wait).await
            }
        };
        match agreed {
            Ok(First::A(agreed)) => agreed.map_err(Ended::ClientTls),
            Ok(First::B(_)) => Err(Ended::ServerLeft),
            Err(late) => Err(Ended::of_wait(Wait::Read, late)),
        }
    }

    /// Refuses a client that has to use TLS and does not.
    pub(super) async fn require_tls(&mut self) -> Result<(), Ended> {
        let is_tcp = matches!(self.session.borrow().client.dst, Address::Tcp(_));
        if !self.thread.settings.client_side.requires_tls || !is_tcp {
            return Ok(());
        }
        let text = "(proxy) connections without TLS are refused (--proxy-ssl-required): connect with \
                    --ssl-mode=REQUIRED, or --ssl";
        let packet = error_packet(3159, "HY000", text);
        let why = "the client does not use TLS".to_owned();
        Err(self.refuse(packet, why).await)
    }

    /// Whether the server's side begins TLS; an error if it has to and the server does not offer it.
    pub(super) async fn server_wants_tls(&mut self) -> Result<bool, Ended> {
        let Some(server) = &self.server else {
            return Ok(false);
        };
        let mode = match &self.thread.settings.server_side.tls {
            Some(tls) => tls.mode,
            None => SslMode::Disabled,
        };
        let is_offered = server.offers & capability::SSL != 0;
        match mode {
            SslMode::Disabled => Ok(false),
            SslMode::Preferred => Ok(is_offered && matches!(server.peer.dst, Address::Tcp(_))),
            SslMode::Required | SslMode::VerifyCa | SslMode::VerifyIdentity if is_offered => {
                Ok(true)
            }
            SslMode::Required | SslMode::VerifyCa | SslMode::VerifyIdentity => {
                let address = server.peer.dst.to_string();
                let text = format!(
                    "(proxy) backend {address} offers no TLS, which --backend-ssl-mode requires"
                );
                let packet = error_packet(1043, "08S01", &text);
                Err(self.refuse(packet, text).await)
            }
        }
    }

    /// Begins TLS with the server, for this login.
    pub(super) async fn encrypt_server(&mut self, login: &ClientLogin) -> Result<(), Ended> {
        let Some(request) = login.tls_request().map(<[u8]>::to_vec) else {
            return Err(Ended::ServerLeft);
        };
        self.send_to_server(&request, 1).await?;
        let tls = self.thread.settings.server_side.tls.clone();
        let (Some(server), Some(tls)) = (&mut self.server, tls) else {
            return Err(Ended::ServerLeft);
        };
        let backend = &self.thread.settings.backends.0[server.place];
        let address = backend.endpoint();
        let limit = self.thread.settings.connect_timeout;
        let agreed = Box::pin(server.wire.encrypt_to_server(&tls, &address));
        let why = match reactor::timeout(limit, agreed).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(reactor::Elapsed) => format!("{}: TLS timed out", backend.address),
        };
        let text = format!("(proxy) no TLS with the backend: {why}");
        let packet = error_packet(1043, "08S01", &text);
        Err(self.refuse(packet, text).await)
    }

    /// A login without a password that only one side may read; the server then asks for the account's method, so that
    /// [`Relay::rounds`] can exchange keys.
    pub(super) async fn guarded_login(&mut self, login: ClientLogin) -> Result<ClientLogin, Ended> {
        let safety = self.safety(&login.plugin);
        if is_clear(&login.plugin) && safety != BOTH_SAFE && !login.proof.is_empty() {
            return Err(self.exposed(&login.plugin.clone()).await);
        }
        if login.plugin != SHA256 || safety.client == safety.server {
            return Ok(login);
        }
        match login.with_proof(b"", NO_METHOD) {
            Some(login) => Ok(login),
            None => Err(self.exposed(SHA256).await),
        }
    }

    /// The same of `COM_CHANGE_USER`.
    pub(super) fn guarded_change(&self, payload: &[u8]) -> Vec<u8> {
        let Some(mut command) = ChangeUser::parse(payload) else {
            return payload.to_vec();
        };
        let safety = self.safety(&command.plugin);
        let is_kept = match &command.plugin {
            plugin if is_clear(plugin) => safety == BOTH_SAFE,
            plugin if plugin == SHA256 => safety.client == safety.server,
            _ => true,
        };
        if is_kept {
            return payload.to_vec();
        }
        command.proof = Vec::new();
        command.plugin = NO_METHOD.to_vec();
        command.payload().unwrap_or_default()
    }

    /// The end of a login whose password would be readable on the way.
    pub(super) async fn exposed(&mut self, plugin: &[u8]) -> Ended {
        let safety = self.safety(plugin);
        let plugin = String::from_utf8_lossy(plugin).into_owned();
        let text = if safety.client {
            format!(
                "(proxy) {plugin} sends the password itself, and the connection to the backend is not encrypted: \
                 start the proxy with --backend-ssl-mode=required"
            )
        } else {
            format!(
                "(proxy) {plugin} sends the password itself, and the connection to the proxy is not encrypted: connect \
                 with --ssl-mode=REQUIRED, or --ssl"
            )
        };
        let packet = error_packet(1105, "HY000", &text);
        self.refuse(packet, text).await
    }
}

/// No side can be listened to.
pub(super) const BOTH_SAFE: Safety = Safety {
    client: true,
    server: true,
};
