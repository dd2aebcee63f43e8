//! The two sides of a session that has a server: receiving from either, and sending to it.

use protocol::relay::put_packet;

use super::{
    client::{CONTROL_MAX, Client, reading, send},
    session_end::SessionEnd,
};
use crate::{
    Peer,
    link::Link,
    unreset_state::Fresh,
    watch::{Either, TooLong, Wait, first_of},
};

/// A client and the server that it talks to.
pub(super) struct Sides<'a> {
    pub(super) client: &'a mut Client,
    pub(super) server: &'a mut Link,
    /// The client has the answer to its command, and commands of a hook follow.
    pub(super) is_answered: bool,
}

impl<'a> Sides<'a> {
    pub(super) fn new(client: &'a mut Client, server: &'a mut Link) -> Self {
        Self {
            client,
            server,
            is_answered: false,
        }
    }

    /// Receives from the server, or ends when the client leaves.
    pub(super) async fn receive_from_server(&mut self) -> Result<(), SessionEnd> {
        let wire = &mut self.server.wire;
        // What a hook still asks of the server does not need the client.
        let other = (!self.is_answered).then_some(&self.client.wire.stream);
        loop {
            match reading(&self.client.watch, wire.readable(), other).await? {
                Some(ready) => ready.map_err(SessionEnd::of_server)?,
                None => return Err(SessionEnd::ClientLeft),
            }
            if wire
                .try_receive(CONTROL_MAX)
                .map_err(SessionEnd::of_server)?
            {
                return Ok(());
            }
        }
    }

    /// Receives from either side while both may speak; true if it was the server.
    pub(super) async fn receive_from_either(&mut self) -> Result<bool, SessionEnd> {
        let (client, server) = (&mut self.client.wire, &mut self.server.wire);
        loop {
            let wait = first_of(client.readable(), server.readable());
            match self.client.watch.within(Wait::Read, wait).await {
                Ok(Either::A(ready)) => {
                    ready.map_err(SessionEnd::of_client)?;
                    if client
                        .try_receive(CONTROL_MAX)
                        .map_err(SessionEnd::of_client)?
                    {
                        return Ok(false);
                    }
                }
                Ok(Either::B(ready)) => {
                    ready.map_err(SessionEnd::of_server)?;
                    if server
                        .try_receive(CONTROL_MAX)
                        .map_err(SessionEnd::of_server)?
                    {
                        return Ok(true);
                    }
                }
                Err(TooLong) => return Err(SessionEnd::ReadTimeout),
            }
        }
    }

    pub(super) async fn server_packet(&mut self) -> Result<Vec<u8>, SessionEnd> {
        loop {
            if let Some((payload, _)) = self.server.wire.packet() {
                return Ok(payload);
            }
            self.receive_from_server().await?;
        }
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        let watch = &self.client.watch;
        send(&mut self.server.wire, bytes, watch, SessionEnd::of_server).await
    }

    pub(super) async fn send_to_server(
        &mut self,
        payload: &[u8],
        number: u8,
    ) -> Result<(), SessionEnd> {
        let mut out = Vec::new();
        put_packet(payload, number, &mut out);
        if number == 0 {
            self.server.wire.begin_exchange();
        }
        self.send(&out).await
    }

    /// The facts of a server on which the client is logged in now.
    pub(super) fn know_login(&mut self) {
        let client = self.client.session.borrow().client.clone();
        self.change_server_peer(|peer| {
            peer.username = client.username;
            peer.default_db = client.default_db;
            peer.scrambled_password = client.scrambled_password;
            peer.auth_plugin_name = client.auth_plugin_name;
        });
        self.server.offer = None;
        self.server.fresh = Fresh::No;
        self.server.session = self.client.number;
    }

    /// Changes what is known of the server's end, on its connection and for the hooks.
    pub(super) fn change_server_peer(&mut self, change: impl FnOnce(&mut Peer)) {
        change(&mut self.server.peer);
        let mut session = self.client.session.borrow_mut();
        // While a hook has chosen another backend, it sees the one that it will have.
        if session.left.is_none() {
            session.server = Some(self.server.peer.clone());
        }
    }
}
