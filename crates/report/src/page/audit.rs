//! The audit on the page: what it says in three words, every finding with its evidence, and what could not be evaluated.

use audit::{Audit, Finding, Judgement, Level, Unjudged, WAITING};
use maud::{Markup, html};

use super::figures::{scrolling, unbroken};
use crate::{findings::counts, results::Results};

/// Nothing where the rules were not asked.
pub(super) fn section(results: &Results) -> Markup {
    let Some(audit) = &results.audit else {
        return html! {};
    };
    let judgements = audit.by_level();
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
            p.lead { (first_upper(&audit.assessment.in_words())) "." }
            p { (counts(audit)) "." }
            @if !worse.is_empty() { (findings(&worse)) }
            @if !rest.is_empty() {
                details.all-variables {
                    summary { "What was in order, or is worth knowing (" (rest.len()) ")" }
                    (in_order(&rest))
                }
            }
            (unjudged(audit))
            p.note { "How the grade comes about: " (audit::FORMULA) }
        }
    }
}

fn first_upper(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// What was measured and what to do stand open; threshold, consequence and source below the rule's name.
fn findings(found: &[(&Judgement, &Finding)]) -> Markup {
    html! {
        (scrolling("Findings", html! {
            table.findings {
                caption { "What speaks against the figures" }
                thead { tr {
                    @for name in ["level", "rule", "measured", "what to do"] { th scope="col" { (name) } }
                } }
                tbody { @for (judgement, finding) in found {
                    tr {
                        td { strong class={ "level-" (finding.level.name()) } { (finding.level.name()) } }
                        th.text scope="row" {
                            (judgement.rule.id)
                            details {
                                summary { "Why it matters" span.hidden { ": " (judgement.rule.id) } }
                                p { "What has to be so: " (judgement.rule.name) "." }
                                p { (judgement.rule.consequence) }
                                p { "Threshold: " (judgement.rule.threshold) "." }
                                p { "Source: " (judgement.rule.source) "." }
                            }
                        }
                        td.text { (unbroken(&finding.evidence)) }
                        td.text { (judgement.rule.remedy) }
                    }
                } }
            }
        }))
    }
}

fn in_order(found: &[(&Judgement, &Finding)]) -> Markup {
    html! {
        (scrolling("In order", html! {
            table.findings {
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

/// Rules without a finding: those that lack an input first, then those that wait for one, then those without a subject.
fn unjudged(audit: &Audit) -> Markup {
    let reasons = |kind: fn(&Unjudged) -> Option<&String>| {
        let judgements = audit.judgements.iter();
        let told = judgements.filter_map(|it| Some((it.rule, kind(it.outcome.as_ref().err()?)?)));
        told.collect::<Vec<_>>()
    };
    let unseen = reasons(|why| match why {
        Unjudged::NotEvaluated(what) => Some(what),
        Unjudged::DoesNotApply(_) => None,
    });
    let no_subject = reasons(|why| match why {
        Unjudged::DoesNotApply(why) => Some(why),
        Unjudged::NotEvaluated(_) => None,
    });
    html! {
        @if !unseen.is_empty() {
            details.all-variables {
                summary { "Not evaluated, for an input is missing (" (unseen.len()) "), which is no pass" }
                ul { @for (rule, what) in &unseen { li { strong { (rule.id) } " " (rule.name) ": " (what) } } }
            }
        }
        details.all-variables {
            summary { "Does not apply (" (no_subject.len()) "), or waits for what no record has yet (" (WAITING.len()) ")" }
            ul {
                @for (rule, why) in &no_subject { li { strong { (rule.id) } " " (rule.name) ": " (why) } }
                @for rule in WAITING { li { strong { (rule.id) } " " (rule.name) ": waits for " (rule.waits_for) } }
            }
        }
    }
}
