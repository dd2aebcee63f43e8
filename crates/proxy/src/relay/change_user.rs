//! A client that is logged in becomes another user: `COM_CHANGE_USER`.

use protocol::relay::{ChangeUser, capability, error_packet, ok_packet};

use super::{
    account::{FAST_SUCCESS, Proof},
    command_phase::CommandPhase,
    rounds::LoggedIn,
    safety::{CACHING_SHA2, sends_password},
    session_end::SessionEnd,
};
use crate::{Account, unreset_state::Fresh};

impl CommandPhase<'_> {
    /// `COM_CHANGE_USER` of a client that is logged in.
    pub(super) async fn change_user(&mut self, payload: &[u8]) -> Result<(), SessionEnd> {
        let account = self.client.thread.settings.account.clone();
        let Some(mut sides) = self.sides() else {
            return Err(self.no_server());
        };
        let version = sides.server.greeting.version;
        if (50_114..=50_117).contains(&version) {
            let text = "COM_CHANGE_USER is broken on 5.1.14-.17, please upgrade the MySQL Server";
            let packet = error_packet(1105, "HY000", text);
            return sides.client.answer(&[packet]).await;
        }
        if let Some(account) = account {
            return Box::pin(self.change_user_by_account(payload, &account)).await;
        }
        let command = ChangeUser::parse(payload);
        if let Some(command) = &command {
            let client = &mut sides.client.session.borrow_mut().client;
            if !sends_password(&command.plugin) {
                client.scrambled_password.clone_from(&command.proof);
            }
            client.auth_plugin_name.clone_from(&command.plugin);
        }
        let payload = sides.guarded_change(payload);
        sides.send_to_server(&payload, 0).await?;
        if sides.rounds().await? == LoggedIn::No {
            // MySQL closes the connection now. MariaDB keeps it, with the user that it had, and after three of them takes no
            // further one.
            sides.server.is_spoiled = true;
            return Ok(());
        }
        if let Some(command) = command {
            let mut session = sides.client.session.borrow_mut();
            session.client.username = command.user;
            session.client.default_db = command.database;
        }
        sides.know_login();
        if let Some(login) = &mut self.login {
            let user = self.client.session.borrow().client.username.clone();
            login.user = self.client.thread.pool.count_user(user);
        }
        Ok(())
    }

    /// `COM_CHANGE_USER`: the proxy checks it, and the server's connection is reset.
    async fn change_user_by_account(
        &mut self,
        payload: &[u8],
        account: &Account,
    ) -> Result<(), SessionEnd> {
        let Some(command) = ChangeUser::parse(payload) else {
            let packet = error_packet(1047, "08S01", "(proxy) a malformed COM_CHANGE_USER");
            return self.client.answer(&[packet]).await;
        };
        let proof = Proof {
            plugin: command.plugin,
            nonce: self.client.session.borrow().client.scramble_buffer.clone(),
            bytes: command.proof,
        };
        let options = self.login.as_ref().map(|login| login.options);
        let may_switch = options.is_some_and(|it| it.capabilities & capability::PLUGIN_AUTH != 0);
        let server = self.server.as_mut();
        let checked = self
            .client
            .check_proof(server, &command.user, proof, may_switch, account);
        let Some(proof) = checked.await? else {
            // As servers do.
            return Err(SessionEnd::Closed);
        };
        let database = command.database;
        (self.client.session.borrow_mut().client.default_db).clone_from(&database);
        if let Some(login) = &mut self.login
            && command.charset != 0
        {
            login.options.charset = command.charset;
        }
        let Some(mut link) = self.server.take() else {
            return Err(SessionEnd::ServerLeft);
        };
        let place = link.place;
        link.fresh = Fresh::No;
        match self.client.renewed(link, &database).await {
            Some(link) => {
                let charset = self.charset();
                self.take_over(link).dress(charset).await?;
            }
            None => self.open_anew(place).await?,
        }
        if proof.plugin == CACHING_SHA2 && !proof.is_empty() {
            self.client.answer(&[FAST_SUCCESS.to_vec()]).await?;
        }
        self.client.answer(&[ok_packet()]).await
    }
}
