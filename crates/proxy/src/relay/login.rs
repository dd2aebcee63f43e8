//! The login: the client's packet, then as many rounds as the method has.

use protocol::relay::{ChangeUser, ClientLogin, capability, error_packet, ok_packet, put_packet};

use super::{Ended, Relay, send};
use crate::{Decision, Level};

/// Capabilities that have to be those of the first login when a connection of the pool is used: they decide on the form
/// of packets. Two connections whose other capabilities differ are alike to the client.
const FORM: u64 = capability::PROTOCOL_41
    | capability::SESSION_TRACK
    | capability::DEPRECATE_EOF
    | capability::QUERY_ATTRIBUTES
    | capability::MARIADB_CACHE_METADATA
    | capability::MARIADB_EXTENDED_METADATA
    | SAME_MEANING;
/// Capabilities that decide on what statements do: found rows, LOAD DATA LOCAL, spaces before brackets, interactive
/// timeouts, several statements and results, and those for prepared statements.
const SAME_MEANING: u64 =
    1 << 1 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16 | 1 << 17 | 1 << 18 | 1 << 34 | 1 << 37;

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
        let (payload, number) = self.client_packet().await?;
        self.next = number.wrapping_add(1);
        let Some(mut login) = ClientLogin::parse(payload) else {
            let packet = error_packet(2007, "HY000", "4.0 protocol is not supported");
            return Err(self
                .refuse(packet, "a login of the 4.0 protocol".to_owned())
                .await);
        };
        if login.asks_for_tls() {
            let text =
                "(proxy) TLS is not offered: connect with --ssl-mode=DISABLED, or --skip-ssl";
            let packet = error_packet(2026, "HY000", text);
            return Err(self
                .refuse(packet, "the client asks for TLS".to_owned())
                .await);
        }
        // A client may want what was not offered.
        login.remove(login.capabilities & !self.offered & FORM_OR_PACKING);
        self.know_client(&login);
        self.session.borrow_mut().queries.clear();
        match self.hooks.read_auth(&self.session) {
            Decision::PassOn => {}
            Decision::Answer(packets) => return self.answer_login(&packets).await,
            Decision::SendQueue => {
                let head = self.session.borrow_mut().queries.pop_front();
                match head.and_then(|head| ClientLogin::parse(head.packet)) {
                    Some(mut other) => {
                        // The client reads what comes back: its form is the client's, whatever the hook wrote.
                        other.remove(other.capabilities & !login.capabilities & FORM_OR_PACKING);
                        if login.capabilities & !other.capabilities & FORM_OR_PACKING != 0 {
                            let text = "(read_auth) the login in proxy.queries lacks capabilities of the client's that \
                                        decide on the form of results";
                            let packet = error_packet(1105, "HY000", text);
                            return Err(self.refuse(packet, text.to_owned()).await);
                        }
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
        match self.have_server_log_in(number).await? {
            LoggedIn::Yes => Ok(()),
            LoggedIn::No => Err(Ended::Closed),
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
        client.scrambled_password.clone_from(&login.proof);
        client.auth_plugin_name.clone_from(&login.plugin);
    }

    async fn have_server_log_in(&mut self, number: u8) -> Result<LoggedIn, Ended> {
        let Some(login) = self.login.take() else {
            return Err(Ended::Closed);
        };
        let logged_in = self.send_login(&login, number).await;
        self.login = Some(login);
        let logged_in = logged_in?;
        if logged_in == LoggedIn::Yes {
            self.know_server_login();
        }
        Ok(logged_in)
    }

    async fn send_login(&mut self, login: &ClientLogin, number: u8) -> Result<LoggedIn, Ended> {
        let Some(server) = &mut self.server else {
            // A hook was the server so far.
            self.answer(&[ok_packet()]).await?;
            return Ok(LoggedIn::Yes);
        };
        let capabilities = login.capabilities & server.greeting.capabilities;
        if !server.is_logged_in {
            server.capabilities = capabilities;
            self.send_to_server(&login.payload, number).await?;
            return self.rounds(0).await;
        }
        if (capabilities ^ server.capabilities) & FORM != 0 {
            let text = "(proxy) the idle connection belongs to a client with other capabilities; \
                        park connections of one kind of client only";
            let packet = error_packet(1105, "08S01", text);
            return Err(self.refuse(packet, text.to_owned()).await);
        }
        if !self.thread.settings.pool_changes_user {
            // The client answered the challenge of the connection's own login: who knows that password gives its proof.
            let owner = &server.peer;
            if owner.username != login.user || owner.scrambled_password != login.proof {
                let packet = error_packet(
                    1045,
                    "28000",
                    "(proxy) Access denied to the idle connection",
                );
                let text = "the idle connection is of another login".to_owned();
                if let Some(link) = self.server.take() {
                    self.park(link);
                }
                return Err(self.refuse(packet, text).await);
            }
            return Ok(match self.answer_result(ok_packet()).await? {
                Some(0xff) => LoggedIn::No,
                _ => LoggedIn::Yes,
            });
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
        let shift = number;
        self.send_to_server(&payload, 0).await?;
        self.rounds(shift).await
    }

    /// The facts of a server on which the client is logged in now.
    fn know_server_login(&mut self) {
        let number = self.number;
        let mut session = self.session.borrow_mut();
        let client = session.client.clone();
        if let Some(peer) = &mut session.server {
            peer.username = client.username;
            peer.default_db = client.default_db;
            peer.scrambled_password = client.scrambled_password;
            peer.auth_plugin_name = client.auth_plugin_name;
        }
        if let Some(server) = &mut self.server {
            server.is_logged_in = true;
            server.session = number;
        }
    }

    /// Passes the packets of a login on in both directions until the server says OK or an error. The server's numbers
    /// are raised by `shift`, the client's lowered.
    ///
    /// The method decides who speaks next, so nothing is expected of either side.
    pub(super) async fn rounds(&mut self, shift: u8) -> Result<LoggedIn, Ended> {
        let mut is_switched = false;
        loop {
            let from_server = match &mut self.server {
                None => return Err(Ended::ServerLeft),
                Some(server) => server.wire.whole().map(|whole| {
                    let payload = server.wire.payload(whole);
                    server.wire.consume(whole.used);
                    (payload, whole.number)
                }),
            };
            if let Some((payload, number)) = from_server {
                self.next = number.wrapping_add(shift);
                let first = payload.first().copied();
                if first == Some(0xfe) {
                    is_switched = true;
                    self.know_switch(&payload);
                }
                let sent = match first {
                    Some(0x00 | 0xff | 0xfe) => self.answer_result(payload).await?,
                    _ => {
                        self.answer(&[payload]).await?;
                        first
                    }
                };
                match (first, sent) {
                    // A login that a hook refused is none, whatever the server says.
                    (Some(0xff), _) | (_, Some(0xff)) => return Ok(LoggedIn::No),
                    (Some(0x00), _) => return Ok(LoggedIn::Yes),
                    _ => continue,
                }
            }
            if let Some(whole) = self.client.whole() {
                let payload = self.client.payload(whole);
                self.client.consume(whole.used);
                if std::mem::take(&mut is_switched) {
                    let mut session = self.session.borrow_mut();
                    session.client.scrambled_password.clone_from(&payload);
                }
                let number = whole.number.wrapping_sub(shift);
                self.send_to_server(&payload, number).await?;
                continue;
            }
            self.receive_from_either().await?;
        }
    }

    /// Another method: `fe`, its name, a zero, a new challenge.
    fn know_switch(&self, payload: &[u8]) {
        let mut parts = payload[1..].splitn(2, |byte| *byte == 0);
        let (Some(plugin), Some(nonce)) = (parts.next(), parts.next()) else {
            return;
        };
        let nonce = nonce.strip_suffix(&[0]).unwrap_or(nonce);
        let mut session = self.session.borrow_mut();
        let session = &mut *session;
        session.client.auth_plugin_name = plugin.to_vec();
        session.client.scramble_buffer = nonce.to_vec();
        if let Some(peer) = &mut session.server {
            peer.scramble_buffer = nonce.to_vec();
        }
    }

    /// Passes the server's answer to the login on, unless a hook replaces it; the first byte of what the client got last.
    async fn answer_result(&mut self, payload: Vec<u8>) -> Result<Option<u8>, Ended> {
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

    /// Takes an idle connection of the chosen backend for a client whose login is still to come.
    pub(super) fn take_idle_for_login(&mut self) -> bool {
        let Some(place) = self.session.borrow().backend else {
            return false;
        };
        let Some(link) = self.thread.pool.take(place, |_| Some(0)) else {
            return false;
        };
        self.use_link(link)
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
        let shift = self.next.wrapping_sub(1);
        let command = ChangeUser::parse(payload);
        if let Some(command) = &command {
            let mut session = self.session.borrow_mut();
            session.client.scrambled_password.clone_from(&command.proof);
            session.client.auth_plugin_name.clone_from(&command.plugin);
        }
        let server = self.server.as_mut().ok_or(Ended::ServerLeft)?;
        let mut out = Vec::new();
        put_packet(payload, 0, &mut out);
        send(&mut server.wire, &out, &self.watch, Ended::of_server).await?;
        if self.rounds(shift).await? == LoggedIn::No {
            // The server closes the connection now; no user is logged in.
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
