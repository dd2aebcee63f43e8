//! TLS, compression, and passwords between sides of different safety.

use std::process::Command;

use protocol::{Address, Connection, Endpoint, Error, Password, ServerKey, SslMode};
use server::{Installation, Lifetime, Server, Settings};

use super::{backend, client, end, proxy, text_of};
use crate::{
    mariadb::{MariaDb, PASSWORD, rows},
    scene::Scene,
};

/// What the command line client says of its connection.
fn status_of(scene: &Scene, port: u16, arguments: &[&str]) -> String {
    let mut all = vec!["test", "-e", "status; select 41 + 1"];
    all.extend_from_slice(arguments);
    text_of(client(scene, port, &all).output().unwrap())
}

/// Options of an account of the proxy's own.
pub(super) fn account(scene: &Scene) -> [String; 2] {
    let file = scene.path().join("password");
    [
        "--backend-user=trial".to_owned(),
        format!("--backend-password-file={}", file.display()),
    ]
}

/// Runs openssl with these words in the scene.
fn openssl(scene: &Scene, words: &str) {
    let made = Command::new("openssl")
        .args(words.split(' '))
        .current_dir(scene.path())
        .output();
    text_of(made.unwrap());
}

/// Makes an authority: `ca.pem` and `ca.key`.
fn make_authority(scene: &Scene) {
    openssl(
        scene,
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -out ca.pem -keyout ca.key",
    );
}

/// Makes an authority, and a certificate for localhost with its key: `ca.pem`, `cert.pem`, `key.pem`.
fn make_certificate(scene: &Scene) {
    make_authority(scene);
    openssl(
        scene,
        "req -new -newkey rsa:2048 -nodes -subj /CN=localhost -out cert.csr -keyout key.pem",
    );
    scene.file("names", "subjectAltName=DNS:localhost\n");
    openssl(
        scene,
        "x509 -req -in cert.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem",
    );
}

#[test]
fn clients_use_tls_and_compression_as_they_like() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[("max_allowed_packet", "64M")]);
    make_certificate(&scene);
    for by_account in [false, true] {
        let mut arguments = vec![backend(&server), "--proxy-compress".to_owned()];
        for (option, name) in [("cert", "cert.pem"), ("key", "key.pem")] {
            arguments.push(format!(
                "--proxy-ssl-{option}={}",
                scene.path().join(name).display()
            ));
        }
        if by_account {
            arguments.extend(account(&scene));
        }
        let (running, port) = proxy(&scene, &arguments);
        for (options, is_tls, is_compressed) in [
            (&[][..], false, false),
            (&["--ssl"], true, false),
            (&["--compress"], false, true),
            (&["--ssl", "--compress"], true, true),
        ] {
            let status = status_of(&scene, port, options);
            assert!(status.ends_with("42"), "{status}");
            assert_eq!(status.contains("Cipher in use"), is_tls, "{status}");
            assert_eq!(status.contains("Compressed"), is_compressed, "{status}");
            // Long in both directions, several results, an error among them, and a change of the user.
            let sql = format!(
                "select length('{}'); select repeat('y', 3000000); select nothing; select 7",
                "x".repeat(1_000_000)
            );
            let file = scene.file("long.sql", &sql);
            let mut words = vec!["--force", "test"];
            words.extend_from_slice(options);
            let long = client(&scene, port, &words)
                .stdin(std::fs::File::open(file).unwrap())
                .output()
                .unwrap();
            let shown = String::from_utf8_lossy(&long.stdout);
            assert!(shown.starts_with("1000000\n"), "{}", shown.len());
            assert!(shown.ends_with("y\n7\n"), "{}", shown.len());
            assert!(String::from_utf8_lossy(&long.stderr).contains("ERROR 1054"));
            let mut words = vec!["-e", "select 1"];
            words.extend_from_slice(options);
            let mut wrong = client(&scene, port, &words);
            let wrong = wrong.env("MYSQL_PWD", "wrong").output().unwrap();
            let wrong = String::from_utf8_lossy(&wrong.stderr).into_owned();
            assert!(wrong.contains("ERROR 1045 (28000)"), "{wrong}");
        }
        end(running);
    }
}

