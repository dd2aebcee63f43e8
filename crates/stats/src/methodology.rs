//! The simulated tables of docs/methodology.md: computed here and compared with the page.

use crate::{
    Design, Deviation, Evidence, Point, Resampling, Steadiness, Threshold, change_points, compare,
    compare_pairs, coverage,
    experiments::{
        experiments, false_verdicts, false_verdicts_with_peeking, found_slowdowns, warm_up,
    },
    judge_run,
    mean_shift::tests::Scene,
    noise::Noise,
    percentile_interval, run_mean, scalability,
    warm_up_simulation::Measured,
};

/// The page; its tables are between `<!-- simulated: coverage -->` and `<!-- end -->`.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/methodology.md");

/// Allowed difference between a figure and the page: on another machine, one experiment in a thousand rounds differently.
const TOLERANCE: f64 = 0.31;

/// `DBDYNO_SIMULATIONS=5000 GOLDEN=write cargo test -p stats methodology` rewrites the tables.
#[test]
fn the_page_shows_these_tables() {
    let mut page = std::fs::read_to_string(PAGE).unwrap();
    type Table = fn() -> String;
    let tables: [(&str, Table); 11] = [
        ("series", series),
        ("coverage", coverage),
        ("percentiles", percentiles),
        ("mean-shift", mean_shifts),
        ("history", histories),
        ("warm-up", warm_ups),
        ("automatic", automatic_warm_ups),
        ("comparison", comparisons),
        ("one-run", one_run),
        ("a-against-a", a_against_a),
        ("scalability", scalabilities),
    ];
    let write = std::env::var("GOLDEN").is_ok_and(|value| value == "write");
    for (name, table) in tables {
        let begin = format!("<!-- simulated: {name} -->\n");
        let from = page.find(&begin).expect(name) + begin.len();
        let to = from + page[from..].find("<!-- end -->").expect(name);
        let made = table();
        if write {
            page.replace_range(from..to, &made);
        } else {
            let difference = difference(&page[from..to], &made);
            assert_eq!(difference, None, "table {name} of docs/methodology.md");
        }
    }
    if write {
        std::fs::write(PAGE, page).unwrap();
    }
}

/// The first pair of words that differ; numbers may differ by up to the tolerance.
fn difference(page: &str, made: &str) -> Option<(String, String)> {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (page, made) = (words(page), words(made));
    if page.len() != made.len() {
        return Some((page.join(" "), made.join(" ")));
    }
    let differ = |(page, made): &(String, String)| match (page.parse::<f64>(), made.parse::<f64>())
    {
        (Ok(page), Ok(made)) => (page - made).abs() > TOLERANCE,
        _ => page != made,
    };
    page.into_iter().zip(made).find(differ)
}

#[test]
fn a_difference_is_seen() {
    assert_eq!(difference("| 95.0 | a |", "| 95.2 | a |\n"), None);
    assert!(difference("| 95.0 |", "| 96.0 |").is_some());
    assert!(difference("| a |", "| b |").is_some());
    assert!(difference("| a |", "| a | b |").is_some());
}

fn table(heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(heading.iter().map(|cell| (*cell).to_owned()).collect());
    text.push_str(&line(vec!["---".to_owned(); heading.len()]));
    text.extend(rows.into_iter().map(line));
    text
}

fn percent(part: usize, of: usize) -> String {
    format!("{:.1}", 100.0 * part as f64 / of.max(1) as f64)
}

fn series() -> String {
    let repetitions = experiments(1_000);
    let rows = [0.0, 0.5, 0.6, 0.8, 0.9, 0.95].map(|phi| {
        let mut noise = Noise::new(7_001);
        let (mut naive, mut answered, mut held) = (0, 0, 0);
        for _ in 0..repetitions {
            let series = noise.autocorrelated(300, phi);
            let plain = crate::mean_interval(&series, 0.95).unwrap();
            naive += usize::from(plain.low <= 0.0 && 0.0 <= plain.high);
            if let Ok(found) = run_mean(&series, 0.95) {
                answered += 1;
                held += usize::from(found.mean.low <= 0.0 && 0.0 <= found.mean.high);
            }
        }
        vec![
            phi.to_string(),
            percent(naive, repetitions),
            percent(repetitions - answered, repetitions),
            percent(held, answered),
            percent(answered - held, repetitions),
        ]
    });
    let heading = [
        "lag-1 correlation",
        "correct intervals from mean ± 1.96 s/√n, %",
        "refused series, %",
        "correct intervals among those computed, %",
        "wrong intervals, % of all series",
    ];
    table(&heading, rows)
}

