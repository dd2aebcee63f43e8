//! What a comparison side by side needs, checked before anything is written.

use std::time::Duration;

use blame::{Blame, Blamed};
use experiment::{Design, Slicing};
use load::WarmUp;

use super::{
    factor::{Factor, combinations},
    measurement::{DesignName, Measurement, StateName},
};

const DESIGN: &str = "--design side-by-side";

/// An error for a comparison that cannot be measured side by side, and for an option that needs this design.
pub(super) fn check(factors: &[Factor], measurement: &Measurement) -> Result<(), Blamed> {
    let Design::SideBySide(slicing) = measurement.design() else {
        return refuse_options(measurement);
    };
    let wrong =
        |message: String, hint: &str| Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    let (combinations, most) = (combinations(factors.iter()), Slicing::COMBINATIONS_AT_MOST);
    if combinations > most as u64 {
        let message = format!(
            "{DESIGN} cannot be used with {combinations} combinations: it measures at most {most}"
        );
        let hint = if measurement.on_this_server {
            "name fewer values"
        } else {
            "name fewer values, or use --design classical"
        };
        return wrong(message, hint);
    }
    check_state(measurement)?;
    let (duration, shortest) = (measurement.measured_time(), slicing.shortest());
    if duration < shortest {
        let (batches, slices, slice) = (Slicing::BATCHES_AT_LEAST, Slicing::BATCH, slicing.slice);
        let message = format!(
            "--duration of {duration:?} is too short for {DESIGN}: {batches} batches of {slices} slices of {slice:?} take \
             {shortest:?}"
        );
        return wrong(message, "use a longer --duration or a shorter --slice");
    }
    Ok(())
}

/// The same comparison side by side, for longer where a session would be too short; `None` if it is one already.
pub(super) fn instead_of(classical: &Measurement) -> Option<Measurement> {
    let mut measurement = Measurement {
        design: Some(DesignName::SideBySide),
        ..classical.clone()
    };
    match (classical.design(), measurement.design()) {
        (Design::Classical, Design::SideBySide(slicing)) => {
            let is_long_enough = |duration: &Duration| *duration >= slicing.shortest();
            measurement.duration = measurement.duration.filter(is_long_enough);
            Some(measurement)
        }
        _ => None,
    }
}

/// An error for a warm-up that does not lead to the state that is asked for.
fn check_state(measurement: &Measurement) -> Result<(), Blamed> {
    let is_auto = |warm_up| matches!(warm_up, WarmUp::UntilSteady { .. });
    let (message, hint) = match (measurement.state, measurement.warmup.map(is_auto)) {
        (Some(StateName::Steady), Some(false)) => (
            "--state steady cannot be used with a fixed --warmup: its warm-up ends when the server is steady",
            "remove --warmup, or use --state fresh",
        ),
        (Some(StateName::Fresh), Some(true)) => (
            "--state fresh cannot be used with --warmup auto, which ends when the server is steady",
            "use a fixed --warmup, or --state steady",
        ),
        _ => return Ok(()),
    };
    Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
}

/// An error for options that no other design has.
fn refuse_options(measurement: &Measurement) -> Result<(), Blamed> {
    let warm_up = "use --warmup: auto measures a steady server, and a fixed time a fresh one";
    if measurement.state.is_some() {
        let message = format!("--state can only be used with {DESIGN}");
        return Err(Blamed::new(Blame::Input, message).hint(warm_up.to_owned()));
    }
    let options = [
        ("--slice", measurement.slice.is_some()),
        ("--settle", measurement.settle.is_some()),
        ("--wait-until-quiet", measurement.wait_until_quiet),
        ("--confirm", measurement.confirm),
    ];
    match options.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!("{option} can only be used with {DESIGN}");
            let hint = format!("add {DESIGN}, or remove {option}");
            Err(Blamed::new(Blame::Input, message).hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::factor::{hosts, setting},
        *,
    };

    #[test]
    fn a_classical_comparison_can_be_one_side_by_side() {
        let instead = |words: &[&str]| {
            let measurement = instead_of(&Measurement::parsed(words))?;
            assert_ne!(measurement.design(), Design::Classical, "{words:?}");
            Some(measurement.duration)
        };
        let seconds = Duration::from_secs;
        assert_eq!(instead(&[]), Some(None));
        // Six batches of slices take 15 s.
        assert_eq!(instead(&["--duration", "14s"]), Some(None));
        assert_eq!(instead(&["--duration", "15s"]), Some(Some(seconds(15))));
        assert_eq!(instead(&["--design", "classical"]), Some(None));
        assert_eq!(instead(&["--design", "side-by-side"]), None);
        assert_eq!(instead(&["--on-this-server"]), None);
    }

    #[test]
    fn what_cannot_be_measured_side_by_side_is_an_error() {
        let two = setting("sync_binlog=0,1").unwrap();
        let nine = setting("sync_binlog=1,2,3,4,5,6,7,8,9").unwrap();
        let eight = setting("sync_binlog=1,2,3,4,5,6,7,8").unwrap();
        let given = hosts("db1,db2").unwrap();
        let beside = &["--design", "side-by-side"][..];
        for (factor, words, expected) in [
            (&two, &[][..], ""),
            (&given, &[], ""),
            (&nine, &[], ""),
            (
                &two,
                &["--slice", "1s"],
                "--slice can only be used with --design side-by-side",
            ),
            (
                &two,
                &["--design", "classical", "--settle", "0s"],
                "--settle can only be used with --design side-by-side",
            ),
            (
                &two,
                &["--state", "steady"],
                "--state can only be used with --design side-by-side",
            ),
            (
                &two,
                &[
                    "--design",
                    "side-by-side",
                    "--state",
                    "steady",
                    "--warmup",
                    "5s",
                ],
                "--state steady cannot be used with a fixed --warmup: its warm-up ends when the server is steady",
            ),
            (
                &two,
                &[
                    "--design",
                    "side-by-side",
                    "--state",
                    "fresh",
                    "--warmup",
                    "auto",
                ],
                "--state fresh cannot be used with --warmup auto, which ends when the server is steady",
            ),
            (
                &two,
                &["--wait-until-quiet"],
                "--wait-until-quiet can only be used with --design side-by-side",
            ),
            (
                &two,
                &["--confirm"],
                "--confirm can only be used with --design side-by-side",
            ),
            (&two, &["--design", "side-by-side", "--confirm"], ""),
            (&eight, beside, ""),
            (
                &nine,
                beside,
                "--design side-by-side cannot be used with 9 combinations: it measures at most 8",
            ),
            (&given, beside, ""),
            (
                &two,
                &["--design", "side-by-side", "--duration", "7s"],
                "--duration of 7s is too short for --design side-by-side: 6 batches of 5 slices of 500ms take 15s",
            ),
            // Without a duration, it is long enough.
            (
                &two,
                &[
                    "--design",
                    "side-by-side",
                    "--slice",
                    "5s",
                    "--settle",
                    "0s",
                ],
                "",
            ),
        ] {
            let factors = std::slice::from_ref(factor);
            let error = check(factors, &Measurement::parsed(words)).err();
            let message = error.map(|error| error.message).unwrap_or_default();
            assert_eq!(message, expected, "{words:?}");
        }
        // On one existing server, there is no other design.
        let here = Measurement::parsed(&["--on-this-server"]);
        let error = check(&[nine, hosts("db1").unwrap()], &here).unwrap_err();
        assert_eq!(error.hints, ["name fewer values"]);
    }
}
