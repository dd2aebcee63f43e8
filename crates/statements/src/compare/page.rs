//! Findings as a page for a browser.

use report::{ComparedStatement, PlanSide, plan_comparison_page};
use units::{change_and_interval, seconds};

use super::finding::{Finding, Report};

/// The page with the plans of both sides beside each other.
pub fn page(report: &Report) -> String {
    let all: Vec<ComparedStatement<'_>> = report.findings.iter().map(statement).collect();
    let title = format!(
        "{} with {}",
        units::counted(all.len(), "comparison"),
        report.baseline
    );
    let incomplete = report.failure.as_ref();
    let incomplete = incomplete.map(|it| format!("; incomplete: {}", it.message));
    let headline = report.headline() + &incomplete.unwrap_or_default();
    plan_comparison_page(&title, &headline, &all)
}

fn statement(finding: &Finding) -> ComparedStatement<'_> {
    let compared = finding.compared();
    let ratio = compared.and_then(|it| it.comparison).map(|it| it.ratio);
    let numbers = ratio.map(|it| change_and_interval(it.estimate, (it.low, it.high)));
    let [change, interval] = match numbers {
        Some(numbers) => numbers.map(Some),
        None => [None, None],
    };
    let means = compared.map(|it| it.means.map(seconds));
    let side = |at: usize| PlanSide {
        time: means.as_ref().map(|means| means[at].clone()),
        statement: &finding.texts[at],
        plan: finding.plans[at]
            .as_ref()
            .map(|it| (it.command.as_str(), &it.plan)),
    };
    let sentences = finding.plan_changes().map(|changes| {
        let sentences = changes.iter().map(plans::Change::sentence);
        let mut sentences: Vec<String> = sentences.collect();
        // An empty list says that the whole plan is the same.
        if sentences.is_empty() && !finding.is_one_version {
            sentences.push("the tables are read in the same way and order".to_owned());
        }
        sentences
    });
    ComparedStatement {
        statement: &finding.statement,
        variant: &finding.variant,
        verdict: finding.verdict().word(),
        change,
        interval,
        blocks: finding.comparison.times_s.len(),
        notes: finding
            .check()
            .into_iter()
            .chain(finding.reason())
            .collect(),
        plan_changes: sentences,
        sides: [side(0), side(1)],
    }
}
