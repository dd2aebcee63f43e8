//! Tests of results of runs side by side, which are compared by their batches of slices.

use std::{cell::Cell, collections::BTreeMap};

use audit::{Assessment, Audit, MachineState, Scope};
use report::{
    MeasureSelection, NextStep, Results, contrast_as_markdown, html, pictures, summary, table,
};
use samples::Record;
use verdict::{ComparisonParameters, Contrast, Execution, Side};

use crate::{contrast::audited, page::markup, sliced::sliced};

#[test]
fn the_page_draws_the_pairs_of_batches_over_the_time_of_their_sessions() {
    let page = markup(&html(&sliced()));
    let (_, section) = page.split_once("aria-labelledby=\"over-time\"").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    for part in [
        "flush 2 against flush 1: faster",
        "id=\"over-time-0-change-t\"",
        "8 pairs, mean +20.7\u{a0}% (+19.7\u{a0}% to +21.7\u{a0}%); lowest +20.5 %, highest +20.9 %.",
        "id=\"over-time-0-throughput-t\"",
        "Operations per second. flush 1: ",
        "session 1, seconds",
        "session 2, seconds",
        "session 1, batch 2, ",
        "change of throughput",
        "class=\"band\"",
        "between two sessions",
    ] {
        assert!(section.contains(part), "{part} is not in {section}");
    }
    // A pair, and a batch of each side.
    assert_eq!(section.matches("session 2, batch 4, ").count(), 3);
    assert_eq!(section.matches("<svg class=\"chart\"").count(), 2);
    let mut without = sliced();
    without.verdict = None;
    assert!(!html(&without).contains("over-time"));
}

#[test]
fn the_charts_over_time_are_a_picture() {
    let pictures = pictures(&sliced());
    let names: Vec<&str> = pictures.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"over-time"), "{names:?}");
}

#[test]
fn outputs_call_batches_by_their_name() {
    let results = sliced();
    let texts = [
        markup(&html(&results)),
        table(&results, 120),
        summary(&results, "results/x-1".as_ref(), 120, &|_| None),
    ];
    for text in &texts {
        for other in ["execution", "block 1", "Block by block"] {
            assert!(!text.contains(other), "{other} is in {text}");
        }
    }
    assert!(texts[0].contains("8 batches of each combination"));
    assert!(texts[0].contains("<th scope=\"col\">batches</th>"));
    assert!(texts[1].contains("8 batches"), "{}", texts[1]);
}

#[test]
fn the_next_step_counts_sessions() {
    let assessment = Assessment {
        machine: MachineState::Quiet,
        scope: Scope::Rough { executions: 2 },
        method: None,
    };
    let results = Results {
        audit: Some(Audit {
            assessment,
            judgements: Vec::new(),
        }),
        ..sliced()
    };
    let found = Cell::new(None);
    let again = |step: NextStep| -> Option<String> {
        found.set(Some(step));
        None
    };
    summary(&results, "results/x-1".as_ref(), 120, &again);
    // A session has four batches, and three are enough.
    assert_eq!(found.get(), Some(NextStep::Repeats(1)));
}

/// The two combinations compared, by the batches that are chosen.
fn compared_batches(results: &Results, is_chosen: impl Fn(&Record) -> bool) -> Contrast {
    let side = |flush: &str| Side {
        name: format!("flush={flush}"),
        levels: BTreeMap::from([("flush".to_owned(), flush.to_owned())]),
        executions: results
            .compared()
            .iter()
            .filter(|it| it.header.combination["flush"] == flush && is_chosen(it))
            .map(|it| Execution::of(it, 1))
            .collect(),
        looked_at: None,
    };
    verdict::contrast(&side("1"), &side("2"), &ComparisonParameters::of(0.02))
}

#[test]
fn too_few_pairs_of_batches_are_not_called_too_few_batches_a_side() {
    let results = sliced();
    let contrast = compared_batches(&results, |batch| batch.session() == Some(1));
    let text = contrast_as_markdown(&contrast, &[], &audited(), MeasureSelection::All);
    let expected = "inconclusive: throughput from 4 batches a side, in pairs; an interval and a decision need at least \
                    six pairs of batches.";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_comparison_calls_batches_by_their_name() {
    let results = sliced();
    let contrast = compared_batches(&results, |_| true);
    assert_eq!(contrast.places.len(), 1);
    assert!(contrast.places[0].of_batches);
    assert_eq!(contrast.places[0].executions, [8, 8]);
    let text = contrast_as_markdown(&contrast, &[], &audited(), MeasureSelection::All);
    assert!(text.contains("8 batches a side, in pairs"), "{text}");
    assert!(text.contains("Batches are compared with Student"), "{text}");
    assert!(!text.to_lowercase().contains("execution"), "{text}");
}
