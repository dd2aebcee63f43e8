//! The audit on the page: the assessment in three words, every finding with its evidence, and the rules that could not
//! be evaluated.

use audit::{Audit, Finding, Judgement, Level, SkipReason};
use maud::{Markup, html};

use super::{
    document::document,
    figures::{scrolling, unbroken},
};
use crate::{
    findings::{AuditFilter, counts},
    results::Results,
    text::capital::capitalised,
};

/// The audit of `name` as a separate page.
pub fn audit_html(name: &str, audit: &Audit, shown: &AuditFilter) -> String {
    document("dbdyno audit", name, &filtered_section(audit, shown))
}

/// The section of the audit; empty without an audit.
pub(super) fn section(results: &Results) -> Markup {
    let audit = results.audit.as_ref();
    audit.map_or(html! {}, audit_section)
}

pub(crate) fn audit_section(audit: &Audit) -> Markup {
    filtered_section(audit, &AuditFilter::default())
}

fn filtered_section(audit: &Audit, shown: &AuditFilter) -> Markup {
    let judgements = audit.by_level();
    let judgements: Vec<_> = judgements.into_iter().filter(|it| shown.has(it)).collect();
    let found: Vec<_> = judgements
        .iter()
        .filter_map(|it| Some((*it, it.outcome.as_ref().ok()?)))
        .collect();
    let (worse, rest): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(_, finding)| finding.level > Level::Note);
    html! {
        section aria-labelledby="audit" {
            h2 id="audit" { "The audit" }
            p.lead { (capitalised(&audit.assessment.in_words())) "." }
            p { (counts(audit)) "." }
            @for (judgement, finding) in &worse { (folded(judgement, finding)) }
            details.all-variables {
                summary { "All other rules, and how the grade is computed" }
                @if !rest.is_empty() { (in_order(&rest)) }
                (unjudged(&judgements))
                p.note { "How the grade is computed: " (audit::FORMULA) }
            }
        }
    }
}

/// The title in a line; evidence, remedy, consequence and source are folded below it.
fn folded(judgement: &Judgement, finding: &Finding) -> Markup {
    let (rule, level) = (judgement.rule, finding.level.name());
    html! {
        details.finding {
            summary { strong class={ "level-" (level) } { (level) } " " (rule.id) " " (judgement.title()) }
            p { (unbroken(&finding.evidence)) "." }
            p { strong { "What to do: " } (rule.remedy) }
            p.note { (rule.consequence) " Threshold: " (rule.threshold) ". Source: " (rule.source) "." }
        }
    }
}

fn in_order(found: &[(&Judgement, &Finding)]) -> Markup {
    html! {
        (scrolling("Passed rules and notes", html! {
            table.findings {
                caption { "Passed rules and notes" }
                thead { tr { @for name in ["level", "rule", "measured"] { th scope="col" { (name) } } } }
                tbody { @for (judgement, finding) in found {
                    tr {
                        td { (finding.level.name()) }
                        th.text scope="row" { (judgement.rule.id) " " (judgement.rule.name) }
                        td.text { (unbroken(&finding.evidence)) }
                    }
                } }
            }
        }))
    }
}

/// Rules without a finding: first those with missing data, then those that do not apply.
fn unjudged(judgements: &[&Judgement]) -> Markup {
    let reasons = |kind: fn(&SkipReason) -> Option<&String>| {
        let judgements = judgements.iter();
        let told = judgements.filter_map(|it| Some((it.rule, kind(it.outcome.as_ref().err()?)?)));
        told.collect::<Vec<_>>()
    };
    let unseen = reasons(|why| match why {
        SkipReason::NotEvaluated(what) => Some(what),
        SkipReason::DoesNotApply(_) => None,
    });
    let no_subject = reasons(|why| match why {
        SkipReason::DoesNotApply(why) => Some(why),
        SkipReason::NotEvaluated(_) => None,
    });
    html! {
        @if !unseen.is_empty() {
            p { "Not evaluated, data missing (" (unseen.len()) "):" }
            ul { @for (rule, what) in &unseen { li { strong { (rule.id) } " " (rule.name) ": " (what) } } }
        }
        @if !no_subject.is_empty() {
            p { "Does not apply (" (no_subject.len()) "):" }
            ul { @for (rule, why) in &no_subject { li { strong { (rule.id) } " " (rule.name) ": " (why) } } }
        }
    }
}
