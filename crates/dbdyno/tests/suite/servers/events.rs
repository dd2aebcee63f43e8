//! Planned events of an experiment on a real server: statements, a restart, commands; in the record and in the report.

use serde_json::Value;

use crate::{
    results::Results,
    scene::{Scene, wait_until},
};

/// The last line of the record about each event of run 1, which is how it ended.
fn events(results: &Results) -> Vec<Value> {
    let record = results.record(1);
    let mut events: Vec<Value> = Vec::new();
    for line in record.all("event") {
        events.retain(|it| it["number"] != line["number"]);
        events.push(line.clone());
    }
    events
}

/// An experiment whose commits wait for no disk: on a busy one a second may have none.
fn experiment(events: &str, load: &str) -> String {
    format!(
        r#"
format = 1
[server]
set = {{ innodb_buffer_pool_size = "32M", innodb_flush_log_at_trx_commit = 2 }}
[data]
oltp = {{ tables = 2, table_size = "1k" }}
[load]
oltp = {{ script = "read_write" }}
connections = 4
think_time = "100ms"
warmup = "200ms"
{load}
[disturbed]
repeats = "0 %"
{events}
"#
    )
}

#[test]
fn a_statement_in_the_middle_of_a_run_is_recorded_and_its_cost_reported() {
    let scene = Scene::for_servers();
    let event = r#"
[[event]]
name = "add table"
at = "1s"
sql = ["CREATE TEMPORARY TABLE added (n int)", "INSERT INTO sbtest2 (k) VALUES (1), (2)", "DROP TABLE IF EXISTS nowhere"]
"#;
    scene.file("alter.toml", &experiment(event, "duration = \"3s\""));
    scene
        .dbdyno(["run", "alter.toml", "--verbose"])
        .exits(0)
        .prints_sentence("event add table at 1 s took")
        .prints_sentence("operations/s before");
    let results = Results::at(scene.path().join("results/alter-1"));
    let events = events(&results);
    let [event] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        (&event["outcome"], &event["action"]),
        (&"done".into(), &"sql".into())
    );
    assert_eq!(event["rows_affected"], 2);
    assert_eq!(event["warnings"], 1);
    let (begin_s, end_s) = (
        event["begin_s"].as_f64().unwrap(),
        event["end_s"].as_f64().unwrap(),
    );
    assert!(begin_s >= 1.0 && end_s >= begin_s, "{event}");
    let rows =
        results.sql("SELECT outcome, before_per_s > 0, during_per_s IS NOT NULL FROM events");
    assert_eq!(rows, [["done".to_owned().into(), 1.into(), 1.into()]]);
    let page = results.text("report.html");
    assert!(page.contains("Planned events and their cost"));
    scene
        .dbdyno(["report", "results/alter-1", "--format", "json"])
        .exits(0)
        .prints("\"recovered_after_s\"");
    scene
        .dbdyno(["top", "results/alter-1/run-0001.jsonl", "--plain"])
        .exits(0)
        .prints("# event add table done after");
    scene.nothing_is_left();
}

#[test]
fn an_event_that_fails_or_hangs_leaves_the_run_and_says_so() {
    let scene = Scene::for_servers();
    let event = r#"
[[event]]
at = "1s"
sql = "ALTER TABLE nowhere ADD COLUMN c INT"

[[event]]
name = "sleeping beauty"
at = "1100ms"
sql = "SELECT SLEEP(600)"
# Its connection needs a part of this time on a busy machine.
timeout = "4s"

[[event]]
name = "sleeping beast"
at = "1200ms"
command = ["sh", "-c", "echo awake; sleep 600 & echo $!; wait"]
timeout = "2s"

[[event]]
# Its client has until the end of the load.
at = "7s"
command = ["sh", "-c", '''
test -S "$DBDYNO_SOCKET" && test -r "$DBDYNO_OPTION_FILE" && env | grep -c ^DBDYNO_
mariadb --defaults-file="$DBDYNO_OPTION_FILE" -N -e \
  "select count(*) from information_schema.processlist where info like 'select sleep(%'"
exit 3''']

[[event]]
name = "too long"
at = "8500ms"
command = ["sleep", "600"]
"#;
    scene.file("fails.toml", &experiment(event, "duration = \"12s\""));
    let finished = scene.dbdyno(["run", "fails.toml"]).exits(3);
    let finished =
        finished.says("event ALTER TABLE nowhere ADD COLUMN c INT of run 1 failed: error 1146");
    finished.says("(and 4 other events)");
    let results = Results::at(scene.path().join("results/fails-1"));
    assert!(results.record(1).is_complete());
    let events = events(&results);
    let outcomes: Vec<&str> = events
        .iter()
        .map(|it| it["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(
        outcomes,
        ["failed", "timed_out", "timed_out", "failed", "timed_out"]
    );
    let message = |at: usize| events[at]["message"].as_str().unwrap();
    assert!(
        message(1).contains("timeout of 4 s; ended by KILL"),
        "{}",
        message(1)
    );
    assert!(
        message(2).contains("it was ended with all processes that it had started"),
        "{}",
        message(2)
    );
    assert_eq!(message(3), "exit status: 3");
    // Five variables, and nothing of the event that was too long.
    assert_eq!(events[3]["output"], "5\n0\n");
    assert!(
        message(4).starts_with("not finished when the load ended"),
        "{}",
        message(4)
    );
    let output = events[2]["output"].as_str().unwrap();
    let child = output.strip_prefix("awake\n").unwrap().trim();
    wait_until("the command's child has ended", || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    });
    scene.nothing_is_left();
}

