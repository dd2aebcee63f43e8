//! The admin interface.

use protocol::relay::{ServerGreeting, error_packet, ok_packet};
use proxy::{AdminAccount, AdminMaker};

use crate::mock::{CAPABILITIES, End, Scene, login_of};

fn scene() -> Scene {
    let account = AdminAccount {
        user: "root".to_owned(),
        password: "secret".to_owned(),
    };
    let maker = AdminMaker::maker(account, None);
    Scene::with(&[], Some(maker), |_| {})
}

fn log_in(scene: &Scene, user: &str, proof: impl Fn(&[u8]) -> Vec<u8>) -> End {
    let mut client = scene.client();
    let greeting = client.expect(0);
    assert!(greeting.starts_with(b"\x0a5.0.99-agent-admin\0"));
    let nonce = ServerGreeting::parse(greeting).unwrap().nonce;
    let login = login_of(user, CAPABILITIES, &proof(&nonce), "mysql_native_password");
    client.say(1, &login);
    client
}

#[test]
fn only_the_account_gets_in() {
    let scene = scene();
    let cases: [(&str, &[u8], &str); 3] = [
        ("ann", &[1; 20], "unknown user"),
        ("root", b"", "scrambling failed"),
        ("root", &[1; 20], "password doesn't match"),
    ];
    for (user, proof, why) in cases {
        let mut client = log_in(&scene, user, |_| proof.to_vec());
        assert_eq!(client.expect(2), error_packet(1045, "28000", why));
        client.expect_end();
    }
}

#[test]
fn questions_have_built_in_answers() {
    let scene = scene();
    let mut client = log_in(&scene, "root", |nonce| {
        protocol::relay::native_proof(b"secret", nonce)
    });
    assert_eq!(client.expect(2), ok_packet());
    let answers: [(&[u8], &[u8]); 2] = [
        (b"\x03select USER()", b"\x04root"),
        (
            b"\x03select @@version_comment limit 1",
            b"\x125.0.99-agent-admin",
        ),
    ];
    for (command, row) in answers {
        client.say(0, command);
        let packets: Vec<Vec<u8>> = (1..=5).map(|number| client.expect(number)).collect();
        assert_eq!(packets[3], row);
    }
    client.say(0, b"\x03select 1");
    let unknown = error_packet(1105, "07000", "(admin-server) query not known");
    assert_eq!(client.expect(1), unknown);
    client.say(0, b"\x02db");
    assert_eq!(client.expect(1), ok_packet());
    client.say(0, b"\x0e");
    assert_eq!(
        client.expect(1),
        error_packet(1105, "07000", "unknown COM_*")
    );
    client.say(0, b"\x01");
    client.expect_end();
}
