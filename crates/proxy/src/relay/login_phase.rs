//! The second phase of a session, logging in: the client's packet, then as many rounds as the method has.

use protocol::relay::{ChangeUser, ClientLogin, capability, error_packet, ok_packet};

use super::{
    client::Client,
    command_phase::{CommandPhase, Login, LoginOptions},
    rounds::LoggedIn,
    safety::sends_password,
    session_end::SessionEnd,
    sides::Sides,
};
use crate::{Decision, Level, faults::SessionFaults, link::Link};

/// Capabilities of a login that are taken out if they were not offered; they change no field of the login.
const FORM_OR_PACKING: u64 = capability::SSL
    | capability::COMPRESS
    | capability::ZSTD
    | capability::SESSION_TRACK
    | capability::DEPRECATE_EOF
    | capability::OPTIONAL_METADATA
    | capability::QUERY_ATTRIBUTES
    | capability::MARIADB_MULTI
    | capability::MARIADB_EXTENDED_METADATA
    | capability::MARIADB_CACHE_METADATA;

/// A session that has greeted its client.
pub(super) struct LoginPhase<'a> {
    pub(super) client: &'a mut Client,
    /// `None` if a hook has greeted the client.
    pub(super) server: &'a mut Option<Link>,
    /// The capabilities that the client was offered.
    pub(super) offered: u64,
}

impl<'a> LoginPhase<'a> {
    /// Receives the client's login and has it answered.
    pub(super) async fn log_in(mut self) -> Result<CommandPhase<'a>, SessionEnd> {
        let mut packet = self.client_login().await?;
        if packet.asks_for_tls() {
            self.encrypt_client(&packet).await?;
            packet = self.client_login().await?;
        } else {
            self.client.require_tls().await?;
        }
        // A client may want what was not offered.
        packet.want(packet.capabilities & (self.offered | !FORM_OR_PACKING));
        let compresses = packet.capabilities & capability::COMPRESS != 0;
        packet.want(packet.capabilities & !(capability::SSL | capability::COMPRESS));
        self.know_client(&packet);
        self.client.session.borrow_mut().queries.clear();
        self.client.thread.pool.ask_for(&self.client.session);
        let decision = self.client.hooks.read_auth(&self.client.session);
        let login = if let Decision::Answer(packets) = decision {
            self.answer_login(&packets).await?;
            None
        } else {
            self.choose_login(&decision, &mut packet);
            Some(self.authenticate(&packet).await?)
        };
        if compresses {
            self.client.wire.compress_to_client();
        }
        let trouble = self.client.thread.trouble.as_ref();
        Ok(CommandPhase {
            fates: trouble.map(|trouble| SessionFaults::of(trouble, self.client.number)),
            client: self.client,
            server: self.server,
            login,
            is_answered: false,
        })
    }

    /// Puts a hook's login in the place of the client's, if it wants that.
    fn choose_login(&self, decision: &Decision, login: &mut ClientLogin) {
        match decision {
            Decision::PassOn => {}
            Decision::SendQueue if self.client.thread.settings.account.is_some() => self.client.log(
                Level::Critical,
                "(read_auth) proxy.PROXY_SEND_QUERY has no meaning with --backend-user and was ignored",
            ),
            Decision::SendQueue => {
                let head = self.client.session.borrow_mut().queries.pop_front();
                match head.and_then(|head| ClientLogin::parse(head.packet)) {
                    Some(mut other) => {
                        // The client reads what comes back: its form is the client's, whatever the hook wrote.
                        const CLIENTS_OWN: u64 = FORM_OR_PACKING | capability::MYSQL;
                        other.want(
                            other.capabilities & !CLIENTS_OWN | login.capabilities & CLIENTS_OWN,
                        );
                        *login = other;
                    }
                    None => self.client.log(
                        Level::Critical,
                        "(read_auth) proxy.PROXY_SEND_QUERY needs a login packet at the head of \
                         proxy.queries; the client's own is sent",
                    ),
                }
            }
            other => self.client.not_here("read_auth", other),
        }
        self.client.session.borrow_mut().queries.clear();
    }

    /// The client's login packet, or its request for TLS.
    async fn client_login(&mut self) -> Result<ClientLogin, SessionEnd> {
        let (payload, _) = self.client.packet(self.server.as_mut()).await?;
        if let Some(login) = ClientLogin::parse(payload) {
            return Ok(login);
        }
        let packet = error_packet(2007, "HY000", "4.0 protocol is not supported");
        let why = "a login of the 4.0 protocol".to_owned();
        Err(self.client.refuse_with(packet, why).await)
    }

    /// A hook's answer to the login. After an OK the client may send commands, which the hooks have to answer.
    async fn answer_login(&mut self, packets: &[Vec<u8>]) -> Result<(), SessionEnd> {
        self.client.session.borrow_mut().queries.clear();
        self.client.answer(packets).await?;
        if packets.last().and_then(|packet| packet.first()) != Some(&0) {
            return Err(SessionEnd::Closed);
        }
        // No user is logged in on the server's connection.
        *self.server = None;
        let mut session = self.client.session.borrow_mut();
        session.server = None;
        session.backend = None;
        Ok(())
    }

    fn know_client(&self, login: &ClientLogin) {
        let mut session = self.client.session.borrow_mut();
        session.client_deprecates_eof =
            login.capabilities & self.offered & capability::DEPRECATE_EOF != 0;
        let client = &mut session.client;
        client.username.clone_from(&login.user);
        client.default_db.clone_from(&login.database);
        if !sends_password(&login.plugin) {
            client.scrambled_password.clone_from(&login.proof);
        }
        client.auth_plugin_name.clone_from(&login.plugin);
    }

    /// Has the login checked, by the server or by the proxy.
    async fn authenticate(&mut self, login: &ClientLogin) -> Result<Login, SessionEnd> {
        let account = self.client.thread.settings.account.clone();
        let logged_in = match &account {
            Some(account) => Box::pin(self.log_in_by_account(login, account)).await?,
            None => self.send_login(login).await?,
        };
        if logged_in == LoggedIn::No {
            return Err(SessionEnd::Closed);
        }
        // Where a hook was the server, no password was checked.
        if self.server.is_some() || account.is_some() {
            self.client.session.borrow_mut().form = Some(login.capabilities & self.offered);
        }
        if let Some(server) = self.server {
            Sides::new(self.client, server).know_login();
        }
        let user = self.client.session.borrow().client.username.clone();
        Ok(Login {
            options: LoginOptions::of(login),
            user: self.client.thread.pool.count_user(user),
        })
    }

    async fn send_login(&mut self, login: &ClientLogin) -> Result<LoggedIn, SessionEnd> {
        let is_needed = |link: &mut Link| self.client.is_needed_by_others(link, login);
        if let Some(idle) = self.server.take_if(is_needed) {
            return Box::pin(self.log_in_beside(idle, login)).await;
        }
        match self.server {
            Some(server) => Sides::new(self.client, server).send_login(login).await,
            None => {
                // A hook was the server so far.
                self.client.answer(&[ok_packet()]).await?;
                Ok(LoggedIn::Yes)
            }
        }
    }
}

