//! A prediction for people: at most twelve lines on a wide terminal.

use stats::Interval;

use crate::{
    answer_line::AnswerLine,
    demand_text::{amount, demand_amount, tested_in_words},
    drift::Drift,
    limit::Limit,
    limit_outcome::LimitOutcome,
    measured_records::MeasuredRecords,
    prediction::{Prediction, TargetMemory},
    service_demand::ServiceDemand,
    validation::Validation,
};

/// Share of the draws from which one limit alone is named as binding.
const CERTAIN_FROM: f64 = 0.9;

/// The label of the waits for row locks.
pub(crate) const ROW_LOCKS: &str = "row locks";
/// The label of the scaling model.
pub(crate) const SCALING: &str = "scaling";

/// The answer, without its remarks.
pub fn prediction_lines(prediction: &Prediction) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::new("", answer(prediction))];
    for (limit, outcome) in &prediction.limits {
        let text = outcome_in_words(prediction, *limit, outcome);
        lines.push(AnswerLine::new(limit.name(), text));
    }
    if let Some(memory) = &prediction.memory {
        lines.push(AnswerLine::new("memory", memory_in_words(memory)));
    }
    if prediction.target.cpus.is_some() {
        lines.push(AnswerLine::new(SCALING, scaling_in_words(prediction)));
    }
    if let Some(locks) = locks_in_words(prediction) {
        lines.push(AnswerLine::new(ROW_LOCKS, locks));
    }
    if !prediction.drifts.is_empty() {
        lines.push(AnswerLine::new("drift", drift_in_words(&prediction.drifts)));
    }
    if let Some(problems) = prediction.conditions.problems() {
        lines.push(AnswerLine::new("problems", problems));
    }
    lines.push(AnswerLine::new("measured", measured_in_words(prediction)));
    if let Some(validation) = &prediction.validation {
        lines.push(AnswerLine::new(
            "validated",
            validation_in_words(validation),
        ));
    }
    lines
}

/// The answer in a sentence or two, with the limit that binds.
fn answer(prediction: &Prediction) -> String {
    if !prediction.is_known() {
        let missing = missing_in_words(prediction.limits_not_measured());
        let others = prediction.throughput.as_ref().map(|throughput| {
            let rate = rate(&throughput.per_s);
            format!(" The other limits allow at most {rate} operations/s.")
        });
        return format!(
            "The throughput is not known, because {missing}.{}",
            others.unwrap_or_default()
        );
    }
    let Some(throughput) = &prediction.throughput else {
        return "None of the named limits bounds this load: an operation demands nothing of them."
            .to_owned();
    };
    let binding = binding_in_words(&throughput.binding);
    let at_most = if prediction.is_at_most() {
        "at most "
    } else {
        ""
    };
    let connections = throughput.connections.map(|connections| {
        let count = units::counted_amount(connections.round(), "connection");
        format!(" with {count}")
    });
    format!(
        "The target can do {at_most}{} operations/s{}; {binding}.",
        rate(&throughput.per_s),
        connections.unwrap_or_default()
    )
}

/// `measurements for fsync and net are missing`
pub(crate) fn missing_in_words(limits: impl IntoIterator<Item = Limit>) -> String {
    let names: Vec<&str> = limits.into_iter().map(Limit::name).collect();
    format!("measurements for {} are missing", names.join(" and "))
}

/// `only an upper bound is known for cpus`; `None` if there is no upper bound.
pub(crate) fn bounds_in_words(prediction: &Prediction) -> Option<String> {
    let bounds = prediction.upper_bounds().into_iter();
    let names: Vec<&str> = bounds.map(Limit::name).collect();
    let names = names.join(" and ");
    (!names.is_empty()).then(|| format!("only an upper bound is known for {names}"))
}

/// `the reads of the disk limit it`
pub(crate) fn binding_in_words(binding: &[(Limit, f64)]) -> String {
    match binding {
        [(first, share), (second, _), ..] if *share < CERTAIN_FROM => {
            let share = units::percent(*share);
            format!(
                "{} (probability {share}) or {} limit it",
                first.in_words(),
                second.in_words()
            )
        }
        [(first, _), ..] => {
            let verb = if *first == Limit::Network {
                "limits"
            } else {
                "limit"
            };
            format!("{} {verb} it", first.in_words())
        }
        [] => String::new(),
    }
}

