//! Logins by the proxy's own account: clients at the proxy, the proxy at the servers.

use std::time::Duration;

use protocol::{
    ACCESS_DENIED, ClientTls, Compression, Endpoint, ServerKey, SslMode,
    relay::{
        self, ClientLogin, capability, certificate_proof, error_packet, native_proof_fits,
        ok_packet, ok_packet_with, sha2_proof_fits,
    },
};

use super::{
    client::{CONTROL_MAX, Client},
    command_phase::{CommandPhase, LoginOptions},
    login_phase::LoginPhase,
    rounds::LoggedIn,
    safety::CACHING_SHA2,
    session_end::SessionEnd,
    sides::Sides,
};
use crate::{
    Account, Address, Level,
    backends::Use,
    link::{Link, Offer},
    wire::Wire,
};

/// The method that the greeting proposes: every client knows it or asks for another one, and with it MariaDB's clients
/// check the certificate.
pub(super) const FIRST_METHOD: &str = "mysql_native_password";

/// The method in the OK packet's way: the proof was right.
pub(super) const FAST_SUCCESS: [u8; 2] = [1, 3];

/// Why there is no connection to a backend.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoLink {
    #[error("{0}")]
    Server(protocol::ServerError),
    #[error("{0}")]
    Other(String),
}

impl From<protocol::Error> for NoLink {
    fn from(error: protocol::Error) -> Self {
        match error {
            protocol::Error::Server(error) => Self::Server(error),
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<&str> for NoLink {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

/// A client's proof of the password.
pub(super) struct Proof {
    pub(super) plugin: Vec<u8>,
    pub(super) nonce: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

impl Proof {
    /// Whether the client says that its password is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() || self.plugin == CACHING_SHA2 && self.bytes == [0]
    }

    fn fits(&self, account: &Account) -> bool {
        let password = account.password.reveal().as_bytes();
        if password.is_empty() {
            return self.is_empty();
        }
        match &self.plugin[..] {
            CACHING_SHA2 => sha2_proof_fits(password, &self.nonce, &self.bytes),
            // Clients from before the methods had names leave it out.
            b"" | b"mysql_native_password" => native_proof_fits(password, &self.nonce, &self.bytes),
            _ => false,
        }
    }
}

impl LoginPhase<'_> {
    /// Checks a client's login, and logs in at the server for it.
    pub(super) async fn log_in_by_account(
        &mut self,
        login: &ClientLogin,
        account: &Account,
    ) -> Result<LoggedIn, SessionEnd> {
        let proof = Proof {
            plugin: login.plugin.clone(),
            nonce: self.client.session.borrow().client.scramble_buffer.clone(),
            bytes: login.proof.clone(),
        };
        let may_switch = login.capabilities & capability::PLUGIN_AUTH != 0;
        let server = self.server.as_mut();
        let checked = self
            .client
            .check_proof(server, &login.user, proof, may_switch, account)
            .await?;
        // Without one a hook is the server so far.
        let link = self.server.take();
        let Some(proof) = checked else {
            if let Some(link) = link {
                self.spare_server(link, login, account).await;
            }
            return Ok(LoggedIn::No);
        };
        if let Some(link) = link {
            self.have_connection(link, login, account).await?;
        }
        if proof.plugin == CACHING_SHA2 && !proof.is_empty() {
            self.client.answer(&[FAST_SUCCESS.to_vec()]).await?;
        }
        let ok = self.client.ok_of_login(&proof, account);
        Ok(match self.client.answer_result(ok).await? {
            Some(0xff) => LoggedIn::No,
            _ => LoggedIn::Yes,
        })
    }

    /// After a wrong password: an idle connection is kept, and a new one is logged in before it is closed, because servers
    /// count connections without a login as errors of the proxy's host.
    async fn spare_server(&self, mut link: Link, login: &ClientLogin, account: &Account) {
        let Some(offer) = link.offer.take() else {
            return self.client.park(link);
        };
        // Without the database, which may not exist.
        let options = LoginOptions::of(login);
        if let Err(why) = self
            .client
            .log_in_link(link, offer, b"", options, account)
            .await
        {
            self.client.log(Level::Warning, &why.to_string());
        }
    }

    /// Logs in on the connection that was opened for the greeting, or makes an idle one the client's.
    async fn have_connection(
        &mut self,
        mut link: Link,
        login: &ClientLogin,
        account: &Account,
    ) -> Result<(), SessionEnd> {
        let (place, database, options) = (link.place, &login.database, LoginOptions::of(login));
        let made = if let Some(offer) = link.offer.take() {
            self.client
                .log_in_link(link, offer, database, options, account)
                .await
        } else {
            let promised = login.capabilities & self.offered;
            if !link.has_form(promised) {
                // It belongs to clients of another kind.
                self.client.park(link);
            } else if let Some(link) = self.client.renewed(link, database).await {
                let mut sides = Sides::new(self.client, self.server.insert(link));
                sides.know_own_login();
                return sides.dress(login.charset).await;
            }
            self.client
                .open_for_account(place, database, options, account)
                .await
        };
        match made {
            Ok(link) => {
                Sides::new(self.client, self.server.insert(link)).know_own_login();
                Ok(())
            }
            Err(why) => {
                let address = &self.client.thread.settings.backends.0[place].address;
                let text = format!("(proxy) the login at backend {address} failed: {why}");
                self.client.log(Level::Critical, &text);
                let packet = match &why {
                    // Such as an unknown database; the proxy's own password is not the client's matter.
                    NoLink::Server(error) if error.number != ACCESS_DENIED => {
                        error_packet(error.number, &error.sqlstate, &error.message)
                    }
                    _ => error_packet(1105, "08S01", &text),
                };
                Err(self.client.refuse_with(packet, text).await)
            }
        }
    }
}

impl CommandPhase<'_> {
    /// Makes a connection, on which the proxy has logged in, the session's.
    pub(super) fn take_over(&mut self, link: Link) -> Sides<'_> {
        let mut sides = self.sides_with(link);
        sides.know_own_login();
        sides
    }

    /// Opens a connection to a backend in the middle of a session; false if that fails, which is in the log.
    pub(super) async fn open_in_session(&mut self, place: usize) -> Result<bool, SessionEnd> {
        let Some(account) = self.client.thread.settings.account.clone() else {
            return Ok(false);
        };
        let Some(options) = self.login.as_ref().map(|login| login.options) else {
            return Ok(false);
        };
        // The client may have changed it since.
        let database = self.client.session.borrow().client.default_db.clone();
        let form = self.client.session.borrow().form;
        let client = &self.client;
        let made = client.open_for_account(place, &database, options, &account);
        let why = match made.await {
            Ok(link) if form.is_some_and(|form| link.has_form(form)) => {
                self.take_over(link);
                return Ok(true);
            }
            Ok(_) => {
                "this backend cannot answer in the form that the client was promised by another one"
                    .into()
            }
            Err(why) => why,
        };
        let text = format!("proxy.connection.backend_ndx = {}: {why}", place + 1);
        self.client.log(Level::Critical, &text);
        Ok(false)
    }

    /// Another connection to the same backend, where a reset leaves what must not be there.
    pub(super) async fn open_anew(&mut self, place: usize) -> Result<(), SessionEnd> {
        if self.open_in_session(place).await? {
            return Ok(());
        }
        let text = "(proxy) no new connection to the backend could be opened".to_owned();
        Err(self.client.refuse(1105, "08S01", text).await)
    }
}

impl Sides<'_> {
    /// The facts of a connection on which the proxy has logged in for the client.
    fn know_own_login(&mut self) {
        self.client.know_link(self.server);
        self.know_login();
    }
}

