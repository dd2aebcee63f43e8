//! Logins by the proxy's own account.

use protocol::SslMode;
use server::Installation;

use super::{
    ask, backend, client, end, proxy,
    secure::{account, installed, login},
    text_of,
};
use crate::{
    mariadb::{MariaDb, PASSWORD, rows},
    scene::Scene,
};

#[test]
fn an_account_of_the_proxy_serves_clients_of_mysql() {
    let scene = Scene::for_servers();
    let Some(server) = installed(&scene, "mysql-9.7") else {
        return;
    };
    let root = server.endpoint();
    rows(
        &root,
        &format!("create user trial identified by '{PASSWORD}'"),
    );
    rows(&root, "grant all on *.* to trial");
    scene.file("password", PASSWORD);
    let mut arguments = vec![
        format!("--proxy-backend-addresses=127.0.0.1:{}", server.port()),
        "--proxy-ssl-auto".to_owned(),
        "--proxy-compress".to_owned(),
        "--backend-ssl-mode=required".to_owned(),
        "--backend-compress".to_owned(),
    ];
    arguments.extend(account(&scene));
    let (running, port) = proxy(&scene, &arguments);
    for ssl_mode in [SslMode::Disabled, SslMode::Required] {
        assert_eq!(login(port, "trial", PASSWORD, ssl_mode), None);
        assert_eq!(login(port, "trial", "wrong", ssl_mode), Some(1045));
        assert_eq!(login(port, "other", PASSWORD, ssl_mode), Some(1045));
    }
    // MySQL's own client knows mysql_native_password no more.
    let installation = Installation::find(Some("mysql-9.7"), None).unwrap();
    let mysql = installation
        .mysqld
        .ancestors()
        .map(|dir| dir.join("bin/mysql"))
        .find(|it| it.exists());
    if let Some(mysql) = mysql {
        let output = installation
            .program(&mysql)
            .args([
                "--no-defaults",
                "-h127.0.0.1",
                "-utrial",
                "-N",
                "-e",
                "select 42",
            ])
            .arg(format!("-P{port}"))
            .env("MYSQL_PWD", PASSWORD)
            .output()
            .unwrap();
        assert_eq!(text_of(output), "42");
    }
    end(running);
}

#[test]
fn an_account_of_the_proxy_opens_connections_where_a_script_wants_them() {
    let (scene, other) = (Scene::for_servers(), Scene::for_servers());
    let first = MariaDb::start(&scene, &[]);
    let second = MariaDb::start(&other, &[]);
    let script = scene.file(
        "split.lua",
        r#"
        function connect_server()
            if proxy.global.backends[1].pool.users[""].cur_idle_connections > 0 then
                proxy.connection.backend_ndx = 1
                return proxy.PROXY_IGNORE_RESULT
            end
        end
        function read_query(packet)
            if packet:find("go to 2", 1, true) then
                proxy.connection.backend_ndx = 2
            elseif packet:find("go to 1", 1, true) then
                proxy.connection.backend_ndx = 1
            end
        end
        function disconnect_client()
            proxy.connection.backend_ndx = 0
        end
        "#,
    );
    let mut arguments = vec![
        backend(&first),
        backend(&second),
        format!("--proxy-lua-script={}", script.display()),
    ];
    arguments.extend(account(&scene));
    let (running, port) = proxy(&scene, &arguments);
    let sql = "select @@port, '--go to 1'; set @x = 5; use mysql; select @@port, database(), '--go to 2'; \
               select @@port, @x, '--go to 1'";
    let expected = format!(
        "{one}\t--go to 1\n{two}\tmysql\t--go to 2\n{one}\t5\t--go to 1",
        one = first.port(),
        two = second.port()
    );
    assert_eq!(ask(&scene, port, sql), expected);
    // A client of another session gets the connection of the first, as a new one.
    let connections = "select count(*) from information_schema.processlist where user = 'trial'";
    for _ in 0..3 {
        assert_eq!(ask(&scene, port, "select @x, database()"), "NULL\ttest");
    }
    assert_eq!(ask(&scene, port, connections), "1");
    let mut wrong = client(&scene, port, &["-e", "select 1"]);
    let wrong = wrong.env("MYSQL_PWD", "wrong").output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("ERROR 1045"));
    end(running);
}

#[test]
fn clients_of_mariadb_trust_the_certificate_of_a_proxy_that_knows_the_password() {
    let scene = Scene::for_servers();
    let Ok(installation) = Installation::find(Some("mariadb-11.8"), None) else {
        eprintln!("not tested: mariadb-11.8 is not installed");
        return;
    };
    let server = MariaDb::start(&scene, &[]);
    let client = installation
        .mysqld
        .ancestors()
        .map(|dir| dir.join("bin/mariadb"))
        .find(|it| it.exists())
        .unwrap();
    // This client does not check a certificate for a password from the environment.
    let options = scene.file(
        "client.cnf",
        &format!("[client]\npassword=\"{PASSWORD}\"\n"),
    );
    let connect = |port: u16| {
        let output = installation
            .program(&client)
            .arg(format!("--defaults-file={}", options.display()))
            .args(["--protocol=tcp", "-hlocalhost", "-utrial", "-N"])
            .args(["-e", "status"])
            .arg(format!("-P{port}"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8_lossy(&output.stdout).into_owned(), error)
    };
    let mut arguments = vec![backend(&server), "--proxy-ssl-auto".to_owned()];
    let (running, port) = proxy(&scene, &arguments);
    let (_, error) = connect(port);
    assert!(error.contains("NOT trusted"), "{error}");
    end(running);
    arguments.extend(account(&scene));
    let (running, port) = proxy(&scene, &arguments);
    let (status, error) = connect(port);
    assert!(status.contains("cert is OK"), "{status} {error}");
    end(running);
}
