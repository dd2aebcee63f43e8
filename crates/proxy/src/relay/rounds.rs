//! The rounds of a login that is relayed, with what becomes of a password between sides of different safety.

use protocol::relay::{OwnKey, encrypt_for_server, without_certificate_proof};

use super::{
    safety::{BOTH_SAFE, CACHING_SHA2, SHA256, is_clear, sends_password},
    session_end::SessionEnd,
    sides::Sides,
};

/// The server's demand of `caching_sha2_password` for the password.
const FULL_LOGIN: [u8; 2] = [1, 4];
/// The client's packet for an empty password.
const EMPTY: [u8; 1] = [0];

/// What the client's next packet may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Anything that passes on.
    Open,
    /// The password, which only the server's side may read: the client encrypts it for the proxy.
    ForServer { request: u8 },
    /// The password, which only the client's side may read: the proxy encrypts it for the server.
    ForClient { request: u8 },
}

/// What a login ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoggedIn {
    Yes,
    No,
}

impl Sides<'_> {
    /// Passes the packets of a login on in both directions until the server says OK or an error.
    ///
    /// The method decides who speaks next, so nothing is expected of either side. Each side has its own numbers: TLS and
    /// keys make some packets of one side more.
    pub(super) async fn rounds(&mut self) -> Result<LoggedIn, SessionEnd> {
        let (mut is_switched, mut to_server) = (false, 0_u8);
        let mut next = Next::Open;
        loop {
            if let Some((payload, number)) = self.server.wire.packet() {
                to_server = number.wrapping_add(1);
                let first = payload.first().copied();
                if next != Next::Open && first != Some(0xff) {
                    // The client's password is on its way, for the method that was asked for it and no other.
                    let why = "the server did not wait for it";
                    return Err(self.no_password(why).await);
                }
                if first == Some(0xfe) {
                    is_switched = true;
                    self.know_switch(&payload);
                    next = self.after_switch().await?;
                } else if payload == FULL_LOGIN {
                    next = self.before_password(CACHING_SHA2, 2);
                }
                let sent = match first {
                    Some(0x00) => {
                        let payload = without_certificate_proof(payload);
                        self.client.answer_result(payload).await?
                    }
                    Some(0xff | 0xfe) => self.client.answer_result(payload).await?,
                    _ => {
                        self.client.answer(&[payload]).await?;
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
            if let Some((payload, _)) = self.client.take_packet() {
                if std::mem::take(&mut is_switched) {
                    let client = &mut self.client.session.borrow_mut().client;
                    if !sends_password(&client.auth_plugin_name) {
                        client.scrambled_password.clone_from(&payload);
                    }
                }
                let payload = match next {
                    Next::Open => payload,
                    Next::ForServer { request } if payload == [request] => {
                        self.send_own_key().await?;
                        continue;
                    }
                    // Passes: the client encrypts by itself, or has nothing to encrypt.
                    Next::ForClient { request } if payload == [request] => payload,
                    Next::ForServer { .. } | Next::ForClient { .. }
                        if payload.is_empty() || payload == EMPTY =>
                    {
                        payload
                    }
                    Next::ForServer { .. } => self.decrypted(&payload).await?,
                    Next::ForClient { request } => {
                        self.send_to_server(&[request], to_server).await?;
                        let Some((payload, number)) = self.encrypted(payload).await? else {
                            next = Next::Open;
                            continue;
                        };
                        to_server = number.wrapping_add(1);
                        payload
                    }
                };
                next = Next::Open;
                self.send_to_server(&payload, to_server).await?;
                to_server = to_server.wrapping_add(1);
                continue;
            }
            self.receive_from_either().await?;
        }
    }

    /// What the client's packet after a switch may be; a method that would expose the password ends the login.
    async fn after_switch(&mut self) -> Result<Next, SessionEnd> {
        let plugin = self.client.session.borrow().client.auth_plugin_name.clone();
        if is_clear(&plugin) && self.safety(&plugin) != BOTH_SAFE {
            return Err(self.exposed(&plugin).await);
        }
        Ok(if plugin == SHA256 {
            self.before_password(SHA256, 1)
        } else {
            Next::Open
        })
    }

    fn before_password(&self, plugin: &[u8], request: u8) -> Next {
        let safety = self.safety(plugin);
        match (safety.client, safety.server) {
            (false, true) => Next::ForServer { request },
            (true, false) => Next::ForClient { request },
            _ => Next::Open,
        }
    }

    fn challenge(&self) -> Vec<u8> {
        self.client.session.borrow().client.scramble_buffer.clone()
    }

    /// Answers the client's request for the server's key with the proxy's own.
    async fn send_own_key(&mut self) -> Result<(), SessionEnd> {
        let Some(key) = OwnKey::get().await else {
            return Err(self.no_password("no RSA key could be generated").await);
        };
        self.client.answer(&[[&[1], key.pem()].concat()]).await
    }

    /// The password that the client has encrypted by the proxy's key.
    async fn decrypted(&mut self, encrypted: &[u8]) -> Result<Vec<u8>, SessionEnd> {
        let nonce = self.challenge();
        let clear = match OwnKey::get().await {
            Some(key) => key.decrypt(&nonce, encrypted),
            None => None,
        };
        match clear {
            Some(clear) => Ok(clear.to_vec()),
            None => {
                let why = "the client has encrypted it with a key other than the proxy's: connect with \
                           --get-server-public-key and without --server-public-key-path";
                Err(self.no_password(why).await)
            }
        }
    }

    /// The password encrypted by the key for which the server was asked, and the number of the server's packet; `None`
    /// if the server did not send one, and its packet is still to be read.
    async fn encrypted(&mut self, clear: Vec<u8>) -> Result<Option<(Vec<u8>, u8)>, SessionEnd> {
        let (payload, number) = loop {
            let wire = &mut self.server.wire;
            if let Some(whole) = wire.whole() {
                let payload = wire.payload(whole);
                if payload.first() != Some(&1) {
                    return Ok(None);
                }
                wire.consume(whole.used);
                break (payload, whole.number);
            }
            self.receive_from_server().await?;
        };
        match encrypt_for_server(&payload[1..], &self.challenge(), &clear) {
            Ok(secret) => Ok(Some((secret, number))),
            Err(error) => Err(self.no_password(&error.to_string()).await),
        }
    }

    async fn no_password(&mut self, why: &str) -> SessionEnd {
        let text = format!("(proxy) the password cannot be passed on: {why}");
        self.client.refuse(1105, "HY000", text).await
    }

    /// Another method: `fe`, its name, a zero, a new challenge.
    fn know_switch(&mut self, payload: &[u8]) {
        let mut parts = payload[1..].splitn(2, |byte| *byte == 0);
        let (Some(plugin), Some(nonce)) = (parts.next(), parts.next()) else {
            return;
        };
        let nonce = nonce.strip_suffix(&[0]).unwrap_or(nonce);
        {
            let client = &mut self.client.session.borrow_mut().client;
            client.auth_plugin_name = plugin.to_vec();
            client.scramble_buffer = nonce.to_vec();
        }
        self.change_server_peer(|peer| peer.scramble_buffer = nonce.to_vec());
    }
}