impl Client {
    /// The OK packet of a login, from which a client of MariaDB sees that the certificate is the proxy's.
    fn ok_of_login(&self, proof: &Proof, account: &Account) -> Vec<u8> {
        let password = account.password.reveal().as_bytes();
        match &self.thread.settings.client_side.tls {
            Some(tls)
                if self.wire.is_tls()
                    && proof.plugin == FIRST_METHOD.as_bytes()
                    && !password.is_empty() =>
            {
                let text = certificate_proof(password, &proof.nonce, tls.fingerprint());
                ok_packet_with(&text)
            }
            _ => ok_packet(),
        }
    }

    /// Checks a client's proof, asking for another one where it was made for another method or challenge; `None` if it is
    /// wrong, which the client has got.
    pub(super) async fn check_proof(
        &mut self,
        server: Option<&mut Link>,
        user: &[u8],
        mut proof: Proof,
        may_switch: bool,
        account: &Account,
    ) -> Result<Option<Proof>, SessionEnd> {
        let is_user = user == account.user.as_bytes();
        let mut fits = proof.fits(account);
        if !fits && may_switch {
            let plugin = match &proof.plugin[..] {
                CACHING_SHA2 => CACHING_SHA2,
                _ => FIRST_METHOD.as_bytes(),
            };
            proof = self.request_proof(server, plugin).await?;
            fits = proof.fits(account);
        }
        if is_user && fits {
            return Ok(Some(proof));
        }
        let host = match &self.session.borrow().client.src {
            Address::Tcp(address) => address.ip().to_string(),
            Address::Unix(_) => "localhost".to_owned(),
        };
        let text = format!(
            "Access denied for user '{}'@'{host}' (using password: {})",
            String::from_utf8_lossy(user),
            if proof.is_empty() { "NO" } else { "YES" }
        );
        let packet = error_packet(ACCESS_DENIED, "28000", &text);
        self.thread.log.write_of_stranger(Level::Warning, &text);
        self.answer_result(packet).await?;
        Ok(None)
    }

