//! The findings of `dbdyno config lint` for programs.

use std::fmt::Write as _;

use mycnf::{Advice, Level, Rewrite, shown_line};
use serde_json::{Value, json};

use super::review::Review;
use super::running::Running;

/// One object; docs/config.md names its fields.
pub(super) fn json(review: &Review) -> String {
    let lint = &review.lint;
    let lacks = lint.durability.lacks.iter().map(|lack| {
        json!({
            "class": lack.class.name(),
            "option": lack.option,
            "is_set": lack.is_set,
            "loses": lack.class.in_words(),
            "remedy": lack.remedy,
        })
    });
    let files: Vec<String> = review
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let object = json!({
        "server": review.running.as_ref().map(|running| server(running, review)),
        "files": files,
        "version": review.target.to_string(),
        "catalogue": mycnf::Target::of_catalogue(&review.target.catalogue()).to_string(),
        "catalogue_note": review.target.catalogue_note(),
        "is_validated_by_server": review.is_validated,
        "options": lint.options,
        "needs_restart": lint.needs_restart,
        "durability": {
            "class": lint.durability.class.name(),
            "loses": lint.durability.class.in_words(),
            "lacks": lacks.collect::<Vec<_>>(),
        },
        "findings": lint.advice.iter().map(finding).collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

/// A running server, with what was not read or not judged.
fn server(running: &Running, review: &Review) -> Value {
    let machine = &running.machine;
    let counters = review.lint.counted.as_ref().map(|counted| {
        json!({
            "uptime_s": counted.uptime_s,
            "is_too_early": counted.is_too_early,
            "too_few_events": counted.too_few_events,
            "unknown": counted.unknown,
        })
    });
    json!({
        "name": running.name,
        "machine": {
            "memory_bytes": machine.memory_bytes,
            "cpus": machine.cpus,
            "disk_bytes": machine.disk_bytes,
            "file_system": machine.file_system,
        },
        "counters": counters,
        "unknown": running.unknown,
    })
}

fn finding(advice: &Advice) -> Value {
    let remark = &advice.remark;
    let rewrite = remark.rewrite.as_ref().map(|rewrite| match rewrite {
        Rewrite::Remove => json!({ "remove": true }),
        Rewrite::Replace(line) => json!({ "line": shown_line(line) }),
    });
    json!({
        "rule": advice.rule.id,
        "level": remark.level.name(),
        "basis": advice.basis.name(),
        "file": remark.at.as_ref().map(|at| at.path().display().to_string()),
        "line": remark.at.as_ref().and_then(mycnf::Origin::number),
        "option": remark.option,
        "what": remark.what,
        "fix": remark.fix.as_ref().map(ToString::to_string),
        "rewrite": rewrite,
        "reason": advice.rule.reason,
        "source": advice.rule.source,
    })
}

/// What was found and what to do, in one line.
fn message(advice: &Advice) -> String {
    let remark = &advice.remark;
    let fix = remark
        .fix
        .as_ref()
        .map(|fix| format!("; {fix}"))
        .unwrap_or_default();
    format!("{}: {}{fix}", remark.option, remark.what)
}

/// File and line of a finding; one about an option that is not set belongs to the first line of the first file.
fn place(review: &Review, advice: &Advice) -> (String, u32) {
    match &advice.remark.at {
        Some(at) => (at.path().display().to_string(), at.number().unwrap_or(1)),
        None => {
            let first = review.files.first();
            (
                first
                    .map(|file| file.display().to_string())
                    .unwrap_or_default(),
                1,
            )
        }
    }
}

/// The findings in the static analysis results interchange format, version 2.1.0.
pub(super) fn sarif(review: &Review) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut rules = Vec::new();
    for advice in &review.lint.advice {
        if !seen.contains(&advice.rule.id) {
            seen.push(advice.rule.id);
            rules.push(json!({
                "id": advice.rule.id,
                "shortDescription": { "text": advice.rule.title },
                "fullDescription": { "text": format!("{} Source: {}", advice.rule.reason, advice.rule.source) },
            }));
        }
    }
    let results = review.lint.advice.iter().map(|advice| {
        let (file, line) = place(review, advice);
        let level = match advice.remark.level {
            Level::Refused | Level::Risk => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        let location = match &review.running {
            Some(running) => json!({
                "logicalLocations": [{ "fullyQualifiedName": running.name, "kind": "resource" }],
            }),
            None => json!({
                "physicalLocation": {
                    "artifactLocation": { "uri": file },
                    "region": { "startLine": line },
                },
            }),
        };
        json!({
            "ruleId": advice.rule.id,
            "level": level,
            "message": { "text": message(advice) },
            "locations": [location],
            "properties": { "basis": advice.basis.name() },
        })
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "dbdyno", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results.collect::<Vec<_>>(),
        }],
    });
    format!("{log:#}\n")
}

/// One annotation of a GitHub workflow for each finding.
pub(super) fn github(review: &Review) -> String {
    let mut text = String::new();
    for advice in &review.lint.advice {
        let (file, line) = place(review, advice);
        let command = match advice.remark.level {
            Level::Refused | Level::Risk => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let (title, message) = (property(advice.rule.title), data(&message(advice)));
        let written = match &review.running {
            // A server has no file; the title says how sure the advice is.
            Some(_) => {
                let basis = advice.basis.name();
                writeln!(text, "::{command} title={title} ({basis})::{message}")
            }
            None => writeln!(
                text,
                "::{command} file={},line={line},title={title}::{message}",
                property(&file),
            ),
        };
        written.expect("writing to a String cannot fail");
    }
    text
}

/// Escapes the text of an annotation.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of an annotation.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
