//! All that a server says about one statement.

use plans::{Plan, Trace};
use serde_json::{Value, json};
use sqltext::SqlStatement;

use super::limits::limits_of;

/// A form of explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// EXPLAIN's rows.
    Rows,
    /// EXPLAIN FORMAT=JSON.
    Json,
    /// EXPLAIN FORMAT=TREE.
    Tree,
    /// EXPLAIN ANALYZE or ANALYZE: with measurements.
    Measured,
}

impl Form {
    /// Its name for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rows => "traditional",
            Self::Json => "json",
            Self::Tree => "tree",
            Self::Measured => "analyze",
        }
    }
}

/// A form as taken: what was sent, and the plan with the server's own words.
#[derive(Debug)]
pub(super) struct CapturedPlan {
    pub(super) form: Form,
    /// What was sent before the statement, such as `EXPLAIN FORMAT=JSON`.
    pub(super) command: String,
    /// The plan and the original, or why there is none.
    pub(super) plan: Result<(Plan, Value), String>,
}

/// The optimizer's trace as taken.
#[derive(Debug)]
pub(super) enum TakenTrace {
    /// Condensed, and the server's own.
    Trace(Trace, String),
    /// Why there is none.
    Missing(String),
}

/// All forms of one statement.
#[derive(Debug)]
pub(super) struct Explained {
    pub(super) forms: Vec<CapturedPlan>,
    pub(super) trace: TakenTrace,
    /// Warnings of the server about the execution.
    pub(super) warnings: Vec<String>,
}

/// One statement with its explanation.
#[derive(Debug)]
pub struct Explanation {
    pub(super) place: String,
    pub(super) statement: String,
    pub(super) version: String,
    pub(super) explained: Explained,
    pub(super) notes: Vec<String>,
}

impl Explanation {
    pub(super) fn new(
        statement: &SqlStatement,
        version: &str,
        mut explained: Explained,
        notes: Vec<String>,
    ) -> Self {
        let limits = limits_of(statement);
        let measured = explained.forms.iter_mut();
        for taken in measured.filter(|taken| taken.form == Form::Measured) {
            if let Ok((plan, _)) = &mut taken.plan {
                plan.note_limits(limits);
            }
        }
        let mut explanation = Self {
            place: statement.place().to_string(),
            statement: String::from_utf8_lossy(statement.text()).into_owned(),
            version: version.to_owned(),
            explained,
            notes,
        };
        let plan = explanation.best().map(|(_, plan)| plan.clone());
        if let (Some(plan), TakenTrace::Trace(trace, _)) = (plan, &mut explanation.explained.trace)
        {
            trace.leave_out_used(&plan);
        }
        explanation
    }

    /// The form that says most: measured, else with costs, else the rows.
    pub(super) fn best(&self) -> Option<(&CapturedPlan, &Plan)> {
        let order = [Form::Measured, Form::Json, Form::Tree, Form::Rows];
        order.iter().find_map(|form| {
            let mut plans = self.plans();
            plans.find(|(taken, _)| taken.form == *form)
        })
    }

    /// The forms that have a plan.
    pub(super) fn plans(&self) -> impl Iterator<Item = (&CapturedPlan, &Plan)> {
        let forms = self.explained.forms.iter();
        forms.filter_map(|taken| Some((taken, &taken.plan.as_ref().ok()?.0)))
    }

    /// The reason of the last form without a plan.
    pub(super) fn last_refusal(&self) -> String {
        let mut refusals = self
            .explained
            .forms
            .iter()
            .rev()
            .filter_map(|taken| taken.plan.as_ref().err());
        refusals.next().cloned().unwrap_or_default()
    }

    /// As one object for programs.
    pub(super) fn json(&self) -> Value {
        let forms: Vec<Value> = self.explained.forms.iter().map(taken_json).collect();
        let trace = match &self.explained.trace {
            TakenTrace::Trace(trace, original) => {
                json!({ "condensed": trace, "original": original })
            }
            TakenTrace::Missing(why) => json!({ "missing": why }),
        };
        let finding = |sentence: Option<String>| sentence;
        let best = self.best();
        json!({
            "place": self.place,
            "statement": self.statement,
            "server_version": self.version,
            "notes": self.notes,
            "warnings": self.explained.warnings,
            "best": best.map(|(taken, _)| taken.form.name()),
            "worst_estimate": best.and_then(|(_, plan)| finding(plans::worst_misestimate(&plan.root).map(|it| it.sentence()))),
            "dearest_node": best.and_then(|(_, plan)| finding(plans::dearest(&plan.root).map(|it| it.sentence()))),
            "forms": forms,
            "trace": trace,
        })
    }
}

fn taken_json(taken: &CapturedPlan) -> Value {
    match &taken.plan {
        Ok((plan, original)) => json!({
            "form": taken.form.name(),
            "command": taken.command,
            "plan": plan,
            "original": original,
        }),
        Err(why) => json!({ "form": taken.form.name(), "command": taken.command, "missing": why }),
    }
}
