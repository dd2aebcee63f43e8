//! Tests of the combinations that emulate a target.

use std::path::Path;

use benchmarks::VOCABULARY;
use experiment::Overrides;
use sizing::parse_target;

use super::*;

const MACHINE: EmulatingMachine = EmulatingMachine {
    cpus: 2.0,
    memory_bytes: Some(8 << 30),
};

/// All numbers of connections with the largest buffer pool, and one number with the others.
const FILE: &str = r#"format = 1
repeats = 3

[matrix]
pool = ["64M", "128M", "512M"]
connections = [1, 4, 16, 32, 64]

[[exclude]]
pool = ["64M", "128M"]
connections = [1, 4, 32, 64]

[server.set]
innodb_buffer_pool_size = "{pool}"

[data]
oltp = { tables = 1, table_size = "1M" }

[load]
oltp = { script = "read_write" }
connections = "{connections}"
warmup = "1s"
duration = "5s"

[report]
chart = { x = "connections", line = "pool" }
"#;

/// The file with a target, and what is not emulated of it.
fn emulated(text: &str, target: &str) -> Result<(String, Vec<String>), Blamed> {
    let base = parsed(text);
    let target = parse_target(target).unwrap();
    let mut file: DocumentMut = text.parse().unwrap();
    let missing = add_target(&mut file, &base, &target, MACHINE)?;
    Ok((file.to_string(), missing))
}

fn parsed(text: &str) -> Experiment {
    let path = Path::new("/a/shop.toml");
    Experiment::parse(path, text, &Overrides::default(), &VOCABULARY).unwrap()
}

/// The combinations of one block, each with its limits: those of the experiment, and those of the target.
fn combinations(text: &str) -> [Vec<String>; 2] {
    let experiment = parsed(text);
    let of_level = |level: &str| {
        let runs = first_block(&experiment);
        let own = runs.filter(|run| run.combination.get(EMULATED).is_some_and(|it| it == level));
        let in_words = |run: &PlannedRun| {
            let limit = run.server.limit();
            let ServerSpec::Private { set, .. } = &run.server else {
                panic!("a private server");
            };
            let pool = &set["innodb_buffer_pool_size"];
            let connections = run.loads[0].spec.connections;
            let of_disk = [limit.disk.read_iops, limit.disk.write_iops];
            format!("{pool} {connections:2} {:?} {of_disk:?}", limit.cpus)
        };
        let mut words: Vec<String> = own.map(in_words).collect();
        words.sort();
        words
    };
    EMULATED_LEVELS.map(of_level)
}

#[test]
fn the_target_is_in_the_blocks_of_the_experiment() {
    let target = "cpus=1,buffer_pool=192M,read_iops=1000,write_iops=500.4,fsync=1ms,net=1G";
    let (text, missing) = emulated(FILE, target).unwrap();
    assert_eq!(missing, ["fsync", "net"]);
    let [own, of_target] = combinations(&text);
    assert_eq!(
        own,
        [
            "128M 16 None [None, None]",
            "512M  1 None [None, None]",
            "512M  4 None [None, None]",
            "512M 16 None [None, None]",
            "512M 32 None [None, None]",
            "512M 64 None [None, None]",
            "64M 16 None [None, None]",
        ]
    );
    // The upper half of five numbers of connections.
    assert_eq!(
        of_target,
        [
            "192M 16 Some(1.0) [Some(1000), Some(500)]",
            "192M 32 Some(1.0) [Some(1000), Some(500)]",
            "192M 64 Some(1.0) [Some(1000), Some(500)]",
        ]
    );
    let experiment = parsed(&text);
    assert_eq!(experiment.plan().runs.len(), 3 * 10);
    assert_eq!(experiment.chart().unwrap().facet, [EMULATED]);
}

#[test]
fn a_measured_buffer_pool_has_the_connections_that_were_measured_with_it() {
    let (text, missing) = emulated(FILE, "cpus=2,buffer_pool=64M,read_iops=300").unwrap();
    assert!(missing.is_empty(), "{missing:?}");
    let [own, of_target] = combinations(&text);
    assert_eq!(own.len(), 7);
    // As many CPUs as the machine has need no limit.
    assert_eq!(of_target, ["64M 16 None [Some(300), None]"]);
}

#[test]
fn what_this_machine_does_not_have_is_not_emulated() {
    let (text, missing) = emulated(FILE, "cpus=8,memory=64G,read_iops=300,data=1T").unwrap();
    assert_eq!(
        missing,
        [
            "buffer_pool (48.0 GiB, and this machine has 8.00 GiB of memory)",
            "cpus (this machine has 2)",
            "data (that of the experiment is used)",
        ]
    );
    // The nearest buffer pool instead.
    let [_, of_target] = combinations(&text);
    assert_eq!(of_target.len(), 3);
    assert_eq!(of_target[0], "512M 16 None [Some(300), None]");
    // Nothing but the buffer pool.
    let (text, missing) = emulated(FILE, "cpus=8,buffer_pool=192M").unwrap();
    assert_eq!(missing, ["cpus (this machine has 2)"]);
    let [_, of_target] = combinations(&text);
    assert_eq!(of_target[0], "192M 16 None [None, None]");
}

