//! What a relay reads of greetings, logins and commands, from any bytes.

use proptest::prelude::*;
use protocol::relay::{
    Answer, AnswerFormat, AnswerKind, ChangeUser, ClientLogin, ServerGreeting, Step, Summary,
};

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

/// Small packets as a server sends them, of bytes that decide on an answer's form, cut at the end.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        Just(0),
        Just(1),
        Just(2),
        Just(0xfb),
        Just(0xfe),
        Just(0xff),
        any::<u8>()
    ];
    let packet = proptest::collection::vec(byte, 0..12);
    let packets = proptest::collection::vec((packet, any::<u8>()), 0..20);
    (packets, 0..8_usize).prop_map(|(packets, cut)| {
        let mut bytes = Vec::new();
        for (payload, number) in packets {
            bytes.extend_from_slice(&[payload.len() as u8, 0, 0, number]);
            bytes.extend_from_slice(&payload);
        }
        bytes.truncate(bytes.len().saturating_sub(cut));
        bytes
    })
}

/// What an answer said, where it ended, and its bytes as they are passed on; `None` if it is malformed.
fn follow(
    mut answer: Answer,
    bytes: &[u8],
    piece: usize,
) -> Option<(Step, usize, Summary, Vec<u8>)> {
    let (mut passed, mut at, mut step) = (bytes.to_vec(), 0, Step::More);
    while at < bytes.len() && step == Step::More {
        let end = bytes.len().min(at + piece);
        let fed = answer.feed(&mut passed[at..end]).ok()?;
        at += fed.used;
        step = fed.step;
    }
    Some((step, at, *answer.summary(), passed))
}

proptest! {
    #[test]
    fn an_answer_ends_at_the_same_place_however_it_is_cut(
        bytes in answers(), command: u8, deprecate_eof: bool, cache_metadata: bool, shift: u8, piece in 1..9_usize,
    ) {
        let wording = AnswerFormat { deprecate_eof, cache_metadata };
        let answer = || Answer::new(AnswerKind::of(command), wording, shift);
        let whole = follow(answer(), &bytes, usize::MAX / 2);
        let cut = follow(answer(), &bytes, piece);
        if let Some((_, at, _, passed)) = &whole {
            // What follows is not the answer's.
            prop_assert_eq!(&passed[*at..], &bytes[*at..]);
        }
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn a_greeting_is_refused_or_read_again_as_it_was_written(bytes in greetings(), unwanted: u64) {
        if let Ok(mut greeting) = ServerGreeting::parse(bytes.clone()) {
            let before = greeting.clone();
            prop_assert_eq!(&greeting.payload, &bytes);
            greeting.offer(greeting.capabilities);
            prop_assert_eq!(&greeting, &before);
            greeting.offer(greeting.capabilities & !unwanted);
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
            login.want(login.capabilities & !unwanted);
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
