//! Tests of the plans of valid files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::Duration,
};

use benchmarks::{
    smack::{SmackData, SmackLoad},
    tpcc::{TpccData, TpccLoad},
};
use dataset::tpch::{TpchData, TpchLoad};
use experiment::{
    Cache, Connect, Costs, DataSpec, LoadSpec, OF_COMPARED_VERSIONS, Observe, Overrides, Restart,
    Restore, ServerAccess, ServerSpec,
};
use settings::{
    Arrivals, Chosen, DataKind, GroupLimits, LoadKind, OnError, Process, Rows, ThinkTime, Value,
    Values, WarmUp,
};

use crate::{Bench, COSTS};

const SMALLEST: &str = r#"
format = 1
[load]
smack = "a.smack"
connections = 4
duration = "10s"
"#;

const LARGE: &str = r#"
format = 1
question = "Which?"
seed = 7
repeats = 3
order = "ORDER"

[matrix]
mix = ["1:0", "10:1"]
connections = [1, 2, 0x4]
size = ["small", "large"]
rows = ["0.5x", "4x"]

[[exclude]]
size = "large"
rows = ["0.5x"]
mix = "1:0"

[server]
run = "mariadb-10.11"
cnf = ["base.cnf", "{size}.cnf"]
[server.set]
innodb_buffer_pool_size = "1G"
query-cache-size = "64M"
local_infile = true
long_query_time = 0.5
max_connections = 200
init_connect = "SET @size = '{size}', @json = '{{}}'"

[data]
smack = "a.smack"
rows = "{rows}"
cache = "cold"

[each]
before = ["SET GLOBAL x = {connections}", "FLUSH STATUS"]
after = ["SELECT '{mix}'"]

[load]
smack = "a.smack"
client = "smacker"
mix = "{mix}"
connections = "{connections}"
warmup = "auto"
duration = "1m 30s"
loops = 2
on_error = "retry"

[report]
chart = { x = "connections", line = "mix", facet = ["size", "rows"], y = ["throughput", "p95"] }
"#;

fn large(order: &str) -> String {
    LARGE.replace("ORDER", order)
}

#[test]
fn the_smallest_file_has_one_run_with_the_defaults() {
    let bench = Bench::new();
    let experiment = bench.parse(SMALLEST);
    assert_eq!(experiment.name(), "trial");
    assert_eq!((experiment.question.as_str(), experiment.seed), ("", 1));
    assert!(experiment.factors().is_empty() && experiment.chart().is_none());
    let [run] = experiment.plan().runs.as_slice() else {
        panic!("one run")
    };
    assert_eq!((run.run, run.block), (1, 1));
    assert_eq!(run.data, None);
    assert_eq!(
        run.server,
        ServerSpec::Private {
            run: None,
            cnf: vec![],
            set: BTreeMap::new(),
            defaults: &[],
            restart: Restart::PerRun,
            datadir: None,
            limit: GroupLimits::default(),
            access: ServerAccess::default(),
        }
    );
    assert_eq!(
        run.loads[0].spec,
        LoadSpec {
            name: None,
            source: load(&SmackLoad, &[("file", Value::File(bench.path("a.smack")))]),
            connections: 4,
            stages: Vec::new(),
            pause: Duration::ZERO,
            warmup: WarmUp::UntilSteady {
                at_most: Duration::from_secs(60)
            },
            duration: Duration::from_secs(10),
            precision: None,
            find: None,
            arrivals: Arrivals::Closed,
            loops: None,
            spin: false,
            on_error: OnError::Stop
        }
    );
}

