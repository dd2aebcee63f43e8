//! Pages of predictions whose figures are computed by hand.

use std::{collections::BTreeMap, iter};

use sizing::{
    CheckRequest, Demands, Execution, Executions, GrowthRequest, MemoryUse, PredictionRequest,
    RequirementRequest, ServerCpus, check_target, memory_curve, parse_growth, parse_target,
    require,
};

use super::*;

/// Two blocks of executions of 1 GB of data with these shares in memory: an operation reads 1 - share pages and takes
/// 100 µs of CPU time.
fn executions(shares: &[f64]) -> Executions {
    let blocks = [1, 2].into_iter();
    let all = blocks.flat_map(|block| iter::repeat(block).zip(shares));
    let all = all.map(|(block, share)| Execution {
        name: format!("results/<shop>/run-{block}-{share}.jsonl"),
        results: 0,
        block,
        levels: BTreeMap::new(),
        concurrency: 4,
        throughput_per_s: 1000.0,
        demands: Demands::from_fn(|demand| match demand {
            ServiceDemand::Cpu => Some(100e-6),
            ServiceDemand::PageReads => Some(1.0 - share),
            ServiceDemand::SentBytes => Some(2048.0),
            _ => None,
        }),
        memory: Some(MemoryUse {
            data_bytes: 1_000_000_000,
            buffer_pool_bytes: (share * 1e9) as u64,
        }),
        cpus: Some(ServerCpus {
            count: 2.0,
            available: 2.0,
        }),
        limited_by: None,
    });
    Executions::of("shop on 10.11.18-MariaDB".to_owned(), all.collect())
}

fn page(shares: &[f64], target: &str, growth: Option<&str>) -> String {
    page_of(shares, target, growth, None)
}

fn page_of(shares: &[f64], target: &str, growth: Option<&str>, tps: Option<f64>) -> String {
    let executions = executions(shares);
    let target = parse_target(target).unwrap();
    let request = CheckRequest {
        prediction: PredictionRequest {
            target: target.clone(),
            zipf: None,
            draws: 10,
        },
        per_s: tps,
        response_limit: None,
    };
    let check = check_target(&executions, &request).unwrap();
    let alternatives = tps.map(|per_s| {
        let request = RequirementRequest {
            per_s,
            response_limit: None,
            target: sizing::Target {
                data_bytes: target.data_bytes,
                ..sizing::Target::default()
            },
            zipf: None,
            draws: 10,
        };
        require(&executions, &request).unwrap()
    });
    let curve = memory_curve(&executions, &request.prediction).unwrap();
    let growth = growth.map(|growth| {
        let request = GrowthRequest {
            growth: parse_growth(growth).unwrap(),
            tps: None,
            // 2026-11-30.
            today: 20_787,
        };
        GrowthAnswer::of(&check.prediction, &curve, &request)
    });
    sizing_page(&SizingPage {
        check: &check,
        alternatives: alternatives.as_ref(),
        zipf: request.prediction.zipf,
        curve: &curve,
        growth: growth.as_ref(),
        records: &executions.records(),
    })
}

const SHARES: [f64; 3] = [0.2, 0.5, 0.8];
/// 500 reads/s and 0.2 page reads each: 2500 operations/s with 80 % of the data in memory, and half of them with 60 %.
const TARGET: &str = "cpus=4,read_iops=500,data=1000K,buffer_pool=800K";

