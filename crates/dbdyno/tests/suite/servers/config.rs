//! `dbdyno config`: option files reviewed, explained, compared, moved and made.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::scene::Scene;

/// Right and wrong lines for MySQL 8.0.33.
const MIXED: &str = "[mysqld]\nmax_connections = 0\nquery_cache_size = 64M\nlog_slave_updates = ON\n\
                     innodb_flush_log_at_trx_commit = 2\ndefault_time_zone = UTC\n[mysqld_safe]\n\
                     character-set-server = utf8\n";

#[test]
fn lint_answers_first_and_exits_by_level() {
    let scene = Scene::for_servers();
    scene.file("my.cnf", MIXED);
    let lint = |more: &[&str]| {
        let arguments = [
            "config",
            "lint",
            "my.cnf",
            "--for",
            "mysql-8.0.33",
            "--no-validator",
        ];
        scene.dbdyno([&arguments, more].concat())
    };
    let text = lint(&[]).exits(1).text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "my.cnf for mysql-8.0.33: does not start as it is: 1 refused, 2 risks, 2 warnings, 2 notes in 5 options"
    );
    assert!(lines[1].starts_with("durability D2: "), "{text}");
    assert!(lines.len() <= 12, "{text}");
    assert!(lines[2].starts_with("memory not judged: "), "{text}");
    assert!(
        lines[3].starts_with("refused  my.cnf line 3: query_cache_size=64M: unknown"),
        "{text}"
    );
    assert!(!text.contains("Source: "), "{text}");
    lint(&["-v"]).exits(1).prints("Source: ");
    lint(&["--level", "risk"])
        .exits(1)
        .prints("D2: the last commits are lost in a power cut");
    scene.file("risk.cnf", "[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n");
    let risk = [
        "config",
        "lint",
        "risk.cnf",
        "--for",
        "mysql-8.0.33",
        "--no-validator",
    ];
    scene.dbdyno(risk).exits(0);
    scene
        .dbdyno([&risk[..], &["--fail-if", "risk"]].concat())
        .exits(1);
    lint(&["--format", "github"])
        .exits(1)
        .prints("::error file=my.cnf,line=3,title=Unknown option::query_cache_size=64M");

    let found: Value = serde_json::from_str(&lint(&["--format", "json"]).text()).unwrap();
    assert_eq!(found["durability"]["class"], "D2");
    assert_eq!(found["findings"][0]["rule"], "unknown-option");
    assert_eq!(found["findings"][0]["line"], 3);
    let sarif: Value = serde_json::from_str(&lint(&["--format", "sarif"]).text()).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 3, "{sarif}");
}

#[test]
fn lint_fixes_into_a_new_file() {
    let scene = Scene::for_servers();
    scene.file("my.cnf", MIXED);
    let fix = [
        "config",
        "lint",
        "my.cnf",
        "--for",
        "mysql-8.0.33",
        "--no-validator",
        "--fix",
        "new.cnf",
    ];
    scene
        .dbdyno(fix)
        .exits(1)
        .prints("wrote new.cnf with 3 rewrites")
        .prints("-default_time_zone = UTC")
        .prints("+default_time_zone = '+00:00'");
    let fixed = std::fs::read_to_string(scene.path().join("new.cnf")).unwrap();
    assert!(
        fixed.contains("\nlog_replica_updates = ON    # was log_slave_updates=ON\n"),
        "{fixed}"
    );
    assert!(
        fixed.contains("\n# query_cache_size = 64M    # left out: "),
        "{fixed}"
    );
    assert_eq!(
        std::fs::read_to_string(scene.path().join("my.cnf")).unwrap(),
        MIXED
    );
    // Nothing is overwritten.
    scene.dbdyno(fix).exits(2).says("new.cnf exists already");
    let again = [
        "config",
        "lint",
        "new.cnf",
        "--for",
        "mysql-8.0.33",
        "--no-validator",
    ];
    scene
        .dbdyno(again)
        .exits(0)
        .prints("starts, by the catalogues");
}

/// Where the version is installed, its own validator and the catalogue make one set of findings.
#[test]
fn lint_asks_the_installed_server() {
    let scene = Scene::for_servers();
    scene.file(
        "my.cnf",
        "[mysqld]\nno_such_option=1\nsort_buffer_size=2X\ntmpdir=/no/such/directory\n",
    );
    let text = scene
        .dbdyno(["config", "lint", "my.cnf", "--for", "mariadb"])
        .exits(1)
        .text();
    assert_eq!(text.matches("no_such_option=1").count(), 1, "{text}");
    assert_eq!(text.matches("sort_buffer_size=2X").count(), 1, "{text}");
    assert!(!text.contains("refused  my.cnf line 4"), "{text}");
    // The limit of open files here is that of another machine.
    scene.file(
        "files.cnf",
        "[mysqld]\nopen_files_limit=2000000\nmax_connections=90000\ntable_open_cache=100000\n",
    );
    let text = scene
        .dbdyno(["config", "lint", "files.cnf", "--for", "mariadb"])
        .exits(0)
        .text();
    assert!(!text.contains("becomes"), "{text}");
}

