//! The admin interface: a server without a backend, which a script answers first.

use std::{rc::Rc, sync::Arc};

use protocol::{
    ACCESS_DENIED,
    null_server::OutgoingGreeting,
    relay::{AnswerKind, com, error_packet, native_proof_fits, ok_packet, text_result},
};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Decision, HookMaker, Hooks, MakerOfThread, QueryResult, SharedSession};

/// The version that the admin interface says it has.
const VERSION: &str = "5.0.99-agent-admin";

#[derive(Clone)]
pub struct AdminAccount {
    pub user: String,
    /// The password; not empty.
    pub password: String,
}

/// Makes the sessions of the admin interface.
pub struct AdminMaker {
    account: AdminAccount,
    /// The script, which gets queries before the built-in answers.
    script: Option<Rc<dyn HookMaker>>,
}

impl AdminMaker {
    /// The maker of sessions for this account, whose queries a script may answer.
    pub fn maker(account: AdminAccount, script: Option<Arc<MakerOfThread>>) -> Arc<MakerOfThread> {
        Arc::new(move |environment| {
            let script = script.as_ref();
            let script = script.map(|script| script(environment)).transpose()?;
            let account = account.clone();
            Ok(Rc::new(Self { account, script }))
        })
    }
}

impl HookMaker for AdminMaker {
    fn hooks(&self, session: &SharedSession) -> Box<dyn Hooks> {
        Box::new(Admin {
            account: self.account.clone(),
            script: self.script.as_ref().map(|script| script.hooks(session)),
            nonce: [0; 20],
        })
    }
}

struct Admin {
    account: AdminAccount,
    script: Option<Box<dyn Hooks>>,
    nonce: [u8; 20],
}

impl Admin {
    /// Why a login is refused; `None` for the right one.
    fn refusal(&self, session: &SharedSession) -> Option<&'static str> {
        let client = &session.borrow().client;
        if client.username != self.account.user.as_bytes() {
            return Some("unknown user");
        }
        if client.scrambled_password.len() != 20 {
            return Some("scrambling failed");
        }
        let fits = native_proof_fits(
            self.account.password.as_bytes(),
            &self.nonce,
            &client.scrambled_password,
        );
        (!fits).then_some("password doesn't match")
    }

    fn built_in(&self, packet: &[u8]) -> Vec<Vec<u8>> {
        let Some((command, text)) = packet.split_first() else {
            return vec![error_packet(1105, "07000", "unknown COM_*")];
        };
        match *command {
            com::QUERY => match text.to_ascii_lowercase().as_slice() {
                b"select @@version_comment limit 1" => {
                    text_result(&[b"@@version_comment"], &[&[VERSION.as_bytes()]])
                }
                b"select user()" => text_result(&[b"USER()"], &[&[self.account.user.as_bytes()]]),
                _ => vec![error_packet(
                    1105,
                    "07000",
                    "(admin-server) query not known",
                )],
            },
            com::INIT_DB => vec![ok_packet()],
            _ => vec![error_packet(1105, "07000", "unknown COM_*")],
        }
    }
}

impl Hooks for Admin {
    fn connect_server(&mut self, _: &SharedSession) -> Decision {
        let mut filled = 0;
        while filled < self.nonce.len() {
            match getrandom(&mut self.nonce[filled..], GetRandomFlags::empty()) {
                Ok(count) => filled += count,
                Err(error) => {
                    let text = format!("(admin-server) no random numbers: {error}");
                    return Decision::Answer(vec![error_packet(1105, "07000", &text)]);
                }
            }
        }
        // Printable: a zero would end the challenge for some clients.
        for byte in &mut self.nonce {
            *byte = b'!' + *byte % 90;
        }
        let hello = OutgoingGreeting {
            version: VERSION.to_owned(),
            deprecate_eof: false,
            nonce: self.nonce,
            ..OutgoingGreeting::default()
        };
        Decision::Answer(vec![hello.payload()])
    }

    fn read_handshake(&mut self, _: &SharedSession) -> Decision {
        Decision::PassOn
    }

    fn read_auth(&mut self, session: &SharedSession) -> Decision {
        match self.refusal(session) {
            None => Decision::PassOn,
            Some(why) => Decision::Answer(vec![error_packet(ACCESS_DENIED, "28000", why)]),
        }
    }

    fn read_auth_result(&mut self, _: &SharedSession, _: &[u8]) -> Decision {
        Decision::PassOn
    }

    fn reads_queries(&self) -> bool {
        true
    }

    fn read_query(&mut self, session: &SharedSession, packet: &[u8]) -> Decision {
        let command = packet.first().copied();
        if command.map(AnswerKind::of) == Some(AnswerKind::Nothing) {
            session.borrow_mut().close = command == Some(com::QUIT);
            return Decision::Answer(Vec::new());
        }
        if let Some(script) = &mut self.script
            && let decision @ Decision::Answer(_) = script.read_query(session, packet)
        {
            return decision;
        }
        // There is no server to send anything to.
        session.borrow_mut().queries.clear();
        Decision::Answer(self.built_in(packet))
    }

    fn read_query_result(&mut self, _: &SharedSession, _: QueryResult) -> Decision {
        Decision::PassOn
    }

    fn disconnect_client(&mut self, session: &SharedSession) {
        if let Some(script) = &mut self.script {
            script.disconnect_client(session);
        }
    }
}