#[test]
fn levels_stand_where_their_names_stood() {
    let bench = Bench::new();
    let experiment = bench.parse(&large("file"));
    let plan = experiment.plan();
    // (2 x 3 x 2 x 2 - 3) x 3 repeats.
    assert_eq!(plan.runs.len(), 63);
    let run = &plan.runs[20];
    let levels = [
        ("connections", "4"),
        ("mix", "10:1"),
        ("rows", "4x"),
        ("size", "large"),
    ];
    let combination = levels.map(|(name, level)| (name.to_owned(), level.to_owned()));
    assert_eq!(run.combination, BTreeMap::from(combination));
    assert_eq!((run.run, run.block), (21, 1));
    let set = [
        ("innodb_buffer_pool_size", "1G"),
        ("query-cache-size", "64M"),
        ("local_infile", "ON"),
        ("long_query_time", "0.5"),
        ("max_connections", "200"),
        ("init_connect", "SET @size = 'large', @json = '{}'"),
    ];
    assert_eq!(
        run.server,
        ServerSpec::Private {
            run: Some("mariadb-10.11".to_owned()),
            cnf: vec![bench.path("base.cnf"), bench.path("large.cnf")],
            set: set.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            defaults: &[],
            restart: Restart::PerRun,
            datadir: None,
            limit: GroupLimits::default(),
            access: ServerAccess::default(),
        }
    );
    assert_eq!(
        run.data,
        Some(DataSpec {
            seed: 7,
            source: data_of(&bench, Rows::TimesBufferPool(4.0)),
            restore: Restore::PerRun,
            cache: Cache::Cold,
            shared: false,
        })
    );
    assert_eq!(run.loads[0].spec.connections, 4);
    assert_eq!(
        run.loads[0].spec.source,
        load(
            &SmackLoad,
            &[
                ("file", Value::File(bench.path("a.smack"))),
                ("client", Value::Text("smacker".to_owned())),
                ("mix", Value::Mix(vec![10, 1])),
            ]
        )
    );
    assert_eq!(run.loads[0].spec.duration, Duration::from_secs(90));
    assert_eq!(
        (run.loads[0].spec.loops, run.loads[0].spec.on_error),
        (Some(2), OnError::RETRY)
    );
    assert_eq!(run.before, ["SET GLOBAL x = 4", "FLUSH STATUS"]);
    assert_eq!(run.after, ["SELECT '10:1'"]);
    let chart = experiment.chart().unwrap();
    assert_eq!(
        (chart.x.as_str(), chart.line.as_deref()),
        ("connections", Some("mix"))
    );
    assert_eq!(
        (chart.facet.join(" "), chart.y.join(" ")),
        ("size rows".into(), "throughput p95".into())
    );
}

#[test]
fn a_given_server_keeps_its_own_settings() {
    let bench = Bench::new();
    let server = r#"
[server]
address = "db1:3307"
user = "bench"
password_file = "base.cnf"
ssl_mode = "VERIFY_CA"
ssl_ca = "small.cnf"
database = "test"
compress = true
round_trip = "1ms"
statement_timeout = "4h"
observe = "tcp://db1:7306"
observe_secret_file = "base.cnf"
[data]
smack = "a.smack"
rows = 5
"#;
    let experiment = bench.parse(&format!("{SMALLEST}{server}"));
    let run = &experiment.plan().runs[0];
    assert_eq!(
        run.server,
        ServerSpec::Given {
            address: "db1:3307".to_owned(),
            set: BTreeMap::new(),
            user: Some("bench".to_owned()),
            password_file: Some(bench.path("base.cnf")),
            database: Some("test".to_owned()),
            ssl_mode: Some("VERIFY_CA".to_owned()),
            ssl_ca: Some(bench.path("small.cnf")),
            observe: Some(Observe {
                address: "tcp://db1:7306".parse().unwrap(),
                secret_file: Some(bench.path("base.cnf")),
                program: None,
                ssh: None,
            }),
            access: ServerAccess {
                connect: Connect::Socket,
                compress: true,
                round_trip: Duration::from_millis(1),
                statement_timeout: Some(Duration::from_secs(4 * 3600)),
            },
        }
    );
    let data = run.data.as_ref().unwrap();
    assert_eq!(data.source, data_of(&bench, Rows::Count(5)));
    assert_eq!(data.restore, Restore::Never);
}

#[test]
fn the_way_to_the_server_can_be_a_factor() {
    let bench = Bench::new();
    let server = r#"
[matrix]
way = ["socket", "tcp"]
round_trip = ["0", "250us"]
[server]
connect = "{way}"
round_trip = "{round_trip}"
restart = "never"
"#;
    let experiment = bench.parse(&format!("{SMALLEST}{server}"));
    let runs = &experiment.plan().runs;
    let ways: BTreeSet<_> = runs
        .iter()
        .map(|run| {
            let way = run.server.access();
            (way.connect == Connect::Tcp, way.round_trip.as_micros())
        })
        .collect();
    let expected = [(false, 0), (false, 250), (true, 0), (true, 250)];
    assert_eq!(ways, BTreeSet::from(expected));
    assert!(runs.iter().all(|run| !run.server.access().compress));
    // All of them use one data set.
    let data_sets: BTreeSet<_> = runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 1);
}

#[test]
fn the_limit_of_the_server_can_be_a_factor() {
    let bench = Bench::new();
    let server = r#"
[matrix]
iops = ["1000", "none"]
[server]
limit = { read_iops = "{iops}", write_iops = "{iops}", cpus = 1.5, memory = "1G" }
restart = "never"
"#;
    let experiment = bench.parse(&format!("{SMALLEST}{server}"));
    let runs = &experiment.plan().runs;
    let mut limits: Vec<_> = runs.iter().map(|run| run.server.limit()).collect();
    limits.sort_by_key(|limit| limit.disk.read_iops);
    let iops = limits
        .iter()
        .map(|it| (it.disk.read_iops, it.disk.write_iops));
    assert_eq!(
        iops.collect::<Vec<_>>(),
        [(None, None), (Some(1000), Some(1000))]
    );
    assert!(limits.iter().all(|it| it.cpus == Some(1.5)));
    // All of them use one data set, and a server that keeps running.
    let data_sets: BTreeSet<_> = runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 1);
}