impl Sides<'_> {
    /// Sends the client's login, as `COM_CHANGE_USER` on a connection on which another client was logged in.
    async fn send_login(&mut self, login: &ClientLogin) -> Result<LoggedIn, SessionEnd> {
        let Self { client, server, .. } = self;
        let capabilities = login.capabilities & server.greeting.capabilities;
        if let Some(offer) = &server.offer {
            let offers = offer.capabilities;
            server.capabilities = capabilities;
            return self.relay_login(login, offers).await;
        }
        if !server.has_form(capabilities) {
            let text = "(proxy) the idle connection belongs to a client with other capabilities; \
                        park connections of one kind of client only";
            return Err(client.refuse(1105, "08S01", text.to_owned()).await);
        }
        let command = ChangeUser {
            user: login.user.clone(),
            proof: login.proof.clone(),
            database: login.database.clone(),
            charset: login.charset,
            plugin: match server.capabilities & capability::PLUGIN_AUTH {
                0 => Vec::new(),
                _ => login.plugin.clone(),
            },
            attributes: match server.capabilities & capability::CONNECT_ATTRS {
                0 => Vec::new(),
                // Their length is due also where there are none.
                _ if login.attributes.is_empty() => vec![0],
                _ => login.attributes.clone(),
            },
        };
        let Some(payload) = command.payload() else {
            let text = "(proxy) the proof of the password is too long for COM_CHANGE_USER";
            return Err(client.refuse(1105, "08S01", text.to_owned()).await);
        };
        let payload = self.guarded_change(&payload);
        self.send_to_server(&payload, 0).await?;
        self.rounds().await
    }

    /// Sends the client's login, with TLS and compression of the server's side as far as the server offers them.
    pub(super) async fn relay_login(
        &mut self,
        login: &ClientLogin,
        offers: u64,
    ) -> Result<LoggedIn, SessionEnd> {
        let mut login = login.clone();
        let mut number = 1;
        let compresses = self.client.thread.settings.server_side.compresses
            && offers & capability::COMPRESS != 0;
        if compresses {
            login.want(login.capabilities | capability::COMPRESS);
        }
        if let Some(tls) = self.server_tls(offers).await? {
            login.want(login.capabilities | capability::SSL);
            self.encrypt_server(&login, &tls).await?;
            number = 2;
        }
        let login = self.guarded_login(login).await?;
        self.send_to_server(&login.payload, number).await?;
        let logged_in = self.rounds().await?;
        if compresses && logged_in == LoggedIn::Yes {
            self.server.wire.compress_to_server();
        }
        Ok(logged_in)
    }
}

impl Client {
    /// Passes the server's answer to the login on, unless a hook replaces it; the first byte of what the client got last.
    pub(super) async fn answer_result(
        &mut self,
        payload: Vec<u8>,
    ) -> Result<Option<u8>, SessionEnd> {
        self.thread.pool.ask_for(&self.session);
        let packets = match self.hooks.read_auth_result(&self.session, &payload) {
            Decision::Answer(packets) => packets,
            Decision::PassOn => vec![payload],
            other => {
                self.not_here("read_auth_result", &other);
                vec![payload]
            }
        };
        self.answer(&packets).await?;
        Ok(packets.last().and_then(|packet| packet.first()).copied())
    }
}
