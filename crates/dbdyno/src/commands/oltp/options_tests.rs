//! Command lines, ours and sysbench's.

use clap::CommandFactory;

use super::*;

fn parse(line: &str) -> Result<Options, String> {
    let args = line.split_whitespace().map(Into::into);
    let args = super::super::translated(args).map_err(|error| error.to_string())?;
    let args = std::iter::once("dbdyno oltp".into()).chain(args);
    Options::try_parse_from(args).map_err(|error| error.to_string())
}

/// As with sysbench.
#[test]
fn of_an_option_given_twice_the_last_one_counts() {
    let options =
        parse("read_write run --table-size=10 --threads=2 --table_size=20 --connections=3");
    let options = options.unwrap();
    assert_eq!(options.settings(1).unwrap().table_size, 20);
    assert_eq!(options.load.connections, 3);
}

#[test]
fn the_command_line_is_sound() {
    Options::command().debug_assert();
}

/// A benchmark says its options once: the command line has those of the experiment's tables, with their defaults.
#[test]
fn what_is_not_given_is_what_an_experiment_has() {
    use settings::defaults;

    let ours = parse("read_write run").unwrap();
    let mut load = defaults(OltpLoad.options());
    load.set("script", Value::Choice("read_write"));
    let data = Settings::of_data(&defaults(OltpData.options()));
    assert_eq!(ours.settings(7).unwrap(), data.with_load(&load, 1, 7));
    let list = load.text("mysql_ignore_errors").unwrap();
    assert_eq!(ours.ignored_errors().ok(), IgnoredErrors::of(list));
    for option in OltpData.options().iter().chain(OltpLoad.options()) {
        let mut ours = WorkloadOptions::all();
        let is_there = ours.any(|known| known.name == option.name);
        assert!(option.name == "script" || is_there, "{}", option.name);
    }
}

#[test]
fn the_load_is_one_that_an_experiment_can_have() {
    let spec = |line: &str| parse(line).unwrap().spec(Script::ReadWrite);
    let usual = spec("read_write run").unwrap();
    assert_eq!((usual.connections, usual.expected()), (1, DURATION));
    assert_eq!(usual.arrivals, Arrivals::Closed);
    assert_eq!(usual.source.values.text("script"), Some("read_write"));
    let open = spec("read_write run --threads=4 --rate=50 --warmup=2 --time=30").unwrap();
    assert_eq!(open.connections, 4);
    assert_eq!(open.expected(), Duration::from_secs(32));
    let arrivals = Arrivals::Open {
        rate_per_s: 50.0,
        process: Process::Poisson,
    };
    assert_eq!(open.arrivals, arrivals);
    for (line, fault) in [
        ("--arrivals=constant", "--arrivals has no effect"),
        (
            "--mysql-ignore-errors=deadlock",
            "not a list of error numbers",
        ),
        ("--rand-pareto-h=0.1", "--rand-pareto-h has no effect"),
    ] {
        let error = spec(&format!("read_write run {line}")).unwrap_err();
        assert!(error.message.contains(fault), "{line}: {error}");
    }
}

#[test]
fn sysbenchs_command_line_means_the_same() {
    let theirs = parse(
        "oltp_read_write --table_size=3K --tables=4 --threads=8 --time=60 --events=0 --rand-seed=7 \
         --mysql-socket=/s --mysql-user=u --mysql-db=d --skip_trx=on --range_selects=off --db-ps-mode=disable \
         --percentile=99 --histogram run",
    )
    .unwrap();
    let ours = parse(
        "read_write run --table-size 3k --tables 4 --connections 8 --duration 60s --seed 7 --socket /s --user u \
         --database d --skip-trx --range-selects=off --db-ps-mode disable --percentile 99 --histogram",
    )
    .unwrap();
    assert_eq!(theirs.settings(7).unwrap(), ours.settings(7).unwrap());
    assert_eq!(theirs.settings(7).unwrap().table_size, 3000);
    assert_eq!(theirs.script().unwrap(), ours.script().unwrap());
    assert_eq!(theirs.connection, ours.connection);
    assert_eq!(theirs.load.duration, ours.load.duration);
    assert_eq!(theirs.percentiles(), [99.0]);
    assert!(theirs.has_histogram() && ours.has_histogram());
}

