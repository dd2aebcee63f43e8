//! Tests of the importer, on a file of fio 3.33 and on what can be wrong with it.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// fio 3.33 on a virtio disk, 16 KiB, half reads, depth 4, libaio, direct; shortened.
const JSON_PLUS: &str = include_str!("../../../fixtures/fio-3.33-randrw.json");

fn file(name: &str, text: impl Into<String>) -> ImportFile {
    ImportFile {
        path: PathBuf::from("/tmp").join(name),
        text: text.into(),
    }
}

fn json() -> serde_json::Value {
    serde_json::from_str(JSON_PLUS).unwrap()
}

/// The file after a change.
fn changed(change: impl FnOnce(&mut serde_json::Value)) -> ImportFile {
    let mut value = json();
    change(&mut value);
    file("a.json", format!("{value:#}"))
}

fn refused(file: ImportFile) -> String {
    FioFiles.read(&[file]).unwrap_err().to_string()
}

#[test]
fn a_job_becomes_a_pattern_with_what_fio_says_of_it() {
    let files = [file(
        "a.json",
        format!("note: both iodepth\n{JSON_PLUS}\nRun status:\n"),
    )];
    let imported = FioFiles.read(&files).unwrap();
    assert_eq!(imported.version, "fio-3.33");
    let [result] = &imported.patterns[..] else {
        panic!("{imported:?}");
    };
    let pattern = &result.pattern;
    assert_eq!(
        (
            pattern.name.as_str(),
            pattern.block_bytes,
            pattern.reads_percent,
            pattern.depth
        ),
        ("a", 16384, 50, 4)
    );
    let job = result.imported.as_ref().unwrap();
    assert_eq!((job.engine.as_deref(), job.direct), (Some("libaio"), true));
    assert_eq!((job.size_bytes, job.elapsed_s), (Some(64 << 20), 2.001));
    assert_eq!(job.flushes, None);
    assert_eq!(
        result.read.as_ref().unwrap().latency.unwrap().p99_ns,
        552_960
    );

    let record = imported.into_record(&files, "2026-01-02T03:04:05Z".to_owned(), "0.1.0");
    let header = &record.header;
    assert!(header.storage.places.is_empty() && header.storage.devices.is_empty());
    assert!(header.direct && header.directory.is_empty());
    assert!(header.left_out[0].starts_with("not in the files: the device, its scheduler"));
    let line = serde_json::to_string(header).unwrap();
    assert!(!line.contains("\"directory\""), "{line}");
    let read = samples::StorageRecord::parse(record.to_lines().as_bytes()).unwrap();
    assert_eq!(
        (read.header, read.patterns),
        (record.header, record.patterns)
    );
}

#[test]
fn what_is_no_file_of_fio_3_is_refused() {
    for (file, part) in [
        (file("a.json", "no"), "it has no JSON"),
        (file("a.json", "{\"x\":1}"), "no JSON of fio"),
        (
            changed(|it| it["fio version"] = "fio-2.16".into()),
            "fio-2.16 wrote it",
        ),
        (
            changed(|it| it["client_stats"] = it["jobs"].clone()),
            "client/server mode",
        ),
        (changed(|it| drop(it["jobs"].take())), "has no jobs"),
        (
            changed(|it| it["jobs"][0]["read"] = serde_json::json!({"clat": {}})),
            "job a: missing field",
        ),
        (
            changed(|it| it["jobs"][0]["read"]["iops"] = (-1.0).into()),
            "are not rates",
        ),
        (
            changed(|it| it["jobs"][0]["job options"]["rw"] = "trim".into()),
            "rw=trim is neither",
        ),
        (
            file("a_iops.1.log", "1000, 1, 0, 0"),
            "no JSON of fio among",
        ),
    ] {
        let error = refused(file);
        assert!(
            error.starts_with("/tmp/a") && error.contains(part),
            "{error}"
        );
    }
}

#[test]
fn equal_names_of_several_files_are_told_apart() {
    let files = ["one.json", "two.json", "two.json"].map(|name| file(name, JSON_PLUS));
    let imported = FioFiles.read(&files).unwrap();
    let names = imported.patterns.iter().map(|it| it.pattern.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "two_a", "two_a_2"]);
}

#[test]
fn flushes_of_a_job_are_kept_and_untimed_requests_are_named() {
    let flushing = changed(|it| {
        it["jobs"][0]["sync"]["lat_ns"] = serde_json::json!({"min": 1, "max": 9_000, "mean": 4_000.0, "N": 7,
            "percentile": {"50.000000": 4_000, "95.000000": 5_000, "99.000000": 6_000, "99.900000": 9_000}});
    });
    let imported = FioFiles.read(&[flushing]).unwrap();
    let job = imported.patterns[0].imported.as_ref().unwrap();
    let flushes = job.flushes.as_ref().unwrap();
    assert_eq!((flushes.count, flushes.latency.p50_ns), (7, 4_000));
    let untimed = changed(|it| {
        for side in ["read", "write"] {
            it["jobs"][0][side]["clat_ns"] = serde_json::json!({"min": 0, "max": 0, "mean": 0.0});
        }
    });
    let imported = FioFiles.read(&[untimed]).unwrap();
    assert_eq!(imported.patterns[0].read.as_ref().unwrap().latency, None);
    assert!(imported.left_out[0].starts_with("latencies of job a of a.json"));
}

