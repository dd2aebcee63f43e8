//! The audit as text for a terminal and as JSON.
//!
//! ```text
//! audit of results/quickstart-1: grade F: do not compare or publish; machine quiet
//! 1 invalid, 2 fail, 3 warn, 7 note, 19 pass, 4 not evaluated, 13 do not apply
//!
//! INVALID  H14 other programs used the machine
//!   measured     in 3 of 24 runs (4, 6, 9); run 4: other programs used 31 % of the CPU
//!   threshold    invalid if other programs used more than 5 % of the CPU. Invalid if steal was above 1 %. ...
//!   consequence  The run shared the machine with other programs, which may not be active in the next run: ...
//!   remedy       Stop the other programs (the finding names the three busiest), ...
//!   source       krun (Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017), ...
//! ```

use std::fmt::Write;

use audit::{Audit, Finding, Judgement, Level, SkipReason};
use serde::Serialize;

use crate::text::wrapped::wrapped_behind;

/// Version of the audit's JSON.
const AUDIT_FORMAT: u32 = 1;

/// The part of an audit that is shown.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Only findings of this level or a worse one.
    pub level: Option<Level>,
    /// Only this rule.
    pub rule: Option<String>,
}

impl AuditFilter {
    pub(crate) fn has(&self, judgement: &Judgement) -> bool {
        let is_rule = self
            .rule
            .as_ref()
            .is_none_or(|id| id.eq_ignore_ascii_case(judgement.rule.id));
        let is_level = match (&judgement.outcome, self.level) {
            (_, None) => true,
            (Ok(finding), Some(level)) => finding.level >= level,
            (Err(_), Some(_)) => false,
        };
        is_rule && is_level
    }
}

/// The audit of `name` as text of at most `width` columns.
pub fn audit_text(name: &str, audit: &Audit, shown: &AuditFilter, width: u16) -> String {
    let width = usize::from(width).max(60);
    let mut out = format!(
        "audit of {}: {}\n{}\n",
        samples::printable(name),
        audit.assessment.in_words(),
        counts(audit)
    );
    let judgements: Vec<_> = audit
        .by_level()
        .into_iter()
        .filter(|it| shown.has(it))
        .collect();
    for judgement in &judgements {
        if let Ok(finding) = &judgement.outcome {
            let is_short =
                matches!(finding.level, Level::Pass | Level::Note) && shown.rule.is_none();
            push(&mut out, &finding_text(judgement, finding, is_short, width));
        }
    }
    for (title, kind) in UNJUDGED {
        let mut of_kind = judgements
            .iter()
            .filter_map(|it| Some((it, kind(it.outcome.as_ref().err()?)?)))
            .peekable();
        if of_kind.peek().is_some() {
            push(&mut out, title);
        }
        for (judgement, why) in of_kind {
            let head = format!("  {} ", judgement.rule.id);
            push(
                &mut out,
                &wrapped_behind(&head, &format!("{}: {why}", judgement.rule.name), width),
            );
        }
    }
    out
}