fn coverage() -> String {
    let heading = ["noise", "3 executions", "5 executions", "12 executions"];
    let repetitions = experiments(1_000);
    let rows = coverage::NOISES.iter().map(|noise| {
        let of = |count| {
            let held = noise.held(7_012, count, repetitions);
            held.map(|held| percent(held, repetitions)).join(" / ")
        };
        let name = std::iter::once(noise.name.to_owned());
        name.chain([3, 5, 12].map(of)).collect()
    });
    table(&heading, rows)
}

fn percentiles() -> String {
    let repetitions = experiments(1_000);
    let rows = [(0.5, 40), (0.95, 300), (0.99, 2_000), (0.999, 12_000)].map(|(quantile, count)| {
        let mut noise = Noise::new(7_002);
        let truth = -(1.0_f64 - quantile).ln();
        let held = (0..repetitions).filter(|_| {
            let mut values: Vec<f64> = (0..count).map(|_| -noise.uniform().ln()).collect();
            values.sort_by(f64::total_cmp);
            let found = percentile_interval(&values, quantile, count as f64, 0.95).unwrap();
            found.low <= truth && truth <= found.high
        });
        let needed = |values: Option<u64>| values.unwrap().to_string();
        vec![
            format!("p{}", quantile * 100.0),
            needed(crate::values_for_bound(quantile, 0.95)),
            needed(crate::values_for_percentile(quantile, 0.95)),
            count.to_string(),
            percent(held.count(), repetitions),
        ]
    });
    let heading = [
        "percentile",
        "operations needed for an upper bound",
        "operations needed to be unmarked",
        "operations in the simulation",
        "correct intervals, %",
    ];
    table(&heading, rows)
}

fn histories() -> String {
    const RESULTS: usize = 60;
    let repetitions = experiments(400);
    let rows = [0.0, 0.3].map(|correlation| {
        let mut noise = Noise::new(7_011);
        let mut found = [0; 2];
        for _ in 0..repetitions {
            let errors = noise.autocorrelated(RESULTS, correlation);
            let history: Vec<f64> = errors.iter().map(|error| 100.0 + 2.0 * error).collect();
            let has_change =
                |to: usize| !change_points(&history[..to], Threshold::USUAL).is_empty();
            found[0] += usize::from(has_change(RESULTS));
            found[1] += usize::from((6..=RESULTS).any(has_change));
        }
        vec![
            format!("{correlation}"),
            percent(found[0], repetitions),
            percent(found[1], repetitions),
        ]
    });
    let heading = [
        "lag-1 correlation of the results",
        "histories with a false change when analysed at the end, %",
        "histories with a false change when analysed after each result, %",
    ];
    table(&heading, rows)
}

fn mean_shifts() -> String {
    let repetitions = experiments(400) as u64;
    let rows = [
        (1, 12, 20.0, 0.8),
        (1, 60, 5.0, 0.6),
        (1, 300, 5.0, 0.6),
        (1, 300, 20.0, 0.6),
        (3, 12, 5.0, 0.6),
        (3, 20, 10.0, 0.6),
        (3, 60, 20.0, 0.6),
    ];
    let rows = rows.map(|(executions, length, noise, correlation)| {
        let called = |depth| {
            let scene = Scene {
                combinations: 1,
                executions,
                length,
                variation: noise / 100.0,
                correlation,
                depth,
            };
            scene.called(repetitions)
        };
        let (steady, warming) = (called(0.0), called(0.6));
        let share = |share: f64| format!("{:.1}", 100.0 * share);
        vec![
            executions.to_string(),
            length.to_string(),
            format!("{noise}"),
            format!("{correlation}"),
            share(steady.0),
            share(steady.1),
            share(warming.0),
        ]
    });
    let heading = [
        "executions",
        "intervals per execution",
        "noise, %",
        "lag-1 correlation",
        "steady experiments with a warning, %",
        "steady experiments classified as invalid, %",
        "experiments with a measured warm-up and a warning, %",
    ];
    table(&heading, rows)
}