#[test]
fn bad_files_and_versions_are_errors_that_say_so() {
    let scene = Scene::for_servers();
    let lint = |file: &str| {
        scene.dbdyno([
            "config",
            "lint",
            file,
            "--for",
            "mysql-8.0.33",
            "--no-validator",
        ])
    };
    std::fs::write(scene.path().join("binary.cnf"), b"\x7fELF\0\0\0").unwrap();
    lint("binary.cnf")
        .exits(2)
        .says("binary.cnf line 1")
        .says("NUL bytes");
    std::fs::write(scene.path().join("wide.cnf"), b"\xff\xfe[\0m\0]\0").unwrap();
    lint("wide.cnf").exits(2).says("UTF-16").says("iconv");
    std::fs::create_dir(scene.path().join("directory")).unwrap();
    lint("directory")
        .exits(2)
        .says("directory: cannot read the option file");
    lint("missing.cnf").exits(2).says("missing.cnf");
    scene.file("includes.cnf", "!include no-such.cnf\n");
    lint("includes.cnf")
        .exits(0)
        .prints("note     includes.cnf line 1: not read: not on this machine: no-such.cnf");
    scene.file("endless.cnf", "!include endless.cnf\n");
    lint("endless.cnf")
        .exits(2)
        .says("includes nest")
        .hints("includes itself");
    scene.file("ungrouped.cnf", "port=1\n");
    lint("ungrouped.cnf")
        .exits(2)
        .says("before the first [group]");
    scene.file(
        "long.cnf",
        &format!("[mysqld]\ninit_connect={}\n", "x".repeat(1 << 20)),
    );
    lint("long.cnf").exits(1).prints("longer than 4094 bytes");
    // The rest is judged, also by the server's own validator.
    std::fs::write(
        scene.path().join("faulty.cnf"),
        b"[mysqld] # f\xfcr alle\nmax_connections 500\nback_log = 80 # gr\xf6\xdfer\nno_such_option = 1\n",
    )
    .unwrap();
    scene
        .dbdyno(["config", "lint", "faulty.cnf", "--for", "mariadb-10.11"])
        .exits(1)
        .prints("2 refused")
        .prints("faulty.cnf line 2: not read: the option's name contains a space")
        .prints("faulty.cnf line 4: no_such_option=1: unknown");
    scene.file("returns.cnf", "[mysqld]\r\nmax_connections = 77\r\n");
    lint("returns.cnf").exits(0).prints("0 refused");
    scene
        .dbdyno([
            "config",
            "lint",
            "returns.cnf",
            "--for",
            "mysql-8.3",
            "--no-validator",
        ])
        .exits(0)
        .prints("no catalogue for mysql-8.3: the nearest one is used, mysql-8.0.33; an option that it does not know is only a note");
    scene
        .dbdyno(["config", "lint", "returns.cnf", "--for", "oracle-19"])
        .exits(2)
        .says("is not a server version");
    let open = scene.file("open.cnf", "[mysqld]\nmax_connections=77\n");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).unwrap();
    lint("open.cnf")
        .exits(1)
        .prints("the server does not read it; chmod o-w");
    scene.file(
        "secret.cnf",
        "[client]\npassword=swordfish\n[mysqld]\npassword=swordfish\n",
    );
    let told = lint("secret.cnf").exits(1);
    told.conceals("swordfish");
}

#[test]
fn explain_has_texts_and_facts() {
    let scene = Scene::for_servers();
    scene
        .dbdyno(["config", "explain", "innodb-log-buffer-size"])
        .exits(0)
        .prints("innodb_log_buffer_size (bytes): ")
        .prints("5.7.22 to 8.0.33: 16M, 8.4 to 9.7: 64M")
        .prints("Innodb_log_waits");
    scene
        .dbdyno(["config", "explain", "wsrep_on"])
        .exits(0)
        .prints("no explanation available");
    scene
        .dbdyno(["config", "explain", "max_conections"])
        .exits(2)
        .hints("is max_connections meant?");
    scene.file("my.cnf", "[mysqld]\nkey_buffer = 32M\nsync_binlog = 1\n");
    let text = scene
        .dbdyno(["config", "explain", "my.cnf", "--for", "mysql-5.6"])
        .exits(0)
        .text();
    assert!(
        text.starts_with(
            "2 options for mysql-5.6\nkey_buffer=32M: The size of the cache for MyISAM"
        ),
        "{text}"
    );
}