#[test]
fn backends_are_reached_by_tls_and_compression() {
    let scene = Scene::for_servers();
    make_certificate(&scene);
    let file = |name: &str| scene.path().join(name).display().to_string();
    let (certificate, key, ca) = (file("cert.pem"), file("key.pem"), file("ca.pem"));
    let server = MariaDb::start(
        &scene,
        &[
            ("ssl_cert", certificate.as_str()),
            ("ssl_key", key.as_str()),
            ("local_infile", "ON"),
        ],
    );
    scene.file("rows", "1\tone\n2\ttwo\n");
    for by_account in [false, true] {
        let mut arguments = vec![
            format!("--proxy-backend-addresses=localhost:{}", server.port()),
            "--proxy-ssl-auto".to_owned(),
            "--proxy-compress".to_owned(),
            "--backend-ssl-mode=verify_identity".to_owned(),
            format!("--backend-ssl-ca={ca}"),
            "--backend-compress".to_owned(),
        ];
        if by_account {
            arguments.extend(account(&scene));
        }
        let (running, port) = proxy(&scene, &arguments);
        let seen = "select variable_value <> '' from information_schema.session_status \
                    where variable_name in ('ssl_cipher', 'compression') order by 1; \
                    select variable_value from information_schema.session_status where variable_name = 'compression'";
        for options in [
            &[][..],
            &["--ssl"],
            &["--compress"],
            &["--ssl", "--compress"],
        ] {
            let mut words = vec!["test", "-e", seen];
            words.extend_from_slice(options);
            let output = client(&scene, port, &words).output().unwrap();
            assert_eq!(text_of(output), "1\n1\nON");
            let load = "create temporary table t (a int, b text); \
                        load data local infile 'rows' into table t; select max(b) from t; \
                        select 1; select seq from seq_1_to_3; select 5";
            let mut words = vec!["--local-infile=1", "test", "-e", load];
            words.extend_from_slice(options);
            let output = client(&scene, port, &words).output().unwrap();
            assert_eq!(text_of(output), "two\n1\n1\n2\n3\n5");
        }
        end(running);
    }
    // Another authority has not signed it.
    let other = Scene::new();
    make_authority(&other);
    let ca = other.path().join("ca.pem");
    let (running, port) = proxy(
        &scene,
        &[
            format!("--proxy-backend-addresses=localhost:{}", server.port()),
            "--backend-ssl-mode=verify_ca".to_owned(),
            format!("--backend-ssl-ca={}", ca.display()),
        ],
    );
    let refused = client(&scene, port, &["-e", "select 1"]).output().unwrap();
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("ERROR 1043"), "{refused}");
    assert!(refused.contains("no TLS with the backend"), "{refused}");
    end(running);
}