fn warm_ups() -> String {
    let repetitions = experiments(400);
    let rows = [0.0, 5.0, 20.0, 30.0, 60.0, 100.0, 150.0, 300.0].map(|tau_s| {
        let mut noise = Noise::new(7_003);
        let (mut none, mut at_once, mut later) = (0.0, Vec::new(), Vec::new());
        for _ in 0..repetitions {
            let run = warm_up(&mut noise, 600, tau_s);
            let bias = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64 - 1.0;
            none += bias(&run[..300]);
            for seconds in [300, 450, 600] {
                let state = judge_run(&run[..seconds], &Evidence::default()).unwrap();
                if state.steadiness == Steadiness::Steady {
                    let bias = bias(&run[state.from..seconds]);
                    if seconds == 300 {
                        at_once.push(bias);
                    }
                    later.push(bias);
                    break;
                }
            }
        }
        let mean = |biases: &[f64]| match biases.len() {
            0 => "-".to_owned(),
            count => format!("{:.1}", 100.0 * biases.iter().sum::<f64>() / count as f64),
        };
        vec![
            format!("{tau_s}"),
            format!("{:.1}", 100.0 * none / repetitions as f64),
            percent(at_once.len(), repetitions),
            mean(&at_once),
            percent(later.len(), repetitions),
            mean(&later),
        ]
    });
    let heading = [
        "time constant, s",
        "bias of the first 300 s, %",
        "runs called steady after 300 s, %",
        "bias of the runs steady after 300 s, %",
        "runs called steady after at most 600 s, %",
        "bias of the runs steady after at most 600 s, %",
    ];
    table(&heading, rows)
}

fn automatic_warm_ups() -> String {
    let repetitions = experiments(50);
    let rows = [0.0, 5.0, 30.0, 60.0, 100.0, 150.0, 300.0].map(|tau_s| {
        let measured = Measured::of(7_004, repetitions, tau_s);
        let runs = measured.runs as f64;
        let steady_bias = measured.mean_steady_bias();
        vec![
            format!("{tau_s}"),
            format!("{:.0}", measured.warm_up_s as f64 / runs),
            format!("{:.2}", measured.begun_anew as f64 / runs),
            format!("{:.1}", 100.0 * measured.bias / runs),
            percent(measured.steady, measured.runs),
            steady_bias.map_or_else(|| "-".to_owned(), |bias| format!("{:.1}", 100.0 * bias)),
        ]
    });
    let heading = [
        "time constant, s",
        "mean warm-up, s",
        "mean number of restarts",
        "bias of all measurements, %",
        "measurements called steady, %",
        "bias of the steady measurements, %",
    ];
    table(&heading, rows)
}

fn comparisons() -> String {
    let repetitions = experiments(1_000);
    let draws = Resampling {
        resamples: 400,
        seed: 1,
    };
    let rows = [3, 5, 12].map(|executions| {
        let mut noise = Noise::new(7_004);
        let mut held = [0; 3];
        for _ in 0..repetitions {
            let mut side = |level: f64| -> Vec<f64> {
                (0..executions)
                    .map(|_| level * (0.05 * noise.normal()).exp())
                    .collect()
            };
            let (a, b) = (side(1000.0), side(1050.0));
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            let each = |side: &[f64]| side.iter().map(|value| vec![*value]).collect::<Vec<_>>();
            let mean = |values: &mut [f64]| values.iter().sum::<f64>() / values.len() as f64;
            let drawn = crate::bootstrap_ratio(&each(&a), &each(&b), mean, 0.95, draws);
            let ratios = [
                compare_pairs(&pairs, 0.95).unwrap().ratio,
                compare(&a, &b, 0.95).unwrap().ratio,
                drawn.unwrap(),
            ];
            for (held, ratio) in held.iter_mut().zip(ratios) {
                *held += usize::from(ratio.low <= 1.05 && 1.05 <= ratio.high);
            }
        }
        let effect = |paired| {
            let design = Design {
                paired,
                level: 0.05,
            };
            let effect = design.smallest_effect(Deviation::known(0.02), executions);
            format!("{:.1}", 100.0 * effect.unwrap().exp_m1())
        };
        let shares = held.map(|held| percent(held, repetitions));
        [
            vec![executions.to_string()],
            shares.to_vec(),
            vec![effect(true), effect(false)],
        ]
        .concat()
    });
    let heading = [
        "executions per side",
        "correct intervals from pairs, %",
        "correct intervals with Welch's t, %",
        "correct bootstrap intervals, %",
        "smallest detectable effect with pairs, %",
        "smallest detectable effect without pairs, %",
    ];
    table(&heading, rows)
}

