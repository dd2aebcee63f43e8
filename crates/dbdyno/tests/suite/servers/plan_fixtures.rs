//! Takes the fixtures of crate `plans` anew from every installed server version, if `DBDYNO_WRITE_PLANS=1`.

use std::{env, fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::scene::Scene;

/// The folder of the fixtures.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plans/fixtures");

#[test]
fn plan_fixtures_are_written_if_asked_for() {
    if env::var_os("DBDYNO_WRITE_PLANS").is_none_or(|value| value != "1") {
        return;
    }
    let root = server::installs_root().expect("HOME is set");
    let installed = server::installed(&root).expect("the directory is readable");
    assert!(!installed.is_empty(), "dbdyno server install MYSQL-VERSION");
    for version in installed {
        let scene = Scene::for_servers();
        let mysqld = version.installation.mysqld.display().to_string();
        let create = [
            "server",
            "create",
            "one",
            "--mysqld",
            &mysqld,
            "--set",
            "innodb_buffer_pool_size=64M",
        ];
        scene.dbdyno(create).exits(0);
        load(&scene);
        let written = fixtures(&scene, &version.name);
        let folder = Path::new(FIXTURES).join(&version.name);
        fs::create_dir_all(&folder).expect("the repository is writable");
        // A line per statement, so that a difference can be read.
        let statements: Vec<String> = written.1.iter().map(|it| format!("  {it}")).collect();
        let text = format!(
            "{{\"server_version\": {}, \"statements\": [\n{}\n]}}\n",
            json!(written.0),
            statements.join(",\n")
        );
        fs::write(folder.join("plans.json"), text).expect("the repository is writable");
        scene.dbdyno(["server", "destroy", "one"]).exits(0);
    }
}

fn load(scene: &Scene) {
    let schema = fs::read_to_string(Path::new(FIXTURES).join("schema.sql")).expect("it is there");
    let script = format!("CREATE DATABASE wiki; USE wiki;\n{schema}");
    scene
        .dbdyno(["server", "client", "one", "--", "-e", &script])
        .exits(0);
}

/// The version, and its explanation of each statement that it knows.
fn fixtures(scene: &Scene, label: &str) -> (String, Vec<Value>) {
    let text = fs::read_to_string(Path::new(FIXTURES).join("statements.sql")).expect("it is there");
    let (mut version, mut all) = (String::new(), Vec::new());
    for (name, is_traced, statement) in statements(&text) {
        let output = scene.path().join("explained.json");
        let output = output.to_str().expect("the path is text");
        let explain = [
            "sql",
            "explain",
            "-e",
            &statement,
            "--server",
            "one",
            "--database",
            "wiki",
            "--output",
            output,
        ];
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbdyno"));
        let command = command.args(explain).env("HOME", scene.path());
        let finished = command.output().expect("dbdyno starts");
        if !finished.status.success() {
            eprintln!(
                "{label}, {name}: {}",
                String::from_utf8_lossy(&finished.stderr).trim()
            );
            continue;
        }
        let text = fs::read_to_string(output).expect("it was written");
        let explained: Value = serde_json::from_str(&text).expect("it is one JSON value");
        let explained = &explained["statements"][0];
        version = explained["server_version"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let forms = explained["forms"].as_array().expect("it is a list");
        let forms: Vec<Value> = forms
            .iter()
            .filter(|form| form["missing"].is_null())
            .map(form_of)
            .collect();
        let mut fixture = json!({ "name": name, "forms": forms });
        if is_traced && let Some(trace) = explained["trace"]["original"].as_str() {
            fixture["trace"] = json!(compact(trace));
        }
        all.push(fixture);
    }
    (version, all)
}

fn form_of(form: &Value) -> Value {
    let original = match form["original"].as_str() {
        Some(text) if text.trim_start().starts_with('{') => json!(compact(text)),
        _ => form["original"].clone(),
    };
    json!({ "command": form["command"], "original": original })
}

/// JSON without the white space between its parts; members keep their order, and those of the same name stay.
fn compact(text: &str) -> String {
    let json = plans::Json::parse(text).expect("the server wrote JSON");
    serde_json::to_string(&json).expect("it was read from JSON")
}

/// Name, whether the trace is kept, and text of each statement: the name is the comment before it.
fn statements(text: &str) -> Vec<(String, bool, String)> {
    let parts = text.split("\n-- ").skip(1);
    let parts = parts.filter_map(|part| part.split_once('\n'));
    parts
        .map(|(head, statement)| {
            let name = head.split(' ').next().unwrap_or_default();
            let statement = statement.trim().trim_end_matches(';').to_owned();
            (name.to_owned(), head.ends_with(" trace"), statement)
        })
        .collect()
}
