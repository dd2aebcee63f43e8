//! Explanations as text, as JSON and as a page.

use std::fmt::Write;

use report::{ExplainedForm, ExplainedStatement, cut_to_width, plan_page};
use serde_json::{Value, json};

use super::explanation::{Explanation, TakenTrace};

/// Columns of text at most; wider trees are harder to read.
pub const WIDTH_AT_MOST: usize = 110;

/// Characters of a statement above its plan.
const STATEMENT_AT_MOST: usize = 400;

/// All explanations as trees.
pub fn text(all: &[Explanation], width: usize, every_form: bool) -> String {
    let mut text = String::new();
    for (at, explanation) in all.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        one(&mut text, explanation, width, every_form);
    }
    text
}

fn one(text: &mut String, explanation: &Explanation, width: usize, every_form: bool) {
    let Some((best, plan)) = explanation.best() else {
        return;
    };
    let statement = shortened(&explanation.statement);
    line(text, &format!("{}: {statement}", explanation.place));
    for note in explanation
        .notes
        .iter()
        .chain(&explanation.explained.warnings)
    {
        line(text, &format!("note: {note}"));
    }
    line(
        text,
        &format!("\n{}, server {}:", best.command, explanation.version),
    );
    text.push_str(&plan.draw(width));
    if every_form {
        for (taken, plan) in explanation
            .plans()
            .filter(|(taken, _)| taken.form != best.form)
        {
            line(text, &format!("\n{}:", taken.command));
            text.push_str(&plan.draw(width));
            if let Some(rewritten) = &plan.rewritten {
                line(text, &format!("rewritten: {rewritten}"));
            }
        }
        for taken in &explanation.explained.forms {
            if let Err(why) = &taken.plan {
                line(text, &format!("\n{}: {why}", taken.command));
            }
        }
    }
    match &explanation.explained.trace {
        TakenTrace::Trace(trace, _) if trace.blocks.is_empty() => {
            line(
                text,
                "\nOptimizer trace: no choice between join orders or indexes",
            );
        }
        TakenTrace::Trace(trace, _) => {
            line(text, "\nOptimizer trace:");
            text.push_str(&trace.draw(width));
        }
        TakenTrace::Missing(why) => line(text, &format!("\nOptimizer trace: {why}")),
    }
}

fn line(text: &mut String, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

fn shortened(statement: &str) -> String {
    let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    cut_to_width(&words, STATEMENT_AT_MOST)
}

/// All explanations as one object.
pub fn json(all: &[Explanation]) -> String {
    let statements: Vec<_> = all.iter().map(Explanation::json).collect();
    format!("{:#}\n", json!({ "version": 1, "statements": statements }))
}

/// All explanations as a page for a browser.
pub fn page(all: &[Explanation]) -> String {
    let title = match all {
        [one] => format!("Plan of {}", one.place),
        _ => format!("Plans of {}", units::counted(all.len(), "statement")),
    };
    let statements: Vec<ExplainedStatement<'_>> = all.iter().map(statement_of_page).collect();
    plan_page(&title, &statements)
}

fn statement_of_page(explanation: &Explanation) -> ExplainedStatement<'_> {
    let best = explanation.best().map(|(taken, _)| taken.form);
    let mut forms: Vec<_> = explanation.plans().collect();
    forms.sort_by_key(|(taken, _)| Some(taken.form) != best);
    let forms = forms.into_iter().map(|(taken, plan)| ExplainedForm {
        command: &taken.command,
        plan,
        original: match &taken.plan {
            Ok((_, Value::String(text))) => text.clone(),
            Ok((_, rows)) => format!("{rows:#}"),
            Err(_) => String::new(),
        },
    });
    let notes = explanation
        .notes
        .iter()
        .chain(&explanation.explained.warnings);
    ExplainedStatement {
        place: &explanation.place,
        statement: &explanation.statement,
        server: &explanation.version,
        notes: notes.map(String::as_str).collect(),
        forms: forms.collect(),
        trace: match &explanation.explained.trace {
            TakenTrace::Trace(trace, original) => Ok((trace, original)),
            TakenTrace::Missing(why) => Err(why),
        },
    }
}
