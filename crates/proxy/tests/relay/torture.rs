//! Mangled packets from both sides: every session ends, and nothing panics.

use std::{
    io::Write,
    net::{Shutdown, SocketAddr},
    sync::LazyLock,
};

use proptest::prelude::*;
use proxy::Decision;

use crate::{
    hooks::{Event, append, append_packet, hooks},
    mock::{CAPABILITIES, Scene, hello, login, server},
};

/// A proxy without hooks.
static PLAIN: LazyLock<Scene> = LazyLock::new(|| Scene::of(&[mirror()]));
/// A proxy whose hook sends two commands for each one, and keeps the first result.
static HOOKED: LazyLock<Scene> = LazyLock::new(|| {
    let script = hooks(|event, session, _| match event {
        Event::Query(packet) => {
            append(session, 1, "first", true);
            append_packet(session, 2, packet.to_vec(), false);
            Decision::SendQueue
        }
        Event::Result(_) => Decision::Ignore,
        _ => Decision::PassOn,
    });
    Scene::with(&[mirror()], script, |_| {})
});

/// A server whose bytes after its greeting are those that the client sent as its login's proof.
fn mirror() -> SocketAddr {
    server(|mut end| {
        end.say(0, &hello().payload());
        let Some((_, login)) = end.packet() else {
            return;
        };
        let length = usize::from(*login.get(36).unwrap_or(&0));
        let bytes = login.get(37..37 + length).unwrap_or(&[]);
        let _ = end.stream.write_all(bytes);
        let _ = end.stream.shutdown(Shutdown::Write);
        while end.packet().is_some() {}
    })
}

fn scene(is_hooked: bool) -> &'static Scene {
    if is_hooked { &HOOKED } else { &PLAIN }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes_of_a_server_end_the_session(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200), ok: bool, is_hooked: bool,
    ) {
        if ok {
            bytes.splice(0..0, *b"\x07\0\0\x02\0\0\0\x02\0\0\0");
        }
        let scene = scene(is_hooked);
        let mut client = scene.client();
        client.expect(0);
        client.say_all(1, &[&login(CAPABILITIES, &bytes, "mysql_native_password")]);
        client.say(0, b"\x03select 1");
        while client.packet().is_some() {}
        scene.all_left();
    }

    #[test]
    fn any_bytes_of_a_client_end_the_session(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), after_login: bool, is_hooked: bool,
    ) {
        let scene = scene(is_hooked);
        let mut client = scene.client();
        client.expect(0);
        if after_login {
            let ok = b"\x07\0\0\x02\0\0\0\x02\0\0\0";
            client.say(1, &login(CAPABILITIES, ok, "mysql_native_password"));
        }
        let _ = client.stream.write_all(&bytes);
        let _ = client.stream.shutdown(Shutdown::Write);
        while client.packet().is_some() {}
        scene.all_left();
    }
}
