//! Test that the next statement is encoded without an allocation in the steady state.

use std::{sync::Arc, time::Duration};

use benchmarks::smack::{
    BarrelOptions, ClientIndex, ClientPlan, DataFiles, Dictionary, Script, SmackUser,
};
use load::{Next, User};
use protocol::{Address, Endpoint};

const SCRIPT: &str = r#"
client "c" { query_barrel "10 select 1 update 1 insert"; }
table "t" { client "c"; data_file "w.dat"; gen_data_file "gen-data -n 1000 -f %12-12s%n,x"; }
dictionary "word" { type "rand"; source_type "file"; source "w.dat"; delim ","; }
dictionary "id" { type "unique"; source_type "template"; source "u%012d"; }
query "select" { query "select * from t where k = '$word'"; type "s"; parsed "y"; }
query "update" { query "update t set v = '$word' where k = '$word'"; type "u"; parsed "y"; }
query "insert" { query "insert into t values ('$id', '$word')"; type "i"; parsed "y"; }
main {}
"#;

#[test]
fn a_query_allocates_nothing() {
    let script = Script::parse("t.smack", SCRIPT.as_bytes()).unwrap();
    let words = Dictionary::load_all(&script, &DataFiles::default()).unwrap();
    let plan = ClientPlan::new(&script, words.into(), "c", BarrelOptions::default()).unwrap();
    let endpoint = Endpoint::plain(Address::Unix("nowhere".into()), "", Duration::from_secs(1));
    let client_index = ClientIndex { index: 0, of: 1 };
    let mut user = SmackUser::new(plan.into(), Arc::new(endpoint), client_index, 1);
    let mut fire = |count: u32| {
        for _ in 0..count {
            assert!(matches!(user.next(), Next::Operation(_)));
        }
    };
    // The first rounds grow the buffer to the length of the longest statement.
    fire(1_000);
    let allocations = allocation_counter::measure(|| fire(100_000));
    assert_eq!(allocations.count_total, 0);
}
