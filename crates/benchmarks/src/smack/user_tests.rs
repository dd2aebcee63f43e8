//! Tests of the order in which a worker fires, without a server.

use std::time::Duration;

use protocol::Address;

use super::*;
use crate::smack::{dictionary::DataFiles, error::Error, interpreter::Stage, plan::BarrelOptions};

const SCRIPT: &str = r#"
dictionary "n" { type "seq"; source_type "list"; source "1,2,3"; }
dictionary "u" { type "unique"; source_type "template"; source "k%d"; }
query "s" { query "select $n"; type "sel"; parsed "y"; }
query "i" { query "insert '$u', '$u'"; type "ins"; parsed "y"; }
query "raw" { query "select '$n'"; type "sel"; }
client "c" { query_barrel "2 s -0.25 1 i"; }
client "r" { query_barrel "1 raw"; }
client "empty" { query_barrel "0 s"; }
client "none" {}
main {}
"#;

fn user(
    client: &str,
    firing: BarrelOptions<'_>,
    client_index: ClientIndex,
) -> Result<SmackUser, Error> {
    let script = Script::parse("t.smack", SCRIPT.as_bytes()).unwrap();
    let dictionaries = Dictionary::load_all(&script, &DataFiles::default()).unwrap();
    let plan = ClientPlan::new(&script, dictionaries.into(), client, firing)?;
    let endpoint = Endpoint::plain(Address::Unix("nowhere".into()), "", Duration::from_secs(1));
    Ok(SmackUser::new(
        plan.into(),
        endpoint.into(),
        client_index,
        1,
    ))
}

/// The next `count` steps as text.
fn fires(user: &mut SmackUser, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| match user.next() {
            Next::Operation(operation) => format!(
                "{}: {}",
                user.operations()[operation],
                String::from_utf8_lossy(&user.sql)
            ),
            Next::Pause(pause) => format!("pause {pause:?}"),
            other @ (Next::OperationSince(..) | Next::End) => format!("{other:?}"),
        })
        .collect()
}

fn client_index() -> ClientIndex {
    ClientIndex { index: 1, of: 4 }
}

const ONE_ROUND: [Stage; 1] = [Stage::Barrel { rounds: Some(1) }];

#[test]
fn a_round_is_every_entry_in_order() {
    let firing = BarrelOptions {
        stages: Some(&[Stage::Barrel { rounds: Some(2) }]),
        ..BarrelOptions::default()
    };
    let mut user = user("c", firing, client_index()).unwrap();
    assert_eq!(user.operations(), ["ins", "sel"]);
    assert_eq!(
        fires(&mut user, 10),
        [
            "sel: select 1",
            "sel: select 2",
            "pause 250ms",
            "ins: insert 'k1', 'k5'",
            "sel: select 3",
            "sel: select 1",
            "pause 250ms",
            "ins: insert 'k9', 'k13'",
            "End",
            "End",
        ]
    );
}

#[test]
fn without_stages_it_never_ends() {
    let mut user = user("r", BarrelOptions::default(), client_index()).unwrap();
    let fired = fires(&mut user, 1000);
    assert!(fired.iter().all(|step| step == "sel: select '$n'"));
}

#[test]
fn stages_in_order() {
    let firing = BarrelOptions {
        stages: Some(&[
            Stage::Query("set @a = 1".to_owned()),
            Stage::Pause(Duration::from_secs(2)),
            Stage::Barrel { rounds: Some(1) },
            Stage::Barrel { rounds: Some(0) },
            Stage::Query("set @a = 2".to_owned()),
        ]),
        ..BarrelOptions::default()
    };
    let mut user = user("r", firing, client_index()).unwrap();
    assert_eq!(user.operations(), ["sel", "query()"]);
    assert_eq!(
        fires(&mut user, 5),
        [
            "query(): set @a = 1",
            "pause 2s",
            "sel: select '$n'",
            "query(): set @a = 2",
            "End",
        ]
    );
}

#[test]
fn a_mix_replaces_the_counts() {
    for (mix, expected) in [
        ("1:0", &["sel: select 1", "pause 250ms", "End"][..]),
        (
            "0:2",
            &[
                "pause 250ms",
                "ins: insert 'k1', 'k5'",
                "ins: insert 'k9', 'k13'",
                "End",
            ],
        ),
    ] {
        let firing = BarrelOptions {
            mix: Some(mix),
            stages: Some(&ONE_ROUND),
        };
        let mut user = user("c", firing, client_index()).unwrap();
        assert_eq!(fires(&mut user, expected.len()), expected, "{mix}");
    }
    for (mix, message) in [
        ("1", "mix '1': 1 counts for the 2 queries of the barrel"),
        ("0:0", "mix '0:0': drops every query"),
        ("1:x", "mix '1:x': expected counts such as 10:1"),
    ] {
        let firing = BarrelOptions {
            mix: Some(mix),
            ..BarrelOptions::default()
        };
        let error = user("c", firing, client_index()).err().unwrap();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_single_statement_has_its_words() {
    let script = Script::parse("t.smack", SCRIPT.as_bytes()).unwrap();
    let dictionaries = Dictionary::load_all(&script, &DataFiles::default()).unwrap();
    let statement = |query| statement_of(&script, &dictionaries, query, client_index(), 1);
    assert_eq!(statement("i"), Some(b"insert 'k1', 'k5'".to_vec()));
    assert_eq!(statement("nosuch"), None);
}

#[test]
fn what_cannot_be_fired() {
    let mut empty = user("empty", BarrelOptions::default(), client_index()).unwrap();
    assert_eq!(fires(&mut empty, 1), ["End"]);
    let missing = |client| {
        user(client, BarrelOptions::default(), client_index())
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(missing("none"), "client 'none' has no query_barrel");
    assert_eq!(missing("nosuch"), "client 'nosuch' is not defined");
}
