//! The headroom of a server with the load in `../fixtures`: the fixtures of `consolidation.rs`, one at a time.
//!
//! `shop` has 8 CPUs. At 14:00, it uses 4 of them, with 100 reads and 1000 writes per second; in the other 23 hours 0.8
//! CPUs, 20 reads and 200 writes per second. Its memory in use is always 6 GiB.

use sizing::{
    Error, Headroom, HeadroomRequest, LoadCurve, Resource, ResourceHeadroom, Target, headroom,
    headroom_csv, headroom_json, headroom_lines, parse_target, read_curve,
};

const SHOP: &str = include_str!("../fixtures/shop.csv");
const OFFICE: &str = include_str!("../fixtures/office.txt");
const REPORTS: &str = include_str!("../fixtures/reports.csv");

fn curve(name: &str, text: &str) -> LoadCurve {
    read_curve(name, text.as_bytes()).expect("the fixture is read")
}

fn with_target(target: &str) -> HeadroomRequest {
    HeadroomRequest {
        target: parse_target(target).expect("a target"),
        ..HeadroomRequest::default()
    }
}

fn of_shop(target: &str) -> Headroom {
    headroom(curve("shop", SHOP), &with_target(target)).expect("an answer")
}

fn resource(answer: &Headroom, wanted: Resource) -> &ResourceHeadroom {
    let mut resources = answer.resources.iter();
    let found = resources.find(|it| it.resource == wanted);
    found.expect("all resources are there")
}