#[test]
fn a_block_holds_each_combination_once_in_an_order_of_its_own() {
    let bench = Bench::new();
    for order in ["random", "grouped", "file"] {
        let experiment = bench.parse(&large(order));
        let runs = &experiment.plan().runs;
        let blocks: Vec<_> = runs.chunks(21).collect();
        let mut orders = BTreeSet::new();
        let mut seeds = BTreeSet::new();
        for (index, block) in blocks.iter().enumerate() {
            let combinations: BTreeSet<_> = block.iter().map(|run| &run.combination).collect();
            assert_eq!(combinations.len(), 21, "{order}");
            assert!(block.iter().all(|run| run.block == index as u32 + 1));
            orders.insert(block.iter().map(|run| &run.combination).collect::<Vec<_>>());
            seeds.extend(block.iter().map(|run| run.seed));
        }
        assert_eq!(orders.len(), if order == "file" { 1 } else { 3 }, "{order}");
        assert_eq!(seeds.len(), 63, "{order}");
        assert!(runs.iter().zip(1..).all(|(run, number)| run.run == number));
        assert_eq!(experiment.plan(), bench.parse(&large(order)).plan());
    }
}

#[test]
fn more_repeats_and_another_order_keep_what_a_run_draws() {
    let bench = Bench::new();
    let overrides = Overrides {
        repeats: Some(5),
        ..Overrides::default()
    };
    let few = bench.parse(&large("random"));
    let many = bench.parse_with(&large("random"), &overrides).unwrap();
    assert_eq!(few.plan().runs[..], many.plan().runs[..63]);
    let seeds = |order| {
        let experiment = bench.parse(&large(order));
        let runs = experiment.plan().runs.iter();
        runs.map(|run| ((run.block, run.combination.clone()), run.seed))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(seeds("random"), seeds("grouped"));
}

#[test]
fn data_sets_have_the_name_of_what_shapes_them() {
    let bench = Bench::new();
    let experiment = bench.parse(&large("grouped"));
    let names: Vec<String> = experiment.plan().runs[..21]
        .iter()
        .map(|run| run.data_set().unwrap())
        .collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!(
        distinct.len(),
        4,
        "two option files, two sizes: {distinct:?}"
    );
    let changes = names.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 3, "{names:?}");
}

/// Results directories contain these names and hashes: a change makes old results unreadable.
#[test]
fn identities_never_change() {
    let bench = Bench::new();
    let end = "connections = 1\nduration = \"9s\"\n";
    let cases = [
        (
            format!("[data]\nsmack = \"a.smack\"\nrows = \"250k\"\n[load]\nsmack = \"a.smack\"\n{end}"),
            "mariadb-10.11 a.smack 250000",
            "ba571fdf472f",
        ),
        (
            format!("[data]\nsmack = \"a.smack\"\nrows = \"0.5x\"\n[load]\nsmack = \"a.smack\"\n{end}"),
            "mariadb-10.11 innodb_buffer_pool_size=64M a.smack 0.5x",
            "67a2a8215f60",
        ),
        (
            format!("[data]\ntpcc = {{ warehouses = 4 }}\n[load]\ntpcc = {{}}\n{end}"),
            "mariadb-10.11 tpcc 4 with foreign keys",
            "c82eebb15035",
        ),
        (
            format!("[data]\ntpcc = {{ warehouses = 4, foreign_keys = \"off\" }}\n[load]\ntpcc = {{ check = \"off\" }}\n{end}"),
            "mariadb-10.11 tpcc 4 without foreign keys",
            "d7eebda91344",
        ),
        (
            "[data]\ntpch = { scale_factor = 0.1 }\n[load]\ntpch = { table = \"lineitem\" }\nconnections = 2\n".to_owned(),
            "mariadb-10.11 tpch 0.1 Foreign after without lineitem",
            "1bca7dc6b933",
        ),
        (
            "[data]\ntpch = { scale_factor = 1, keys = \"primary\", key_time = \"before\" }\n[load]\ntpch = { table = \"orders\" }\nconnections = 2\n".to_owned(),
            "mariadb-10.11 tpch 1 Primary before without orders",
            "841efd3b5197",
        ),
    ];
    for (tables, data_set, sha256) in cases {
        let server =
            "[server]\nrun = \"mariadb-10.11\"\nset = { innodb_buffer_pool_size = \"64M\" }\n";
        let experiment = bench.parse(&format!("format = 1\n{server}{tables}"));
        let run = &experiment.plan().runs[0];
        let found = run.data_set().unwrap();
        let found = found.replace(&format!("{}/", bench.dir.path().display()), "");
        assert_eq!(found, data_set);
        assert_eq!(&experiment.sha256()[..12], sha256, "{data_set}");
    }
}