#[test]
fn logs_become_courses_of_their_jobs() {
    let logging = |threads: &str| {
        changed(|it| {
            it["global options"]["write_iops_log"] = "/tmp/course".into();
            it["global options"]["log_avg_msec"] = "1000".into();
            it["global options"]["numjobs"] = threads.into();
        })
    };
    let log = |name: &str| file(name, "1000, 10, 0, 0\n2000, 20, 0, 0\n");
    let files = [
        logging("2"),
        log("course_iops.1.log"),
        log("course_iops.2.log"),
    ];
    let imported = FioFiles.read(&files).unwrap();
    let [cell] = &imported.bursts[..] else {
        panic!("{imported:?}");
    };
    assert_eq!(cell.iops, [20.0, 40.0]);
    assert_eq!((cell.size_bytes, cell.pattern.depth), (Some(64 << 20), 8));
    let foreign = [logging("1"), changed(|_| {}), log("other_iops.1.log")];
    let error = FioFiles.read(&foreign).unwrap_err().to_string();
    assert!(
        error.contains("no job in the JSON files writes a log other"),
        "{error}"
    );
    for (name, text) in [
        ("a_bw.1.log", "1000, 1, 0, 0\n"),
        ("course_iops.1.log", "x\n"),
    ] {
        let error = FioFiles
            .read(&[logging("1"), file(name, text)])
            .unwrap_err();
        assert!(error.hint().unwrap().contains("write_iops_log"), "{error}");
    }
}

/// The name, depth, rates and what was left out of an import.
fn taken(change: impl FnOnce(&mut serde_json::Value)) -> (Vec<(u32, bool, bool)>, Vec<String>) {
    let imported = FioFiles.read(&[changed(change)]).unwrap();
    let patterns = imported.patterns.iter();
    let patterns = patterns.map(|it| (it.pattern.depth, it.read.is_some(), it.write.is_some()));
    (patterns.collect(), imported.left_out)
}

#[test]
fn threads_in_one_entry_are_a_depth_although_fio_does_not_write_the_option() {
    // The job has iodepth=4.
    let without_option = |it: &mut serde_json::Value| {
        it["global options"]
            .as_object_mut()
            .unwrap()
            .remove("group_reporting");
        it["global options"]["numjobs"] = "3".into();
    };
    let (patterns, _) = taken(without_option);
    assert_eq!(patterns, [(12, true, true)]);
    // An entry for each thread: each has its own depth.
    let (patterns, left_out) = taken(|it| {
        without_option(it);
        let job = it["jobs"][0].clone();
        it["jobs"] = vec![job.clone(), job.clone(), job].into();
    });
    assert_eq!(patterns, [(4, true, true); 3]);
    assert!(left_out[0].contains("(3 jobs in 1 group)"), "{left_out:?}");
}

#[test]
fn jobs_that_fio_added_up_are_said() {
    let add_up = |it: &mut serde_json::Value| {
        it["jobs"][0]["elapsed"] = 3.into();
        it["jobs"][0]["job_runtime"] = 6_003.into();
    };
    let (patterns, left_out) = taken(add_up);
    assert_eq!(patterns, [(12, true, true)]);
    let expected =
        "the options of job a of a.json are those of 1 thread, and its figures those of 3";
    assert!(left_out[0].starts_with(expected), "{left_out:?}");
    let error = refused(changed(|it| {
        it["jobs"][0]["job options"]["rw"] = "randwrite".into();
    }));
    assert!(
        error.contains("its options name the other kind, and it has reads"),
        "{error}"
    );
}

#[test]
fn reads_and_writes_reported_together_are_those_of_the_only_side() {
    let together = |rw: &'static str| {
        move |it: &mut serde_json::Value| {
            let job = it["jobs"][0].as_object_mut().unwrap();
            let side = job.remove("read").unwrap();
            job.remove("write");
            job.insert("mixed".to_owned(), side);
            job["job options"]["rw"] = rw.into();
        }
    };
    assert_eq!(taken(together("randread")).0, [(4, true, false)]);
    assert_eq!(taken(together("randwrite")).0, [(4, false, true)]);
    let error = refused(changed(together("randrw")));
    assert!(
        error.contains("job a of a.json: its reads and writes are reported together"),
        "{error}"
    );
    // `both` has each side by itself, too.
    let (patterns, _) = taken(|it| {
        let side = it["jobs"][0]["read"].clone();
        it["jobs"][0]["mixed"] = side;
    });
    assert_eq!(patterns, [(4, true, true)]);
}

/// Replaces, removes or repeats a piece of a text.
fn mutated(text: &str, cuts: &[(usize, usize, String)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, length, instead) in cuts {
        let begin = at % (bytes.len() + 1);
        let end = (begin + length).min(bytes.len());
        bytes.splice(begin..end, instead.bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is done to a file: a record that can be read again, or an error that names it.
    #[test]
    fn mutated_files_never_panic(
        cuts in prop::collection::vec((any::<usize>(), 0_usize..40, "[0-9{}\\[\\]\",:.e-]{0,6}|null|\"\"|1e308|18446744073709551615"), 1..6),
        log in "([0-9]{1,20}, [0-9.e-]{1,9}, [01], 0\n){0,6}",
    ) {
        // Without most of the bins: the options and figures are what has to be hit.
        let mut value = json();
        for side in ["read", "write"] {
            value["jobs"][0][side]["clat_ns"]["bins"] = serde_json::json!({"24448": 1, "177152": 9});
        }
        let files = [file("a.json", mutated(&format!("{value:#}"), &cuts)), file("a_iops.1.log", log)];
        if let Ok(imported) = FioFiles.read(&files) {
            let record = imported.into_record(&files, String::new(), "0");
            for result in &record.patterns {
                let line = samples::StorageLine::Pattern(result.clone());
                let text = serde_json::to_string(&line).unwrap();
                prop_assert!(serde_json::from_str::<samples::StorageLine>(&text).is_ok(), "{}", text);
            }
        }
    }
}
