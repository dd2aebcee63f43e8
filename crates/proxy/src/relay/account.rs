//! Logins by the proxy's own account: clients at the proxy, the proxy at the servers.

use std::time::Duration;

use protocol::{
    ClientTls, Compression, Endpoint, ServerKey, SslMode,
    relay::{
        self, ChangeUser, ClientLogin, capability, certificate_proof, error_packet,
        native_proof_fits, ok_packet, ok_packet_with, sha2_proof_fits,
    },
};

use super::{
    CONTROL_MAX, Ended, Relay,
    connect::{FIRST_METHOD, nonce},
    login::LoggedIn,
    sides::CACHING_SHA2,
};
use crate::{Account, Address, Level, backends::Use, link::Link, survivors::Fresh, wire::Wire};

/// The method in the OK packet's way: the proof was right.
const FAST_SUCCESS: [u8; 2] = [1, 3];

/// The number of a wrong password.
const ACCESS_DENIED: u16 = 1045;

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
struct Proof {
    plugin: Vec<u8>,
    nonce: Vec<u8>,
    bytes: Vec<u8>,
}

impl Proof {
    /// Whether the client says that its password is empty.
    fn is_empty(&self) -> bool {
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

impl Relay {
    /// Checks a client's login, and logs in at the server for it.
    pub(super) async fn log_in_by_account(
        &mut self,
        login: &ClientLogin,
        account: &Account,
    ) -> Result<LoggedIn, Ended> {
        let proof = Proof {
            plugin: login.plugin.clone(),
            nonce: self.session.borrow().client.scramble_buffer.clone(),
            bytes: login.proof.clone(),
        };
        let may_switch = login.capabilities & capability::PLUGIN_AUTH != 0;
        let Some(proof) = self
            .checked_client(&login.user, proof, may_switch, account)
            .await?
        else {
            self.spare_server(login, account).await;
            return Ok(LoggedIn::No);
        };
        // Without one a hook is the server so far.
        if self.server.is_some() {
            self.have_connection(login, account).await?;
        }
        if proof.plugin == CACHING_SHA2 && !proof.is_empty() {
            self.answer(&[FAST_SUCCESS.to_vec()]).await?;
        }
        let ok = self.ok_of_login(&proof, account);
        Ok(match self.answer_result(ok).await? {
            Some(0xff) => LoggedIn::No,
            _ => LoggedIn::Yes,
        })
    }

    /// After a wrong password: an idle connection is kept, and a new one is logged in before it is closed, because servers
    /// count connections without a login as errors of the proxy's host.
    async fn spare_server(&mut self, login: &ClientLogin, account: &Account) {
        let Some(link) = self.server.take() else {
            return;
        };
        if link.is_logged_in {
            self.park(link);
            return;
        }
        let mut login = login.clone();
        // It may not exist.
        login.database.clear();
        if let Err(why) = self.log_in_link(link, &login, account).await {
            self.log(Level::Warning, &why.to_string());
        }
    }

    /// The OK packet of a login, from which a client of MariaDB sees that the certificate is the proxy's.
    fn ok_of_login(&self, proof: &Proof, account: &Account) -> Vec<u8> {
        let password = account.password.reveal().as_bytes();
        match &self.thread.settings.client_side.tls {
            Some(tls)
                if self.client.is_tls()
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
    async fn checked_client(
        &mut self,
        user: &[u8],
        mut proof: Proof,
        may_switch: bool,
        account: &Account,
    ) -> Result<Option<Proof>, Ended> {
        let is_user = user == account.user.as_bytes();
        let mut fits = proof.fits(account);
        if !fits && may_switch {
            let plugin = match &proof.plugin[..] {
                CACHING_SHA2 => CACHING_SHA2,
                _ => FIRST_METHOD.as_bytes(),
            };
            proof = self.switched_client(plugin).await?;
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
        let packet = error_packet(1045, "28000", &text);
        self.thread.log.write_of_stranger(Level::Warning, &text);
        self.answer_result(packet).await?;
        Ok(None)
    }

    /// Asks the client for a proof by a method and a new challenge.
    async fn switched_client(&mut self, plugin: &[u8]) -> Result<Proof, Ended> {
        let nonce = nonce().to_vec();
        let request = [&[0xfe], plugin, &[0], &nonce[..], &[0]].concat();
        self.answer(&[request]).await?;
        let (bytes, number) = self.client_packet().await?;
        self.next = number.wrapping_add(1);
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

    /// Logs in on the connection that was opened for the greeting, or makes an idle one the client's.
    async fn have_connection(
        &mut self,
        login: &ClientLogin,
        account: &Account,
    ) -> Result<(), Ended> {
        let Some(link) = self.server.take() else {
            return Err(Ended::ServerLeft);
        };
        let place = link.place;
        let made = if link.is_logged_in {
            let promised = login.capabilities & self.offered;
            if !link.has_form(promised) {
                // It belongs to clients of another kind.
                self.park(link);
            } else if let Some(link) = self.renewed(link, &login.database).await {
                self.take_over(link);
                return self.dress().await;
            }
            self.open_for_account(place, login, account).await
        } else {
            self.log_in_link(link, login, account).await
        };
        match made {
            Ok(link) => {
                self.take_over(link);
                Ok(())
            }
            Err(why) => {
                let address = self.thread.settings.backends.0[place].address.to_string();
                let text = format!("(proxy) the login at backend {address} failed: {why}");
                self.log(Level::Critical, &text);
                let packet = match &why {
                    // Such as an unknown database; the proxy's own password is not the client's matter.
                    NoLink::Server(error) if error.number != ACCESS_DENIED => {
                        error_packet(error.number, &error.sqlstate, &error.message)
                    }
                    _ => error_packet(1105, "08S01", &text),
                };
                Err(self.refuse(packet, text).await)
            }
        }
    }

    fn take_over(&mut self, link: Link) {
        {
            let mut session = self.session.borrow_mut();
            session.backend = Some(link.place);
            session.server = Some(link.peer.clone());
        }
        self.server = Some(link);
        self.know_server_login();
    }

    /// Opens a connection to a backend in the middle of a session; false if that fails, which is in the log.
    pub(super) async fn open_in_session(&mut self, place: usize) -> Result<bool, Ended> {
        let Some(account) = self.thread.settings.account.clone() else {
            return Ok(false);
        };
        let Some(mut login) = self.login.take() else {
            return Ok(false);
        };
        // The client may have changed it since.
        login
            .database
            .clone_from(&self.session.borrow().client.default_db);
        let made = self.open_for_account(place, &login, &account).await;
        let form = login.capabilities & self.offered;
        self.login = Some(login);
        match made {
            Ok(link) if link.has_form(form) => {
                self.take_over(link);
                Ok(true)
            }
            Ok(_) => {
                let text = format!(
                    "proxy.connection.backend_ndx = {}: this backend cannot answer in the form that the client was \
                     promised by another one",
                    place + 1
                );
                self.log(Level::Critical, &text);
                Ok(false)
            }
            Err(why) => {
                let text = format!("proxy.connection.backend_ndx = {}: {why}", place + 1);
                self.log(Level::Critical, &text);
                Ok(false)
            }
        }
    }

    /// Another connection to the same backend, where a reset leaves what must not be there.
    async fn open_anew(&mut self, place: usize) -> Result<(), Ended> {
        if self.open_in_session(place).await? {
            return Ok(());
        }
        let text = "(proxy) no new connection to the backend could be opened".to_owned();
        let packet = error_packet(1105, "08S01", &text);
        Err(self.refuse(packet, text).await)
    }

    /// A new connection to a backend, logged in; the error says why there is none.
    async fn open_for_account(
        &self,
        place: usize,
        login: &ClientLogin,
        account: &Account,
    ) -> Result<Link, NoLink> {
        let used = Use::begin(&self.thread.settings.backends, place)
            .ok_or_else(|| NoLink::from("there is no such backend"))?;
        let stream = self.open(&used.backend().address).await;
        let stream = match stream {
            Ok(stream) => stream,
            Err(failure) => {
                used.backend().failed(reactor::now());
                return Err(NoLink::Other(failure.to_string()));
            }
        };
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
        link.know_greeting(payload, self.reads_queries)
            .map_err(NoLink::from)?;
        self.log_in_link(link, login, account).await
    }

    /// Logs in on a connection that has greeted.
    async fn log_in_link(
        &self,
        link: Link,
        login: &ClientLogin,
        account: &Account,
    ) -> Result<Link, NoLink> {
        let settings = &self.thread.settings;
        let address = settings.backends.0[link.place].endpoint();
        let none = ClientTls::new(SslMode::Disabled, None).map_err(NoLink::from)?;
        let tls = settings.server_side.tls.as_ref().unwrap_or(&none);
        let is_compressed =
            settings.server_side.compresses && link.offers & capability::COMPRESS != 0;
        let database = String::from_utf8(login.database.clone())
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
        let capabilities = login.capabilities & link.greeting.capabilities;
        let place = link.place;
        let Link {
            wire, as_received, ..
        } = link;
        let own_login = relay::log_in(
            wire.into_stream(),
            &as_received,
            &endpoint,
            tls,
            relay::LoginForm {
                capabilities,
                charset: u8::try_from(login.charset).unwrap_or(0),
            },
        );
        let done = match reactor::timeout(login_limit(settings.connect_timeout), own_login).await {
            Ok(done) => done.map_err(NoLink::from)?,
            Err(reactor::Elapsed) => {
                settings.backends.0[place].failed(reactor::now());
                return Err("the login timed out".into());
            }
        };
        Ok(Link {
            wire: Wire::layered(done.stream, done.layers),
            as_received: Vec::new(),
            capabilities,
            used: link.used,
            place: link.place,
            greeting: link.greeting,
            offers: link.offers,
            is_logged_in: true,
            peer: link.peer,
            session: self.number,
            kind: link.kind,
            fresh: Fresh::No,
            is_spoiled: false,
            has_prepared_use: false,
        })
    }

    /// `COM_CHANGE_USER`: the proxy checks it, and the server's connection is reset.
    pub(super) async fn change_user_by_account(
        &mut self,
        payload: &[u8],
        account: &Account,
    ) -> Result<(), Ended> {
        let Some(command) = ChangeUser::parse(payload) else {
            let packet = error_packet(1047, "08S01", "(proxy) a malformed COM_CHANGE_USER");
            return self.answer(&[packet]).await;
        };
        let proof = Proof {
            plugin: command.plugin,
            nonce: self.session.borrow().client.scramble_buffer.clone(),
            bytes: command.proof,
        };
        let capabilities = self.login.as_ref().map_or(0, |login| login.capabilities);
        let may_switch = capabilities & capability::PLUGIN_AUTH != 0;
        let checked = self
            .checked_client(&command.user, proof, may_switch, account)
            .await?;
        let Some(proof) = checked else {
            // As servers do.
            return Err(Ended::Closed);
        };
        let database = command.database;
        (self.session.borrow_mut().client.default_db).clone_from(&database);
        if let Some(login) = &mut self.login
            && command.charset != 0
        {
            login.charset = command.charset;
        }
        let Some(mut link) = self.server.take() else {
            return Err(Ended::ServerLeft);
        };
        let place = link.place;
        link.fresh = Fresh::No;
        match self.renewed(link, &database).await {
            Some(link) => {
                self.take_over(link);
                self.dress().await?;
            }
            None => self.open_anew(place).await?,
        }
        if proof.plugin == CACHING_SHA2 && !proof.is_empty() {
            self.answer(&[FAST_SUCCESS.to_vec()]).await?;
        }
        self.answer(&[ok_packet()]).await
    }
}

/// Time for a login: some methods make servers compute for long.
fn login_limit(connect: Duration) -> Duration {
    connect.max(Duration::from_secs(10))
}

/// The first packet on a new connection.
async fn first_packet(wire: &mut Wire) -> std::io::Result<Vec<u8>> {
    loop {
        if let Some(whole) = wire.whole() {
            let payload = wire.payload(whole);
            wire.consume(whole.used);
            return Ok(payload);
        }
        wire.readable().await?;
        wire.try_receive(CONTROL_MAX)?;
    }
}