#[test]
fn oltp_is_tables_and_a_script_that_can_be_factors() {
    let bench = Bench::new();
    let text = "format = 1\n[matrix]\nscript = [\"point_select\", \"read_write\"]\nrows = [\"10k\", \"1M\"]\n\
                [data]\noltp = { tables = 4, table_size = \"{rows}\" }\n\
                [load]\noltp = { script = \"{script}\", skip_trx = true }\nconnections = 4\nduration = \"60s\"\n";
    let overrides = Overrides {
        scale: Some(0.05),
        ..Overrides::default()
    };
    let experiment = bench.parse_with(text, &overrides).unwrap();
    let runs = &experiment.plan().runs;
    let sizes = runs.iter().map(|run| {
        let values = &run.data.as_ref().unwrap().source.values;
        (values.count("tables"), values.count("table_size"))
    });
    let sizes: BTreeSet<_> = sizes.collect();
    let expected = [(Some(4), Some(1000)), (Some(4), Some(50_000))];
    assert_eq!(sizes, BTreeSet::from(expected));
    assert!(
        runs.iter()
            .all(|run| run.loads[0].spec.source.values.flag("skip_trx"))
    );
    let data_sets: BTreeSet<_> = runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 2, "{data_sets:?}");
    assert!(experiment.plan().estimate(&Costs::default()) > Duration::from_secs(4));
}

#[test]
fn slap_takes_mysqlslaps_options_with_dashes_too_and_ends_with_its_statements() {
    let bench = Bench::new();
    fs::write(bench.dir.path().join("reads"), "select 1").unwrap();
    let text = "format = 1\n[matrix]\nquery = [\"reads\", \"select 2\"]\n\
                [data]\nslap = { auto-generate-sql = true, number-int-cols = 3, auto_generate_sql_write_number = \"10k\" }\n\
                [load]\nslap = { query = \"{query}\", number_of_queries = 5000, commit = 5 }\nconnections = 4\n";
    let overrides = Overrides {
        scale: Some(0.1),
        ..Overrides::default()
    };
    let experiment = bench.parse_with(text, &overrides).unwrap();
    let runs = &experiment.plan().runs;
    for run in runs {
        let data = &run.data.as_ref().unwrap().source.values;
        let load = &run.loads[0].spec.source.values;
        assert_eq!(data.text("number_int_cols"), Some("3"));
        assert_eq!(data.count("auto_generate_sql_write_number"), Some(1000));
        assert_eq!(load.count("number_of_queries"), Some(500));
        assert_eq!(load.count("commit"), Some(5));
        assert!(run.loads[0].spec.ends_by_itself());
    }
    let files = runs
        .iter()
        .map(|run| run.loads[0].spec.source.values.files().count());
    assert_eq!(files.sum::<usize>(), 1);
    // The file belongs to the experiment.
    let before = experiment.sha256();
    fs::write(bench.dir.path().join("reads"), "select 3").unwrap();
    let after = bench.parse_with(text, &overrides).unwrap().sha256();
    assert_ne!(before, after);
}

/// A table in the place of the short form has the same meaning.
#[test]
fn the_long_form_of_a_table_is_the_short_one() {
    let bench = Bench::new();
    let text = |data: &str, load: &str| {
        format!("format = 1\n[data]\n{data}\n[load]\n{load}\nconnections = 1\nduration = \"9s\"\n")
    };
    let short = bench.parse(&text(
        "smack = \"a.smack\"\nrows = \"1M\"",
        "smack = \"a.smack\"\nmix = \"1:2\"",
    ));
    let long = bench.parse(&text(
        "smack = { file = \"a.smack\", rows = 1_000_000 }",
        "smack = { file = \"a.smack\", mix = \"1:2\" }",
    ));
    assert_eq!(short.plan().runs, long.plan().runs);
}

