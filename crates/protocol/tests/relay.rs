//! What a relay reads of greetings, logins and commands, from any bytes.

use proptest::prelude::*;
use protocol::relay::{ChangeUser, ClientLogin, ServerGreeting};

/// Bytes that begin as a greeting of protocol 10 does, or any.
fn greetings() -> impl Strategy<Value = Vec<u8>> {
    let behind = |head: &'static [u8]| {
        any::<Vec<u8>>().prop_map(move |rest| [head, rest.as_slice()].concat())
    };
    prop_oneof![any::<Vec<u8>>(), behind(b"\x0a5.6.7\0\x01\0\0\0abcdefgh\0")]
}

/// Bytes that begin as a login since 4.1 does, or any.
fn logins() -> impl Strategy<Value = Vec<u8>> {
    let long = (
        any::<u32>(),
        proptest::collection::vec(any::<u8>(), 28..120),
    );
    let long = long.prop_map(|(capabilities, rest)| {
        let capabilities = (capabilities | 1 << 9).to_le_bytes();
        [&capabilities[..], &rest].concat()
    });
    prop_oneof![any::<Vec<u8>>(), long]
}

proptest! {
    #[test]
    fn a_greeting_is_refused_or_read_again_as_it_was_written(bytes in greetings(), unwanted: u64) {
        if let Ok(mut greeting) = ServerGreeting::parse(bytes.clone()) {
            let before = greeting.clone();
            prop_assert_eq!(&greeting.payload, &bytes);
            greeting.remove(0);
            prop_assert_eq!(&greeting, &before);
            greeting.remove(unwanted);
            prop_assert_eq!(greeting.payload.len(), bytes.len());
            prop_assert_eq!(greeting.capabilities, before.capabilities & !unwanted);
        }
    }

    #[test]
    fn a_login_is_refused_or_read_again_as_it_was_written(bytes in logins(), unwanted: u64) {
        if let Some(mut login) = ClientLogin::parse(bytes.clone()) {
            prop_assert_eq!(&login.payload, &bytes);
            let before = login.clone();
            // Only what changes no field of the packet.
            let unwanted = unwanted & (1 << 24 | 1 << 23 | 1 << 5 | 1 << 36);
            login.remove(unwanted);
            prop_assert_eq!(login.capabilities, before.capabilities & !unwanted);
            let again = ClientLogin::parse(login.payload.clone());
            prop_assert_eq!(again.as_ref(), Some(&login));
            prop_assert_eq!(login.user, before.user);
        }
    }

    #[test]
    fn a_change_of_the_user_comes_back(
        user in "[a-z]{0,9}", proof in proptest::collection::vec(any::<u8>(), 0..40), database in "[a-z]{0,9}",
        charset: u16, plugin in "[a-z_]{0,20}", rest: Vec<u8>,
    ) {
        let command = ChangeUser {
            user: user.into_bytes(),
            proof,
            database: database.into_bytes(),
            charset,
            plugin: plugin.into_bytes(),
            attributes: Vec::new(),
        };
        let payload = command.payload();
        prop_assert_eq!(payload.as_deref().and_then(ChangeUser::parse), Some(command));
        // Any bytes are read or refused.
        let _ = ChangeUser::parse(&rest);
    }
}