    /// Asks the client for a proof by a method and a new challenge.
    async fn request_proof(
        &mut self,
        server: Option<&mut Link>,
        plugin: &[u8],
    ) -> Result<Proof, SessionEnd> {
        let nonce = nonce().to_vec();
        let request = [&[0xfe], plugin, &[0], &nonce[..], &[0]].concat();
        self.answer(&[request]).await?;
        let (bytes, _) = self.packet(server).await?;
        let client = &mut self.session.borrow_mut().client;
        client.scramble_buffer.clone_from(&nonce);
        client.scrambled_password.clone_from(&bytes);
        client.auth_plugin_name = plugin.to_vec();
        Ok(Proof {
            plugin: plugin.to_vec(),
            nonce,
            bytes,
        })
    }

    /// A new connection to a backend, logged in; the error says why there is none.
    async fn open_for_account(
        &self,
        place: usize,
        database: &[u8],
        options: LoginOptions,
        account: &Account,
    ) -> Result<Link, NoLink> {
        let used = Use::begin(&self.thread.settings.backends, place)
            .ok_or_else(|| NoLink::from("there is no such backend"))?;
        let opened = self.open(&used.backend().address).await;
        let stream = opened.map_err(|failure| {
            used.backend().failed(reactor::now());
            NoLink::Other(failure.to_string())
        })?;
        let mut link = self.thread.link(stream, used);
        let limit = self.thread.settings.connect_timeout;
        let payload = match reactor::timeout(limit, first_packet(&mut link.wire)).await {
            Ok(Ok(payload)) => payload,
            no_greeting => {
                self.thread.settings.backends.0[place].failed(reactor::now());
                return Err(match no_greeting {
                    Ok(Err(error)) => NoLink::Other(error.to_string()),
                    _ => "it sends no greeting".into(),
                });
            }
        };
        let offer = link.know_greeting(payload, self.reads_queries)?;
        self.log_in_link(link, offer, database, options, account)
            .await
    }

    /// Logs in on a connection that has greeted.
    async fn log_in_link(
        &self,
        link: Link,
        offer: Offer,
        database: &[u8],
        options: LoginOptions,
        account: &Account,
    ) -> Result<Link, NoLink> {
        let settings = &self.thread.settings;
        let address = settings.backends.0[link.place].endpoint();
        let none = ClientTls::new(SslMode::Disabled, None)?;
        let tls = settings.server_side.tls.as_ref().unwrap_or(&none);
        let is_compressed =
            settings.server_side.compresses && offer.capabilities & capability::COMPRESS != 0;
        let database = String::from_utf8(database.to_vec())
            .map_err(|_| NoLink::from("the client's database has a name that is not UTF-8"))?;
        let endpoint = Endpoint {
            password: Some(account.password.clone()),
            database: (!database.is_empty()).then_some(database),
            ssl_mode: tls.mode,
            server_key: ServerKey::Asked,
            compression: if is_compressed {
                Compression::Preferred
            } else {
                Compression::Off
            },
            ..Endpoint::plain(address, &account.user, settings.connect_timeout)
        };
        let capabilities = options.capabilities & link.greeting.capabilities;
        let own_login = relay::log_in(
            link.wire.into_stream(),
            &offer.greeting,
            &endpoint,
            tls,
            relay::LoginForm {
                capabilities,
                charset: u8::try_from(options.charset).unwrap_or(0),
            },
        );
        let done = match reactor::timeout(login_limit(settings.connect_timeout), own_login).await {
            Ok(done) => done?,
            Err(reactor::Elapsed) => {
                settings.backends.0[link.place].failed(reactor::now());
                return Err("the login timed out".into());
            }
        };
        Ok(Link {
            wire: Wire::layered(done.stream, done.layers),
            offer: None,
            capabilities,
            session: self.number,
            ..link
        })
    }
}

/// A challenge: 20 bytes that are neither zero nor beyond ASCII.
pub(super) fn nonce() -> [u8; 20] {
    let mut nonce = [0; 20];
    let got = rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty());
    got.expect("the kernel has random bytes for every program that runs");
    nonce.map(|byte| byte % 126 + 1)
}

/// Time for a login: some methods make servers compute for long.
fn login_limit(connect: Duration) -> Duration {
    connect.max(Duration::from_secs(10))
}

/// The first packet on a new connection.
async fn first_packet(wire: &mut Wire) -> std::io::Result<Vec<u8>> {
    loop {
        if let Some((payload, _)) = wire.packet() {
            return Ok(payload);
        }
        wire.readable().await?;
        wire.try_receive(CONTROL_MAX)?;
    }
}