#[test]
fn the_hash_tells_experiments_apart() {
    let bench = Bench::new();
    let overrides = Overrides {
        scale: Some(0.5),
        ..Overrides::default()
    };
    let mut hashes = BTreeSet::from([
        bench.parse(&large("random")).sha256(),
        bench.parse(&large("file")).sha256(),
        bench
            .parse_with(&large("random"), &overrides)
            .unwrap()
            .sha256(),
    ]);
    assert_eq!(bench.parse(&large("random")).sha256().len(), 64);
    std::fs::write(bench.path("large.cnf"), "[mysqld]\n").unwrap();
    hashes.insert(bench.parse(&large("random")).sha256());
    assert_eq!(hashes.len(), 4);
}

#[test]
fn scale_shrinks_time_data_and_caches_together() {
    let bench = Bench::new();
    let overrides = Overrides {
        scale: Some(0.05),
        ..Overrides::default()
    };
    let experiment = bench.parse_with(&large("file"), &overrides).unwrap();
    let run = &experiment.plan().runs[0];
    let ServerSpec::Private { set, .. } = &run.server else {
        panic!("private")
    };
    assert_eq!(set["innodb_buffer_pool_size"], "51M");
    assert_eq!(set["query-cache-size"], "3355648");
    assert_eq!(set["max_connections"], "200");
    let source = &run.data.as_ref().unwrap().source;
    assert_eq!(*source, data_of(&bench, Rows::TimesBufferPool(0.5)));
    assert_eq!(run.loads[0].spec.duration, Duration::from_millis(4500));
    let at_most = Duration::from_secs(3);
    assert_eq!(run.loads[0].spec.warmup, WarmUp::UntilSteady { at_most });
    assert_eq!(run.combination["rows"], "0.5x");

    let counted = "[data]\nsmack = \"a.smack\"\nrows = \"1M\"\n";
    let text = format!("{SMALLEST}warmup = \"4s\"\n{counted}");
    let experiment = bench.parse_with(&text, &overrides).unwrap();
    let run = &experiment.plan().runs[0];
    let source = &run.data.as_ref().unwrap().source;
    assert_eq!(*source, data_of(&bench, Rows::Count(50_000)));
    assert_eq!(run.loads[0].spec.duration, Duration::from_secs(1));
    assert_eq!(
        run.loads[0].spec.warmup,
        WarmUp::For(Duration::from_millis(500))
    );
}

/// As `ab` writes it for a user who wants none.
#[test]
fn a_warm_up_of_no_time_is_none() {
    let bench = Bench::new();
    let text = format!("{SMALLEST}warmup = \"0s\"\n");
    let experiment = bench.parse_with(&text, &Overrides::default()).unwrap();
    let load = &experiment.plan().runs[0].loads[0].spec;
    assert_eq!(load.warmup, WarmUp::None);
}

#[test]
fn the_load_is_open_closed_or_thinking() {
    let bench = Bench::new();
    let ms = Duration::from_millis;
    let cases = [
        ("", Arrivals::Closed, None),
        (
            "rate = 5000\nprecision = \"5 %\"",
            Arrivals::Open {
                rate_per_s: 5000.0,
                process: Process::Poisson,
            },
            Some(0.05),
        ),
        (
            "rate = \"0.5\"\narrivals = \"constant\"",
            Arrivals::Open {
                rate_per_s: 0.5,
                process: Process::Constant,
            },
            None,
        ),
        (
            "think_time = \"10ms\"",
            Arrivals::Thinking(ThinkTime::Fixed(ms(10))),
            None,
        ),
        (
            "think_time = \"exponential 20ms\"",
            Arrivals::Thinking(ThinkTime::Exponential(ms(20))),
            None,
        ),
    ];
    for (text, arrivals, precision) in cases {
        let experiment = bench.parse(&format!("{SMALLEST}{text}\n"));
        let load = &experiment.plan().runs[0].loads[0].spec;
        assert_eq!(
            (load.arrivals, load.precision),
            (arrivals, precision),
            "{text}"
        );
    }
    let matrix = "[matrix]\nspin = [\"true\", \"false\"]\n";
    for (spin, matrix, expected) in [
        ("true", "", [true].as_slice()),
        ("false", "", &[false]),
        ("\"{spin}\"", matrix, &[true, false]),
    ] {
        let text = format!("order = \"file\"\n{SMALLEST}spin = {spin}\n{matrix}");
        let experiment = bench.parse(&text);
        let runs = experiment.plan().runs.iter();
        let spins: Vec<bool> = runs.map(|run| run.loads[0].spec.spin).collect();
        assert_eq!(spins, expected, "{spin}");
    }
}