#[test]
fn the_page_has_the_answer_the_cliff_and_the_limits() {
    let page = page(&SHARES, TARGET, None);
    for part in [
        "<h1>Sizing: shop on 10.11.18-MariaDB</h1>",
        "<dt>target</dt><dd>4 CPUs, 500 reads/s</dd>",
        "The target can do 2.50k (2.50k to 2.50k) operations/s; the reads of the disk limit it.",
        "Cliff: at data/memory 1.67 (1.67 to 1.67): half of the 2.50k (2.50k to 2.50k) operations/s at data/memory 1.25.",
        // 4 CPUs / 100 µs, twice the measured CPUs.
        "<td>100 µs of CPU time</td><td>at most 40.0k (40.0k to 40.0k)</td>",
        "not validated here (2 CPUs measured)",
        "<td>500 reads/s</td><td>0.200 page reads</td><td>2.50k (2.50k to 2.50k)</td><td>100\u{a0}%</td>",
        "<th scope=\"row\">page reads</th><td>0.200 (0.200 to 0.200)</td>",
        "<th scope=\"row\">bytes sent</th><td>2.00 KiB (2.00 KiB to 2.00 KiB)</td>",
        "Not validated here: 4 CPUs (2 CPUs measured)",
        "The throughput that cpus allows is an upper bound, computed without contention: ",
        "Page reads are interpolated between 3 measured sizes for uniform requests",
        "The prediction was not tested on the target.",
        "6 records",
        "run-1-0.2.jsonl",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    for foreign in ["http://", "https://", "src=", "<shop>"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn the_picture_has_measured_points_today_and_the_cliff() {
    let page = page(&SHARES, TARGET, None);
    for part in [
        ">today</text>",
        ">cliff</text>",
        "<title>data/memory 1.25: 2.50k (2.50k to 2.50k) operations/s</title>",
        "<title>data/memory 2.00: 1.00k (1.00k to 1.00k) operations/s</title>",
        "<title>data/memory 5.00: 625 (625 to 625) operations/s</title>",
        // As a table, too.
        "<th scope=\"row\">5.00</th><td>625 (625 to 625)</td><td>read_iops</td><td>measured</td>",
        "<td>interpolated</td>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn the_date_comes_first_if_the_data_grows() {
    let page = page(&SHARES, TARGET, Some("4%/month"));
    // ln(4 / 3) / ln(1.04) months: `GrowthAnswer` has its own tests.
    let date =
        "The throughput falls to half on 2027-07-11 (2027-07-11 to 2027-07-11), in 7.33 months";
    let (before, _) = page.split_once("The target can do").unwrap();
    assert!(before.contains(date), "{before}");
    assert!(page.contains("<dt>growth</dt><dd>4%/month</dd>"), "{page}");
    assert!(page.contains("Only the data grows"));
}

#[test]
fn without_a_curve_the_page_says_what_to_measure() {
    let page = page(
        &SHARES[..2],
        "read_iops=500,data=1000K,buffer_pool=200K",
        None,
    );
    for part in [
        "Not known: 3 or more buffer pools or sizes of the data are needed, and the records have 2.",
        "625 (625 to 625) operations/s",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<svg"), "{page}");
}

#[test]
fn a_throughput_has_a_decision_and_the_machines_that_carry_it() {
    // Without CPUs in the target, no limit is an upper bound: 2500 / 2000 - 1.
    let page = page_of(
        &SHARES,
        "read_iops=500,data=1000K,buffer_pool=800K",
        None,
        Some(2000.0),
    );
    for part in [
        "Yes: the target carries 2.00k operations/s, with 25\u{a0}% (25\u{a0}% to 25\u{a0}%) to spare.",
        "<h2 id=\"alternatives\">The alternatives</h2>",
        "Some needs of 2.00k operations/s are not known",
        // 2000 · 100 µs, and 2000 times 0.8, 0.5 and 0.2 page reads.
        "<td>at least 0.200 (0.200 to 0.200) CPUs (without contention)</td>",
        "<th scope=\"row\">200 KiB of buffer pool (20\u{a0}% of the data)</th>",
        "<td>1.60k (1.60k to 1.60k) reads/s</td>",
        "<th scope=\"row\">500 KiB of buffer pool (50\u{a0}% of the data)</th>",
        "<td>1.00k (1.00k to 1.00k) reads/s</td>",
        "<th scope=\"row\">800 KiB of buffer pool (80\u{a0}% of the data)</th>",
        "<td>400 (400 to 400) reads/s</td>",
        "<td class=\"text\">writes were not counted in all records; ",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let without = self::page(&SHARES, TARGET, None);
    assert!(!without.contains("alternatives"), "{without}");
}