#[test]
fn diff_compares_versions_files_and_a_running_server() {
    let scene = Scene::for_servers();
    scene
        .dbdyno(["config", "diff", "mysql-8.0.33", "mysql-9.7"])
        .exits(0)
        .prints("innodb_flush_method: fsync -> O_DIRECT (durability)")
        .prints("optimizer_switch: +hash_set_operations=on");
    scene.file(
        "a.cnf",
        "[mysqld]\nmax_connections=77\nsync_binlog=0\nquery_cache_size=1M\n",
    );
    scene.file("b.cnf", "[mysqld]\nmax-connections=88\nskip-log-bin\n");
    let text = scene
        .dbdyno(["config", "diff", "a.cnf", "b.cnf", "--for", "mysql-8.0.33"])
        .exits(0)
        .text();
    assert!(
        text.starts_with("a.cnf against b.cnf: 3 different values"),
        "{text}"
    );
    assert!(
        text.contains("a.cnf: lines that mysql-8.0.33 refuses or ignores: query_cache_size"),
        "{text}"
    );
    assert!(
        text.contains("max_connections: 77 -> 88 (connections)"),
        "{text}"
    );

    scene
        .dbdyno([
            "server",
            "create",
            "one",
            "--run",
            "mariadb",
            "--set",
            "max_connections=99",
        ])
        .exits(0);
    scene
        .dbdyno(["config", "diff", "a.cnf", "server:one"])
        .exits(0)
        .prints("max_connections: 77 -> 99");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    let record = |name: &str| format!("{}/../audit/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let (a, b) = (record("mariadb-tpcc.jsonl"), record("mysql-insert.jsonl"));
    scene
        .dbdyno(["config", "diff", &a, &b])
        .exits(0)
        .prints("sync_binlog: 0 -> 1");
    scene
        .dbdyno(["config", "diff", "a.cnf", "server:none"])
        .exits(2)
        .says("none");
}

#[test]
fn a_file_moves_and_the_new_server_starts_with_it() {
    let scene = Scene::for_servers();
    scene.file(
        "old.cnf",
        "[mysqld]\nkey_buffer=16M\ninnodb_additional_mem_pool_size=20M\ncharacter-set-server=utf8\nlog-bin=bin\n\
         server-id=1\nlog-slow-queries=slow.log\n",
    );
    let migrate = [
        "config",
        "migrate",
        "old.cnf",
        "--from",
        "mysql-5.5",
        "--to",
        "mariadb",
    ];
    scene
        .dbdyno(migrate)
        .exits(0)
        .prints("old.cnf from mysql-5.5 to mariadb-")
        .prints("accepted by that server's validator; started here\n")
        .prints("slow.log becomes slow_query_log = 1 and slow_query_log_file = slow.log\n")
        .prints("+key_buffer_size = 16M");
    assert!(!scene.path().join("new.cnf").exists());
    scene
        .dbdyno([&migrate[..], &["--output", "new.cnf"]].concat())
        .exits(0)
        .prints("wrote new.cnf");
    scene
        .dbdyno([
            "server", "create", "one", "--run", "mariadb", "--cnf", "new.cnf",
        ])
        .exits(0);
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    // What the new version refuses is reported, and fails.
    scene.file("old.cnf", "[mysqld]\ninnodb_flush_method=sometimes\n");
    scene
        .dbdyno(migrate)
        .exits(1)
        .prints("refused by that server's validator")
        .prints("refused  line 3 of the new file: innodb_flush_method");
    // What only a start refuses does, too.
    scene.file("old.cnf", "[mysqld]\ninnodb_log_group_home_dir=nowhere\n");
    scene
        .dbdyno(migrate)
        .exits(1)
        .prints("accepted by that server's validator; does not start here: ");
    // Without the version nothing is started, and the answer says so.
    scene
        .dbdyno([&migrate[..], &["--no-validator"]].concat())
        .exits(0)
        .prints(
            "checked only against the catalogues; not tried by starting a server: --no-validator\n",
        );
    let absent = [
        "config",
        "migrate",
        "old.cnf",
        "--from",
        "mysql-5.5",
        "--to",
        "mariadb-10.3.1",
    ];
    scene
        .dbdyno(absent)
        .exits(0)
        .prints("not tried by starting a server: mariadb-10.3.1 is not installed\n");
}

/// The catalogues have no options of plugins, and a server here need not have their libraries.
#[test]
fn options_of_loaded_plugins_are_neither_refused_nor_left_out() {
    let scene = Scene::for_servers();
    scene.file(
        "audit.cnf",
        "[mariadb]\nplugin_load_add = no_such_library\nno_such_library_logging = ON\nno_such_thing = 1\n",
    );
    let text = scene
        .dbdyno(["config", "lint", "audit.cnf", "--for", "mariadb-10.11"])
        .exits(1)
        .text();
    assert!(text.contains("1 refused"), "{text}");
    assert!(
        text.contains(
            "no_such_library_logging=ON: not judged: an option of the plugin no_such_library"
        ),
        "{text}"
    );
    scene
        .dbdyno(["server", "check", "--run", "mariadb", "--cnf", "audit.cnf"])
        .exits(2)
        .prints("the library of its plugin is not installed here: no_such_library.so");
    scene.file(
        "audit.cnf",
        "[mariadb]\nplugin_load_add = no_such_library\nno_such_library_logging = ON\n",
    );
    scene
        .dbdyno([
            "config",
            "migrate",
            "audit.cnf",
            "--from",
            "mariadb-10.5",
            "--to",
            "mariadb",
        ])
        .exits(0)
        .prints(" 0 left out")
        .prints("that it cannot judge here; started here, without plugin_load_add, no_such_library_logging");
}

#[test]
fn a_made_file_is_clean_and_starts() {
    let scene = Scene::for_servers();
    let generate = [
        "config",
        "generate",
        "--for",
        "mariadb",
        "--memory",
        "1G",
        "--disk-iops",
        "2000",
    ];
    let made = scene.dbdyno(generate).exits(0).says("note: started here");
    let text = made.text();
    assert!(
        text.contains("[mysqld]\n") && text.contains("\ninnodb_io_capacity = 1000\n"),
        "{text}"
    );
    scene.file("my.cnf", &text);
    scene
        .dbdyno([
            "config",
            "lint",
            "my.cnf",
            "--for",
            "mariadb",
            "--memory",
            "1G",
            "--fail-if",
            "note",
        ])
        .exits(0)
        .prints("durability D4");
    scene
        .dbdyno([
            "server", "create", "one", "--run", "mariadb", "--cnf", "my.cnf",
        ])
        .exits(0);
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
    scene
        .dbdyno([&generate[..], &["--no-start"]].concat())
        .exits(0)
        .says("note: not tried by starting a server: --no-start");
    scene
        .dbdyno([&generate[..], &["--durability", "D9"]].concat())
        .exits(2)
        .says("D0, D1, D2, D3, D4");
    scene
        .dbdyno([
            "config",
            "generate",
            "--for",
            "mariadb",
            "--storage",
            "nothing",
        ])
        .exits(2)
        .says("contains no storage measurement");
}

#[test]
fn no_output_shows_a_secret() {
    let scene = Scene::for_servers();
    let secrets = "[client]\npassword = mimsy\n[mysqld]\nreport_password = mimsy\nwsrep_sst_auth = root:mimsy\n\
                   # master_password = mimsy\nloose-s3-secret-key = mimsy\nquery_cache_size = 64M\nreport_passwrd = mimsy\n";
    scene.file("my.cnf", secrets);
    scene.file("other.cnf", &secrets.replace("mimsy", "mimsy2"));
    let installed = ["--for", "mariadb-10.11"];
    let known = ["--for", "mysql-8.0.33", "--no-validator"];
    let versions = ["--from", "mysql-5.7", "--to", "mysql-8.0.33"];
    let cases: [(&[&str], &[&str]); 11] = [
        (&["explain", "my.cnf"], &installed),
        (&["explain", "my.cnf", "--format", "json"], &installed),
        (&["diff", "my.cnf", "other.cnf", "-v"], &installed),
        (
            &["diff", "my.cnf", "other.cnf", "--format", "json"],
            &installed,
        ),
        (&["lint", "my.cnf", "-v"], &known),
        (&["lint", "my.cnf", "-v"], &installed),
        (&["lint", "my.cnf", "--format", "json"], &installed),
        (&["lint", "my.cnf", "--format", "github"], &installed),
        (&["lint", "my.cnf", "--format", "sarif"], &installed),
        (&["migrate", "my.cnf", "-v"], &versions),
        (&["migrate", "my.cnf", "-o", "new.cnf"], &versions),
    ];
    for (command, more) in cases {
        let words = ["config"].iter().chain(command).chain(more);
        let finished = scene.dbdyno(words);
        assert!(
            finished.status.code().is_some_and(|code| code < 2),
            "{command:?}: {}",
            finished.stderr
        );
        finished.conceals("mimsy");
    }
    // What is written for the server keeps them.
    let new = std::fs::read_to_string(scene.path().join("new.cnf")).unwrap();
    assert!(new.contains("report_password = mimsy"), "{new}");
}