/// A rate with its interval: `4.10k (3.95k to 4.26k)`.
pub fn rate(per_s: &Interval) -> String {
    if per_s.high.is_finite() {
        units::si_with_interval(per_s.estimate, (per_s.low, per_s.high))
    } else {
        let (estimate, low) = (units::si(per_s.estimate), units::si(per_s.low));
        format!("{estimate} ({low} or more)")
    }
}

/// `4.10k (3.95k to 4.26k) by 3.00k reads/s, 0.731 page reads per operation`
fn outcome_in_words(prediction: &Prediction, limit: Limit, outcome: &LimitOutcome) -> String {
    match outcome {
        LimitOutcome::NotMeasured(why) => why.clone(),
        LimitOutcome::Unlimited => {
            format!("no limit: no {} were counted", demanded(limit))
        }
        LimitOutcome::Rate { per_s, at_most_why } => {
            let value = prediction.target.value(limit).unwrap_or(0.0);
            let (at_most, without) = match at_most_why {
                Some(_) => ("at most ", "; without contention"),
                None => ("", ""),
            };
            let mut text = format!(
                "{at_most}{} by {}, {} per operation{without}",
                rate(per_s),
                limit.amount(value),
                demand_in_words(prediction, limit, per_s)
            );
            if let Some(not_validated) = extrapolation_in_words(prediction, limit) {
                text.push_str(&format!("; {not_validated}"));
            }
            text
        }
    }
}

/// `not validated here (2 CPUs measured)`; `None` for a limit that is not extrapolated.
pub fn extrapolation_in_words(prediction: &Prediction, limit: Limit) -> Option<String> {
    let is_extrapolated = limit == Limit::Cpus && prediction.is_extrapolated();
    let measured = prediction.measured_cpus;
    measured.filter(|_| is_extrapolated).map(not_validated)
}

pub(crate) fn not_validated(measured_cpus: f64) -> String {
    let measured = units::counted_amount(measured_cpus, "CPU");
    format!("not validated here ({measured} measured)")
}

fn demanded(limit: Limit) -> &'static str {
    match limit {
        Limit::Cpus => "CPU times",
        Limit::Reads => "page reads",
        Limit::Writes => "writes",
        Limit::Fsyncs => "flushes of the log",
        Limit::Network => "bytes",
    }
}

/// What one operation demands of a limit that allows a rate: `0.731 page reads`.
pub fn demand_in_words(prediction: &Prediction, limit: Limit, per_s: &Interval) -> String {
    let demand = |wanted: ServiceDemand| {
        let mut demands = prediction.demands.iter();
        let found = demands.find(|(demand, _)| *demand == wanted);
        found.map_or(0.0, |(_, interval)| interval.estimate)
    };
    match limit {
        Limit::Cpus => demand_amount(ServiceDemand::Cpu, demand(ServiceDemand::Cpu)),
        Limit::Reads => demand_amount(ServiceDemand::PageReads, demand(ServiceDemand::PageReads)),
        Limit::Writes => demand_amount(ServiceDemand::Writes, demand(ServiceDemand::Writes)),
        Limit::Fsyncs => {
            // Those of the connections that suit this limit best, of which the rate is.
            let fsync_s = prediction.target.fsync_s.unwrap_or(0.0);
            let flushes = 1.0 / (per_s.estimate * fsync_s);
            format!("{} flushes", amount(flushes))
        }
        Limit::Network => {
            let received = demand(ServiceDemand::ReceivedBytes);
            let sent = demand(ServiceDemand::SentBytes);
            if received > sent {
                format!("{} received", units::mean_bytes(received))
            } else {
                format!("{} sent", units::mean_bytes(sent))
            }
        }
    }
}