#[test]
fn a_load_survives_a_restart_and_a_crash_of_the_server() {
    // In memory, a start takes a second or two.
    let scene = Scene::for_servers();
    let event = r#"
[[event]]
at = "1s"
server = "restart"

[[event]]
name = "crash"
# One event follows the other, and after a slow start of the server there is time left.
at = "5s"
server = "kill"
"#;
    scene.file("outage.toml", &experiment(event, "duration = \"20s\""));
    scene
        .dbdyno(["run", "outage.toml", "--verbose"])
        .exits(0)
        .prints_sentence("event server restart at 1 s took")
        .prints_sentence("event crash at 5 s took");
    let results = Results::at(scene.path().join("results/outage-1"));
    let record = results.record(1);
    assert!(record.is_complete());
    let events = events(&results);
    for event in &events {
        assert_eq!(event["outcome"], "done", "{event}");
    }
    let back_s = events.last().unwrap()["end_s"].as_f64().unwrap();
    let is_later = |line: &&Value| line["t_s"].as_f64().unwrap() > back_s;
    let errors: u64 = record
        .all("error")
        .map(|it| it["count"].as_u64().unwrap())
        .sum();
    assert!(errors > 0, "an outage has errors");
    // Something came back after the crash, and the server's new process was observed there.
    let came_back = |line: &Value| line["operations"][0]["count"].as_u64() > Some(0);
    assert!(record.measured().filter(is_later).any(came_back));
    let mut used = record.all("telemetry").filter(is_later);
    assert!(used.any(|line| line["server"].is_object()));
    assert!(record.all("server_status").any(|line| is_later(&line)));
    scene.nothing_is_left();
}

#[test]
fn a_server_that_ended_by_itself_is_not_started_as_if_that_were_planned() {
    let scene = Scene::for_servers();
    let event = r#"
[[event]]
at = "1s"
sql = "SHUTDOWN"

[[event]]
at = "15s"
server = "kill"
"#;
    scene.file("gone.toml", &experiment(event, "duration = \"17s\""));
    scene
        .dbdyno(["run", "gone.toml"])
        .exits(3)
        .says("event 2 (server kill) failed: the server was not running any more");
    let record = Results::at(scene.path().join("results/gone-1")).record(1);
    assert!(!record.is_complete());
    scene.nothing_is_left();
}

#[test]
fn an_event_that_cannot_be_is_refused_before_anything_starts() {
    let scene = Scene::for_servers();
    let restart = "[[event]]\nat = \"1s\"\nserver = \"restart\"\n";
    scene.file("simulated.toml", &experiment(restart, "duration = \"2s\""));
    scene
        .dbdyno(["run", "simulated.toml", "--simulate"])
        .exits(2)
        .says("--simulate: an event that restarts the server")
        .hints("sql");
    let beyond = "[[event]]\nat = \"9s\"\nsql = \"SELECT 1\"\n";
    scene.file("beyond.toml", &experiment(beyond, "duration = \"2s\""));
    scene
        .dbdyno(["run", "beyond.toml"])
        .exits(2)
        .says("beyond.toml:16:6: `at` is 9s after the start of the measurement, which lasts 2s");
    assert!(!scene.path().join("results").exists());
}
