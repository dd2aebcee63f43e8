//! Three kinds of other programs' files and a run record, put together.
//!
//! The fixtures have one day in steps of an hour. `shop` and `office` have their peak from 14:00, `reports` and
//! `backup` from 02:00. Writes per second at 14:00 / at 02:00 / else: shop 1000 / 200 / 200, office 800 / 100 / 100,
//! reports 100 / 900 / 100, backup 50 / 700 / 50; reads are a tenth of them.

use sizing::{
    Alignment, Consolidation, Error, LoadCurve, Request, Resource, ResourceSum, Search,
    consolidate, consolidation_csv, consolidation_json, consolidation_lines, read_curve,
};

const SHOP: &str = include_str!("../fixtures/shop.csv");
const OFFICE: &str = include_str!("../fixtures/office.txt");
const REPORTS: &str = include_str!("../fixtures/reports.csv");
const BACKUP: &str = include_str!("../fixtures/backup.jsonl");

fn curve(name: &str, text: &str) -> LoadCurve {
    read_curve(name, text.as_bytes()).expect("the fixture is read")
}

fn all() -> Vec<LoadCurve> {
    vec![
        curve("shop", SHOP),
        curve("office", OFFICE),
        curve("reports", REPORTS),
        curve("backup", BACKUP),
    ]
}

fn with_cpus() -> Request {
    Request {
        cpus: vec![("reports".to_owned(), 8)],
        ..Request::default()
    }
}

/// The answer as on a terminal that is as wide as its longest line.
fn text(answer: &Consolidation) -> String {
    let lines = consolidation_lines(answer);
    let lines = lines.iter().map(|it| format!("{}{}\n", it.head(), it.text));
    lines.collect()
}

fn sum(answer: &Consolidation, resource: Resource) -> &ResourceSum {
    let mut sums = answer.resources.iter();
    sums.find(|it| it.resource == resource)
        .expect("the resource is there")
}

#[test]
fn the_peak_of_the_sum_is_found_in_all_formats_together() {
    let answer = consolidate(all(), &with_cpus()).unwrap();
    assert_eq!((answer.step_s, answer.alignment), (3600, Alignment::Date));
    assert_eq!(answer.compared_share, 1.0);
    let writes = sum(&answer, Resource::Writes);
    // 1000 + 800 + 100 + 50 at 14:00, more than 200 + 100 + 900 + 700 at 02:00.
    assert_eq!(writes.peak, 1950.0);
    assert_eq!(writes.at, "2026-11-20 14:00");
    assert_eq!(writes.peaks, [1000.0, 800.0, 900.0, 700.0]);
    assert_eq!(writes.sum_of_peaks(), 3400.0);
    assert!((writes.saving().unwrap() - (1.0 - 1950.0 / 3400.0)).abs() < 1e-12);
    let of = |resource| sum(&answer, resource).peak;
    assert_eq!(of(Resource::Reads), 195.0);
    assert_eq!(of(Resource::ReadBytes), 195.0 * 16_384.0);
    assert_eq!(of(Resource::WrittenBytes), 1950.0 * 16_384.0);
    // 1000 / 250 + 800 / 400 + 100 / 20 % of 8 + 50 / 400 CPUs.
    assert!(
        (of(Resource::Cpus) - 6.525).abs() < 1e-9,
        "{}",
        of(Resource::Cpus)
    );
    assert_eq!(answer.left_out.len(), 1, "{:?}", answer.left_out);
    assert_eq!(
        answer.left_out[0],
        (Resource::Memory, "not in office, reports".to_owned())
    );
    for sum in &answer.resources {
        assert!(sum.peak <= sum.sum_of_peaks() && sum.interval.is_none());
    }
    assert_eq!(answer.intervals, "one day: no interval");
}

#[test]
fn those_with_peaks_at_different_times_are_put_together() {
    let answer = consolidate(all(), &Request::default()).unwrap();
    // Peaks of pairs, writes: shop + office 1800, shop + reports 1100, shop + backup 1050, office + reports 1000,
    // office + backup 850, reports + backup 1600.
    let groups: Vec<&[usize]> = answer
        .groups
        .iter()
        .map(|it| it.systems.as_slice())
        .collect();
    assert_eq!(groups, [[0, 3], [1, 2]]);
    assert_eq!(answer.search, Search::Exhaustive(3));
    assert!((answer.groups[0].share - 1050.0 / 3400.0).abs() < 1e-12);
    let worst = answer.worst_pair.unwrap();
    assert_eq!(worst.systems, [0, 1]);
    assert!((worst.share - 1800.0 / 3400.0).abs() < 1e-12);
    // Without the number of CPUs of one system there is no sum of CPUs.
    let unknown = "reports: number of CPUs unknown, --cpus reports=N".to_owned();
    assert_eq!(answer.left_out[0], (Resource::Cpus, unknown));
}