/// A group of rules that were not judged: its title, and the reason if a rule belongs to it.
type Kind = (&'static str, fn(&SkipReason) -> Option<&String>);

const UNJUDGED: [Kind; 2] = [
    ("\nnot evaluated: data missing", |why| match why {
        SkipReason::NotEvaluated(what) => Some(what),
        SkipReason::DoesNotApply(_) => None,
    }),
    ("\ndoes not apply", |why| match why {
        SkipReason::DoesNotApply(why) => Some(why),
        SkipReason::NotEvaluated(_) => None,
    }),
];

fn push(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string does not fail");
}

fn finding_text(judgement: &Judgement, finding: &Finding, is_short: bool, width: usize) -> String {
    let rule = judgement.rule;
    let level = finding.level.name().to_uppercase();
    let title = judgement.title();
    let head = format!("{level:<8} {} {title}", rule.id);
    let evidence = wrapped_behind("  measured     ", &finding.evidence, width);
    if is_short {
        return format!("\n{head}\n{evidence}");
    }
    let lines = [
        evidence,
        wrapped_behind("  threshold    ", rule.threshold, width),
        wrapped_behind("  consequence  ", rule.consequence, width),
        wrapped_behind("  remedy       ", rule.remedy, width),
        wrapped_behind("  source       ", rule.source, width),
    ];
    format!("\n{head}\n{}", lines.join("\n"))
}

/// The number of findings of each level.
pub(crate) fn counts(audit: &Audit) -> String {
    let of_levels = Level::ALL
        .iter()
        .map(|level| (audit.count(*level), level.name()));
    let does_not_apply = audit.judgements.len()
        - of_levels.clone().map(|(count, _)| count).sum::<usize>()
        - audit.not_evaluated();
    let rest = [
        (audit.not_evaluated(), "not evaluated"),
        (does_not_apply, "do not apply"),
    ];
    let told = of_levels.chain(rest).filter(|(count, _)| *count > 0);
    told.map(|(count, name)| format!("{count} {name}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The assessment, and the findings worse than a note, each in a line or two of at most `width` columns.
pub fn audit_in_short(audit: &Audit, width: u16) -> String {
    let width = usize::from(width).max(60);
    let assessment = format!("{} ({})", audit.assessment.in_words(), counts(audit));
    let mut lines = vec![wrapped_behind("audit: ", &assessment, width)];
    for judgement in audit.by_level() {
        let found = judgement.outcome.as_ref().ok();
        if let Some(finding) = found.filter(|finding| finding.level > Level::Note) {
            let head = format!("  {:<7} {} ", finding.level.name(), judgement.rule.id);
            let told = format!("{}: {}", judgement.title(), finding.evidence);
            lines.push(wrapped_behind(&head, &told, width));
        }
    }
    lines.join("\n") + "\n"
}

/// The explanation of rule `id` as text of at most `width` columns; `None` if the rule does not exist.
pub fn rule_explained(id: &str, width: u16) -> Option<String> {
    let width = usize::from(width).max(60);
    let rule = audit::rule(id)?;
    let lines = [
        format!("{}: {}", rule.id, rule.name),
        wrapped_behind("  finding      ", rule.found, width),
        wrapped_behind("  measures     ", rule.measures, width),
        wrapped_behind("  threshold    ", rule.threshold, width),
        wrapped_behind("  consequence  ", rule.consequence, width),
        wrapped_behind("  remedy       ", rule.remedy, width),
        wrapped_behind("  source       ", rule.source, width),
    ];
    Some(lines.join("\n") + "\n")
}

#[derive(Serialize)]
pub(crate) struct AuditDocument<'a> {
    format: u32,
    subject: &'a str,
    grade: Option<char>,
    machine: &'a str,
    scope: &'a str,
    meaning: String,
    formula: &'a str,
    rules: Vec<Row<'a>>,
    /// Always empty: every rule is evaluated. Readers of this format may look for it.
    waiting: [(); 0],
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(flatten)]
    outcome: Judged<'a>,
    threshold: &'a str,
    consequence: &'a str,
    remedy: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Judged<'a> {
    Found(&'a Finding),
    Unjudged { level: &'a str, why: &'a str },
}

/// The audit of `name` as one JSON object.
pub fn audit_json(name: &str, audit: &Audit, shown: &AuditFilter) -> String {
    let text = serde_json::to_string_pretty(&audit_document(name, audit, shown));
    text.expect("findings have only names and finite numbers") + "\n"
}

/// The audit of `name` as an object; docs/report-formats.md documents its fields.
pub(crate) fn audit_document<'a>(
    name: &'a str,
    audit: &'a Audit,
    shown: &AuditFilter,
) -> AuditDocument<'a> {
    let rows = audit
        .judgements
        .iter()
        .filter(|it| shown.has(it))
        .map(|it| Row {
            id: it.rule.id,
            name: it.rule.name,
            outcome: match &it.outcome {
                Ok(finding) => Judged::Found(finding),
                Err(SkipReason::NotEvaluated(why)) => Judged::Unjudged {
                    level: "not evaluated",
                    why,
                },
                Err(SkipReason::DoesNotApply(why)) => Judged::Unjudged {
                    level: "does not apply",
                    why,
                },
            },
            threshold: it.rule.threshold,
            consequence: it.rule.consequence,
            remedy: it.rule.remedy,
            source: it.rule.source,
        });
    AuditDocument {
        format: AUDIT_FORMAT,
        subject: name,
        grade: audit.assessment.letter(),
        machine: audit.assessment.machine.word(),
        scope: audit.assessment.scope.word(),
        meaning: audit.assessment.in_words(),
        formula: audit::FORMULA,
        rules: rows.collect(),
        waiting: [],
    }
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;

    fn nearly_empty() -> Audit {
        let header = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"x","experiment_sha256":"",
            "seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll",
            "transport":"unix socket"}"#
            .replace('\n', "");
        let record = Record::read(header.as_bytes()).unwrap();
        audit::audit(&audit::Subject::of_run(&record, None))
    }

    #[test]
    fn a_finding_tells_figures_threshold_consequence_remedy_and_source() {
        let shown = AuditFilter {
            rule: Some("h11".to_owned()),
            level: None,
        };
        let text = audit_text("one", &nearly_empty(), &shown, 100);
        for part in [
            "audit of one: rough, no grade: ",
            "WARN     H11 the clients ran on the server's machine",
            "  measured     the clients ran on the server's own machine",
            "  threshold    warn if the clients ran on the server's own machine",
            "  consequence  The response times",
            "  remedy       Run the clients on another machine",
            "  source       Matsunobu",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("H12"));
        assert!(
            text.lines().skip(1).all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }

    #[test]
    fn what_was_not_evaluated_is_listed_with_its_reason_and_hidden_by_a_level() {
        let text = audit_text("one", &nearly_empty(), &AuditFilter::default(), 100);
        assert!(text.contains("\nnot evaluated: data missing\n"), "{text}");
        assert!(
            text.contains("H04 the file system passes flushes on: the storage of"),
            "{text}"
        );
        let shown = AuditFilter {
            rule: None,
            level: Some(Level::Warn),
        };
        let text = audit_text("one", &nearly_empty(), &shown, 100);
        assert!(text.contains("H11") && !text.contains("H04"), "{text}");
    }

    #[test]
    fn the_document_has_every_rule_once() {
        let text = audit_json("one", &nearly_empty(), &AuditFilter::default());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let rules = audit::RULES.iter();
        // The run had its server alone.
        let expected = rules.filter(|it| !it.is_of_sessions()).count();
        assert_eq!(document["rules"].as_array().unwrap().len(), expected);
        let h04 = &document["rules"].as_array().unwrap()[3];
        assert_eq!(
            (h04["id"].as_str(), h04["level"].as_str()),
            (Some("H04"), Some("not evaluated"))
        );
        assert_eq!(document["waiting"], serde_json::json!([]));
    }

    #[test]
    fn rules_explain_themselves() {
        let text = rule_explained("c01", 80).unwrap();
        assert!(text.starts_with("C01: no figure depends on"), "{text}");
        assert_eq!(rule_explained("Z99", 80), None);
    }
}
