//! What passes between the two sides of a session, and what does not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use protocol::relay::{error_packet, ok_packet};
use proxy::{Account, Decision, Injection};

use crate::{
    hooks::{Event, hooks},
    mock::{
        CAPABILITIES, DEPRECATE_EOF, Scene, hello, login, login_of, open_server, server, wait_until,
    },
};

const NATIVE: &str = "mysql_native_password";

#[test]
fn a_method_that_sends_the_password_in_clear_is_refused() {
    for plugin in ["mysql_clear_password", "dialog"] {
        let switch = [b"\xfe", plugin.as_bytes(), b"\0abc\0"].concat();
        let scene = Scene::of(&[server(move |mut end| {
            end.say(0, &hello().payload());
            end.expect(1);
            end.say(2, &switch);
            assert_eq!(end.packet(), None);
        })]);
        let mut client = scene.client();
        client.expect(0);
        client.say(1, &login(CAPABILITIES, b"", NATIVE));
        let refused = String::from_utf8(client.expect(2)[3..].to_vec()).unwrap();
        assert!(refused.starts_with("#HY000(proxy) "), "{refused}");
        assert!(refused.contains(plugin), "{refused}");
        client.expect_end();
        scene.all_left();
    }
}

#[test]
fn last_words_of_a_server_reach_a_client_that_is_to_speak() {
    let words = error_packet(1158, "08S01", "the login took too long");
    let expected = words.clone();
    let scene = Scene::of(&[server(move |mut end| {
        end.say(0, &hello().payload());
        end.say(1, &words);
    })]);
    let mut client = scene.client();
    client.expect(0);
    assert_eq!(client.expect(1), expected);
    client.expect_end();
    scene.all_left();
}

#[test]
fn a_login_of_a_hook_has_the_form_of_the_clients() {
    let script =
        |event: Event<'_>, session: &proxy::SharedSession, _: &dyn proxy::ScriptEnvironment| {
            if !matches!(event, Event::Auth) {
                return Decision::PassOn;
            }
            session.borrow_mut().queries.push_back(Injection {
                id: 1,
                packet: login_of("bob", CAPABILITIES, b"", NATIVE),
                needs_result: false,
            });
            Decision::SendQueue
        };
    let address = server(|mut end| {
        end.say(0, &hello().payload());
        let login = end.expect(1);
        assert_eq!(&login[32..36], b"bob\0");
        assert_ne!(
            u32::from_le_bytes(login[..4].try_into().unwrap()) & DEPRECATE_EOF,
            0
        );
        end.say(2, &ok_packet());
        while end.packet().is_some() {}
    });
    let scene = Scene::with(&[address], hooks(script), |_| {});
    scene.user(DEPRECATE_EOF).close();
    scene.all_left();
}

#[test]
fn no_more_connections_idle_than_a_script_wants() {
    let (opened, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counters = (Arc::clone(&opened), Arc::clone(&ended));
    let address = open_server(move |mut end| {
        counters.0.fetch_add(1, SeqCst);
        while end.packet().is_some() {}
        counters.1.fetch_add(1, SeqCst);
    });
    let park =
        |event: Event<'_>, session: &proxy::SharedSession, _: &dyn proxy::ScriptEnvironment| {
            if matches!(event, Event::Left) {
                session.borrow_mut().backend = None;
            }
            Decision::PassOn
        };
    let scene = Scene::with(&[address], hooks(park), |settings| {
        settings.backends.0[0].max_idle.store(2, SeqCst);
    });
    let users = [(); 3].map(|()| scene.user(0));
    for user in users {
        user.close();
    }
    scene.all_left();
    wait_until(|| ended.load(SeqCst) == 1);
    assert_eq!((opened.load(SeqCst), ended.load(SeqCst)), (3, 1));
}

#[test]
fn an_account_of_the_proxy_checks_clients_itself() {
    let address = server(|mut end| {
        end.say(0, &hello().payload());
        if let Some((1, login)) = end.packet() {
            assert_eq!(&login[32..36], b"ann\0");
            end.say(2, &ok_packet());
            while end.packet().is_some() {}
        }
    });
    let scene = Scene::with(&[address], None, |settings| {
        settings.account = Some(Account {
            user: "ann".to_owned(),
            password: "secret".into(),
        });
    });
    let enter = |user: &str, password: &[u8]| {
        let mut client = scene.client();
        let greeting = client.expect(0);
        assert!(greeting.ends_with(b"mysql_native_password\0"));
        client.say(1, &login_of(user, CAPABILITIES, &[7; 20], NATIVE));
        // The proof was wrong, but may have been made for another challenge.
        let switch = client.expect(2);
        let nonce = switch.strip_prefix(b"\xfemysql_native_password\0").unwrap();
        let proof = protocol::relay::native_proof(password, &nonce[..20]);
        client.say(3, &proof);
        client.expect(4)
    };
    assert_eq!(enter("ann", b"secret"), ok_packet());
    for (user, password) in [("ann", &b"wrong"[..]), ("bob", b"secret"), ("ann", b"")] {
        let refused = enter(user, password);
        let text = format!("Access denied for user '{user}'@'127.0.0.1' (using password: ");
        assert!(refused.starts_with(b"\xff\x15\x04#28000"), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused).contains(&text));
    }
    scene.all_left();
}
