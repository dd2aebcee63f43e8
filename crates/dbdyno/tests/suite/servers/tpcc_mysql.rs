//! The command lines of tpcc-mysql in articles, with fewer warehouses and seconds: positional and getopt forms over
//! localhost's unix socket and over TCP, part loads, side files and several databases.

use crate::{
    private_server,
    scene::{ATTEMPTS, Finished, Scene},
    servers::{tpcc::UNHURRIED, tpcc_faults},
};

const PASSWORD: &str = "new-password";

const TABLES: [&str; 9] = [
    "warehouse",
    "customer",
    "history",
    "item",
    "stock",
    "district",
    "orders",
    "new_orders",
    "order_line",
];

struct Place {
    scene: Scene,
    socket: String,
}

impl Place {
    fn new() -> Self {
        let scene = Scene::for_servers();
        let create = [
            "server",
            "create",
            "one",
            "--set",
            "innodb_buffer_pool_size=256M",
            "--set",
            "innodb_flush_log_at_trx_commit=2",
        ];
        scene.dbdyno(create).exits(0);
        let place = Self {
            socket: String::new(),
            scene,
        };
        place.sql(
            "mysql",
            &format!(
                "create or replace user root@localhost identified by '{PASSWORD}'; grant all on *.* to root@localhost; \
                 create user doc identified by '{PASSWORD}'; grant all on *.* to doc; create database tpcc"
            ),
        );
        let socket = place.sql("mysql", "select @@socket").trim().to_owned();
        Self { socket, ..place }
    }

    #[track_caller]
    fn sql(&self, database: &str, sql: &str) -> String {
        private_server::text(&self.scene, "one", Some(database), sql).unwrap()
    }

    fn port(&self) -> String {
        self.sql("mysql", "select @@port").trim().to_owned()
    }

    /// Runs a command line as the user types it, on a machine where localhost is this server.
    fn typed(&self, line: &str) -> Finished {
        let mut words = line.split_whitespace().map(|word| word.trim_matches('\''));
        let name = words.next().unwrap().trim_start_matches("./");
        let finished = self
            .scene
            .called_with_socket(&self.socket, name, words.collect::<Vec<_>>());
        finished.conceals(PASSWORD);
        finished
    }
}

