//! Tests that untrusted names in every format cannot control a terminal, forge a line or break a document.

use report::{Detail, Results, csv, html, json, markdown, openmetrics, pictures, table};
use resvg::usvg;
use samples::is_unprintable;

use crate::synthetic;

/// Hostile names of a factor, a level, an experiment or a server.
const HOSTILE: [&str; 14] = [
    "\x1b[2J\x1b]0;owned\x07",
    "one\r\ntwo\nerror: forged",
    "\0\x01\x08\x0b\x0c\x7f\u{85}\u{9b}31m",
    "user\u{202e}gpj.exe\u{2066}",
    "zero\u{200b}width\u{feff}\u{2060}",
    "lines\u{2028}and\u{2029}paragraphs",
    "\u{fffe}\u{ffff}\u{1ffff}",
    "tags\u{e0041}\u{e007f}",
    "<script>alert(1)</script>]]>&#0;<!--",
    "a|b|c\\|d `x` [l](javascript:1) ![i](x)",
    "comma, \"quote\" and 'single'; =1+1",
    "label=\"x\"} 1\n# EOF\\",
    "</svg><?xml version=\"1.0\"?>",
    "ünïcode 中文 🐬",
];

/// A small experiment with this name for everything that has a name.
fn named(name: &str) -> Results {
    let mut results = synthetic::asked();
    results.runs.truncate(4);
    results.name = name.to_owned();
    results.question = format!("does {name} matter?");
    let old = results.factors[0].name.clone();
    let level = results.factors[0].levels[0].clone();
    let new = format!("{old} {name}");
    results.factors[0].name.clone_from(&new);
    results.factors[0].levels[0] = name.to_owned();
    results.verdict = None;
    if let Some(chart) = &mut results.chart {
        let rename = |it: &mut String| {
            if *it == old {
                it.clone_from(&new);
            }
        };
        rename(&mut chart.x);
        chart.line.iter_mut().for_each(rename);
        chart.facet.iter_mut().for_each(|it| {
            if *it == old {
                it.clone_from(&new);
            }
        });
    }
    for run in &mut results.runs {
        run.header.experiment = name.to_owned();
        if let Some(of_run) = run.header.combination.remove(&old) {
            let of_run = if of_run == level {
                name.to_owned()
            } else {
                of_run
            };
            run.header.combination.insert(new.clone(), of_run);
        }
        for server in &mut run.servers {
            server.version = name.to_owned();
        }
        if let Some(end) = &mut run.end {
            end.complete = false;
            end.why = format!("server: {name}");
        }
    }
    results
}

/// Asserts that it contains no control or invisible characters except line feeds and tabs.
#[track_caller]
fn is_plain(text: &str, name: &str) {
    let bad = text
        .chars()
        .find(|it| is_unprintable(*it) && !matches!(it, '\n' | '\t'));
    assert_eq!(bad, None, "{name:?}");
}

#[test]
fn text_for_people_is_plain_and_keeps_its_lines() {
    let lines = |name: &str| table(&named(name), 200).lines().count();
    let usual = lines("plain");
    for name in HOSTILE {
        let text = samples::printable_lines(&table(&named(name), 200)).into_owned();
        is_plain(&text, name);
        assert!(
            !text.lines().any(|line| line.starts_with("error:")),
            "{text}"
        );
        assert!(lines(name) < usual + 40, "{name:?}: {text}");
    }
    let long = table(&named(&"x".repeat(100_000)), 200);
    assert!(long.len() < 50_000, "{} bytes", long.len());
}

#[test]
fn pages_and_pictures_are_plain_and_pictures_are_xml() {
    // Pages are slow: several names at once.
    for names in HOSTILE.chunks(5) {
        let name = names.concat();
        let name = name.as_str();
        let results = named(name);
        let page = html(&results);
        is_plain(&page, name);
        assert!(!page.contains("<script>alert"), "{name:?}");
        let all = pictures(&results);
        assert!(!all.is_empty(), "{name:?}");
        for picture in all {
            is_plain(&picture.svg, name);
            // The XML parser below refuses everything that XML does not allow.
            let parsed = usvg::Tree::from_str(&picture.svg, &usvg::Options::default());
            assert!(parsed.is_ok(), "{name:?}: {}", picture.svg);
        }
    }
}

#[test]
fn documents_for_programs_are_whole() {
    for name in HOSTILE {
        let results = named(name);
        let document: serde_json::Value =
            serde_json::from_str(&json(&results, Detail::Seconds)).unwrap();
        assert_eq!(document["name"], name, "JSON keeps every character");

        let text = csv(&results, Detail::Runs);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        for row in reader.records() {
            assert_eq!(&row.unwrap()[0], name, "so does CSV");
        }

        let text = openmetrics(&results);
        assert!(text.ends_with("\n# EOF\n") && text.matches("\n# EOF\n").count() == 1);
        is_plain(&text, name);
        for line in text.lines() {
            let is_sample = line.starts_with("dbdyno_")
                && line
                    .rsplit(' ')
                    .next()
                    .is_some_and(|it| it.parse::<f64>().is_ok());
            assert!(is_sample || line.starts_with("# "), "{name:?}: {line}");
        }

        let text = markdown(&results);
        is_plain(&text, name);
        let cells = |line: &str| {
            line.replace("\\\\", "")
                .replace("\\|", "")
                .matches('|')
                .count()
        };
        let rows: Vec<usize> = text
            .lines()
            .filter(|it| it.starts_with('|'))
            .map(cells)
            .collect();
        assert!(
            rows.len() > 3 && rows.iter().all(|it| *it == rows[0]),
            "{text}"
        );
        assert!(!text.contains("<script"), "{text}");
    }
}