#[test]
fn tls_may_be_required_and_bad_files_are_named() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let arguments = [
        backend(&server),
        "--proxy-ssl-auto".to_owned(),
        "--proxy-ssl-required".to_owned(),
    ];
    let (running, port) = proxy(&scene, &arguments);
    let refused = client(&scene, port, &["-e", "select 1"]).output().unwrap();
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("ERROR 3159 (HY000)"), "{refused}");
    let output = client(&scene, port, &["--ssl", "test", "-e", "select 3"]).output();
    assert_eq!(text_of(output.unwrap()), "3");
    end(running);
    let empty = scene.file("empty.pem", "");
    let empty = empty.display();
    for (words, said) in [
        (vec!["--proxy-ssl-required".to_owned()], "no certificate"),
        (vec![format!("--proxy-ssl-cert={empty}")], "--proxy-ssl-key"),
        (
            vec![
                format!("--proxy-ssl-cert={empty}"),
                format!("--proxy-ssl-key={empty}"),
            ],
            "empty.pem",
        ),
        (vec!["--backend-ssl-mode=on".to_owned()], "VERIFY_CA"),
        (
            vec!["--backend-ssl-mode=verify_ca".to_owned()],
            "--backend-ssl-ca",
        ),
        (
            vec![format!("--backend-ssl-ca={empty}")],
            "verifies nothing",
        ),
        (
            vec!["--backend-user=x".to_owned()],
            "--backend-password-file",
        ),
        (
            vec![
                "--backend-user=x".to_owned(),
                "--backend-password-file=/nowhere".to_owned(),
            ],
            "/nowhere",
        ),
    ] {
        let refused = scene.called("mysql-proxy", &words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}

/// A server of this installation, or `None` if it is not installed.
pub(super) fn installed(scene: &Scene, name: &str) -> Option<Server> {
    let Ok(installation) = Installation::find(Some(name), None) else {
        eprintln!("not tested: {name} is not installed (dbdyno server install {name})");
        return None;
    };
    let settings = Settings {
        set: [("innodb_buffer_pool_size".to_owned(), "32M".to_owned())].into(),
        ..Settings::default()
    };
    let mut server = Server::create(&scene.path().join("given"), &installation, &settings).unwrap();
    server.start(Lifetime::Owned).unwrap();
    Some(server)
}

/// The number of the error of a login, or `None` if it succeeds.
pub(super) fn login(port: u16, user: &str, password: &str, ssl_mode: SslMode) -> Option<u16> {
    let address = Address::Tcp {
        host: "127.0.0.1".to_owned(),
        port,
    };
    let limit = std::time::Duration::from_secs(60);
    let endpoint = Endpoint {
        password: Some(Password::from(password)),
        ssl_mode,
        server_key: ServerKey::Asked,
        ..Endpoint::plain(address, user, limit)
    };
    let opened = reactor::block_on(async {
        let mut connection = Connection::open(&endpoint).await?;
        let sets = connection.rows("select current_user()").await?;
        assert!(
            sets[0].rows[0][0]
                .as_ref()
                .unwrap()
                .starts_with(user.as_bytes())
        );
        assert_eq!(connection.tls(), ssl_mode == SslMode::Required);
        connection.close().await
    });
    match opened.unwrap() {
        Ok(()) => None,
        Err(Error::Server(error)) => Some(error.number),
        Err(error) => panic!("{user}: {error}"),
    }
}

#[test]
fn passwords_cross_sides_of_different_safety() {
    let scene = Scene::for_servers();
    let Some(server) = installed(&scene, "mysql-9.7") else {
        return;
    };
    let root = server.endpoint();
    scene.file("password", PASSWORD);
    let has_sha256 = rows(
        &root,
        "select count(*) from information_schema.plugins where plugin_name = 'sha256_password'",
    );
    let mut users = vec![("caching", "caching_sha2_password")];
    if has_sha256[0][0] == "1" {
        users.push(("sha", "sha256_password"));
    }
    for (user, plugin) in &users {
        let create = format!("create user {user} identified with {plugin} by '{PASSWORD}'");
        rows(&root, &create);
    }
    let by_tcp = format!("127.0.0.1:{}", server.port());
    let by_socket = server.socket().display().to_string();
    for (address, mode) in [
        (&by_tcp, "disabled"),
        (&by_tcp, "required"),
        (&by_socket, "disabled"),
    ] {
        let arguments = [
            format!("--proxy-backend-addresses={address}"),
            "--proxy-ssl-auto".to_owned(),
            format!("--backend-ssl-mode={mode}"),
            "--proxy-connect-timeout=30".to_owned(),
        ];
        let (running, port) = proxy(&scene, &arguments);
        for ssl_mode in [SslMode::Disabled, SslMode::Required] {
            for (user, _) in &users {
                // The server forgets proofs, so that the next login is a full one; the second is a fast one.
                rows(&root, "flush privileges");
                for password in [PASSWORD, PASSWORD, "wrong", ""] {
                    let number = login(port, user, password, ssl_mode);
                    let expected = (password != PASSWORD).then_some(1045);
                    assert_eq!(number, expected, "{address} {mode} {ssl_mode} {user}");
                }
            }
        }
        end(running);
    }
}