#[test]
fn faults_are_named() {
    for (line, fault) in [
        ("read_write run --table-size abc", "--table-size"),
        ("read_write run --table-size 3Q", "--table-size"),
        ("read_write run --table-size 3G", "--table-size"),
        ("read_write run --tables 0", "--tables"),
        ("read_write run --rand-pareto-h 1", "--rand-pareto-h"),
        (
            "read_write run --rand-type none",
            "possible values: uniform",
        ),
        ("read_write run --percentile 101", "--percentile"),
        ("read_write run --no-such 1", "--no-such"),
        ("read_write walk", "walk"),
        ("read_write run --db-driver=pgsql", "--db-driver"),
        (
            "read_write run --thread-stack-size=64K",
            "--thread-stack-size",
        ),
    ] {
        let error = parse(line).unwrap_err();
        assert!(error.contains(fault), "{line}: {error}");
    }
    let error = parse("point_slect run").unwrap().script().unwrap_err();
    assert!(error.hints[0].contains("point_select"));
    let unused = parse("read_only run --rand-pareto-h 0.1").unwrap();
    let error = unused.settings(1).unwrap_err().to_string();
    assert_eq!(
        error,
        "--rand-pareto-h has no effect with --rand-type uniform"
    );
}

#[test]
fn ignored_errors_are_numbers_or_all() {
    let ignored = |list: &str| {
        let line = format!("read_write run --mysql-ignore-errors={list}");
        parse(&line).unwrap().ignored_errors()
    };
    assert_eq!(ignored("all").unwrap(), IgnoredErrors::All);
    assert_eq!(
        ignored("1213,1205").unwrap(),
        IgnoredErrors::Numbers(vec![1213, 1205])
    );
    assert_eq!(ignored("").unwrap(), IgnoredErrors::Numbers(Vec::new()));
    assert!(ignored("deadlock").is_err());
}

#[test]
fn percentiles_have_defaults_by_layout() {
    let percentiles = |options: &str| {
        parse(&format!("insert run {options}"))
            .unwrap()
            .percentiles()
    };
    assert_eq!(percentiles(""), [50.0, 95.0, 99.0, 99.9]);
    assert_eq!(percentiles("--format sysbench"), [95.0]);
    assert_eq!(percentiles("--percentile 0"), [0.0; 0]);
    assert_eq!(percentiles("--percentile 99.9,99.99"), [99.9, 99.99]);
}

#[test]
fn a_forced_shutdown_is_a_time_or_a_part_of_it() {
    let minute = Duration::from_secs(60);
    let cases = [
        ("5", Duration::from_secs(5)),
        ("500ms", Duration::from_millis(500)),
        ("0", Duration::ZERO),
        ("5%", Duration::from_secs(3)),
        ("150%", Duration::from_secs(90)),
    ];
    for (text, after) in cases {
        let forced: ForcedShutdown = text.parse().unwrap();
        let drain = forced.drain(Some(minute));
        assert_eq!(drain, Some(Drain::AtMost(after)), "{text}");
        assert_eq!(forced.drain(None), None, "{text}");
    }
    let off: ForcedShutdown = "off".parse().unwrap();
    assert_eq!(off.drain(None), Some(Drain::Unlimited));
    for wrong in ["on", "", "%", "-5", "5 %", "NaN%", "1e9%"] {
        assert!(wrong.parse::<ForcedShutdown>().is_err(), "{wrong}");
    }
}

#[test]
fn suffixes_are_honoured_and_never_cut() {
    for (text, count) in [
        ("0", Ok(0)),
        ("3000", Ok(3000)),
        ("3K", Ok(3000)),
        ("1.5M", Ok(1_500_000)),
        ("3Q", Err(())),
        ("abc", Err(())),
    ] {
        assert_eq!(count_or_none(text).map_err(drop), count, "{text}");
    }
    for (text, seconds) in [("60", 60.0), ("500ms", 0.5), ("2m", 120.0), ("0", 0.0)] {
        assert_eq!(time(text).unwrap().as_secs_f64(), seconds, "{text}");
    }
    assert!(time("fast").is_err() && percentile("100.1").is_err() && rate("-1").is_err());
}