#[test]
fn the_estimate_adds_up() {
    let bench = Bench::new();
    let data = "[data]\nsmack = \"a.smack\"\nrows = \"1M\"\n";
    let cases = [
        // Three runs of 10 s with 2 s of warm-up and 0.5 s around them, each after a restart; one load of 1 GB, two
        // restores.
        ("", 3.0 * (12.5 + 2.0) + 100.0 + 2.0 * 10.0),
        ("[server]\nrestart = \"never\"\n", 3.0 * 12.5 + 2.0 + 100.0),
        ("[server]\naddress = \"db1\"\n", 3.0 * 12.5 + 100.0),
    ];
    for (server, seconds) in cases {
        let text = format!("repeats = 3\n{SMALLEST}warmup = \"2s\"\n{data}{server}");
        let estimate = bench.parse(&text).plan().estimate(&COSTS);
        assert_eq!(estimate, Duration::from_secs_f64(seconds), "{server}");
    }
    let text = format!(
        "repeats = 3\n{SMALLEST}warmup = \"2s\"\npause = \"5s\"\n[server]\naddress = \"db1\"\n"
    );
    let estimate = bench.parse(&text).plan().estimate(&COSTS);
    let expected = Duration::from_secs_f64(3.0 * (5.0 + 12.5));
    assert_eq!(estimate, expected, "with pauses");
}

fn data_of(bench: &Bench, rows: Rows) -> Chosen<dyn DataKind> {
    data(
        &SmackData,
        &[
            ("file", Value::File(bench.path("a.smack"))),
            ("rows", Value::Rows(rows)),
        ],
    )
}

fn values(values: &[(&'static str, Value)]) -> Values {
    let mut all = Values::default();
    for (name, value) in values {
        all.set(name, value.clone());
    }
    all
}

fn data(kind: &'static dyn DataKind, given: &[(&'static str, Value)]) -> Chosen<dyn DataKind> {
    let values = values(given);
    Chosen { kind, values }
}

fn load(kind: &'static dyn LoadKind, given: &[(&'static str, Value)]) -> Chosen<dyn LoadKind> {
    let values = values(given);
    Chosen { kind, values }
}

#[test]
fn the_load_of_a_table_is_what_is_measured() {
    let bench = Bench::new();
    let text = "format = 1\n[matrix]\nkeys = [\"primary\", \"foreign\"]\nredo = [\"on\", \"off\"]\n[data]\ncache = \"cold\"\n\
                [data.tpch]\nscale_factor = 0.5\nkeys = \"{keys}\"\nkey_time = \"before\"\n\
                [load]\nconnections = 1\n\
                tpch = { table = \"lineitem\", checks = \"on\", redo_log = \"{redo}\" }\n";
    let overrides = Overrides {
        scale: Some(0.1),
        ..Overrides::default()
    };
    let experiment = bench.parse_with(text, &overrides).unwrap();
    let plan = experiment.plan();
    let run = plan
        .runs
        .iter()
        .find(|run| run.combination["keys"] == "foreign" && run.combination["redo"] == "off")
        .unwrap();
    assert_eq!(
        run.data.as_ref().unwrap().source,
        data(
            &TpchData,
            &[
                ("scale_factor", Value::Number(0.05)),
                ("keys", Value::Choice("foreign")),
                ("key_time", Value::Choice("before")),
            ]
        )
    );
    assert_eq!(
        run.loads[0].spec.source,
        load(
            &TpchLoad,
            &[
                ("table", Value::Choice("lineitem")),
                ("checks", Value::Flag(true)),
                ("redo_log", Value::Flag(false)),
            ]
        )
    );
    assert!(run.loads[0].spec.ends_by_itself());
    let data_sets: BTreeSet<_> = plan.runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 2, "the redo log needs no data of its own");
    assert!(plan.estimate(&Costs::default()) > Duration::from_secs(10));
}

#[test]
fn terminals_run_on_their_tables() {
    let bench = Bench::new();
    let text = "format = 1\n[matrix]\nkeys = [\"on\", \"off\"]\n[server.set]\n\"loose-innodb_redo_log_capacity\" = \"1G\"\n\
                [data]\ntpcc = { warehouses = 20, foreign_keys = \"{keys}\" }\n\
                [load]\ntpcc = { pacing = \"spec\" }\nconnections = 4\nduration = \"60s\"\n\
                [verdict]\nmetric = \"new_orders_per_min\"\nbaseline = { keys = \"on\" }\n\
                [report]\nchart = { x = \"keys\", y = [\"new_orders_per_min\"] }\n";
    let overrides = Overrides {
        scale: Some(0.1),
        ..Overrides::default()
    };
    let experiment = bench.parse_with(text, &overrides).unwrap();
    let plan = experiment.plan();
    let run = plan
        .runs
        .iter()
        .find(|run| run.combination["keys"] == "off")
        .unwrap();
    assert_eq!(
        run.data.as_ref().unwrap().source,
        data(
            &TpccData,
            &[
                ("warehouses", Value::Count(2)),
                ("foreign_keys", Value::Flag(false)),
            ]
        )
    );
    let terminals = [
        ("pacing", Value::Choice("spec")),
        ("delivery", Value::Choice("deferred")),
        ("check", Value::Flag(true)),
    ];
    assert_eq!(run.loads[0].spec.source, load(&TpccLoad, &terminals));
    assert!(!run.loads[0].spec.ends_by_itself());
    assert_eq!(run.loads[0].spec.duration, Duration::from_secs(6));
    let ServerSpec::Private { set, .. } = &run.server else {
        panic!("private")
    };
    assert_eq!(set["loose-innodb_redo_log_capacity"], "102M");
    let data_sets: BTreeSet<_> = plan.runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 2);
    assert_eq!(experiment.verdict().unwrap().metric, "new_orders_per_min");

    // On an existing server, the tables may exist too.
    let given = "format = 1\n[server]\naddress = \"db1\"\n[load]\ntpcc = { check = \"off\" }\nconnections = 4\nduration = \"9s\"\n";
    let given = bench.parse(given);
    let run = &given.plan().runs[0];
    assert_eq!(run.data, None);
}

