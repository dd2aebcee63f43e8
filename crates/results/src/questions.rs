//! The questions that an experiment asks about its results.

use experiment::Experiment;

use crate::budget::looked_at;

/// The question that the experiment asks for a decision of, if any.
pub fn question(experiment: &Experiment, time_is_spent: bool) -> Option<verdict::Question> {
    let spec = experiment.verdict()?;
    let of_verdict = comparison(experiment, &spec.metric, &spec.baseline, time_is_spent);
    Some(of_verdict)
}

/// What a comparison of the experiment asks.
pub(crate) fn comparison(
    experiment: &Experiment,
    metric: &str,
    baseline: &[(String, String)],
    time_is_spent: bool,
) -> verdict::Question {
    let spec = experiment.verdict();
    verdict::Question {
        metric: verdict::Metric::named(metric)
            .expect("the experiment file's metrics are the verdict's"),
        baseline: baseline.to_vec(),
        min_effect: spec.map_or(experiment::MIN_EFFECT, |spec| spec.min_effect),
        until_decided: looked_at(experiment).map(|blocks| verdict::Budget {
            blocks,
            time_is_spent,
        }),
    }
}