/// The answer as on a terminal that is as wide as its longest line.
fn text(answer: &Headroom) -> String {
    let lines = headroom_lines(answer);
    let lines = lines.iter().map(|it| format!("{}{}\n", it.head(), it.text));
    lines.collect()
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

#[test]
fn the_most_used_resource_limits_the_server() {
    let answer = of_shop("read_iops=150,write_iops=2000");
    // Utilisations at the peak: 4 / 8, 100 / 150 and 1000 / 2000 CPUs, reads and writes.
    let used = |wanted| resource(&answer, wanted).utilisation().unwrap();
    assert!(is_near(used(Resource::Cpus), 0.5));
    assert!(is_near(used(Resource::Reads), 2.0 / 3.0));
    assert!(is_near(used(Resource::Writes), 0.5));
    // 0.8 / (2 / 3) = 1.2.
    assert!(is_near(answer.times.unwrap().estimate, 1.2));
    assert_eq!(answer.limiting, Some(Resource::Reads));
    let unknown: Vec<&str> = answer.unknown().map(Resource::name).collect();
    assert_eq!(unknown, ["fsync", "net"]);
    let reads = resource(&answer, Resource::Reads).used.as_ref().unwrap();
    // The second highest of 24 hours: the rank is 22.8, rounded up.
    assert_eq!((reads.peak, reads.p95), (100.0, 20.0));
}

#[test]
fn the_text_has_each_figure_with_its_origin() {
    let shown = text(&of_shop("read_iops=150,write_iops=2000"));
    let expected = "\
At most 1.20 times the present peak load fits (reserve: 20 %); the reads of the disk limit it. Not known: fsync, net.
cpus         1.60 times: peak 4.00 CPUs (50 %) at 2026-11-20 14:00, p95 0.800; limit 8 CPUs (observed)
read_iops    1.20 times: peak 100 reads/s (67 %) at 2026-11-20 14:00, p95 20.0; limit 150 reads/s (assumed)
write_iops   1.60 times: peak 1.00k writes/s (50 %) at 2026-11-20 14:00, p95 200; limit 2.00k writes/s (assumed)
fsync        not observed (only run records of dbdyno contain it)
net          not observed (only run records of dbdyno contain it)
memory       peak 6.00 GiB of memory at 2026-11-20 00:00, p95 6.00 GiB; limit not known (--target memory=SIZE)
limits       observed: CPUs of the machine (cpus); assumed: --target (read_iops, write_iops)
assumed      use is proportional to the load, except memory (not tested); above 80 % of a limit, response times rise
observed     1 d of shop (sadf) in steps of 1 h; one day: no interval
";
    assert_eq!(shown, expected);
}

#[test]
fn memory_has_a_limit_and_does_not_count() {
    let answer = of_shop("memory=8G,read_iops=1000,write_iops=5000");
    let memory = resource(&answer, Resource::Memory);
    // 6 of 8 GiB, more than the half of the CPUs that is used.
    assert_eq!((memory.utilisation(), memory.times()), (Some(0.75), None));
    assert_eq!(answer.limiting, Some(Resource::Cpus));
    let row = "memory       not counted: peak 6.00 GiB of memory (75 %) at 2026-11-20 00:00, p95 6.00 GiB; limit 8.00 GiB \
               (assumed)";
    let shown = text(&answer);
    assert!(shown.lines().any(|it| it == row), "{shown}");
}

#[test]
fn a_limit_that_counts_reads_and_writes_together_is_noted() {
    // 100 / 150 + 1000 / 2000 = 1.1667 at 14:00; 0.8 / 1.1667 = 0.6857, less than 1.2.
    let answer = of_shop("read_iops=150,write_iops=2000");
    let note = "if one limit of the disk counts reads and writes together, 117 % of it is used at the peak, and only \
                0.686 times the peak load fits";
    assert_eq!(answer.remarks, [note]);
    // 100 / 1000 + 1000 / 5000 = 0.3, below the half of the CPUs.
    let answer = of_shop("read_iops=1000,write_iops=5000");
    assert!(answer.remarks.is_empty(), "{:?}", answer.remarks);
}

#[test]
fn a_peak_above_its_limit_is_noted() {
    let answer = of_shop("write_iops=800");
    // 0.8 / (1000 / 800) = 0.64.
    assert!(is_near(answer.times.unwrap().estimate, 0.64));
    assert_eq!(
        answer.remarks,
        ["write_iops: the peak is 125 % of the limit, so check the limit"]
    );
}

#[test]
fn a_measured_limit_gives_way_to_a_named_one() {
    let request = HeadroomRequest {
        target: parse_target("write_iops=4000").unwrap(),
        disk: Target {
            read_iops: Some(200.0),
            write_iops: Some(1000.0),
            fsync_s: Some(0.004),
            ..Target::default()
        },
        step_s: None,
    };
    let answer = headroom(curve("shop", SHOP), &request).unwrap();
    let origin = |wanted| resource(&answer, wanted).limit.unwrap().origin.name();
    assert_eq!(origin(Resource::Reads), "measured");
    assert_eq!(origin(Resource::Writes), "assumed");
    let shown = text(&answer);
    for expected in [
        // 0.8 / 0.25.
        "write_iops   3.20 times: peak 1.00k writes/s (25 %) at 2026-11-20 14:00, p95 200; limit 4.00k writes/s (assumed)",
        "fsync        not observed (only run records of dbdyno contain it); limit 4.00 ms per flush (measured)",
        "limits       observed: CPUs of the machine (cpus); measured: dbdyno storage (read_iops, fsync); assumed: --target \
         (write_iops)",
    ] {
        assert!(shown.lines().any(|it| it == expected), "{shown}");
    }
}

#[test]
fn a_share_of_unknown_cpus_needs_their_number() {
    let of_reports = |target: &str| {
        let request = with_target(target);
        headroom(curve("reports", REPORTS), &request).unwrap()
    };
    let without = of_reports("read_iops=1000");
    let row = "cpus         number of CPUs not in the files (--target cpus=N)";
    assert!(text(&without).contains(row), "{}", text(&without));
    for cpus in ["cpus=8", "cpus=2.5"] {
        // 45 % at 02:00, whatever the number: 0.8 / 0.45.
        let times = of_reports(cpus).times.unwrap().estimate;
        assert!(is_near(times, 0.8 / 0.45), "{cpus}: {times}");
    }
}

#[test]
fn without_a_limit_the_headroom_is_not_known() {
    let request = HeadroomRequest::default();
    let answer = headroom(curve("reports", REPORTS), &request).unwrap();
    assert_eq!((answer.times, answer.limiting), (None, None));
    let shown = text(&answer);
    for expected in [
        "The headroom is not known, because no resource has both a limit and an observed use.\n",
        "write_iops   peak 900 writes/s at 2026-11-20 02:00, p95 100; limit not known (--storage or --target write_iops=N)",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&headroom_json(&answer)).unwrap();
    assert_eq!(json["known"], false);
    assert_eq!(json["times"], serde_json::Value::Null);
    assert!(headroom_csv(&answer).contains("server,reports,,,,,,,,,,,not known\n"));
}

#[test]
fn a_limit_of_a_resource_that_is_not_used_says_nothing() {
    let idle = REPORTS.replace("900", "0").replace("100", "0");
    let answer = headroom(curve("reports", &idle), &with_target("write_iops=1000")).unwrap();
    assert_eq!(answer.times, None);
    let shown = text(&answer);
    let expected = "The headroom is not known, because no resource with a limit was used.\n";
    assert!(shown.starts_with(expected), "{shown}");
}

/// The shop on three days, with 1000, 1100 and 1200 writes per second at the peak.
fn shop_for_three_days() -> LoadCurve {
    let mut all = curve("shop", SHOP);
    for day in 1..3 {
        // The last time of a day is the first of the next one.
        let text = SHOP.replace("2026-11-21", "next day");
        let text = text.replace("2026-11-20", &format!("2026-11-{}", 20 + day));
        let text = text.replace("next day", &format!("2026-11-{}", 21 + day));
        let text = text.replace(
            "100.00;1000.00;",
            &format!("100.00;{}.00;", 1000 + 100 * day),
        );
        all = all.with(curve("shop", &text));
    }
    all
}

#[test]
fn a_day_without_use_has_no_upper_end() {
    // Writes on the third day only: a draw has none of it in 8 of 27 cases.
    let idle = |date: &str, next: &str| {
        let text = SHOP.replace("2026-11-21", "next day");
        let text = text.replace("2026-11-20", date).replace("next day", next);
        let text = text.replace(";1000.00;", ";0.00;");
        text.replace(";200.00;", ";0.00;")
    };
    let mut all = curve("shop", &idle("2026-11-18", "2026-11-19"));
    all = all.with(curve("shop", &idle("2026-11-19", "2026-11-20")));
    let answer = headroom(
        all.with(curve("shop", SHOP)),
        &with_target("write_iops=2000"),
    )
    .unwrap();
    let writes = resource(&answer, Resource::Writes).times().unwrap();
    // 0.8 / (1000 / 2000).
    assert!(is_near(writes.estimate, 1.6), "{writes:?}");
    assert_eq!(writes.interval.unwrap().1, f64::INFINITY);
    let csv = headroom_csv(&answer);
    assert!(csv.contains(",assumed,0.5,1.6,1.6,,\n"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&headroom_json(&answer)).unwrap();
    assert_eq!(
        json["resources"][2]["times"]["high"],
        serde_json::Value::Null
    );
}

#[test]
fn three_days_have_an_interval() {
    let answer = headroom(shop_for_three_days(), &with_target("write_iops=2000")).unwrap();
    let times = answer.times.unwrap();
    assert_eq!(answer.days, 3);
    // 0.8 / (1200 / 2000). A draw has only the first day in one of 27 cases, more often than 2.5 %: 0.8 / 0.5.
    let (low, high) = times.interval.unwrap();
    assert!(is_near(times.estimate, 4.0 / 3.0) && is_near(low, 4.0 / 3.0));
    assert!(is_near(high, 1.6), "{high}");
    let shown = text(&answer);
    for expected in [
        "At most 1.33 (1.33 to 1.60) times the present peak load fits",
        "write_iops   1.33 times: peak 1.20k writes/s (60 %) at 2026-11-22 14:00, p95 200; ",
        "observed     3 d of shop (sadf) in steps of 1 h; 95 % intervals of the peaks by resampling the 3 days",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn the_figures_are_the_same_in_all_formats() {
    let answer = of_shop("write_iops=1600");
    let json: serde_json::Value = serde_json::from_str(&headroom_json(&answer)).unwrap();
    // 1000 / 1600 = 0.625, and 0.8 / 0.625 = 1.28.
    assert_eq!(json["times"]["estimate"], 1.28);
    assert_eq!(json["limiting"], "write_iops");
    assert_eq!(json["at_most"], true);
    let writes = &json["resources"][2];
    assert_eq!(writes["use"]["peak"], 1000.0);
    assert_eq!(writes["use"]["origin"], "observed");
    assert_eq!(writes["limit"]["origin"], "assumed");
    assert_eq!(writes["utilisation"], 0.625);
    assert_eq!(
        json["unknown"],
        serde_json::json!(["read_iops", "fsync", "net"])
    );
    let csv = headroom_csv(&answer);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 8, "{csv}");
    assert_eq!(
        rows[1],
        "server,shop,,,,,,,,1.28,,,at most; write_iops limits"
    );
    let row = "resource,write_iops,1/s,1000,2026-11-20 14:00,200,1600,assumed,0.625,1.28,,,";
    assert_eq!(rows[4], row);
}

#[test]
fn what_is_no_load_of_one_server_is_refused() {
    let refused = |curve: LoadCurve, target: &str| {
        let error = headroom(curve, &with_target(target)).unwrap_err();
        error.to_string()
    };
    let both = curve("shop", SHOP).with(curve("office", OFFICE));
    assert_eq!(
        refused(both, "cpus=8"),
        "the files are of several machines: office, shop"
    );
    let shop = || curve("shop", SHOP);
    assert_eq!(
        refused(shop(), "cpus=8,buffer_pool=4G"),
        "--target names buffer_pool, which is no limit of a running server"
    );
    assert!(refused(shop(), "data=4G").starts_with("--target names data"));
    let request = HeadroomRequest {
        step_s: Some(60),
        ..HeadroomRequest::default()
    };
    let error = headroom(shop(), &request).unwrap_err();
    assert!(matches!(error, Error::StepTooShort { .. }));
    // An hour of a day.
    let times =
        |line: &&str| line.starts_with('#') || line.contains("LINUX") || line.contains("01:00:");
    let hour: Vec<&str> = SHOP.lines().filter(times).collect();
    let request = HeadroomRequest {
        step_s: Some(86_400),
        ..HeadroomRequest::default()
    };
    let hour = hour.join("\n") + "\n";
    let error = headroom(curve("shop", &hour), &request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the files cover less than half of each step of 86400 s"
    );
}

/// A run record of two seconds with this combination of levels, and with these lines about its server.
fn run(combination: &str, lines: &str) -> LoadCurve {
    let header = format!(
        r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"oltp","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{combination},"started_at":"2026-11-20T02:00:00Z","connections":2,"loops":2,"io":"epoll","transport":"unix socket"}}"#
    );
    let sample = r#"{"line":"telemetry","t_s":0.0,"length_s":2.0,"host":"server","machine":{"user_s":2.0,"system_s":0.0,"iowait_s":0.0,"steal_s":0.0,"idle_s":2.0},"server":null,"client":null,"memory":null,"disk":null}"#;
    curve("oltp", &format!("{header}\n{lines}{sample}\n"))
}

#[test]
fn runs_with_different_limits_are_refused() {
    let limited = r#"{"line":"limit","disk":{"read_iops":null,"write_iops":300,"read_bytes_per_s":null,"write_bytes_per_s":null,"cgroup_version":2,"device":"254:0","not_limited":[]},"cpus":null,"memory_bytes":null,"cgroup_version":null}"#;
    let limited = run("{}", &format!("{limited}\n"));
    let error = headroom(limited.with(run("{}", "")), &HeadroomRequest::default()).unwrap_err();
    let expected = "the runs have different limits of the server: none; write_iops=300";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn runs_of_several_combinations_are_noted() {
    let remarks = |other: &str| {
        let runs = run(r#"{"pool":"64M"}"#, "").with(run(other, ""));
        headroom(runs, &with_target("cpus=2")).unwrap().remarks
    };
    let note = "the runs have 2 combinations of levels; each peak is that of the combination that used most";
    assert!(!remarks(r#"{"pool":"64M"}"#).iter().any(|it| it == note));
    let found = remarks(r#"{"pool":"128M"}"#);
    assert!(found.iter().any(|it| it == note), "{found:?}");
}