/// One warehouse for all of them, and for what disturbs terminals: its load costs more than the rest.
#[test]
fn command_lines_of_the_articles_and_terminals_that_are_disturbed() {
    let place = Place::new();
    // 400 warehouses in the article.
    place
        .typed("./tpcc_load localhost tpcc root 'new-password' 1")
        .exits(0)
        .says("note: localhost is the unix socket")
        .prints("...DATA LOADING COMPLETED SUCCESSFULLY.\n");
    place.sql("tpcc", &UNHURRIED.join("; "));
    tpcc_faults::terminals_survive_what_a_server_does_to_them(&place.scene);
    // 400 warehouses, 60 and 600 seconds in the article, with an interval of 10 seconds.
    let ran = place
        .typed(
            "./tpcc_start -h localhost -d tpcc -u root -p 'new-password' -w 1 -c 2 -r 1 -l 2 -i 2",
        )
        .exits(0)
        .prints("RAMP-UP TIME.(1 sec.)")
        .prints(" in 2 sec.\n")
        .says("percentiles and rt cover only the measured time");
    periodic_lines(&ran.text(), &[2]);
    side_files_over_tcp(&place);
    values_that_do_not_fit(&place);
    several_databases(&place);
    tpcc_faults::wrong_statement(&place.scene);
    place
        .typed("tpcc_load -h")
        .exits(2)
        .says("option requires an argument -- 'h'");
    place
        .typed("./tpcc_start -h")
        .exits(2)
        .says("tpcc_start: option requires an argument -- 'h'")
        .says("-i report_interval -f report_file -t trx_file");
    place.scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// Checks that every periodic line matches both patterns that scripts use: `95%:`, and `95:` with the sign replaced.
fn periodic_lines(text: &str, seconds: &[u32]) {
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "MEASURING START.")
        .filter(|line| line.contains(", trx: "))
        .collect();
    // A program that was stopped for seconds tells them in one line.
    assert!((1..=seconds.len()).contains(&lines.len()), "{text}");
    for (line, second) in lines.iter().zip(seconds) {
        for line in [(*line).to_owned(), line.replace("%:", ":")] {
            let parsed = parse(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(parsed.0, *second);
        }
    }
}

/// Second and number of New-Orders of a line such as
/// `  10, trx: 2730, 95%: 23.807, 99%: 37.167, max_rt: 163.385, 2728|63.654, 273|29.303, 272|139.263, 272|153.125`.
fn parse(line: &str) -> Option<(u32, u32)> {
    let parts: Vec<&str> = line.split(", ").collect();
    let [second, trx, p95, p99, max, others @ ..] = &parts[..] else {
        return None;
    };
    let value = |text: &str, names: [&str; 2]| -> Option<f64> {
        let rest = names.iter().find_map(|name| text.strip_prefix(name))?;
        rest.parse().ok()
    };
    value(p95, ["95%: ", "95: "])?;
    value(p99, ["99%: ", "99: "])?;
    value(max, ["max_rt: ", "max_rt: "])?;
    let is_pair = |text: &&str| {
        let pair = text.split_once('|');
        pair.is_some_and(|(count, max)| count.parse::<u32>().is_ok() && max.parse::<f64>().is_ok())
    };
    let is_complete = others.len() == 4 && others.iter().all(is_pair);
    let trx = trx.strip_prefix("trx: ")?.parse().ok()?;
    is_complete.then_some((second.trim().parse().ok()?, trx))
}

fn side_files_over_tcp(place: &Place) {
    let port = place.port();
    let ran = place
        .typed(&format!(
            "tpcc_start -h 127.0.0.1 -P {port} -d tpcc -u doc -p new-password -w 1 -c 4 -r 1 -l 2 -i 1 -f rt.txt -t trx.txt"
        ))
        .exits(0)
        .prints("*** ###easy### TPC-C Load Generator ***")
        .prints("option f with value 'rt.txt'\noption t with value 'trx.txt'\n")
        .prints(" [connection]: 4\n     [rampup]: 1 (sec.)\n    [measure]: 2 (sec.)")
        .prints(" in 2 sec.\n")
        .says("limits in parentheses are in seconds");
    let text = ran.text();
    periodic_lines(&text, &[1, 2]);
    assert!(text.contains("STOPPING THREADS....\n\n<Raw Results>\n  [0] sc:"));
    let last = text.lines().last().unwrap_or_default();
    assert!(last.ends_with(" TpmC"), "{last}");
    let read = |name| std::fs::read_to_string(place.scene.path().join(name)).unwrap();
    let (times, transactions) = (read("rt.txt"), read("trx.txt"));
    for line in times.lines() {
        let (second, ms) = line.split_once(' ').unwrap();
        assert!(["0", "1", "2"].contains(&second), "{line}");
        assert!(ms.parse::<f64>().unwrap() > 0.0, "{line}");
    }
    let measured: u32 = ran
        .text()
        .lines()
        .filter_map(parse)
        .map(|(_, trx)| trx)
        .sum();
    // The ramp-up is in the files, too.
    assert!(times.lines().count() as u32 >= measured);
    for line in transactions.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(
            (words[0], words[2], words[5]),
            ("t_num:", "finish:", "start:")
        );
        assert!(words[1].parse::<u32>().unwrap() < 4, "{line}");
        let time = |at: usize| -> (u64, u32) {
            (words[at].parse().unwrap(), words[at + 1].parse().unwrap())
        };
        assert!(time(3) > time(6), "{line}");
    }
    let (written, committed) = (times.lines().count(), transactions.lines().count());
    assert!(
        committed > 0 && committed <= written,
        "{committed} of {written}"
    );
}

