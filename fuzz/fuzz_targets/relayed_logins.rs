//! What a relay reads of a server's greeting, a client's login and a change of the user: taken as it is or refused, and
//! the same after capabilities were taken out.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::relay::{ChangeUser, ClientLogin, ServerGreeting};

/// Capabilities that change no field of a login: TLS aside, what a relay takes out.
const HARMLESS: u64 = 1 << 5 | 1 << 23 | 1 << 24 | 1 << 35 | 1 << 36;

fuzz_target!(|input: (u64, Vec<u8>)| {
    let (unwanted, bytes) = input;
    if let Ok(mut greeting) = ServerGreeting::parse(bytes.clone()) {
        let before = greeting.clone();
        greeting.offer(greeting.capabilities & !unwanted);
        assert_eq!(greeting.payload.len(), bytes.len());
        assert_eq!(greeting.capabilities, before.capabilities & !unwanted);
    }
    if let Some(mut login) = ClientLogin::parse(bytes.clone()) {
        login.want(login.capabilities & !(unwanted & HARMLESS));
        assert_eq!(ClientLogin::parse(login.payload.clone()), Some(login));
    }
    if let Some(command) = ChangeUser::parse(&bytes) {
        let payload = command.payload().expect("the proof came with a length of one byte");
        assert_eq!(ChangeUser::parse(&payload), Some(command));
    }
});
