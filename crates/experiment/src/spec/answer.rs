//! `[[answer]]`: the question's clauses, each answered in a line of its own.

use std::collections::BTreeSet;

use settings::Factor;

use crate::{
    error::Error,
    file::{problem::Problem, section::Section, source::Source, template::Levels},
    plan::matrix,
    spec::verdict::{self, METRICS},
};

const NAME: &str = "name = \"Durable updates\"";

/// One line of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSpec {
    /// What the line is about, as the author calls it.
    pub name: String,
    /// Factors and the levels of them that it is about; empty for every combination.
    pub filter: Vec<(String, Vec<String>)>,
    /// What is compared; `None` where the highest throughput is asked for.
    pub compared: Option<ComparedSpec>,
}

/// What a line of the answer compares.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedSpec {
    /// As in `[verdict]`.
    pub metric: String,
    /// As in `[verdict]`.
    pub baseline: Vec<(String, String)>,
}

impl AnswerSpec {
    /// Reads every `[[answer]]`; the metric of a comparison is that of `[verdict]` unless it has its own.
    pub(crate) fn read_all(
        source: Source<'_>,
        top: &Section<'_>,
        factors: &[Factor],
        combinations: &[Levels],
        own: &[&'static str],
        usual_metric: Option<&str>,
    ) -> Result<Vec<Self>, Error> {
        let mut names = BTreeSet::new();
        let sections = top.sections("answer", "[[answer]]")?;
        let answers = sections.iter().map(|section| {
            let usual_metric = usual_metric.unwrap_or(METRICS[0]);
            let answer = Self::read(source, section, factors, own, usual_metric)?;
            if !names.insert(answer.name.clone()) {
                let name = answer.name.clone();
                return Err(section.error_at("name", Problem::AnswerTwice { name }));
            }
            if !combinations.iter().any(|it| answer.is_about(it)) {
                return Err(section.error_at("where", Problem::AnswersNothing));
            }
            Ok(answer)
        });
        answers.collect()
    }

    fn read(
        source: Source<'_>,
        section: &Section<'_>,
        factors: &[Factor],
        own: &[&'static str],
        usual_metric: &str,
    ) -> Result<Self, Error> {
        section.allow(&["name", "where", "baseline", "metric"])?;
        let name = section.parsed("name", "a few words", |text| {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })?;
        let name = section.required("name", name, NAME)?;
        let table = section.section("where", "[[answer]] where")?;
        let filter = matrix::conditions(source, &table, factors)?.into_iter();
        let filter = filter.map(|(factor, levels)| (factors[factor].name.clone(), levels));
        let metric = verdict::metric(section, own)?;
        let table = section.section("baseline", "[[answer]] baseline")?;
        let compared = match (table.is_there(), metric) {
            (false, None) => None,
            (is_there, metric) => {
                let is_there = is_there.then_some(());
                section.required("baseline", is_there, verdict::EXAMPLE)?;
                Some(ComparedSpec {
                    metric: metric.unwrap_or(usual_metric).to_owned(),
                    baseline: verdict::baseline(source, &table, factors)?,
                })
            }
        };
        Ok(Self {
            name,
            filter: filter.collect(),
            compared,
        })
    }

    fn is_about(&self, combination: &Levels) -> bool {
        self.filter.iter().all(|(factor, levels)| {
            let level = combination.get(factor);
            level.is_some_and(|level| levels.contains(level))
        })
    }
}
