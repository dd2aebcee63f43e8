//! The login: the client's packet, then as many rounds as the method has.

use protocol::relay::{ChangeUser, ClientLogin, capability, error_packet, ok_packet};

use super::{Ended, Relay, sides::sends_password};
use crate::{Decision, Level, Peer, survivors::Fresh};

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

/// What a login ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoggedIn {
    Yes,
    No,
}

impl Relay {
    /// Receives the client's login and has it answered.
    pub(super) async fn log_in(&mut self) -> Result<(), Ended> {
        let mut login = self.client_login().await?;
        if login.asks_for_tls() {
            self.encrypt_client(&login).await?;
            login = self.client_login().await?;
        } else {
            self.require_tls().await?;
        }
        // A client may want what was not offered.
        login.want(login.capabilities & (self.offered | !FORM_OR_PACKING));
        self.client_compresses = login.capabilities & capability::COMPRESS != 0;
        login.want(login.capabilities & !(capability::SSL | capability::COMPRESS));
        self.know_client(&login);
        self.session.borrow_mut().queries.clear();
        self.thread.pool.ask_for(&self.session);
        match self.hooks.read_auth(&self.session) {
            Decision::PassOn => {}
            Decision::Answer(packets) => {
                self.answer_login(&packets).await?;
                self.compress_client();
                return Ok(());
            }
            Decision::SendQueue if self.thread.settings.account.is_some() => self.log(
                Level::Critical,
                "(read_auth) proxy.PROXY_SEND_QUERY has no meaning with --backend-user and was ignored",
            ),
            Decision::SendQueue => {
                let head = self.session.borrow_mut().queries.pop_front();
                match head.and_then(|head| ClientLogin::parse(head.packet)) {
                    Some(mut other) => {
                        // The client reads what comes back: its form is the client's, whatever the hook wrote.
                        const CLIENTS_OWN: u64 = FORM_OR_PACKING | capability::MYSQL;
                        other.want(
                            other.capabilities & !CLIENTS_OWN | login.capabilities & CLIENTS_OWN,
                        );
                        login = other;
                    }
                    None => self.log(
                        Level::Critical,
                        "(read_auth) proxy.PROXY_SEND_QUERY needs a login packet at the head of \
                         proxy.queries; the client's own is sent",
                    ),
                }
            }
            other @ Decision::Ignore => self.not_here("read_auth", &other),
        }
        self.session.borrow_mut().queries.clear();
        self.login = Some(Box::new(login));
        match self.have_server_log_in().await? {
            LoggedIn::Yes => {
                self.compress_client();
                Ok(())
            }
            LoggedIn::No => Err(Ended::Closed),
        }
    }

    /// The client's login packet, or its request for TLS.
    async fn client_login(&mut self) -> Result<ClientLogin, Ended> {
        let (payload, number) = self.client_packet().await?;
        self.next = number.wrapping_add(1);
        match ClientLogin::parse(payload) {
            Some(login) => Ok(login),
            None => {
                let packet = error_packet(2007, "HY000", "4.0 protocol is not supported");
                let text = "a login of the 4.0 protocol".to_owned();
                Err(self.refuse(packet, text).await)
            }
        }
    }

    fn compress_client(&mut self) {
        if self.client_compresses {
            self.client.compress_to_client();
        }
    }

    /// A hook's answer to the login. After an OK the client may send commands, which the hooks have to answer.
    async fn answer_login(&mut self, packets: &[Vec<u8>]) -> Result<(), Ended> {
        self.session.borrow_mut().queries.clear();
        self.answer(packets).await?;
        if packets.last().and_then(|packet| packet.first()) != Some(&0) {
            return Err(Ended::Closed);
        }
        // No user is logged in on the server's connection.
        self.server = None;
        let mut session = self.session.borrow_mut();
        session.server = None;
        session.backend = None;
        Ok(())
    }