#[test]
fn the_only_buffer_pool_is_replaced() {
    let file = FILE
        .replace("pool = [\"64M\", \"128M\", \"512M\"]\n", "")
        .replace("\"{pool}\"", "\"512M\"")
        .replace(", line = \"pool\"", "");
    let (begin, rest) = file.split_once("[[exclude]]").unwrap();
    let (_, end) = rest.split_once("[server.set]").unwrap();
    let file = format!("{begin}[server.set]{end}");
    let (text, missing) = emulated(&file, "cpus=0.5,buffer_pool=192M").unwrap();
    assert!(missing.is_empty(), "{missing:?}");
    let [own, of_target] = combinations(&text);
    assert_eq!((own.len(), of_target.len()), (5, 3));
    assert_eq!(own[0], "512M  1 None [None, None]");
    assert_eq!(of_target[0], "192M 16 Some(0.5) [None, None]");
    let unset = file.replace("innodb_buffer_pool_size = \"512M\"", "sync_binlog = 0");
    let (_, missing) = emulated(&unset, "cpus=0.5,buffer_pool=192M").unwrap();
    assert_eq!(
        missing,
        ["buffer_pool ([server] set has no innodb_buffer_pool_size)"]
    );
}

#[test]
fn the_levels_of_other_groups_stay_together() {
    let file = FILE
        .replace(
            "repeats = 3\n",
            "repeats = 3\nzip = [\"connections\", \"loops\"]\n",
        )
        .replace("\n[[exclude]]", "loops = [1, 2, 3, 4, 5]\n\n[[exclude]]")
        .replace("warmup =", "loops = \"{loops}\"\nwarmup =");
    let (text, _) = emulated(&file, "read_iops=300,buffer_pool=192M").unwrap();
    assert!(
        text.contains(r#"zip = [["connections", "loops"], ["emulated", "emulated_read_iops"]]"#),
        "{text}"
    );
    let [own, of_target] = combinations(&text);
    assert_eq!((own.len(), of_target.len()), (7, 3));
}

#[test]
fn a_buffer_pool_that_varies_with_another_setting_is_the_nearest_measured_one() {
    let file = FILE
        .replace("repeats = 3\n", "repeats = 3\nzip = [\"pool\", \"log\"]\n")
        .replace(
            "\n[[exclude]]",
            "log = [\"96M\", \"97M\", \"256M\"]\n\n[[exclude]]",
        )
        .replace(
            "[server.set]\n",
            "[server.set]\ninnodb_log_file_size = \"{log}\"\n",
        );
    // A group has the name of its first factor.
    let of_log = file
        .replace("[\"pool\", \"log\"]", "[\"log\", \"pool\"]")
        .replace("pool = [\"64M\", \"128M\"]\n", "log = [\"96M\", \"97M\"]\n")
        .replace("line = \"pool\"", "line = \"log\"");
    let varies = "buffer_pool (it varies together with other settings)";
    for file in [&file, &of_log] {
        for (pool, expected) in [("128M", vec![]), ("192M", vec![varies])] {
            let target = format!("read_iops=300,buffer_pool={pool}");
            let (text, missing) = emulated(file, &target).unwrap();
            assert_eq!(missing, expected, "{pool}");
            let [own, of_target] = combinations(&text);
            assert_eq!(own.len(), 7);
            assert_eq!(of_target, ["128M 16 None [Some(300), None]"], "{pool}");
        }
    }
}

#[test]
fn a_limit_of_the_file_stays() {
    let file = FILE.replace(
        "[server.set]",
        "[server]\nlimit = { cpus = 2 }\n\n[server.set]",
    );
    let (text, _) = emulated(&file, "cpus=1.5,buffer_pool=512M").unwrap();
    let [own, of_target] = combinations(&text);
    assert!(own.iter().all(|it| it.contains("Some(2.0)")), "{own:?}");
    assert!(of_target.iter().all(|it| it.contains("Some(1.5)")));
}

#[test]
fn what_cannot_be_emulated_at_all_is_refused() {
    let refused = |text: &str| emulated(text, "read_iops=300").unwrap_err().message;
    let given = r#"format = 1
repeats = 3
[server]
address = "db1"
[data]
oltp = { tables = 1, table_size = "10k" }
[load]
oltp = { script = "read_only" }
connections = 4
duration = "5s"
"#;
    assert_eq!(
        refused(given),
        "shop: a target is emulated by limits of the kernel, which need a private server"
    );
    let (text, _) = emulated(FILE, "read_iops=300,buffer_pool=64M").unwrap();
    assert_eq!(
        refused(&text),
        "shop: the file already has a factor with the name emulated"
    );
}