/// `24.0 GiB of buffer pool (assumed) for 100 GiB of data: 24 % in memory; ...`
fn memory_in_words(memory: &TargetMemory) -> String {
    let pool = memory.buffer_pool.map(|pool| {
        let assumed = if pool.is_assumed { " (assumed)" } else { "" };
        let size = units::bytes(pool.bytes);
        format!("{size} of buffer pool{assumed}")
    });
    let pool = pool.unwrap_or_else(|| "buffer pool as measured".to_owned());
    let data = units::bytes(memory.data_bytes);
    // The rest of a larger buffer pool is empty.
    let in_words = |share: f64| units::percent(share.min(1.0));
    let measured = match memory.measured_shares.as_slice() {
        [only] => in_words(*only),
        [first, .., last] => format!("{} to {}", in_words(*first), in_words(*last)),
        [] => String::new(),
    };
    let place = if memory.is_interpolated {
        let count = memory.measured_shares.len();
        format!("interpolated from {count} sizes ({measured})")
    } else {
        format!("measured at {measured}")
    };
    let share = in_words(memory.share);
    format!("{pool} for {data} of data: {share} in memory; {place}")
}

/// `no scaling model: four or more numbers of connections are needed, two executions each`
pub(crate) fn no_scaling_model(why: &str) -> String {
    format!("no scaling model: {why}")
}

/// `contention 3.1 %, coherency 8.00e-4; peak at 35.2 (33.1 to 37.9) connections`
fn scaling_in_words(prediction: &Prediction) -> String {
    let scaling = match &prediction.scaling {
        Ok(scaling) => scaling,
        Err(why) => return no_scaling_model(why),
    };
    let peak = match scaling.peak {
        Ok(peak) => {
            let bounds = (peak.concurrency.low, peak.concurrency.high);
            let connections = units::si_with_interval(peak.concurrency.estimate, bounds);
            format!("peak at {connections} connections")
        }
        Err(none) => format!("peak not reached ({none})"),
    };
    let contention = units::percent(scaling.law.contention);
    let coherency = scaling.law.coherency;
    format!("contention {contention}, coherency {coherency:.2e}; {peak}")
}

/// Row-lock waits of an operation; `None` if there are none.
fn locks_in_words(prediction: &Prediction) -> Option<String> {
    let demand = |wanted: ServiceDemand| {
        let mut demands = prediction.demands.iter();
        let (_, interval) = demands.find(|(demand, _)| *demand == wanted)?;
        Some(interval.estimate).filter(|estimate| *estimate > 0.0)
    };
    let waits = units::si(demand(ServiceDemand::LockWaits)?);
    let time = demand(ServiceDemand::LockTime);
    let time = time.map(|time| format!(" and {}", units::seconds(time)));
    let time = time.unwrap_or_default();
    Some(format!(
        "{waits} waits{time} per operation; part of the contention"
    ))
}

pub(crate) fn drift_in_words(drifts: &[Drift]) -> String {
    let drifts = drifts.iter();
    let drifts: Vec<String> = drifts
        .map(|it| format!("{} {}", it.demand.in_words(), units::change(it.ratio)))
        .collect();
    format!(
        "demands differ between the first and the last blocks: {}",
        drifts.join(", ")
    )
}

/// `45 executions of shop on 10.11.18-MariaDB in 3 blocks; 90 % intervals; prediction not tested`
fn measured_in_words(prediction: &Prediction) -> String {
    let not_tested = match prediction.validation {
        Some(_) => "",
        None => "; prediction not tested",
    };
    let records = MeasuredRecords {
        executions: prediction.executions,
        subject: &prediction.subject,
        blocks: prediction.blocks,
    };
    format!("{}{not_tested}", records.in_words())
}

