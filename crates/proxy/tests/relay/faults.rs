//! Faults on purpose.

use std::time::Duration;

use proxy::Faults;

use crate::mock::{End, Scene, open_server};

const OK: &[u8] = b"\0\0\0\x02\0\0\0";

fn scene(faults: Faults) -> Scene {
    let address = open_server(|mut end| {
        while let Some((number, _)) = end.packet() {
            end.say(number.wrapping_add(1), OK);
        }
    });
    Scene::with(&[address], None, |settings| settings.faults = faults)
}

/// The time of some commands.
fn ping(client: &mut End, times: u32) -> Duration {
    let start = reactor::system_now();
    for _ in 0..times {
        client.say(0, b"\x0e");
        assert_eq!(client.expect(1), OK);
    }
    reactor::system_now() - start
}

#[test]
fn commands_are_delayed() {
    let scene = scene(Faults {
        delay: "20ms:5ms".parse().unwrap(),
        ..Faults::default()
    });
    let took = ping(&mut scene.user(0), 5);
    assert!(took >= Duration::from_millis(75), "{took:?}");
}

#[test]
fn commands_and_bytes_are_limited() {
    let slow = scene(Faults {
        commands_per_s: Some(50.0),
        ..Faults::default()
    });
    let took = ping(&mut slow.user(0), 6);
    assert!(took >= Duration::from_millis(100), "{took:?}");
    let narrow = scene(Faults {
        bytes_per_s: Some(100_000),
        ..Faults::default()
    });
    let mut client = narrow.user(0);
    let start = reactor::system_now();
    client.say(0, &[3; 20_000]);
    assert_eq!(client.expect(1), OK);
    assert!(reactor::system_now() - start >= Duration::from_millis(190));
}

#[test]
fn a_session_ends_after_its_last_command_or_at_a_lost_one() {
    let scene_ends = scene(Faults {
        kill_after: Some(3),
        ..Faults::default()
    });
    let mut client = scene_ends.user(0);
    ping(&mut client, 3);
    client.say(0, b"\x0e");
    client.expect_end();
    scene_ends.all_left();
    let lossy = scene(Faults {
        drop_share: 1.0,
        ..Faults::default()
    });
    let mut client = lossy.user(0);
    client.say(0, b"\x0e");
    client.expect_end();
    lossy.all_left();
}
