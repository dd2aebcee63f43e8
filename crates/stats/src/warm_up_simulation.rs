//! Simulation of the automatic warm-up: when the measurement begins, and the error of its mean.

use crate::{
    experiments::warm_up,
    noise::Noise,
    steadiness::{Evidence, judge_measurement, judge_run},
};

/// Seconds of the measurement, and the longest warm-up.
pub(crate) const MEASURED_S: usize = 300;

/// Seconds of a measurement after which it is checked: a quarter, a half, and just before its end.
const LOOKS_S: [usize; 3] = [MEASURED_S / 4, MEASURED_S / 2, MEASURED_S - 1];

/// The results of simulated runs.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) runs: usize,
    /// Sum of the warm-ups, seconds.
    pub(crate) warm_up_s: usize,
    /// Measurements that were reclassified as warm-up.
    pub(crate) begun_anew: usize,
    pub(crate) steady: usize,
    /// Sum of the errors of all means.
    pub(crate) bias: f64,
    /// Sum of the errors of the means that are called steady.
    pub(crate) steady_bias: f64,
}

impl Measured {
    /// Simulates runs that approach their level with this time constant.
    pub(crate) fn of(seed: u64, runs: usize, tau_s: f64) -> Self {
        let mut noise = Noise::new(seed);
        let mut all = Self::default();
        for _ in 0..runs {
            all.add(&warm_up(&mut noise, 2 * MEASURED_S, tau_s));
        }
        all
    }

    /// Simulates one run in the same steps as the load generator.
    fn add(&mut self, per_s: &[f64]) {
        let nothing = Evidence::default();
        let (mut since, mut now) = (0, 0);
        let from = loop {
            let is_over = |now: &usize| {
                let judged = judge_run(&per_s[since..*now], &nothing);
                judged.is_ok_and(|state| state.ends_warm_up())
            };
            let from = (now + 1..MEASURED_S).find(is_over).unwrap_or(MEASURED_S);
            let looks = LOOKS_S.iter().map(|look| from + look);
            let is_not_steady = |now: &usize| {
                let judged = judge_measurement(&per_s[since..*now], from - since, &nothing);
                judged.is_ok_and(|state| state.wants_time())
            };
            match looks
                .take_while(|now| *now < MEASURED_S)
                .find(is_not_steady)
            {
                Some(look) => {
                    self.begun_anew += 1;
                    (since, now) = (from, look);
                }
                None => break from,
            }
        };
        let whole = &per_s[..from + MEASURED_S];
        let bias = whole[from..].iter().sum::<f64>() / MEASURED_S as f64 - 1.0;
        self.runs += 1;
        self.warm_up_s += from;
        self.bias += bias;
        if judge_measurement(whole, from, &nothing).is_ok_and(|state| state.is_steady()) {
            self.steady += 1;
            self.steady_bias += bias;
        }
    }

    /// Mean error of the means that are called steady.
    pub(crate) fn mean_steady_bias(&self) -> Option<f64> {
        (self.steady > 0).then(|| self.steady_bias / self.steady as f64)
    }
}

#[test]
fn up_to_a_fifth_of_the_run_a_warm_up_leaves_less_than_a_percent() {
    for tau_s in [0.0, 5.0, 30.0, 60.0] {
        let measured = Measured::of(109, 30, tau_s);
        assert!(measured.steady >= 28, "tau {tau_s}: {}", measured.steady);
        let bias = measured.mean_steady_bias().unwrap();
        assert!(bias.abs() <= 0.01, "tau {tau_s}: {bias}");
    }
}

#[test]
fn a_warm_up_of_half_the_run_or_more_is_never_called_steady() {
    for tau_s in [150.0, 300.0] {
        let measured = Measured::of(110, 40, tau_s);
        assert!(measured.steady <= 2, "tau {tau_s}: {}", measured.steady);
        assert_eq!(measured.warm_up_s, 40 * MEASURED_S, "it took its limit");
    }
}
