//! `mysqlslap` and `mariadb-slap`: their SQL compared with the originals, command lines of articles, and failures.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::Signal;

use crate::scene::{Finished, Scene};

/// Combinations of options with the original's SQL, one per line; `|` separates words.
const PRINTED: &str = "\
-a
-a|--auto-generate-sql-load-type=mixed|--auto-generate-sql-add-autoincrement|-x2:1|-y|3|--number-of-queries=7
-a|--auto-generate-sql-load-type=mixed|--auto-generate-sql-guid-primary|--auto-generate-sql-unique-query-number=4
-a|--auto-generate-sql-load-type=update|-x|2|-y2:1|--auto-generate-sql-secondary-indexes=2|-c3|-i2
-a|--auto-generate-sql-load-type=update|--auto-generate-sql-add-autoincrement|-emyisam:pack_keys=1,innodb
-a|--auto-generate-sql-load-type=write|--auto-generate-sql-add-autoincrement|--number-of-queries=12
-a|--auto-generate-sql-load-type=write|--auto-generate-sql-write-number=1k|--auto-generate-sql-unique-write-number=3
-a|--auto-generate-sql-load-type=write|--auto-generate-sql-write-number=0|--number-of-queries=3
-a|--auto-generate-sql-load-type=key|--auto-generate-sql-guid-primary|--auto-generate-sql-execute-number=5|-c2
-a|--auto-generate-sql-load-type=key|--auto-generate-sql-add-autoincrement|--commit=2|--number-of-queries=9|-c1,2,3
--query=select 1|--auto-generate-sql-execute-number=5
--query=select 1|--auto-generate-sql-execute-number=3|--number-of-queries=2|-c2
-a|--auto-generate-sql-load-type=read|-y0|--no-drop|--create-schema=foo|--engine=innodb
-a|--auto-generate-sql-load-type=read|-x0|--detach=2|--number-of-queries=3|-c5
--create=create table t(a int);insert into t values (1)|--query=select 1;select 2|--delimiter=;|--commit=1|-einnodb
--create=create table t(a int)|--query=select 1|--create-schema=foo|--no-drop|--pre-query=select 0|--post-query=select 9
--query= select 1 ;  select 2 ;|--delimiter=;|--number-of-queries=5|-c2,5|-i2
--query=statements.sql|--delimiter=;
--query=statements.sql
--skip-auto-generate-sql|--query=select 1|--silent
--query=select 1|--pre-system=echo before|--post-system=echo after; exit 3";

/// The original programs on this machine, each with the name under which dbdyno replaces it.
fn originals() -> Vec<(&'static str, PathBuf)> {
    let found = |command: &str| {
        let output = Command::new("sh").args(["-c", command]).output().ok()?;
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (!path.is_empty()).then(|| PathBuf::from(path))
    };
    let mut originals = Vec::new();
    originals.extend(found("command -v mariadb-slap").map(|path| ("mariadb-slap", path)));
    // Servers installed by dbdyno include their own.
    let installed = found("command -v mysqlslap").into_iter().chain(installed());
    originals.extend(installed.map(|path| ("mysqlslap", path)));
    originals.retain(|(name, path)| {
        let output = Command::new(path).arg("--version").output();
        let version = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        version.is_ok_and(|version| {
            // Before 5.6 the statement that sets the engine had another name.
            let is_mysql = version.contains("MySQL Community") && !version.contains("Distrib 5.5");
            version.contains("Ver ") && (is_mysql || *name == "mariadb-slap")
        })
    });
    originals
}

fn installed() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .unwrap_or_default();
    let installs = fs::read_dir(home.join(".local/share/dbdyno/installs"));
    let directories = installs.into_iter().flatten().flatten();
    let programs = directories.flat_map(|install| {
        ["tree/bin/mysqlslap", "tree/usr/bin/mysqlslap"].map(|path| install.path().join(path))
    });
    programs.filter(|path| path.is_file()).collect()
}

