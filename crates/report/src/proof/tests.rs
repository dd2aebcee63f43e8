//! The answer as text, JSON and a page.

use super::*;

fn ratio(estimate: f64) -> Interval {
    Interval {
        estimate,
        low: estimate * 0.95,
        high: estimate * 1.05,
    }
}

fn line(text: &str, fate: PartStatus, effect: f64) -> ProofLine {
    ProofLine {
        lines: vec![text.to_owned()],
        options: vec![text.split(' ').next().unwrap().to_owned()],
        fate,
        effect: Some(ratio(effect)),
        smallest: Some(0.04),
        is_equivalent: false,
        executions: 6,
        round: Some(1),
        causes: vec!["buffer-pool misses per operation 0.50 to 0.20".to_owned()],
        prices: vec!["memory: 1 GiB more".to_owned()],
        class_without: None,
    }
}

fn proof() -> Proof {
    Proof {
        file: "my.cnf".to_owned(),
        against: None,
        version: "mariadb-10.11.14".to_owned(),
        workload: "oltp read_write, 8 connections".to_owned(),
        metric: "throughput",
        margin: 0.03,
        is_finished: true,
        possible_loss: None,
        lines: vec![
            line("innodb_buffer_pool_size = 1G", PartStatus::Helps, 1.9),
            line("query_cache_size = 64M", PartStatus::Harms, 0.8),
            line("max_connections = 500", PartStatus::NoEffect, 1.0),
        ],
        untested: vec![UntestedText {
            line: "port = 3307".to_owned(),
            why: "specific to the instance".to_owned(),
        }],
        over_base: Some(Gain {
            of_shortest: true,
            ratio: ratio(1.9),
        }),
        over_whole: Some(ratio(1.25)),
        smallest_loss: Some(0.03),
        class: DurabilityClass::D2,
        class_of_shortest: DurabilityClass::D4,
        rounds: vec![ProofRound {
            purpose: Purpose::Screening,
            results: "results/prove-1/1-screening".to_owned(),
            files: 5,
            runs: 40,
            blocks: 10,
        }],
        results: "results/prove-1".to_owned(),
    }
}

#[test]
fn the_answer_comes_first_and_has_at_most_12_lines() {
    let mut proof = proof();
    let text = proof_as_text(&proof, false);
    let expected = "\
my.cnf for mariadb-10.11.14 under oltp read_write, 8 connections: 1 of 3 groups of lines is worth keeping, 1 harms
shortest file: throughput +90 % (+80.5 % to +99.5 %) over the defaults; +25 % (+18.8 % to +31.2 %) over the whole file: faster
keep      innodb_buffer_pool_size = 1G: +90 % (+80.5 % to +99.5 %), 6 pairs of round 1; buffer-pool misses per operation 0.50 to 0.20
harms     query_cache_size = 64M: -20 % (-24 % to -16 %), 6 pairs of round 1; buffer-pool misses per operation 0.50 to 0.20
drop      1 group without a detected effect (smallest detectable: 4 % or less): max_connections
untested  1 line without possible effect, or unrelated to speed; -v lists them
durability rises from D2 to D4: no commit is lost in a power cut, as far as settings determine
results   results/prove-1
";
    assert_eq!(text, expected);
    let verbose = proof_as_text(&proof, true);
    for part in [
        "smallest detectable 4 %",
        "why: ",
        "price: memory",
        "port = 3307",
        "1-screening",
    ] {
        assert!(verbose.contains(part), "{part}: {verbose}");
    }
    for at in 0..20 {
        proof
            .lines
            .push(line(&format!("option_{at} = 1"), PartStatus::Helps, 1.2));
        proof
            .lines
            .push(line(&format!("other_{at} = 1"), PartStatus::NoEffect, 1.0));
    }
    assert!(proof_as_text(&proof, false).lines().count() <= 12);
}

#[test]
fn an_unfinished_proof_proposes_nothing() {
    let unfinished = Proof {
        is_finished: false,
        over_whole: None,
        ..proof()
    };
    assert!(proof_as_text(&unfinished, false).contains("not decided"));
    assert!(!proof_as_html(&unfinished).contains("The shortest file that is not slower"));
}

#[test]
fn an_undecided_proof_says_the_loss_that_is_possible() {
    let mut undecided = Proof {
        is_finished: false,
        possible_loss: Some(PossibleLoss {
            share: 0.47,
            without_harmful: false,
        }),
        ..proof()
    };
    undecided.lines[2].fate = PartStatus::Unresolved;
    let text = proof_as_text(&undecided, true);
    for part in [
        "not decided; the shorter file may be up to 47 % slower than the whole one",
        "open      max_connections = 500: not resolved",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    undecided.over_base = Some(Gain {
        of_shortest: false,
        ratio: ratio(1.9),
    });
    let named = "whole file: throughput +90 % (+80.5 % to +99.5 %) over the defaults; shorter file: throughput \
                 +25 % (+18.8 % to +31.2 %) over the whole file: faster";
    assert!(proof_as_text(&undecided, false).contains(named), "{text}");
    let json: serde_json::Value = serde_json::from_str(&proof_as_json(&undecided)).unwrap();
    assert_eq!(json["possible_loss"]["share"], 0.47);
    assert_eq!(json["groups"][2]["fate"], "not resolved");
}

#[test]
fn json_and_page_have_every_line() {
    let proof = proof();
    let json: serde_json::Value = serde_json::from_str(&proof_as_json(&proof)).unwrap();
    assert_eq!(json["shortest"][0], "innodb_buffer_pool_size = 1G");
    assert_eq!(json["groups"][1]["fate"], "harms");
    assert_eq!(json["groups"][2]["smallest_visible"], 0.04);
    let page = proof_as_html(&proof);
    for part in [
        "max_connections = 500",
        "port = 3307",
        "[mysqld]\ninnodb_buffer_pool_size = 1G",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
