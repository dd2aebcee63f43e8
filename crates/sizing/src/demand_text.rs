//! Demands of one operation in words.

use stats::Interval;

use crate::{service_demand::ServiceDemand, tested_demand::TestedDemand};

/// The least amount that is shown as a number.
const LEAST_SHOWN: f64 = 0.001;

/// `412 µs of CPU time` or `0.731 page reads`
pub(crate) fn demand_amount(demand: ServiceDemand, each: f64) -> String {
    match demand {
        ServiceDemand::Cpu => format!("{} of CPU time", units::seconds(each)),
        _ => format!("{} {}", amount(each), demand.in_words()),
    }
}

/// How often an operation needs something: `0.731`.
pub(crate) fn amount(each: f64) -> String {
    if each > 0.0 && each < LEAST_SHOWN {
        format!("less than {}", units::si(LEAST_SHOWN))
    } else {
        units::si(each)
    }
}

/// `measured per operation: 187 µs of CPU time, outside of the predicted 145 µs (121 µs to 172 µs), and 0.402 page
/// reads, predicted 0.400 (0.390 to 0.410)`; `None` if no demand was tested.
pub(crate) fn tested_in_words(demands: &[TestedDemand]) -> Option<String> {
    let each = demands.iter().map(|it| {
        let outside = if it.is_in_interval() {
            ""
        } else {
            "outside of the "
        };
        let measured = demand_amount(it.demand, it.measured);
        let predicted = with_interval(it.demand, &it.predicted);
        format!("{measured}, {outside}predicted {predicted}")
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("measured per operation: {}", each.join(", and ")))
}

fn with_interval(demand: ServiceDemand, of: &Interval) -> String {
    match demand {
        ServiceDemand::Cpu => {
            let [estimate, low, high] = [of.estimate, of.low, of.high].map(|s| s * 1e9);
            units::duration_with_interval(estimate, (low, high))
        }
        _ => units::si_with_interval(of.estimate, (of.low, of.high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_that_is_nearly_none_is_not_shown_as_none() {
        let amounts = [0.0, 0.0004, 0.001, 0.731].map(amount);
        assert_eq!(amounts, ["0", "less than 0.001", "0.001", "0.731"]);
    }

    #[test]
    fn a_demand_outside_of_its_prediction_is_named() {
        let tested = |demand, measured, [estimate, low, high]: [f64; 3]| TestedDemand {
            demand,
            measured,
            predicted: Interval {
                estimate,
                low,
                high,
            },
        };
        let demands = [
            tested(ServiceDemand::Cpu, 187e-6, [145e-6, 121e-6, 172e-6]),
            tested(ServiceDemand::PageReads, 0.402, [0.4, 0.39, 0.41]),
        ];
        assert_eq!(
            tested_in_words(&demands).unwrap(),
            "measured per operation: 187 µs of CPU time, outside of the predicted 145 µs (121 µs to 172 µs), and 0.402 \
             page reads, predicted 0.400 (0.390 to 0.410)"
        );
        assert_eq!(tested_in_words(&[]), None);
    }
}
