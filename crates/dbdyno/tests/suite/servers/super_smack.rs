//! `super-smack`: the original's command line and layout with corrected figures, one test per known fault.

use std::{fs, path::PathBuf};

use rustix::process::{Signal, kill_process};

use crate::{
    mariadb::rows,
    private_server,
    scene::{Finished, Scene, wait_until},
};

/// A scene with a private server named `s`, to which a smack file's client connects with `--server s`.
fn with_server(settings: &[&str]) -> Scene {
    let scene = Scene::for_servers();
    create_server(&scene, settings);
    scene
}

fn create_server(scene: &Scene, settings: &[&str]) {
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let create = ["server", "create", "s"].into_iter().chain(set);
    scene.dbdyno(create).exits(0);
}

fn smack(scene: &Scene, text: &str, args: &[&str]) -> Finished {
    let file = scene.file("test.smack", text);
    let args = ["--server", "s", file.to_str().expect("the path is text")]
        .into_iter()
        .chain(args.iter().copied());
    scene.called("super-smack", args)
}

fn answer(scene: &Scene, sql: &str) -> String {
    let client = [
        "server",
        "client",
        "s",
        "--",
        "--batch",
        "--skip-column-names",
        "-e",
        sql,
    ];
    scene.dbdyno(client).exits(0).text()
}

/// The files under `experiments/smacks/`.
fn experiment(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../experiments/smacks")
        .join(name)
}

/// A .smack file with one client and a barrel of these queries, each with its name as type.
fn one_client(queries: &[(&str, &str)], barrel: &str, lines: &str) -> String {
    let queries: String = queries
        .iter()
        .map(|(name, sql)| {
            format!("query \"{name}\" {{ query \"{sql}\"; type \"{name}\"; parsed \"y\"; }}\n")
        })
        .collect();
    format!(
        "{queries}client \"c\" {{ db \"test\"; query_barrel \"{barrel}\"; }}\n\
         main {{ c.init(); {lines} c.set_num_rounds($2); c.create_threads($1); c.connect(); \
         c.unload_query_barrel(); c.collect_threads(); c.disconnect(); }}\n"
    )
}

/// The row of a query type: num_queries, max_time, min_time, q_per_s.
#[track_caller]
fn row(output: &str, query_type: &str) -> (u64, u64, u64, f64) {
    let row = output
        .lines()
        .find_map(|line| line.strip_prefix(query_type)?.strip_prefix('\t'))
        .unwrap_or_else(|| panic!("no row {query_type} in:\n{output}"));
    let fields: Vec<&str> = row.split('\t').collect();
    let number = |index: usize| fields[index].parse().expect("the field is a number");
    (
        number(0),
        number(1),
        number(2),
        fields[3].parse().unwrap_or(0.0),
    )
}

/// Max, min and avg of the connect line, and the number of clients.
#[track_caller]
fn connects(output: &str, unit: &str) -> [u64; 4] {
    let line = output
        .lines()
        .find(|line| line.starts_with("connect: "))
        .expect("the report has a connect line");
    let numbers: Vec<u64> = line
        .split(|character: char| !character.is_ascii_digit() && character != '-')
        .filter_map(|number| number.parse().ok())
        .collect();
    let [max, min, avg, clients] = numbers.try_into().expect("the line has four numbers");
    let layout = format!(
        "connect: max={max}{unit}  min={min}{unit} avg= {avg}{unit} from {clients} clients "
    );
    assert_eq!(line, layout);
    [max, min, avg, clients]
}

/// One server for all that need no settings of their own. The first part needs a database without tables, and leaves
/// `local_infile` as it was.
#[test]
fn reports_and_tables_are_as_with_the_original() {
    let scene = with_server(&[]);
    a_row_that_does_not_fit_is_explained(&scene);
    the_sizing_papers_files_run_with_the_originals_layout(&scene);
    minimum_and_maximum_are_those_of_all_queries(&scene);
    sleeping_and_connecting_are_no_querying(&scene);
    a_failed_statement_shows_in_the_exit_code(&scene);
    deadlocks_are_retried_and_procedures_may_return_rows(&scene);
    unique_words_are_unique_over_all_clients(&scene);
    results_are_saved_as_text(&scene);
}