    fn know_client(&self, login: &ClientLogin) {
        let mut session = self.session.borrow_mut();
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

    async fn have_server_log_in(&mut self) -> Result<LoggedIn, Ended> {
        let Some(login) = self.login.clone() else {
            return Err(Ended::Closed);
        };
        let logged_in = match self.thread.settings.account.clone() {
            Some(account) => Box::pin(self.log_in_by_account(&login, &account)).await,
            None => self.send_login(&login).await,
        };
        let logged_in = logged_in?;
        if logged_in == LoggedIn::Yes {
            // Where a hook was the server, no password was checked.
            if self.server.is_some() || self.thread.settings.account.is_some() {
                self.session.borrow_mut().form = Some(login.capabilities & self.offered);
            }
            self.know_server_login();
        }
        Ok(logged_in)
    }

    async fn send_login(&mut self, login: &ClientLogin) -> Result<LoggedIn, Ended> {
        if self.is_needed_by_others(login) {
            return Box::pin(self.log_in_beside(login)).await;
        }
        let Some(server) = &mut self.server else {
            // A hook was the server so far.
            self.answer(&[ok_packet()]).await?;
            return Ok(LoggedIn::Yes);
        };
        let capabilities = login.capabilities & server.greeting.capabilities;
        if !server.is_logged_in {
            server.capabilities = capabilities;
            return self.relay_login(login).await;
        }
        if !server.has_form(capabilities) {
            let text = "(proxy) the idle connection belongs to a client with other capabilities; \
                        park connections of one kind of client only";
            let packet = error_packet(1105, "08S01", text);
            return Err(self.refuse(packet, text.to_owned()).await);
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
            let packet = error_packet(1105, "08S01", text);
            return Err(self.refuse(packet, text.to_owned()).await);
        };
        let payload = self.guarded_change(&payload);
        self.send_to_server(&payload, 0).await?;
        self.rounds().await
    }

    /// Sends the client's login, with TLS and compression of the server's side.
    pub(super) async fn relay_login(&mut self, login: &ClientLogin) -> Result<LoggedIn, Ended> {
        let mut login = login.clone();
        let mut number = 1;
        let side = &self.thread.settings.server_side;
        let offers = self.server.as_ref().map_or(0, |server| server.offers);
        let compresses = side.compresses && offers & capability::COMPRESS != 0;
        if compresses {
            login.want(login.capabilities | capability::COMPRESS);
        }
        if self.server_wants_tls().await? {
            login.want(login.capabilities | capability::SSL);
            self.encrypt_server(&login).await?;
            number = 2;
        }
        let login = self.guarded_login(login).await?;
        self.send_to_server(&login.payload, number).await?;
        let logged_in = self.rounds().await?;
        if compresses
            && logged_in == LoggedIn::Yes
            && let Some(server) = &mut self.server
        {
            server.wire.compress_to_server();
        }
        Ok(logged_in)
    }

    /// The facts of a server on which the client is logged in now.
    pub(super) fn know_server_login(&mut self) {
        let client = self.session.borrow().client.clone();
        let user = Some(client.username.clone());
        let before = std::mem::replace(&mut self.known_user, user.clone());
        self.thread.pool.user_changed(before, user);
        self.change_server_peer(|peer| {
            peer.username = client.username;
            peer.default_db = client.default_db;
            peer.scrambled_password = client.scrambled_password;
            peer.auth_plugin_name = client.auth_plugin_name;
        });
        if let Some(server) = &mut self.server {
            server.is_logged_in = true;
            server.fresh = Fresh::No;
            server.as_received = Vec::new();
            server.session = self.number;
        }
    }

    /// Changes what is known of the server's end, on its connection and for the hooks.
    pub(super) fn change_server_peer(&mut self, change: impl FnOnce(&mut Peer)) {
        if let Some(server) = &mut self.server {
            change(&mut server.peer);
            let mut session = self.session.borrow_mut();
            // While a hook has chosen another backend, it sees the one that it will have.
            if session.left.is_none() {
                session.server = Some(server.peer.clone());
            }
        }
    }

    /// Passes the server's answer to the login on, unless a hook replaces it; the first byte of what the client got last.
    pub(super) async fn answer_result(&mut self, payload: Vec<u8>) -> Result<Option<u8>, Ended> {
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

    /// `COM_CHANGE_USER` of a client that is logged in.
    pub(super) async fn change_user(&mut self, payload: &[u8], number: u8) -> Result<(), Ended> {
        let Some(server) = &self.server else {
            return Err(self.no_server());
        };
        let version = server.greeting.version;
        if (50_114..=50_117).contains(&version) {
            let text = "COM_CHANGE_USER is broken on 5.1.14-.17, please upgrade the MySQL Server";
            self.next = number.wrapping_add(1);
            return self.answer(&[error_packet(1105, "HY000", text)]).await;
        }
        if let Some(account) = self.thread.settings.account.clone() {
            return Box::pin(self.change_user_by_account(payload, &account)).await;
        }
        let command = ChangeUser::parse(payload);
        if let Some(command) = &command {
            let client = &mut self.session.borrow_mut().client;
            if !sends_password(&command.plugin) {
                client.scrambled_password.clone_from(&command.proof);
            }
            client.auth_plugin_name.clone_from(&command.plugin);
        }
        let payload = self.guarded_change(payload);
        self.send_to_server(&payload, 0).await?;
        if self.rounds().await? == LoggedIn::No {
            // MySQL closes the connection now. MariaDB keeps it, with the user that it had, and after three of them takes no
            // further one.
            if let Some(server) = &mut self.server {
                server.is_spoiled = true;
            }
            return Ok(());
        }
        if let Some(command) = command {
            let mut session = self.session.borrow_mut();
            session.client.username = command.user;
            session.client.default_db = command.database;
        }
        self.know_server_login();
        Ok(())
    }
}