#[test]
fn a_capacity_decides_what_fits() {
    let request = |writes: f64| Request {
        capacity: vec![(Resource::Writes, writes)],
        groups: Some(2),
        ..Request::default()
    };
    let answer = consolidate(all(), &request(1050.0)).unwrap();
    assert_eq!(answer.fits(), Some(true));
    assert_eq!(answer.groups[0].share, 1.0);
    let answer = consolidate(all(), &request(1000.0)).unwrap();
    assert_eq!(answer.fits(), Some(false));
    assert!(text(&answer).contains("105 % of the capacity: does not fit"));
    // The reserve is named above 80 %.
    for (writes, expected) in [
        (
            1050.0,
            "100 % of the capacity, nothing in reserve, 38 % less",
        ),
        (
            1100.0,
            "95.5 % of the capacity, only 4.5 % in reserve, 38 % less",
        ),
        (1312.5, "80 % of the capacity, 38 % less"),
    ] {
        let shown = text(&consolidate(all(), &request(writes)).unwrap());
        assert!(shown.contains(expected), "{shown}");
    }
    let memory = Request {
        capacity: vec![(Resource::Memory, 1e12)],
        ..Request::default()
    };
    let refused = consolidate(all(), &memory).unwrap_err().to_string();
    assert!(refused.contains("--capacity names memory"), "{refused}");
}

#[test]
fn the_answer_has_at_most_twelve_lines_and_its_figures_in_all_formats() {
    let answer = consolidate(all(), &with_cpus()).unwrap();
    let shown = text(&answer);
    assert!(shown.lines().count() <= 12, "{shown}");
    let line = "write_iops   together: 1.95k writes/s at 2026-11-20 14:00, 43 % less than the sum of the peaks (3.40k)";
    assert!(shown.lines().any(|it| it == line), "{shown}");
    assert!(shown.contains("shop + backup ("), "{shown}");
    assert!(shown.contains("best of 3 partitions into pairs"), "{shown}");
    assert!(shown.contains("apart        shop + office: "), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&consolidation_json(&answer)).unwrap();
    let writes = &json["resources"][2];
    assert_eq!(writes["resource"], "write_iops");
    assert_eq!(writes["peak_of_sum"], 1950.0);
    assert_eq!(writes["peaks"]["office"], 800.0);
    assert_eq!(
        json["groups"][0]["systems"],
        serde_json::json!(["shop", "backup"])
    );
    assert_eq!(json["groups"][0]["peaks"]["write_iops"], 1050.0);
    assert_eq!(json["fits"], serde_json::Value::Null);
    let csv = consolidation_csv(&answer);
    let rows: Vec<&str> = csv.lines().filter(|it| it.contains("write_iops")).collect();
    assert_eq!(
        rows[0],
        "sum,shop+office+reports+backup,write_iops,1/s,1950,,,3400"
    );
    assert_eq!(rows[1], "system,shop,write_iops,1/s,1000,,,1000");
    assert_eq!(rows[5], "group,shop+backup,write_iops,1/s,1050,,,1700");
    assert_eq!(rows[7], "worst pair,shop+office,write_iops,1/s,1800,,,1800");
}

/// The shop on later days, with another peak on each.
fn shop_for_days(days: u32) -> LoadCurve {
    let mut all = curve("shop", SHOP);
    for day in 1..days {
        let of_day = |date: u32| format!("2026-11-{:02}", date + day);
        // The last time of a day is the first of the next one.
        let text = SHOP
            .replace("2026-11-21", "next day")
            .replace("2026-11-20", &of_day(20));
        let text = text.replace("next day", &of_day(21));
        let text = text.replace(
            "100.00;1000.00;",
            &format!("100.00;{}.00;", 1000 + 100 * day),
        );
        all = all.with(curve("shop", &text));
    }
    all
}