fn the_sizing_papers_files_run_with_the_originals_layout(scene: &Scene) {
    let select_key = experiment("select-key.smack");
    let run = || {
        let args = ["--server", "s", select_key.to_str().unwrap(), "10", "20"];
        scene.called("super-smack", args).exits(0).text()
    };
    let first = run();
    let (tables, report) = first.split_at(first.find("Query Barrel").unwrap());
    assert_eq!(
        tables,
        "Creating table 'http_auth'\nLoading generated rows into table 'http_auth'\n\
         Table http_auth is now ready for the test\n"
    );
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "Query Barrel Report for client smacker1");
    assert_eq!(connects(report, "ms")[3], 10);
    assert_eq!(
        lines[2],
        "Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s"
    );
    let (queries, max, min, rate) = row(report, "select_index");
    assert_eq!(queries, 400);
    assert!(max >= min && rate > 0.0, "{report}");
    // The table has its rows: no message, no change.
    assert!(run().starts_with("Query Barrel"));
    let checked = answer(
        scene,
        "select count(*), min(length(username)), max(uid) from test.http_auth",
    );
    assert_eq!(checked, "9000\t13\t9000\n");

    // Appendix 2, with fewer rows; a different table of the same name, with too few rows so far.
    let sizing = fs::read_to_string(experiment("hp-sizing.smack")).unwrap();
    let output = smack(scene, &sizing.replace("1000000", "10000"), &["10", "20"]);
    let output = output.exits(0).text();
    assert!(output.starts_with("Table 'http_auth' does not meet conditions, will be dropped\n"));
    assert_eq!(row(&output, "select_index").0, 200);
    assert_eq!(row(&output, "update_index").0, 200);
    let lengths = "select min(length(address1)), max(length(address4)) from test.http_auth";
    assert_eq!(answer(scene, lengths), "254\t254\n");
}

fn minimum_and_maximum_are_those_of_all_queries(scene: &Scene) {
    let queries = [
        ("slow", "select sleep(0.3)"),
        ("fast", "select sleep(0.01)"),
        ("last", "select sleep(0.02)"),
    ];
    let text =
        one_client(&queries, "1 slow 1 fast 1 last", "").replace("type \"fast\"", "type \"slow\"");
    let text = text.replace("type \"last\"", "type \"slow\"");
    // Super Smack printed a maximum of 20, and a minimum connect time of -1 for a single client.
    let output = smack(scene, &text, &["1", "1"]).exits(0).text();
    let (queries, max, min, rate) = row(&output, "slow");
    assert_eq!(queries, 3);
    assert!(max >= 300 && (10..max).contains(&min), "{output}");
    // Three queries in no less than a third of a second.
    assert!(rate > 0.0 && rate < 3.0 / 0.33, "{output}");
    let [max, min, avg, _] = connects(&output, "ms");
    assert!(max >= avg && avg >= min, "{output}");

    let output = smack(scene, &text, &["2", "1", "--time-unit", "us"]);
    let output = output.exits(0).says("times are in us").text();
    let (_, max, min, _) = row(&output, "slow");
    assert!(max >= 300_000 && (10_000..max).contains(&min), "{output}");
    let [max, min, avg, clients] = connects(&output, "us");
    assert!(
        max >= avg && avg >= min && min > 0 && clients == 2,
        "{output}"
    );
}

fn sleeping_and_connecting_are_no_querying(scene: &Scene) {
    let text = one_client(&[("q", "select 1")], "10 q", "")
        .replace("c.unload", "c.sleep(1,500); c.unload");
    // Ten queries beside 1.5 s of sleep: Super Smack's rate would be below 6.7.
    let output = smack(scene, &text, &["1", "1"]).exits(0).text();
    let (queries, _, _, rate) = row(&output, "q");
    assert_eq!(queries, 10);
    assert!(rate > 6.7, "{output}");
}

fn a_failed_statement_shows_in_the_exit_code(scene: &Scene) {
    let queries = [("good", "select 1"), ("bad", "select * from nosuch")];
    let text = one_client(&queries, "1 good 1 bad", "");
    let stopped = smack(scene, &text, &["4", "100"])
        .exits(3)
        .says("aborting on failed query: bad: ")
        .says("error 1146 (42S02)");
    // The measurements up to then are kept.
    assert!(stopped.text().contains("Query Barrel Report for client c"));
    let counted = smack(scene, &text, &["4", "100", "--on-error", "count"])
        .exits(3)
        .says("bad: 400 x error 1146 (42S02): Table 'test.nosuch' doesn't exist");
    let output = counted.text();
    assert_eq!(row(&output, "good").0, 400);
    assert!(output.contains("bad\t0\t0\t0\tn/a\n"), "{output}");
}