/// `measured 2.95k (2.90k to 3.01k) with 32 connections on an emulated target (2 CPUs, 300 reads/s): the prediction
/// for it, 3.01k (2.93k to 3.10k), is 2 % higher (-1.2 % to +5.5 %); its interval contains the measured throughput;
/// fsync not emulated; measured per operation: 187 µs of CPU time, outside of the predicted 145 µs (121 µs to 172 µs)`
fn validation_in_words(validation: &Validation) -> String {
    let error = validation.error();
    let ratio = [error.estimate, error.low, error.high].map(|share| 1.0 + share);
    let [_, interval] = units::change_and_interval(ratio[0], (ratio[1], ratio[2]));
    let direction = if error.estimate < 0.0 {
        "lower"
    } else {
        "higher"
    };
    let at_most = if validation.is_at_most {
        "at most "
    } else {
        ""
    };
    let contains = if validation.is_in_interval() {
        "contains"
    } else {
        "does not contain"
    };
    let mut text = format!(
        "measured {} with {} on an emulated target ({}): the prediction for it, {at_most}{}, is {} {direction} \
         ({interval}); its interval {contains} the measured throughput",
        rate(&validation.measured_per_s),
        units::counted(validation.connections as usize, "connection"),
        emulated_in_words(validation),
        rate(&validation.predicted_per_s),
        units::fine_percent(error.estimate.abs()),
    );
    if let Some(name) = validation.limited_by {
        text.push_str(&format!("; limited here by: {name}"));
    }
    if !validation.not_emulated.is_empty() {
        let names = validation.not_emulated.join(" and ");
        text.push_str(&format!("; {names} not emulated"));
    }
    if let Some(tested) = tested_in_words(&validation.demands) {
        text.push_str(&format!("; {tested}"));
    }
    text
}

/// `2 CPUs, 300 reads/s, 96.0 MiB of buffer pool`
fn emulated_in_words(validation: &Validation) -> String {
    let emulated = &validation.emulated;
    let limits = emulated.limits();
    let limits = limits.map(|(limit, value)| limit.amount(value));
    let pool = emulated.buffer_pool_bytes;
    let pool = pool.map(|bytes| format!("{} of buffer pool", units::bytes(bytes)));
    let all: Vec<String> = limits.chain(pool).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use stats::UslModel;

    use super::*;
    use crate::{
        execution::{Execution, Executions},
        prediction::{PredictionRequest, predict},
        service_demand::Demands,
        target::parse_target,
        testing::execution,
    };

    /// All of the contention is waiting for the two CPUs: 1000 · 60 µs / 2 = 0.03.
    const LAW: UslModel = UslModel {
        single_per_s: 1000.0,
        contention: 0.03,
        coherency: 0.0008,
    };

    /// Two blocks of executions at the powers of two.
    fn series(up_to: u32) -> Executions {
        let blocks = (1..=2).flat_map(|block| (0..=up_to).map(move |power| (block, 1 << power)));
        let all = blocks.map(|(block, concurrency)| Execution {
            throughput_per_s: LAW.at(f64::from(concurrency)),
            demands: Demands::from_fn(|demand| (demand == ServiceDemand::Cpu).then_some(60e-6)),
            ..execution(0.5, concurrency, block)
        });
        Executions::of("made".to_owned(), all.collect())
    }

    fn on_eight_cpus(up_to: u32) -> Prediction {
        let request = PredictionRequest {
            target: parse_target("cpus=8").unwrap(),
            zipf: None,
            draws: 10,
        };
        predict(&series(up_to), &request).unwrap()
    }

    #[test]
    fn a_series_beyond_its_peak_has_the_peak_of_the_target() {
        let prediction = on_eight_cpus(6);
        let throughput = prediction.throughput.as_ref().unwrap();
        // The contention is 0.0075, and the peak at √(0.9925 / 0.0008) connections.
        assert!(
            (throughput.per_s.estimate - 15_858.9).abs() < 20.0,
            "{throughput:?}"
        );
        assert!(
            (throughput.connections.unwrap() - 35.2).abs() < 0.3,
            "{throughput:?}"
        );
        let first = &prediction_lines(&prediction)[0].text;
        let expected = "operations/s with 35 connections; the CPUs limit it.";
        assert!(first.ends_with(expected), "{first}");
    }

    #[test]
    fn without_the_peak_only_measured_connections_count() {
        let prediction = on_eight_cpus(3);
        let throughput = prediction.throughput.as_ref().unwrap();
        // 8000 / (1 + 0.0075 · 7 + 0.0008 · 8 · 7).
        assert!(
            (throughput.per_s.estimate - 7290.6).abs() < 80.0,
            "{throughput:?}"
        );
        assert_eq!(throughput.connections, Some(8.0));
        let lines = prediction_lines(&prediction);
        let scaling = lines.iter().find(|it| it.label == "scaling").unwrap();
        let expected = "peak not reached (measured up to 8 connections, the peak lies";
        assert!(scaling.text.contains(expected), "{}", scaling.text);
    }
}