/// A server without strict mode truncates values: that is reported for both load methods, of a part of the tables.
fn values_that_do_not_fit(place: &Place) {
    place.sql(
        "mysql",
        "create database narrow; create table narrow.item like tpcc.item; \
         alter table narrow.item modify i_name varchar(3); set global sql_mode = ''",
    );
    let port = place.port();
    let by_tcp = |part| format!("tpcc_load 127.0.0.1:{port} narrow doc new-password 4 {part} 1 2");
    let changed = |load: &str| {
        place
            .typed(load)
            .exits(0)
            .says("warning: table item: the server changed values of its rows (")
            .says("Data truncated for column 'i_name'")
            .prints("Item Done. \n\n...DATA LOADING COMPLETED SUCCESSFULLY.\n")
    };
    changed(&by_tcp(1)).prints("  [part(1-4)]: 1\n     [MIN WH]: 1\n     [MAX WH]: 2\n");
    let items = place.sql("narrow", "select count(*) from item");
    assert_eq!(items, "100000\n");
    place
        .typed(&by_tcp(1))
        .exits(2)
        .says("rows of these warehouses already");
    place
        .typed(&by_tcp(2))
        .exits(2)
        .says("table warehouse does not exist")
        .hints("create_table.sql");
    place
        .typed(&format!(
            "tpcc_load 127.0.0.1:{port} tpcc doc new-password 1"
        ))
        .exits(2)
        .says("rows of these warehouses already");
    place.sql(
        "narrow",
        "drop table dbdyno_tpcc_parts; truncate item; set global local_infile = off",
    );
    changed("tpcc_load -h localhost -d narrow -u root -p new-password -w 1 -l 1 -m 1 -n 1");
    place.sql(
        "mysql",
        "drop database narrow; set global sql_mode = default, global local_infile = on",
    );
}

/// Threads over two databases: one has views of the tables that are there, and the other, too, but for districts of its
/// own. These number its orders far from the others; a copy of all orders would cost more than the threads.
fn several_databases(place: &Place) {
    place.sql("mysql", "create database tpcc_1; create database tpcc_2");
    let view = |table: &&str| format!("create view {table} as select * from tpcc.{table}");
    let views: Vec<String> = TABLES.iter().map(view).collect();
    place.sql("tpcc_1", &views.join("; "));
    let shared = TABLES.iter().filter(|table| **table != "district");
    let views: Vec<String> = shared.map(view).collect();
    place.sql("tpcc_2", &views.join("; "));
    place.sql(
        "tpcc_2",
        "create table district like tpcc.district; insert into district select * from tpcc.district; \
         update district set d_next_o_id = d_next_o_id + 100000",
    );
    let orders = "select sum(d_next_o_id) from district";
    let sums = || ["tpcc_1", "tpcc_2"].map(|database| place.sql(database, orders));
    let before = sums();
    // On a busy machine two threads may have no New-Order within 2 s: then once more.
    let have_orders = (0..ATTEMPTS).any(|_| {
        place
            .typed("tpcc_start -h localhost -d tpcc -u root -p new-password -w 1 -c 4 -r 0 -l 2 -i 1 -m 2 -o 1")
            .exits(0)
            .prints("option m (multiple schemas) with value '2'\noption o (multiple schemas offset) with value '1'\n");
        let after = sums();
        before.iter().zip(&after).all(|(before, after)| before != after)
    });
    assert!(have_orders, "a database has no new orders");
}

/// Items first, then the other parts over their range, as with one process for each.
#[test]
#[ignore = "a long round: make test-all"]
fn parts_make_what_one_load_makes() {
    let place = Place::new();
    place
        .typed("tpcc_load localhost tpcc root new-password 1")
        .exits(0);
    place.sql("mysql", "create database parts");
    for table in TABLES {
        place.sql("parts", &format!("create table {table} like tpcc.{table}"));
    }
    for part in ["1", "2", "3", "4"] {
        place
            .typed(&format!(
                "tpcc_load -h localhost -d parts -u root -p new-password -w 1 -l {part} -m 1 -n 1"
            ))
            .exits(0);
    }
    for table in TABLES {
        let rows = |database| place.sql(database, &format!("select count(*) from {table}"));
        assert_eq!(rows("parts"), rows("tpcc"), "{table}");
    }
    place.scene.dbdyno(["server", "destroy", "one"]).exits(0);
}