fn deadlocks_are_retried_and_procedures_may_return_rows(scene: &Scene) {
    // The first of every two calls ends as a deadlock does.
    let setup = "c.connect(); c.query(\"create table tries (n int) as select 0 as n\"); \
                 c.query(\"create procedure flaky() begin update tries set n = n + 1; \
                 if (select n % 2 from tries) = 1 then signal sqlstate '40001' set mysql_errno = 1213; end if; \
                 select n from tries; select 'second result'; end\");";
    let text = one_client(&[("call", "call flaky()")], "1 call", setup);
    let output = smack(scene, &text, &["1", "20", "--on-error", "retry"])
        .exits(0)
        .says("call: 20 x error 1213 (40001), 20 retried with success");
    assert_eq!(row(&output.text(), "call").0, 20);
    assert_eq!(answer(scene, "select n from test.tries"), "40\n");
}

fn unique_words_are_unique_over_all_clients(scene: &Scene) {
    let clients: String = ["a", "b"]
        .map(|name| {
            format!("client \"{name}\" {{ db \"test\"; query_barrel \"1 add\n\t1 look\"; }}\n")
        })
        .concat();
    let text = format!(
        "{clients}dictionary \"id\" {{ type \"unique\"; source_type \"template\"; source \"u%05dx\"; }}\n\
         table \"ids\" {{ client \"a\"; create \"create table ids (id char(20) primary key)\"; \
         alter \"alter table ids add at timestamp default current_timestamp\"; }}\n\
         query \"add\" {{ query \"insert into ids (id) values ('$id')\"; type \"ins\"; parsed \"y\"; }}\n\
         query \"look\" {{ query \"select * from ids where id = 'u00007x'\"; type \"sel\"; }}\n\
         main {{ a.init(); b.init(); a.set_num_rounds($2); b.set_num_rounds($2);\n{}\
         a.create_threads($1); b.create_threads($1); a.print(\"p\"); a.connect(); b.connect();\n\
         a.unload_query_barrel(); b.unload_query_barrel(); a.collect_threads(); b.collect_threads();\n\
         $n = a::ins::num_queries; a.print(\"n=\" . $n . \";\"); }}\n",
        // Super Smack failed on a main that is longer than its read buffer.
        "# a comment that makes main long\n".repeat(1_000),
    );
    let output = smack(scene, &text, &["8", "50"]).exits(0).text();
    assert_eq!(answer(scene, "select count(*) from test.ids"), "800\n");
    // Each client type has its report; every worker executes the lines between create and collect.
    for report in [
        "Query Barrel Report for client a\n",
        "Query Barrel Report for client b\n",
    ] {
        assert_eq!(output.matches(report).count(), 1, "{output}");
    }
    assert_eq!(output.matches("ins\t400\t").count(), 2, "{output}");
    assert!(
        output.contains("pppppppp") && output.contains("n=400.000000;"),
        "{output}"
    );
}

fn results_are_saved_as_text(scene: &Scene) {
    let query = ("r", "select 1 as one, null as nothing union select 2, 'x'");
    let save = "c.connect(); c.run_save_result(\"r\", \"-\"); c.run_save_result(\"r\", \"saved\");";
    let output = smack(scene, &one_client(&[query], "1 r", save), &["1", "1"]);
    let output = output.exits(0).text();
    let expected = "one\tnothing\t\n1\tNULL\t\n2\tx\t\n";
    assert!(output.starts_with(expected), "{output}");
    assert_eq!(
        fs::read_to_string(scene.path().join("saved")).unwrap(),
        expected
    );
}

const ADDRESSES: &str = r#"
client "c" { db "test"; query_barrel "1 q"; }
table "t" { client "c"; create "create table t (k char(20), address char(255))"; min_rows "3000";
  data_file "t.dat"; gen_data_file "gen-data -n 3000 -f %12-12s%n,%255s"; }
dictionary "w" { type "rand"; source_type "file"; source "t.dat"; delim ","; file_size_equiv "4000"; }
query "q" { query "select * from t where k = '$w'"; type "q"; parsed "y"; }
main { c.init(); c.create_threads(2); c.set_num_rounds(3); c.connect(); c.unload_query_barrel(); c.collect_threads(); }
"#;

fn a_row_that_does_not_fit_is_explained(scene: &Scene) {
    for local_infile in ["0", "1"] {
        answer(scene, &format!("set global local_infile = {local_infile}"));
        smack(scene, ADDRESSES, &[])
            .exits(2)
            .says("table 't': the server refuses row ")
            .says("column 'address'")
            .says("%255s makes 0 to 254, or where 0 is drawn 256, letters")
            .says("hint: write %254-254s instead of %255s");
        // No partly loaded table is left.
        assert_eq!(answer(scene, "show tables in test"), "");
    }
}

