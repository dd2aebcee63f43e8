//! How safe the two sides of a session are: TLS on each, and which passwords may pass.

use protocol::{
    ClientTls, SslMode,
    relay::{ChangeUser, ClientLogin, capability, error_packet},
};

use super::{
    client::{Client, reading},
    login_phase::LoginPhase,
    session_end::SessionEnd,
    sides::Sides,
};
use crate::Address;

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

impl LoginPhase<'_> {
    /// Begins TLS with a client that asks for it.
    pub(super) async fn encrypt_client(&mut self, request: &ClientLogin) -> Result<(), SessionEnd> {
        let tls = self.client.thread.settings.client_side.tls.clone();
        let Some(tls) = tls.filter(|_| self.offered & capability::SSL != 0) else {
            let text =
                "(proxy) TLS is not offered: connect with --ssl-mode=DISABLED, or --skip-ssl";
            let packet = error_packet(1043, "08S01", text);
            let why = "the client asks for TLS".to_owned();
            return Err(self.client.refuse_with(packet, why).await);
        };
        if request.payload.len() > TLS_REQUEST {
            let text = "(proxy) the login was sent before the TLS handshake that it asks for";
            return Err(self.client.refuse(1043, "08S01", text.to_owned()).await);
        }
        let agreed = Box::pin(self.client.wire.encrypt_to_client(&tls));
        let other = self.server.as_ref().map(|server| &server.wire.stream);
        match reading(&self.client.watch, agreed, other).await? {
            Some(agreed) => agreed.map_err(SessionEnd::ClientTls),
            None => Err(SessionEnd::ServerLeft),
        }
    }
}

impl Client {
    /// Refuses a client that has to use TLS and does not.
    pub(super) async fn require_tls(&mut self) -> Result<(), SessionEnd> {
        let is_tcp = matches!(self.session.borrow().client.dst, Address::Tcp(_));
        if !self.thread.settings.client_side.requires_tls || !is_tcp {
            return Ok(());
        }
        let text = "(proxy) connections without TLS are refused (--proxy-ssl-required): connect with \
                    --ssl-mode=REQUIRED, or --ssl";
        let packet = error_packet(3159, "HY000", text);
        let why = "the client does not use TLS".to_owned();
        Err(self.refuse_with(packet, why).await)
    }
}

impl Sides<'_> {
    /// How safe the sides are, in the eyes of the clients and servers of this method: by `sha256_password` a unix socket
    /// is not safe.
    pub(super) fn safety(&self, plugin: &[u8]) -> Safety {
        let is_unix = |address: &Address| matches!(address, Address::Unix(_)) && plugin != SHA256;
        let client = &self.client.session.borrow().client;
        Safety {
            client: self.client.wire.is_tls() || is_unix(&client.dst),
            server: self.server.wire.is_tls() || is_unix(&self.server.peer.dst),
        }
    }

    /// The TLS that the server's side begins, if it does; an error if it has to and the server does not offer it.
    pub(super) async fn server_tls(
        &mut self,
        offers: u64,
    ) -> Result<Option<ClientTls>, SessionEnd> {
        let server = &self.server;
        let Some(tls) = &self.client.thread.settings.server_side.tls else {
            return Ok(None);
        };
        let is_offered = offers & capability::SSL != 0;
        let is_wanted = match tls.mode {
            SslMode::Disabled => false,
            SslMode::Preferred => is_offered && matches!(server.peer.dst, Address::Tcp(_)),
            SslMode::Required | SslMode::VerifyCa | SslMode::VerifyIdentity if is_offered => true,
            SslMode::Required | SslMode::VerifyCa | SslMode::VerifyIdentity => {
                let address = server.peer.dst.to_string();
                let text = format!(
                    "(proxy) backend {address} offers no TLS, which --backend-ssl-mode requires"
                );
                return Err(self.client.refuse(1043, "08S01", text).await);
            }
        };
        Ok(is_wanted.then(|| tls.clone()))
    }

    /// Begins TLS with the server, for this login.
    pub(super) async fn encrypt_server(
        &mut self,
        login: &ClientLogin,
        tls: &ClientTls,
    ) -> Result<(), SessionEnd> {
        let Some(request) = login.tls_request().map(<[u8]>::to_vec) else {
            return Err(SessionEnd::ServerLeft);
        };
        self.send_to_server(&request, 1).await?;
        let settings = &self.client.thread.settings;
        let backend = &settings.backends.0[self.server.place];
        let address = backend.endpoint();
        let agreed = Box::pin(self.server.wire.encrypt_to_server(tls, &address));
        let why = match reactor::timeout(settings.connect_timeout, agreed).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(reactor::Elapsed) => format!("{}: TLS timed out", backend.address),
        };
        let text = format!("(proxy) no TLS with the backend: {why}");
        Err(self.client.refuse(1043, "08S01", text).await)
    }

    /// A login without a password that only one side may read; the server then asks for the account's method, so that
    /// [`Sides::rounds`] can exchange keys.
    pub(super) async fn guarded_login(
        &mut self,
        login: ClientLogin,
    ) -> Result<ClientLogin, SessionEnd> {
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
    pub(super) async fn exposed(&mut self, plugin: &[u8]) -> SessionEnd {
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
        self.client.refuse(1105, "HY000", text).await
    }
}

/// No side can be listened to.
pub(super) const BOTH_SAFE: Safety = Safety {
    client: true,
    server: true,
};