fn one_run() -> String {
    let repetitions = experiments(400);
    let rows = [0.0, 0.01, 0.03, 0.05].map(|deviation: f64| {
        let mut noise = Noise::new(7_005);
        let different = (0..repetitions).filter(|_| {
            let mut run = || {
                let level = (deviation * noise.normal()).exp();
                let series = noise.autocorrelated(300, 0.6);
                let series: Vec<f64> = series.iter().map(|e| level * (1.0 + 0.05 * e)).collect();
                run_mean(&series, 0.95).ok().map(|found| found.mean)
            };
            // Two means with separate intervals: different if the difference exceeds both errors together.
            let (Some(a), Some(b)) = (run(), run()) else {
                return false;
            };
            let reach = |mean: crate::Interval| mean.high - mean.estimate;
            (a.estimate - b.estimate).abs() > reach(a).hypot(reach(b))
        });
        vec![
            format!("{}", deviation * 100.0),
            percent(different.count(), repetitions),
        ]
    });
    table(
        &[
            "run-to-run deviation, %",
            "experiments that report a difference, %",
        ],
        rows,
    )
}

fn a_against_a() -> String {
    let repetitions = experiments(2_000);
    let share = |share: f64| format!("{:.1}", 100.0 * share);
    let fixed = [3, 5, 12].map(|executions| {
        let shares = [1, 2, 3].map(|seed| share(false_verdicts(seed, repetitions, executions)));
        [
            vec![format!("{executions} executions per side")],
            shares.to_vec(),
        ]
        .concat()
    });
    let peeking = [5, 12, 40].map(|blocks| {
        let wrong = |seed| share(false_verdicts_with_peeking(seed, repetitions, blocks));
        let shares = [1, 2, 3].map(wrong);
        [
            vec![format!("until decided, at most {blocks} blocks")],
            shares.to_vec(),
        ]
        .concat()
    });
    let found = found_slowdowns(4, repetitions);
    let heading = ["", "seed 1, %", "seed 2, %", "seed 3, %"];
    let mut text = table(&heading, fixed.into_iter().chain(peeking));
    text.push_str(&format!(
        "\nIf executions vary by 2 %, a slowdown of 5 % is detected in {} % of the experiments with 12 pairs of \
         executions, in {} % of the experiments that compare 12 executions per side with Welch's t, and in {} % of \
         the experiments that use `until decided` with at most 12 blocks.\n",
        share(found[0]),
        share(found[1]),
        share(found[2])
    ));
    text
}

fn scalabilities() -> String {
    let repetitions = experiments(200);
    let truth = crate::UslModel {
        single_per_s: 1000.0,
        contention: 0.03,
        coherency: 0.0008,
    };
    let draws = Resampling {
        resamples: 200,
        seed: 1,
    };
    let cases = [
        (64, 0.02),
        (64, 0.05),
        (32, 0.02),
        (32, 0.05),
        (16, 0.02),
        (8, 0.02),
    ];
    let rows = cases.map(|(up_to, deviation): (u32, f64)| {
        let mut noise = Noise::new(7_006);
        let (mut named, mut held, mut at_128) = (0, 0, 0);
        for _ in 0..repetitions {
            let concurrencies = (0..=up_to.ilog2()).flat_map(|power| [f64::from(1 << power); 3]);
            let points: Vec<Point> = concurrencies
                .map(|concurrency| Point {
                    concurrency,
                    throughput_per_s: truth.at(concurrency) * (1.0 + deviation * noise.normal()),
                })
                .collect();
            let found = scalability(&points, 0.95, draws).unwrap();
            let far = found.at(128.0);
            at_128 += usize::from(far.low <= truth.at(128.0) && truth.at(128.0) <= far.high);
            if let Ok(peak) = found.peak {
                named += 1;
                let (low, high) = (peak.concurrency.low, peak.concurrency.high);
                held += usize::from(low <= truth.peak() && truth.peak() <= high);
            }
        }
        vec![
            up_to.to_string(),
            format!("{}", deviation * 100.0),
            percent(named, repetitions),
            if named == 0 {
                "-".to_owned()
            } else {
                percent(held, named)
            },
            percent(at_128, repetitions),
        ]
    });
    let heading = [
        "largest measured number of connections",
        "noise, %",
        "experiments that report a peak, %",
        "reported peaks whose interval contains 34.8, %",
        "correct intervals for the throughput at 128 connections, %",
    ];
    table(&heading, rows)
}
