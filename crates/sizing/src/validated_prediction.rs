//! A prediction with its test on an emulated target.

use verdict::Resource;

use crate::{
    cells::mean,
    emulated_target::{EmulatedTarget, TestedExecutions},
    error::Error,
    execution::Executions,
    prediction::{CONFIDENCE, Draws, Prediction, PredictionRequest, predict, predict_with_draws},
    service_demand::ServiceDemand,
    target::Target,
    tested_demand::TestedDemand,
    validation::{Validation, mean_throughput},
};

/// As [`predict`], and tests the prediction by the executions that emulate a target, if there are any.
///
/// The same model predicts the throughput of the emulated target, without the executions of it; the highest predicted
/// throughput is compared with the highest measured one. A test that is not possible is a remark.
pub fn predict_validated(
    executions: &Executions,
    request: &PredictionRequest,
) -> Result<Prediction, Error> {
    validated_with_draws(executions, request).map(|(prediction, _)| prediction)
}

/// The same, with the draws that the prediction was computed from.
pub(crate) fn validated_with_draws(
    executions: &Executions,
    request: &PredictionRequest,
) -> Result<(Prediction, Draws), Error> {
    let (mut prediction, draws) = predict_with_draws(executions, request)?;
    match validation(executions, request) {
        Ok(validation) => prediction.validation = validation,
        Err(why) => {
            let remark = format!("prediction not tested: {why}");
            prediction.remarks.push(remark);
        }
    }
    Ok((prediction, draws))
}

/// `None` without executions that emulate a target; an error says why they test nothing.
fn validation(
    executions: &Executions,
    request: &PredictionRequest,
) -> Result<Option<Validation>, String> {
    let Some(emulated) = EmulatedTarget::nearest(&executions.emulated, &request.target) else {
        return Ok(None);
    };
    let tested = emulated.fastest().ok_or(
        "the emulated target has only one execution of each combination, which has no interval",
    )?;
    let request_of_test = PredictionRequest {
        target: emulated.for_prediction(),
        ..request.clone()
    };
    let prediction = predict(executions, &request_of_test).map_err(|error| error.to_string())?;
    let mut outcomes = prediction.limits.iter();
    if let Some(why) = outcomes.find_map(|(_, outcome)| outcome.not_measured()) {
        return Err(format!("emulated target: {why}"));
    }
    let predicted = prediction.throughput.as_ref();
    let predicted = predicted.ok_or("no limit of the emulated target bounds this load")?;
    let measured = tested.executions.iter().map(|it| it.throughput_per_s);
    let measured: Vec<f64> = measured.collect();
    let measured_per_s = mean_throughput(&measured, CONFIDENCE)
        .ok_or("an execution of the emulated target completed no operations")?;
    let limits = emulated.limits();
    Ok(Some(Validation {
        not_emulated: emulated.not_emulated(&request.target),
        connections: tested.connections,
        executions: tested.executions.len(),
        measured_per_s,
        predicted_per_s: predicted.per_s,
        is_at_most: prediction.is_at_most(),
        demands: tested_demands(&tested, &prediction, &limits),
        limited_by: foreign_limit(&tested, &limits),
        emulated: limits,
    }))
}

/// The tests of the demands behind the limits that a target emulates: of CPU time and page reads, and of writes if they
/// were limited. A throughput can be predicted rightly by one limit although the demand of another one is wrong.
fn tested_demands(
    tested: &TestedExecutions<'_>,
    prediction: &Prediction,
    limits: &Target,
) -> Vec<TestedDemand> {
    let writes = limits.write_iops.map(|_| ServiceDemand::Writes);
    let demands = [
        Some(ServiceDemand::Cpu),
        Some(ServiceDemand::PageReads),
        writes,
    ];
    let demands = demands.into_iter().flatten();
    demands
        .filter_map(|demand| {
            let all = tested.executions.iter().map(|it| it.demands.get(demand));
            let all: Option<Vec<f64>> = all.collect();
            let measured = mean(all?.into_iter())?;
            let mut predicted = prediction.demands.iter();
            let (_, predicted) = predicted.find(|(known, _)| *known == demand)?;
            let is_any = measured > 0.0 || predicted.estimate > 0.0;
            is_any.then_some(TestedDemand {
                demand,
                measured,
                predicted: *predicted,
            })
        })
        .collect()
}

/// What limited more than half of the executions, unless the emulated target has this limit.
fn foreign_limit(tested: &TestedExecutions<'_>, limits: &Target) -> Option<&'static str> {
    let names = tested.executions.iter().filter_map(|it| it.limited_by);
    let names: Vec<&'static str> = names.collect();
    let count = |name: &str| names.iter().filter(|it| **it == name).count();
    let is_most = |name: &&str| 2 * count(name) > tested.executions.len();
    let name = names.iter().copied().find(is_most)?;
    let of_disk = [Resource::DiskQuota.name(), Resource::Disk.name()];
    let has_disk = limits.read_iops.or(limits.write_iops).is_some();
    (!has_disk || !of_disk.contains(&name)).then_some(name)
}