#[test]
fn what_option_files_say_shrinks_too() {
    let bench = Bench::new();
    let base = "[mysqld]\ninnodb-buffer-pool-size=1G\ninnodb_log_file_size=64M\nmax_connections=5\n[mysqld-5.5]\ninnodb_buffer_pool_size=2G\n";
    std::fs::write(bench.path("base.cnf"), base).unwrap();
    let small = "[mariadb]\nloose_innodb_buffer_pool_size=500M\n[client]\nuser=x\n";
    std::fs::write(bench.path("small.cnf"), small).unwrap();
    let with = |cnf: &str, set: &str, scale| {
        let text = format!("{SMALLEST}[server]\ncnf = [{cnf}]\n[server.set]\n{set}\n");
        let overrides = Overrides {
            scale,
            ..Overrides::default()
        };
        let experiment = bench.parse_with(&text, &overrides).unwrap();
        let ServerSpec::Private { set, .. } = experiment.plan().runs[0].server.clone() else {
            panic!("private")
        };
        let set: Vec<String> = set
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        set.join(" ")
    };
    let cases = [
        ("\"base.cnf\"", "", None, ""),
        (
            "\"base.cnf\"",
            "",
            Some(0.25),
            "innodb-buffer-pool-size=256M innodb_log_file_size=16M",
        ),
        (
            "\"base.cnf\", \"small.cnf\"",
            "",
            Some(0.25),
            "innodb_log_file_size=16M loose_innodb_buffer_pool_size=125M",
        ),
        (
            "\"base.cnf\"",
            "innodb_buffer_pool_size = \"100M\"",
            Some(0.25),
            "innodb_buffer_pool_size=25M innodb_log_file_size=16M",
        ),
    ];
    for (cnf, set, scale, expected) in cases {
        assert_eq!(with(cnf, set, scale), expected, "{cnf} {set} {scale:?}");
    }
}

#[test]
fn versions_are_compared_with_the_same_log_and_safety() {
    let bench = Bench::new();
    let defaults = |levels: &str, only: &[&str]| {
        let text = format!(
            "{SMALLEST}[matrix]\nversion = [{levels}]\n[server]\nrun = \"{{version}}\"\n[server.set]\nlog_bin = \"ON\"\n"
        );
        let levels = only.iter().map(|level| (*level).to_owned()).collect();
        let overrides = Overrides {
            only: (!only.is_empty())
                .then(|| ("version".to_owned(), levels))
                .into_iter()
                .collect(),
            ..Overrides::default()
        };
        let experiment = bench.parse_with(&text, &overrides).unwrap();
        let plan = experiment.plan();
        let said = plan
            .describe()
            .contains("alike   skip-log-bin=1, sync_binlog=1");
        let of_runs = plan.runs.iter().map(|run| match &run.server {
            ServerSpec::Private { defaults, .. } => *defaults,
            _ => panic!("private"),
        });
        let of_runs: Vec<_> = of_runs.collect();
        assert!(of_runs.iter().all(|it| *it == of_runs[0]));
        assert_eq!(said, !of_runs[0].is_empty());
        of_runs[0]
    };
    let both = "\"mysql-8.0.33\", \"mariadb-10.11\"";
    assert_eq!(defaults(both, &[]), OF_COMPARED_VERSIONS);
    // What is measured alone stands beside the rest.
    assert_eq!(defaults(both, &["mariadb-10.11"]), OF_COMPARED_VERSIONS);
    assert_eq!(defaults("\"mariadb-10.11\"", &[]), []);
}

