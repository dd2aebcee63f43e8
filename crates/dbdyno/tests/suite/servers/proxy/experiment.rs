//! A proxy between the clients and the server of an experiment.

use std::time::Duration;

use crate::{
    results::Results,
    scene::Scene,
    shipped::{experiments, run_until, smaller, unhurried},
};

/// A proxy that delays, one with a script, one with rules, and none.
const EXPERIMENT: &str = r#"
format = 1
order = "file"
[matrix]
script = ["direct", "none", "count.lua"]
rules = ["none", "rules.toml"]
[[exclude]]
script = ["direct", "count.lua"]
rules = "rules.toml"
[server]
set = { innodb_buffer_pool_size = "32M" }
restart = "never"
[proxy]
script = "{script}"
rewrite = "{rules}"
add_delay = "2ms"
threads = 2
[data]
slap = { create = "create table empty (a int primary key)", delimiter = ";" }
restore = "never"
[load]
slap = { query = "select 1; select 2", delimiter = ";" }
connections = 2
think_time = "10ms"
warmup = "200ms"
duration = "2s"
[disturbed]
repeats = "0 %"
"#;

const SCRIPT: &str = "
function read_query(packet)
    if packet:find('select 2', 2, true) then
        proxy.queries:append(1, packet, { resultset_is_needed = true })
        return proxy.PROXY_SEND_QUERY
    end
end

function read_query_result(injection)
    error('no result is to my taste')
end
";

const RULES: &str = "
[[rule]]
name = 'three'
pattern = '^select 2$'
replace = 'select 3'
";

#[test]
fn a_proxy_is_a_factor_and_its_work_is_in_the_record() {
    let scene = Scene::for_servers();
    scene.file("ways.toml", EXPERIMENT);
    scene.file("count.lua", SCRIPT);
    scene.file("rules.toml", RULES);
    scene
        .dbdyno(["run", "ways.toml"])
        .exits(0)
        .says("the proxy says: ")
        .says("no result is to my taste");
    scene.nothing_is_left();
    let results = Results::at(scene.path().join("results/ways-1"));
    let mut seen = Vec::new();
    for number in 1..=4 {
        let record = results.record(number);
        let header = record.one("run");
        let way = &header["combination"];
        let way = format!(
            "{} {}",
            way["script"].as_str().unwrap(),
            way["rules"].as_str().unwrap()
        );
        let text = results.text(&format!("run-000{number}.jsonl"));
        if way.starts_with("direct") {
            assert!(!text.contains("\"line\":\"proxy\""), "{way}");
            assert!(!text.contains("\"proxy\":{"), "{way}");
            seen.push(way);
            continue;
        }
        let transport = header["transport"].as_str().unwrap();
        assert!(
            transport.starts_with("unix socket, through a proxy ("),
            "{transport}"
        );
        let proxy = record.one("proxy");
        let commands = proxy["commands"].as_u64().unwrap();
        // Two clients that wait 2 ms for each of their statements have no more in 1.2 s.
        assert!((1..1300).contains(&commands), "{way}: {commands}");
        assert!(proxy["cpu_s"].as_f64().unwrap() > 0.0);
        // Its use of each interval is apart from the client's.
        assert!(text.contains("\"proxy\":{\"user_s\""), "{way}");
        let changes = proxy["changes"].as_array().cloned().unwrap_or_default();
        let changed: Vec<_> = changes
            .iter()
            .map(|it| it["change"].as_str().unwrap())
            .collect();
        let digest = |at: usize| {
            changes[at]["digest"]
                .as_str()
                .unwrap()
                .trim_end()
                .to_owned()
        };
        match way.as_str() {
            "none none" => assert!(changed.is_empty(), "{changes:?}"),
            "none rules.toml" => {
                assert!(changed.contains(&"replaced"), "{changes:?}");
                assert_eq!(digest(0), "SELECT ?");
                assert_eq!(proxy["rules"][0]["rule"], "three");
                // Each operation is a statement, and every second one of each client is replaced.
                let matches = proxy["rules"][0]["matches"].as_u64().unwrap();
                assert!(matches + 2 >= record.count() / 2, "{matches}");
            }
            // Sent as it was.
            "count.lua none" => {
                let hooks = proxy["hooks"].as_array().unwrap();
                let calls = |name: &str| {
                    let hook = hooks.iter().find(|hook| hook["hook"] == name).unwrap();
                    assert_eq!(hook["errors"], 0);
                    hook["calls"].as_u64().unwrap()
                };
                assert!(calls("read_query") >= record.count());
            }
            other => panic!("{other}"),
        }
        seen.push(way);
    }
    seen.sort();
    let expected = [
        "count.lua none",
        "direct none",
        "none none",
        "none rules.toml",
    ];
    assert_eq!(seen, expected);
    let page = results.text("report.html");
    assert!(page.contains("Proxy: changes and cost"));
    let costs = results.sql("select count(*) from costs where name = 'proxy_cpu'");
    assert_eq!(costs, [[rusqlite::types::Value::Integer(3)]]);
}

#[test]
fn the_contest_runs_directly_and_through_its_scripts() {
    let scene = Scene::for_servers();
    experiments(&scene);
    unhurried(&scene, "tuningathon-proxy");
    let only = [
        "server=mariadb-10.11",
        "pages=65536",
        "query_cache=1M",
        "way=direct,tuningathon/q0q1q2.lua",
    ];
    let smaller = smaller("0.05", &only);
    let two_seconds = (Duration::from_secs(40), smaller.as_slice());
    let results = run_until(&scene, "tuningathon-proxy", two_seconds, |_| true);
    let hits = |number| {
        let text = results.text(&format!("run-000{number}.jsonl"));
        let record = results.record(number);
        let way = record.one("run")["combination"]["way"]
            .as_str()
            .unwrap()
            .to_owned();
        (way, text.contains("\"change\":\"result dropped\""))
    };
    let mut found = [hits(1), hits(2)];
    found.sort();
    assert_eq!(
        found,
        [
            ("direct".to_owned(), false),
            ("tuningathon/q0q1q2.lua".to_owned(), true)
        ]
    );
}

#[test]
fn a_proxy_that_cannot_start_is_an_error_that_says_why() {
    let scene = Scene::for_servers();
    let faulty = EXPERIMENT
        .replace("[\"direct\", \"none\", \"count.lua\"]", "[\"count.lua\"]")
        .replace("[\"none\", \"rules.toml\"]", "[\"none\"]")
        .replace(
            "[[exclude]]\nscript = [\"direct\", \"count.lua\"]\nrules = \"rules.toml\"\n",
            "",
        );
    scene.file("ways.toml", &faulty);
    // No such file: known before anything is made.
    let ended = scene.dbdyno(["run", "ways.toml"]);
    ended.exits(2).says("script of the proxy").says("count.lua");
    // A script that does not load refuses every client.
    scene.file("count.lua", "function read_query(");
    scene
        .dbdyno(["run", "ways.toml"])
        .exits(3)
        .says("MySQL Proxy Lua script failed to load");
    scene.nothing_is_left();
}
