//! The plans of the fixtures, from every server version that can be installed, drawn: a change of the model shows here.
//!
//! `DBDYNO_WRITE_PLANS=1 cargo test -p dbdyno --test suite plan_fixtures` takes the fixtures anew.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{fs, path::Path};

use plans::{Json, Plan, Rows, Trace};
use serde::Deserialize;

const WIDTH: usize = 100;

/// The fixtures of one version.
#[derive(Deserialize)]
struct Fixtures {
    server_version: String,
    statements: Vec<Fixture>,
}

/// What a server said about one statement.
#[derive(Deserialize)]
struct Fixture {
    name: String,
    forms: Vec<Form>,
    trace: Option<String>,
}

#[derive(Deserialize)]
struct Form {
    command: String,
    original: Json,
}

impl Form {
    fn plan(&self) -> Plan {
        match &self.original {
            Json::Text(text) if text.trim_start().starts_with('{') => Plan::of_json(text).unwrap(),
            Json::Text(text) => Plan::of_tree(text).unwrap(),
            rows => {
                let columns = rows.get("columns").unwrap().texts();
                let values = rows.get("rows").unwrap().elements().iter();
                let text = |value: &Json| {
                    if *value == Json::Null {
                        None
                    } else {
                        value.text()
                    }
                };
                let values: Vec<Vec<Option<String>>> = values
                    .map(|row| row.elements().iter().map(text).collect())
                    .collect();
                Plan::of_rows(Rows {
                    columns: &columns,
                    rows: &values,
                })
                .unwrap()
            }
        }
    }
}

fn versions() -> Vec<(String, Fixtures)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.unwrap();
            let text = fs::read_to_string(entry.path().join("plans.json")).ok()?;
            let name = entry.file_name().into_string().unwrap();
            Some((name, serde_json::from_str(&text).unwrap()))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn every_version_is_drawn_as_before() {
    let versions = versions();
    assert!(versions.len() >= 10, "{} versions", versions.len());
    for (name, fixtures) in versions {
        let mut text = format!("server {}\n", fixtures.server_version);
        assert!(fixtures.statements.len() >= 25, "{name}");
        for fixture in &fixtures.statements {
            text.push_str(&format!("\n== {}\n", fixture.name));
            for form in &fixture.forms {
                text.push_str(&format!("-- {}\n{}", form.command, form.plan().draw(WIDTH)));
            }
            if let Some(trace) = &fixture.trace {
                text.push_str(&format!(
                    "-- trace\n{}",
                    Trace::parse(trace).unwrap().draw(WIDTH)
                ));
            }
        }
        insta::assert_snapshot!(name.replace('.', "_"), text);
    }
}

/// What these versions say is known; only newer ones may have more.
#[test]
fn nothing_of_these_versions_is_unknown() {
    for (name, fixtures) in versions() {
        for fixture in &fixtures.statements {
            for form in &fixture.forms {
                let plan = form.plan();
                let all = plan.root.all();
                let unknown: Vec<_> = all
                    .iter()
                    .flat_map(|node| &node.rest)
                    .filter(|fact| !fact.known)
                    .collect();
                assert!(
                    unknown.is_empty(),
                    "{name}, {}, {}: {unknown:?}",
                    fixture.name,
                    form.command
                );
            }
        }
    }
}

#[test]
fn the_forms_name_the_same_tables() {
    for (name, fixtures) in versions() {
        for fixture in &fixtures.statements {
            let tables = |form: &Form| -> Vec<String> {
                let plan = form.plan();
                let named = plan
                    .root
                    .all()
                    .into_iter()
                    .filter_map(|node| node.table.clone());
                let mut tables: Vec<String> =
                    named.filter(|table| !table.starts_with('<')).collect();
                tables.sort();
                tables.dedup();
                tables
            };
            let rows = fixture
                .forms
                .iter()
                .find(|form| matches!(form.original, Json::Object(_)));
            let Some(rows) = rows else { continue };
            for form in &fixture.forms {
                for table in tables(rows) {
                    // A tree has no name for rows that were read beforehand, nor for a table that is only inserted into.
                    let is_tree =
                        matches!(&form.original, Json::Text(text) if !text.contains("query_block"));
                    assert!(
                        is_tree || tables(form).contains(&table) || form.command == rows.command,
                        "{name}, {}, {}: {table} of {:?}",
                        fixture.name,
                        form.command,
                        tables(form)
                    );
                }
            }
        }
    }
}