#[test]
fn only_some_levels_are_run() {
    let bench = Bench::new();
    let only = |levels: &[(&str, &[&str])]| {
        let levels = levels.iter().map(|(factor, levels)| {
            let levels = levels.iter().map(|level| (*level).to_owned());
            ((*factor).to_owned(), levels.collect())
        });
        let overrides = Overrides {
            only: levels.collect(),
            ..Overrides::default()
        };
        bench.parse_with(NARROWED, &overrides)
    };
    let whole = only(&[]).unwrap();
    let some = only(&[("clients", &["1", "4"]), ("mix", &["1:0"])]).unwrap();
    assert_eq!(some.factors()[0].levels, ["1", "4"]);
    assert_eq!(some.factors()[1].levels, ["1:0"]);
    assert_eq!(some.plan().runs.len(), 2);
    assert_ne!(some.sha256(), whole.sha256());
    // The same run has the same random numbers in any plan.
    let seed_of = |plan: &experiment::Plan| {
        let mut runs = plan.runs.iter();
        let run =
            runs.find(|run| run.combination["clients"] == "4" && run.combination["mix"] == "1:0");
        run.unwrap().seed
    };
    assert_eq!(seed_of(some.plan()), seed_of(whole.plan()));

    for (levels, said) in [
        (("clients", "3"), "levels of clients: 1, 2, 4"),
        (("threads", "1"), "a factor of the file: clients, mix"),
        (("clients", "2"), ""),
    ] {
        let found = only(&[(levels.0, &[levels.1]), ("mix", &["0:1"])]);
        match said {
            "" => assert!(
                found
                    .unwrap_err()
                    .to_string()
                    .contains("[[exclude]] leaves")
            ),
            said => assert!(found.unwrap_err().to_string().contains(said)),
        }
    }
}

#[test]
fn the_times_of_every_run_can_be_set() {
    let bench = Bench::new();
    let with = |text: &str, duration: &str, warmup: &str| {
        let overrides = Overrides {
            duration: (!duration.is_empty()).then(|| duration.to_owned()),
            warmup: (!warmup.is_empty()).then(|| warmup.to_owned()),
            ..Overrides::default()
        };
        let experiment = bench.parse_with(text, &overrides);
        experiment.map(|it| {
            let load = &it.plan().runs[0].loads[0].spec;
            (load.duration.as_secs(), load.warmup)
        })
    };
    let (own, own_warmup) = with(NARROWED, "", "").unwrap();
    assert_eq!(with(NARROWED, "90s", "").unwrap(), (90, own_warmup));
    let fixed = WarmUp::fixed(Duration::from_secs(7));
    assert_eq!(with(NARROWED, "", "7s").unwrap(), (own, fixed));
    let auto = WarmUp::UntilSteady {
        at_most: Duration::from_secs(60),
    };
    assert_eq!(with(NARROWED, "2m", "auto").unwrap(), (120, auto));
    for (duration, warmup, said) in [
        ("soon", "", "a duration such as 30s"),
        ("0s", "", "a duration such as 30s"),
        ("", "warm", "a duration such as 5s, or auto"),
    ] {
        let error = with(NARROWED, duration, warmup).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn a_baseline_that_is_left_out_is_the_first_level_that_is_named() {
    let bench = Bench::new();
    let text = format!(
        "{NARROWED}\n[verdict]\nbaseline = {{ clients = 1 }}\n\
         [[answer]]\nname = \"Reads\"\nwhere = {{ mix = \"1:0\" }}\nbaseline = {{ clients = 1 }}\n"
    );
    let baselines = |only: &[&str]| {
        let levels = only.iter().map(|level| (*level).to_owned()).collect();
        let overrides = Overrides {
            only: [("clients".to_owned(), levels)].into(),
            ..Overrides::default()
        };
        let experiment = bench.parse_with(&text, &overrides).unwrap();
        let verdict = &experiment.verdict().unwrap().baseline[0];
        let answer = experiment.answers()[0].compared.as_ref().unwrap();
        assert_eq!(&answer.baseline[0], verdict);
        (verdict.1.clone(), experiment.plan().moved_baseline())
    };
    assert_eq!(baselines(&["4", "1"]), ("1".to_owned(), None));
    let said = "clients 4, since --only leaves out 1".to_owned();
    assert_eq!(baselines(&["4", "2"]), ("4".to_owned(), Some(said)));
}

/// Two factors; one combination is excluded.
const NARROWED: &str = r#"
format = 1
[matrix]
clients = [1, 2, 4]
mix = ["1:0", "0:1"]
[[exclude]]
clients = 2
mix = "0:1"
[load]
smack = "a.smack"
connections = "{clients}"
mix = "{mix}"
duration = "1s"
"#;