#[test]
fn three_days_have_an_interval_and_two_have_none() {
    let pair = |days: u32| {
        let mut other = shop_for_days(days);
        other.name = "copy".to_owned();
        consolidate(vec![shop_for_days(days), other], &Request::default()).unwrap()
    };
    let two = pair(2);
    assert_eq!(two.intervals, "2 days: no interval (3 are needed)");
    assert!(sum(&two, Resource::Writes).interval.is_none());
    let three = pair(3);
    let writes = sum(&three, Resource::Writes);
    let interval = writes.interval.unwrap();
    // 1000, 1100 and 1200, twice: a draw has only the first day in one of 27 cases, more often than 2.5 %.
    assert_eq!((interval.low, interval.high), (2000.0, 2400.0));
    assert_eq!(writes.peak, 2400.0);
    assert!(
        three.intervals.contains("resampling the 3 days"),
        "{}",
        three.intervals
    );
    let week = pair(7);
    assert_eq!(week.alignment, Alignment::Weekday);
    assert_eq!(sum(&week, Resource::Writes).at, "Thu 14:00");
}

#[test]
fn what_cannot_be_put_together_is_refused() {
    let refused =
        |curves: Vec<LoadCurve>, request: &Request| consolidate(curves, request).unwrap_err();
    let none = Request::default();
    assert!(matches!(
        refused(vec![curve("shop", SHOP)], &none),
        Error::OneSystem { .. }
    ));
    let twice = vec![curve("shop", SHOP), curve("shop", OFFICE)];
    assert!(matches!(refused(twice, &none), Error::SameName { .. }));
    let groups = |groups| Request {
        groups: Some(groups),
        ..Request::default()
    };
    assert!(matches!(refused(all(), &groups(0)), Error::Groups { .. }));
    assert!(matches!(refused(all(), &groups(5)), Error::Groups { .. }));
    let cpus = Request {
        cpus: vec![("none".to_owned(), 4)],
        ..Request::default()
    };
    assert!(matches!(refused(all(), &cpus), Error::UnknownSystem { .. }));
    // A run record has CPUs and no share of them.
    let cpus = Request {
        cpus: vec![("backup".to_owned(), 4)],
        ..Request::default()
    };
    assert!(matches!(refused(all(), &cpus), Error::NoCpuShare { .. }));
    let step = |step_s| Request {
        step_s: Some(step_s),
        ..Request::default()
    };
    assert!(matches!(
        refused(all(), &step(60)),
        Error::StepTooShort { .. }
    ));
    assert!(matches!(refused(all(), &step(7000)), Error::Step { .. }));
    // One has only its memory, the other one none.
    let memory: Vec<&str> = SHOP
        .lines()
        .filter(|it| it.contains("kbmem") || it.contains("1048576"))
        .collect();
    let memory = curve("memory", &(memory.join("\n") + "\n"));
    let error = refused(vec![memory, curve("office", OFFICE)], &none);
    let expected = "no resource was measured in all systems at the same dates and times";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn shares_of_an_unknown_number_of_cpus_are_named_as_the_reason() {
    // `sadf -d FILE -- -u` without sadf's line LINUX-RESTART.
    let only_cpu = |name: &str| {
        let text = format!(
            "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
             {name};600;2026-11-20 10:10:00 UTC;-1;20.00;0.00;1.00;0.50;0.00;78.50\n\
             {name};600;2026-11-20 10:20:00 UTC;-1;30.00;0.00;1.00;0.50;0.00;68.50\n"
        );
        curve(name, &text)
    };
    let curves = || vec![only_cpu("web"), only_cpu("night")];
    let error = consolidate(curves(), &Request::default()).unwrap_err();
    let expected = "nothing can be added up: the number of CPUs is unknown for web, night";
    assert_eq!(error.to_string(), expected);
    let known = Request {
        cpus: vec![("web".to_owned(), 16), ("night".to_owned(), 8)],
        ..Request::default()
    };
    // 31 % of 16 and of 8 CPUs.
    let answer = consolidate(curves(), &known).unwrap();
    assert!((sum(&answer, Resource::Cpus).peak - 7.44).abs() < 1e-9);
}

#[test]
fn a_peak_outside_of_the_compared_time_is_remarked() {
    // The office's afternoon is missing: the shop's peak is not compared.
    let morning: Vec<&str> = OFFICE
        .split_inclusive("\n11/20/2026 01:00:00 PM")
        .take(1)
        .collect();
    let office = morning.concat().replace("\n11/20/2026 01:00:00 PM", "\n");
    let answer = consolidate(
        vec![curve("shop", SHOP), curve("office", &office)],
        &Request::default(),
    );
    let answer = answer.unwrap();
    assert_eq!(answer.compared_share, 0.5);
    let remark = "shop: its peak of 1.00k writes/s is at a time without values of all systems";
    assert!(
        answer.remarks.iter().any(|it| it == remark),
        "{:?}",
        answer.remarks
    );
    assert!(text(&answer).contains("all have values 50 % of the time"));
}