#[test]
fn rows_are_the_same_however_they_are_loaded() {
    let scene = Scene::for_servers();
    let [data, elsewhere] = ["data", "elsewhere"].map(|name| scene.path().join(name));
    fs::create_dir(&data).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    // The server itself has no access to the client's files.
    create_server(
        &scene,
        &[&format!("secure_file_priv={}", elsewhere.display())],
    );
    let text = ADDRESSES.replace("%255s", "%254-254s");
    let mut sums = Vec::new();
    for (local_infile, args) in [
        ("1", &[][..]),
        ("0", &[]),
        ("1", &["-D", data.to_str().unwrap()]),
        ("0", &["-D", data.to_str().unwrap()]),
    ] {
        answer(&scene, &format!("set global local_infile = {local_infile}"));
        let run = smack(&scene, &text, args).exits(0);
        assert_eq!(
            run.stderr.contains("is loaded with INSERT"),
            local_infile == "0"
        );
        // The words are sampled from the file, which is reported.
        let run = run
            .says("note: dictionary 'w' uses ")
            .says(" of 3000 words");
        assert_eq!(row(&run.text(), "q").0, 6);
        sums.push(answer(&scene, "checksum table test.t; drop table test.t"));
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    let file = fs::read_to_string(data.join("t.dat")).unwrap();
    assert_eq!(file.lines().count(), 3000);
    assert!(file.starts_with("ilcpsklryvmc1,"), "the original's letters");
}

#[test]
fn refused_before_anything_happens() {
    let scene = Scene::for_servers();
    for (text, args, message) in [
        (
            one_client(&[("q", "select 1")], "1 q", ""),
            &["10"][..],
            "Line 3 references argument 2 while the command line supplied only 1 arguments",
        ),
        (
            one_client(&[("q", "select 1")], "1 q", "c.foo();"),
            &["1", "1"],
            "unknown method 'foo' called for client 'c' on line 3",
        ),
        (
            one_client(&[("q", "select 1")], "1 q", "c.sleep(1);"),
            &["1", "1"],
            "line 3: sleep takes two parameters (sec,ms), you have 1",
        ),
        (
            one_client(&[("q", "select 1")], "1 nosuch", ""),
            &["1", "1"],
            "query 'nosuch' has not been defined",
        ),
        (
            one_client(&[("q", "select '$w'")], "1 q", ""),
            &["1", "1"],
            "The dictionary w does not exist",
        ),
    ] {
        let file = scene.file("bad.smack", &text);
        let args = [file.to_str().unwrap()]
            .into_iter()
            .chain(args.iter().copied());
        scene
            .called("super-smack", args)
            .exits(2)
            .prints_nothing()
            .says(message)
            .says("bad.smack, line ");
    }
    scene
        .called("super-smack", ["nosuch.smack"])
        .exits(2)
        .says("cannot open nosuch.smack");
    scene
        .called("super-smack", ["-d", "pg", "x"])
        .exits(2)
        .says("unknown engine 'pg'");
    scene
        .called("super-smack", ["-V"])
        .exits(0)
        .prints("super-smack version ");
    scene
        .called("super-smack", ["-h"])
        .exits(0)
        .prints("--time-unit");
}

#[test]
fn refused_connections_are_no_silent_part_of_a_report() {
    let scene = with_server(&["max_connections=10"]);
    let text = one_client(&[("q", "select 1")], "1 q", "");
    let refused = smack(&scene, &text, &["40", "1"])
        .exits(3)
        .says("Too many connections");
    assert_eq!(refused.text(), "", "no report of a part of the clients");
}

#[test]
fn a_server_that_dies_ends_the_run_with_what_was_measured() {
    let scene = with_server(&[]);
    let text = one_client(&[("q", "select 1")], "1 q", "");
    let file = scene.file("test.smack", &text);
    let args = [
        "super-smack",
        "--server",
        "s",
        file.to_str().unwrap(),
        "4",
        "100000000",
    ];
    let running = scene.start(args);
    let server = scene.servers()[0];
    let counter = "select variable_value > 1000 from information_schema.global_status \
                   where variable_name = 'com_select'";
    let endpoint = private_server::endpoint(&scene, "s");
    wait_until("the clients query", || rows(&endpoint, counter) == [["1"]]);
    kill_process(server, Signal::KILL).unwrap();
    let finished = running.finish().exits(3).says("the server went away");
    assert!(row(&finished.text(), "q").0 > 0);
}
