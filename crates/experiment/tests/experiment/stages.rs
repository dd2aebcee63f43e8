//! Tests of loads with stages in valid files.

use std::time::Duration;

use experiment::{LoadSpec, Overrides};
use settings::{Level, PlannedStage, WarmUp};

use crate::Bench;

const S: Duration = Duration::from_secs(1);

fn load(text: &str, scale: Option<f64>) -> LoadSpec {
    let overrides = Overrides {
        scale,
        ..Overrides::default()
    };
    let text = format!("format = 1\n[load]\nsmack = \"a.smack\"\nwarmup = \"10s\"\n{text}\n");
    match Bench::new().parse_with(&text, &overrides) {
        Ok(experiment) => experiment.plan().runs[0].loads[0].spec.clone(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn stages_replace_the_duration() {
    let text = "rate = 100\n\
                stages = [{ connections = 8, for = \"60s\" }, { connections = \"64..8\", for = \"30s\" }]";
    let stage = |from, to, length| PlannedStage {
        connections: Level { from, to },
        rate_per_s: Some(Level::constant(100.0)),
        length,
    };
    let whole = load(text, None);
    assert_eq!(whole.stages, [stage(8, 8, 60 * S), stage(64, 8, 30 * S)]);
    assert_eq!((whole.connections, whole.duration), (64, 90 * S));
    assert_eq!(whole.warmup, WarmUp::For(10 * S));
    assert_eq!(whole.arrivals.rate_per_s(), Some(100.0));
    let scaled = load(text, Some(0.1));
    assert_eq!(scaled.stages, [stage(8, 8, 6 * S), stage(64, 8, 3 * S)]);
    assert_eq!((scaled.duration, scaled.warmup), (9 * S, WarmUp::For(S)));
}

#[test]
fn a_ramp_of_the_rate_has_the_connections_of_the_load() {
    let text = "connections = 4\narrivals = \"constant\"\n\
                stages = [{ rate = \"100..300\", for = \"10s\" }, { rate = 50, for = \"30s\" }]";
    let load = load(text, None);
    assert_eq!(load.connections, 4);
    assert!(
        load.stages
            .iter()
            .all(|it| it.connections == Level::constant(4))
    );
    let rates = load.stages.iter().map(|it| it.rate_per_s);
    let ramp = Level {
        from: 100.0,
        to: 300.0,
    };
    assert_eq!(
        rates.collect::<Vec<_>>(),
        [Some(ramp), Some(Level::constant(50.0))]
    );
    // The mean of both, by their lengths.
    assert_eq!(load.arrivals.rate_per_s(), Some(87.5));
}