/// Lines in sorted order: the originals' clients print concurrently.
fn lines_of(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn what_is_printed_is_the_originals() {
    let originals = originals();
    if originals.is_empty() {
        eprintln!(
            "skipped: neither mariadb-slap nor mysqlslap is installed (scripts/install-packages.sh test)"
        );
        return;
    }
    let scene = Scene::for_servers();
    scene.file("statements.sql", "select 1;\nselect 2;\n\nselect 3;\n");
    for (name, original) in originals {
        for line in PRINTED.lines() {
            let words = ["--no-defaults", "--only-print"]
                .into_iter()
                .chain(line.split('|'));
            let words: Vec<&str> = words.collect();
            let theirs = Command::new(&original)
                .args(&words)
                .current_dir(scene.path())
                .output()
                .unwrap();
            let ours = scene.called(name, &words).exits(0);
            // The originals buffer their own output, while a shell command's output is not buffered.
            let is_alone = !line.contains("-c") && !line.contains("-system");
            let same = if is_alone {
                theirs.stdout == ours.stdout
            } else {
                lines_of(&theirs.stdout) == lines_of(&ours.stdout)
            };
            assert!(
                same,
                "{} {line}\n--- theirs\n{}--- ours\n{}",
                original.display(),
                String::from_utf8_lossy(&theirs.stdout),
                ours.text()
            );
        }
    }
}

#[test]
fn every_spelling_of_an_option_is_read() {
    let scene = Scene::for_servers();
    let group = "[mysqlslap]\nconcurrency = 3\n[mariadb-slap]\nquery = \"select 3\"\n[client]\nno_such_option = 1\n";
    let file = scene.file("own.cnf", group);
    let defaults = format!("--defaults-file={}", file.display());
    for words in [
        &["--no-defaults", "--query=select 2", "--concurrency=2"][..],
        &["--no-defaults", "--query", "select 2", "--concurrency", "2"],
        &["--no-defaults", "-q", "select 2", "-c2"],
        &[
            "--no-defaults",
            "-qselect 2",
            "--conc=2",
            "--loose-unknown=1",
        ],
        &[&defaults, "-q", "select 2", "-c", "2"],
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--only_print"]).collect();
        scene
            .called("mysqlslap", &words)
            .exits(0)
            .prints("select 2;\nselect 2;\n");
    }
    let from_file = scene.called("mariadb-slap", [defaults.as_str(), "--only-print"]);
    let from_file = from_file
        .exits(0)
        .says("unknown option '--no_such_option', ignored");
    assert_eq!(from_file.text(), "select 3;\n".repeat(3));
    let dialect = ["mysqlslap", "--dialect=mariadb", &defaults, "--only-print"];
    assert_eq!(scene.dbdyno(dialect).exits(0).text(), from_file.text());
    let told = [&defaults, "--print-defaults", "-psecret"];
    let told = scene.called("mysqlslap", told).exits(0);
    told.conceals("secret");
    told.prints("--concurrency=3");
    for name in ["mysqlslap", "mariadb-slap"] {
        scene
            .called(name, ["--help"])
            .exits(0)
            .prints("--auto-generate-sql-load-type=TYPE");
        scene
            .called(name, ["-V"])
            .exits(0)
            .prints(&format!("{name}  Ver "));
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let scene = Scene::for_servers();
    for (name, words, why) in [
        (
            "mysqlslap",
            &["-a", "--compression-algorithms=zstd"][..],
            "must be zlib, uncompressed, or both: not 'zstd'",
        ),
        (
            "mysqlslap",
            &["-a", "--plugin-dir=/x"],
            "option '--plugin-dir': dbdyno does not load plugins",
        ),
        (
            "mariadb-slap",
            &["-a", "--ssl-cert=/x"],
            "option '--ssl-cert': dbdyno does not support client certificates",
        ),
        (
            "mysqlslap",
            &["--init-command=x"],
            "unknown option '--init-command'",
        ),
        (
            "mariadb-slap",
            &["--ssl-mode=required"],
            "unknown option '--ssl-mode'",
        ),
        (
            "mysqlslap",
            &["--auto-gen"],
            "ambiguous option '--auto-gen'",
        ),
        (
            "mysqlslap",
            &["-a", "-c", "0"],
            "option '--concurrency' has '0'",
        ),
        (
            "mysqlslap",
            &["-a", "-i", "0"],
            "option '--iterations' is 0",
        ),
        (
            "mysqlslap",
            &["-a", "--arrivals=poisson"],
            "no effect without --rate",
        ),
        (
            "mysqlslap",
            &["--user=x"],
            "the clients have nothing to run",
        ),
        (
            "mysqlslap",
            &["-a", "-p"],
            "dbdyno does not ask for passwords",
        ),
    ] {
        let words = ["--no-defaults"].iter().chain(words);
        scene
            .called(name, words)
            .exits(2)
            .says(why)
            .prints_nothing();
    }
}

#[test]
fn options_that_contradict_each_other_are_refused_as_by_the_originals() {
    let scene = Scene::for_servers();
    let originals = originals();
    for (words, why) in [
        (
            &["-a", "--query=x"][..],
            "Can't use --auto-generate-sql when",
        ),
        (&["-a", "--create=x"], "Can't use --auto-generate-sql when"),
        (
            &["-a", "--auto-generate-sql-load-type=key"],
            "Can't perform key test",
        ),
        (
            &[
                "-a",
                "--auto-generate-sql-add-autoincrement",
                "--auto-generate-sql-guid-primary",
            ],
            "Either auto-generate-sql-guid-primary or",
        ),
        (
            &[
                "-a",
                "--auto-generate-sql-execute-number=5",
                "--number-of-queries=5",
            ],
            "Either auto-generate-sql-execute-number or",
        ),
    ] {
        let words: Vec<&str> = ["--no-defaults", "--only-print"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        for name in ["mysqlslap", "mariadb-slap"] {
            scene
                .called(name, &words)
                .exits(1)
                .says(why)
                .prints_nothing();
        }
        for (_, original) in &originals {
            let theirs = Command::new(original).args(&words).output().unwrap();
            let said = String::from_utf8_lossy(&theirs.stderr);
            assert!(said.contains(why), "{}: {said}", original.display());
            assert_eq!(theirs.status.code(), Some(1), "{}", original.display());
        }
    }
}

/// A server, and an option file for it.
struct Place {
    scene: Scene,
    port: String,
}

impl Place {
    fn new(settings: &[&str]) -> Self {
        Self::with(&[], settings)
    }

    /// A server with additional options of `server create`.
    fn with(options: &[&str], settings: &[&str]) -> Self {
        let scene = Scene::for_servers();
        let mut create = vec!["server", "create", "one"];
        create.extend(options);
        for setting in settings {
            create.extend(["--set", setting]);
        }
        scene.dbdyno(create).exits(0);
        let client = fs::read_to_string(scene.servers_directory().join("one/client.cnf")).unwrap();
        // A user's own option file, which no other user reads.
        let own = scene.file(".my.cnf", &client);
        readable_by_owner(&own);
        let mut place = Self {
            scene,
            port: String::new(),
        };
        place.port = place.sql("select @@port").trim().to_owned();
        place
    }

    fn sql(&self, sql: &str) -> String {
        let client = ["server", "client", "one", "--", "--batch", "-N", "-e", sql];
        self.scene.dbdyno(client).exits(0).text()
    }

    /// Runs a command line as the user types it.
    #[track_caller]
    fn typed(&self, line: &str) -> Finished {
        let line = line.replace("PORT", &self.port);
        let mut words = line.split_whitespace();
        let name = words.next().unwrap();
        self.scene.called(name, words)
    }

    #[track_caller]
    fn slap(&self, words: &[&str]) -> Finished {
        self.scene.called("mariadb-slap", words)
    }

    /// Checks that the test left nothing on the server.
    #[track_caller]
    fn is_clean(&self) {
        assert!(!self.sql("show databases").contains("mysqlslap"));
    }
}

fn readable_by_owner(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// The report's layout: the numbers of each block by line, with times replaced by `seconds`.
fn blocks(text: &str) -> Vec<Vec<String>> {
    let blocks = text.split("Benchmark\n").skip(1);
    blocks
        .map(|block| {
            assert!(block.ends_with("\n\n"), "{text}");
            let lines = block.trim_end().lines();
            lines
                .map(|line| {
                    let line = line.strip_prefix('\t').unwrap();
                    match line.split_once(": ") {
                        Some((what, value)) if value.ends_with(" seconds") => {
                            let seconds = value.trim_end_matches(" seconds");
                            let (_, decimals) = seconds.split_once('.').unwrap();
                            assert_eq!(decimals.len(), 3);
                            seconds.parse::<f64>().unwrap();
                            format!("{what}: seconds")
                        }
                        _ => line.to_owned(),
                    }
                })
                .collect()
        })
        .collect()
}

/// The expected block of a test with innodb.
fn block(clients: u32, per_client: u32) -> Vec<String> {
    vec![
        "Running for engine innodb".to_owned(),
        "Average number of seconds to run all queries: seconds".to_owned(),
        "Minimum number of seconds to run all queries: seconds".to_owned(),
        "Maximum number of seconds to run all queries: seconds".to_owned(),
        format!("Number of clients running queries: {clients}"),
        format!("Average number of queries per client: {per_client}"),
    ]
}

/// The last part leaves its schema.
#[test]
fn command_lines_run_as_with_the_originals() {
    // A client on a busy disk would have its first insert, and no select, within a second.
    let place = Place::new(&["max_connections=600", "innodb_flush_log_at_trx_commit=2"]);
    command_lines_of_the_articles(&place);
    what_users_have_asked_for(&place);
    deadlocks_are_told_counted_or_tried_again(&place);
    the_table_holds_what_was_asked_for(&place);
}

fn command_lines_of_the_articles(place: &Place) {
    // 10,000 rows and 1,000,000 queries in the article.
    let key = "--concurrency=50 --iterations=1 --number-int-cols=2 --number-char-cols=3 --auto-generate-sql \
               --engine=innodb --auto-generate-sql-add-autoincrement --auto-generate-sql-load-type=key \
               --auto-generate-sql-write-number=500 --number-of-queries=500 --host=127.0.0.1 --port=PORT";
    // 100,000 queries in the article.
    let insert = "--iterations=1 --engine=innodb --auto-generate-sql --auto-generate-sql-add-autoincrement \
                  --auto-generate-sql-load-type=write --number-of-queries=500";
    let group_commit = "--concurrency=30 --iterations=1 --engine=innodb --auto-generate-sql \
                        --auto-generate-sql-load-type=write --number-of-queries=500";
    // The article's levels once: what they cost is mostly the server's threads.
    let levels = [1, 5, 10, 20, 30, 50, 100, 200, 300, 500];
    for (name, levels) in [("mysqlslap", &levels[..]), ("mariadb-slap", &levels[..3])] {
        let ran = place.typed(&format!("{name} {key}")).exits(0);
        assert_eq!(blocks(&ran.text()), [block(50, 10)], "{}", ran.text());
        let list: Vec<String> = levels.iter().map(u32::to_string).collect();
        let insert = format!("{name} --concurrency={} {insert}", list.join(","));
        let ran = place.typed(&insert).exits(0);
        let expected: Vec<Vec<String>> = levels
            .iter()
            .map(|clients| block(*clients, 500 / clients))
            .collect();
        assert_eq!(blocks(&ran.text()), expected);
        let ran = place.typed(&format!("{name} {group_commit}")).exits(0);
        let ran = ran.says("20 of 500 statements are not run");
        assert_eq!(blocks(&ran.text()), [block(30, 16)]);
        place.is_clean();
    }
}

fn the_table_holds_what_was_asked_for(place: &Place) {
    let write = "mysqlslap -a --auto-generate-sql-load-type=write --auto-generate-sql-add-autoincrement \
                 --auto-generate-sql-write-number=1500 --number-of-queries=1000 -c 7 --no-drop";
    let count = || place.sql("select count(*), count(distinct charcol1) from mysqlslap.t1");
    place.typed(write).exits(0);
    // 1499 rows of ten kinds, then 142 of every client of eleven kinds.
    assert_eq!(count(), "2493\t21\n");
    place
        .typed(&format!(
            "{write} --yes-drop --remainder --commit=10 --detach=25"
        ))
        .exits(2);
    // The table existed before.
    let again = format!("{write} --remainder --commit=10 --detach=25");
    place.typed(&again).exits(3).says("already exists");
    place.sql("drop database mysqlslap");
    place.typed(&again).exits(0);
    assert_eq!(count(), "2499\t21\n");
    let csv = place.scene.path().join("out.csv");
    let lines = format!(
        "mariadb-slap -a --auto-generate-sql-guid-primary --auto-generate-sql-load-type=key -i 2 -c 2,3 \
         --number-of-queries=60 --engine=innodb,memory --create-schema=other --csv={}",
        csv.display()
    );
    place.typed(&lines).exits(0).prints_nothing();
    let text = fs::read_to_string(csv).unwrap();
    let ends: Vec<(&str, &str)> = text
        .lines()
        .map(|line| {
            let (begin, _) = line.split_once(",0.").unwrap();
            (begin, line.rsplit(',').nth(1).unwrap())
        })
        .collect();
    assert_eq!(
        ends,
        [
            ("innodb,key", "2"),
            ("innodb,key", "3"),
            ("memory,key", "2"),
            ("memory,key", "3")
        ]
    );
    assert!(!place.sql("show databases").contains("other"));
}

fn what_users_have_asked_for(place: &Place) {
    let words = "mysqlslap -a --auto-generate-sql-add-autoincrement -c 4 --duration=1 --percentile=50,99 --label=mine \
                 --seed=7 --record=round.jsonl -i 2";
    let ran = place.typed(words).exits(0).prints("\tLabel: mine\n");
    let ran = ran
        .prints("\tResponse times: p50 ")
        .prints("\tResponse times of select: p50 ");
    assert!(
        ran.text()
            .contains("\tConnecting, outside of the seconds above: ")
    );
    for round in [1, 2] {
        let record =
            fs::read_to_string(place.scene.path().join(format!("round-{round}.jsonl"))).unwrap();
        assert!(record.contains("\"concurrency\":\"4\"") && record.contains("\"seed\":7"));
        assert!(record.lines().last().unwrap().contains("\"complete\":true"));
    }
    let rate = "mariadb-slap -a -c 4 --duration=1 --rate=200 --arrivals=constant --csv --percentile=95 --label=open";
    let line = place.typed(rate).has_measured().text();
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    assert_eq!(
        (fields.len(), fields[7], fields[8]),
        (11, "open", "0"),
        "{line}"
    );
    let per_s: f64 = fields[9].parse().unwrap();
    assert!(per_s > 0.0, "{line}");
    place.is_clean();
}

/// One server for all that need no settings of their own, and leave no schema `mysqlslap`.
#[test]
fn schemas_statements_and_clients_are_as_with_the_originals() {
    let place = Place::new(&[]);
    a_schema_that_was_there_is_not_dropped(&place);
    empty_statements_are_left_out_and_told(&place);
    compression_reaches_every_connection(&place);
    what_clients_do_is_told_by_three_times_verbose(&place);
    the_tables_that_are_made_are_told_as_the_originals_tell_them(&place);
    blank_lines_end_nothing(&place);
    two_tests_on_one_server_leave_each_other_alone(&place);
}

fn a_schema_that_was_there_is_not_dropped(place: &Place) {
    place.sql("create database prod; create table prod.customers (a int)");
    let words = [
        "--create-schema=prod",
        "--create=create table x (a int)",
        "--query=select 1",
    ];
    let refused = place.slap(&words).exits(2);
    refused
        .says("schema `prod` already exists, with 1 tables")
        .hints("--yes-drop");
    let kept: Vec<&str> = words.iter().copied().chain(["--no-drop"]).collect();
    place.slap(&kept).exits(0);
    assert_eq!(place.sql("show tables in prod"), "customers\nx\n");
    // The server reports an existing table, as with the original, which drops no table on its own.
    place.sql("create table prod.t1 (theirs int); insert into prod.t1 values (7)");
    let made_up = ["--create-schema=prod", "--auto-generate-sql", "--no-drop"];
    place.slap(&made_up).exits(3).says("t1");
    assert_eq!(place.sql("select theirs from prod.t1"), "7\n");
    place.slap(&made_up[..2]).exits(2).hints("--yes-drop");
    assert_eq!(place.sql("select theirs from prod.t1"), "7\n");
    let dropped: Vec<&str> = words.iter().copied().chain(["--yes-drop"]).collect();
    place.slap(&dropped).exits(0);
    assert!(!place.sql("show databases").contains("prod"));
}

fn empty_statements_are_left_out_and_told(place: &Place) {
    let words = [
        "--create-schema=mysql",
        "--query=;select 1;;\n\nselect 2;\n",
        "-F;",
        "--number-of-queries=9",
        "-c3",
    ];
    let ran = place
        .slap(&words)
        .exits(0)
        .says("--query: 2 empty statements left out");
    let ran = ran.prints("Average number of queries per client: 3\n");
    assert!(!ran.stderr.contains("error"));
}

#[test]
fn errors_are_counted_and_told() {
    let place = Place::new(&["max_connections=15"]);
    let invalid = [
        "--create=create table x (a int)",
        "--query=selct 1;select 1",
        "-F;",
        "-c3",
    ];
    let stopped = place.slap(&invalid).exits(3).prints_nothing();
    stopped
        .says("mariadb-slap: Cannot run query selct 1 ERROR : You have an error")
        .hints("--on-error=count");
    place.is_clean();
    let counted: Vec<&str> = invalid
        .iter()
        .copied()
        .chain(["--on-error=count"])
        .collect();
    let counted = place.slap(&counted).exits(3).says("3 x error 1064 (42000)");
    counted.prints("queries per client: 1\n\tNumber of failed queries: 3\n");
    place.is_clean();

    let crowd = ["-a", "-c", "40", "--number-of-queries=400"];
    place
        .slap(&crowd)
        .exits(3)
        .says("Too many connections")
        .hints("max_connections")
        .prints_nothing();
    let counted: Vec<&str> = crowd.iter().copied().chain(["--on-error=count"]).collect();
    let counted = place.slap(&counted).exits(3).says("error 1040");
    assert!(
        !counted
            .text()
            .contains("Number of clients running queries: 40"),
        "{}",
        counted.text()
    );
    place.is_clean();
}

fn deadlocks_are_told_counted_or_tried_again(place: &Place) {
    let updates = "mysqlslap -a --auto-generate-sql-add-autoincrement --auto-generate-sql-load-type=update \
                   --auto-generate-sql-write-number=5 --commit=10 -c 8 --number-of-queries=2000";
    let stopped = place.typed(updates).exits(3).prints_nothing();
    stopped
        .says("ERROR : Deadlock found when trying to get lock")
        .hints("--on-error=count");
    place.is_clean();
    let counted = place.typed(&format!("{updates} --on-error=count")).exits(3);
    counted
        .says("error 1213 (40001)")
        .prints("Number of failed queries: ");
    let retried = place.typed(&format!("{updates} --on-error=retry")).exits(0);
    retried
        .says("retried with success")
        .prints("queries per client: 250\n\n");
    place.is_clean();
}

/// SQL that writes the server's status of a client's connection into a table.
fn noting(status: &str) -> String {
    format!(
        "insert into seen select group_concat(variable_value order by variable_name) from {status}.session_status \
         where variable_name in ('Compression', 'Ssl_cipher')"
    )
}

fn compression_reaches_every_connection(place: &Place) {
    let query = noting("information_schema");
    for (option, expected) in [("--compress", "ON,"), ("--skip-compress", "OFF,")] {
        let words = [
            "--create=create table seen (what varchar(50))",
            "--yes-drop",
            "--query",
            &query,
            "--concurrency=3",
            "--number-of-queries=12",
            // Every second statement has a new connection.
            "--detach=2",
            "--post-query=insert into copied.seen select * from seen",
            option,
        ];
        place.sql("create database copied; create table copied.seen (what varchar(50))");
        let ran = place.slap(&words).exits(0);
        assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
        let seen = place.sql("select what, count(*) from copied.seen group by what");
        assert_eq!(seen, format!("{expected}\t12\n"));
        place.sql("drop database copied");
    }
    // More than one frame, and a server that does not support compression.
    let long = place
        .scene
        .file("long.sql", &format!("select '{}'", "x".repeat(600_000)));
    let long = format!("--query={}", long.display());
    place.slap(&[&long, "-C", "--create-schema=mysql"]).exits(0);
    let mut null = place.scene.start(["null-server", "--socket", "null"]);
    let path = place.scene.path().join("null");
    null.wait_until("it listens", || path.exists());
    let words = ["--no-defaults", "--query=select 1", "--socket=null"];
    let ran = place.scene.called("mysqlslap", words.iter().chain(&["-C"]));
    ran.exits(0)
        .says("nothing is compressed: the server does not support it");
    let insists = words.iter().chain(&["--compression-algorithms=zlib"]);
    let refused = place.scene.called("mysqlslap", insists);
    refused
        .exits(3)
        .says("the server does not support zlib compression");
    null.signal(Signal::TERM);
    null.finish();
}

/// The MySQL servers that dbdyno installed.
#[test]
fn mysql_is_spoken_to_encrypted_and_compressed() {
    let is_late = |path: &PathBuf| path.to_string_lossy().contains("/mysql-8.0.33/");
    let Some(program) = installed().into_iter().find(is_late) else {
        eprintln!("skipped: no MySQL 8.0.33 (dbdyno server install mysql-8.0.33)");
        return;
    };
    let mysqld = program.with_file_name("mysqld");
    let place = Place::with(&["--mysqld", mysqld.to_str().unwrap()], &[]);
    let query = noting("performance_schema");
    let words = [
        "--create=create table seen (what varchar(50))",
        "--query",
        &query,
        "--concurrency=2",
        "--number-of-queries=4",
        "--detach=1",
        "--post-query=create database copied; create table copied.seen select * from seen",
        "--delimiter=;",
        "--compression-algorithms=zlib",
        "--ssl-mode=required",
        "--host=127.0.0.1",
        "--port",
        &place.port,
    ];
    let client = fs::read_to_string(place.scene.path().join(".my.cnf")).unwrap();
    assert!(client.contains("user"));
    place.scene.called("mysqlslap", words).exits(0);
    let seen = place.sql("select distinct what from copied.seen");
    let (compression, cipher) = seen.trim().split_once(',').unwrap();
    assert_eq!(compression, "ON");
    assert!(cipher.starts_with("TLS_"), "{seen}");
}

fn what_clients_do_is_told_by_three_times_verbose(place: &Place) {
    let words = [
        "--create-schema=mysql",
        "--query=select 1;select 2",
        "-F;",
        "-c1",
        "--number-of-queries=3",
        "--commit=2",
        "-vvv",
    ];
    let told = "connected!\nSET AUTOCOMMIT=0;\nselect 1;\nselect 2;\nCOMMIT;\nselect 1;\nCOMMIT;\nGenerating stats\n";
    place.slap(&words).exits(0).prints(told);
    // In addition to the CSV line.
    let csv: Vec<&str> = words.iter().copied().chain(["--csv"]).collect();
    place.slap(&csv).exits(0).prints(told).prints(",mixed,0.");
}

fn the_tables_that_are_made_are_told_as_the_originals_tell_them(place: &Place) {
    let words = [
        "--create-schema=made",
        "--create=create table t (n int)",
        "--query=insert into t values (1)",
    ];
    let ran = ["-c1", "-i2", "-vvv"];
    let round = "DROP SCHEMA IF EXISTS `made`;\nLoading Pre-data\nCREATE SCHEMA `made`;\nCREATE SCHEMA `made`;\n\
        create table t (n int);\nGenerating primary key list\nconnected!\ninsert into t values (1);\n";
    let all: Vec<&str> = words.iter().chain(&ran).copied().collect();
    place
        .slap(&all)
        .exits(0)
        .prints(&format!("{round}{round}Generating stats\n"));
    // A CSV line is printed without a server, too.
    let csv = ["-c2", "--only-print", "--csv"];
    let all: Vec<&str> = words.iter().chain(&csv).copied().collect();
    place
        .slap(&all)
        .exits(0)
        .prints(",mixed,0.")
        .prints(",2,1\n");
}

fn blank_lines_end_nothing(place: &Place) {
    place.sql("create database kept; create table kept.t (n int)");
    let list = "insert into t values (1)\n\n\ninsert into t values (2)\n  \n\ninsert into t values (3)\n\n";
    let file = place.scene.file("list.sql", list);
    let query = format!("--query={}", file.display());
    let words = [&query[..], "--create-schema=kept", "--no-drop", "-c2"];
    let ran = place.slap(&words).exits(0);
    ran.prints("Average number of queries per client: 3\n")
        .says("empty statements left out");
    let counted = place.sql("select n, count(*) from kept.t group by n");
    assert_eq!(counted, "1\t2\n2\t2\n3\t2\n");
}

fn two_tests_on_one_server_leave_each_other_alone(place: &Place) {
    let words = ["-a", "--number-of-queries=10", "-c1"];
    // Its schema stays until the other one was refused; the file goes with the scene, too.
    let wait = place.scene.file("wait", "");
    let waits = "--post-system=while [ -e wait ]; do sleep 0.05; done";
    let mut first = place
        .scene
        .start(["mariadb-slap"].iter().chain(&words).chain([&waits]));
    first.wait_until("its schema is there", || {
        place.sql("show databases").contains("mysqlslap")
    });
    place
        .slap(&words)
        .exits(2)
        .says("schema `mysqlslap` already exists");
    fs::remove_file(wait).unwrap();
    first.finish().exits(0);
    place.is_clean();
}
