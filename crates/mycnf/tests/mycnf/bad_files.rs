//! Files that are no option files: each is an error that says what, where and how to fix it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mycnf::OptionFile;

#[track_caller]
fn assert_refused(path: &Path, part: &str) {
    let error = OptionFile::read(path).unwrap_err().to_string();
    assert!(error.contains(part), "{error}");
}

#[test]
fn files_that_are_not_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    let utf_16: Vec<u8> = "[mysqld]\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (bytes, part) in [
        (
            [&[0xff, 0xfe], utf_16.as_slice()].concat(),
            "my.cnf line 1: the file is in UTF-16",
        ),
        (utf_16.clone(), "NUL bytes"),
        (b"\x7fELF\x02\x01\0\0".to_vec(), "NUL bytes"),
        (
            b"\xef\xbb\xbf[mysqld]\nport=1\n".to_vec(),
            "byte order mark",
        ),
        (
            b"[mysqld]\nfoo=\xff\n".to_vec(),
            "my.cnf line 2: the line is not UTF-8",
        ),
        (
            b"port=1\n".to_vec(),
            "line 1: an option is before the first [group]",
        ),
        (
            format!("[mysqld]\nfoo={}\n", "x".repeat(1 << 20)).into_bytes(),
            "line 2: the line is longer than 4094 bytes",
        ),
    ] {
        fs::write(&path, bytes).unwrap();
        assert_refused(&path, part);
    }
    fs::write(&path, format!("[mysqld]\n{}", "a=1\n".repeat(10_001))).unwrap();
    assert_refused(&path, "line 10002: the file has more than 10000 options");
    assert_refused(dir.path(), "cannot read the option file");
    assert_refused(
        &dir.path().join("missing.cnf"),
        "cannot read the option file",
    );
    fs::write(&path, "[mysqld]\r\nport = 1\r\n").unwrap();
    let file = OptionFile::read(&path).unwrap();
    assert_eq!(file.entries()[0].value.as_deref(), Some("1"));
}

#[test]
fn includes_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("0.cnf");
    fs::write(&path, format!("!include {}\n", path.display())).unwrap();
    assert_refused(&path, "includes nest more than 10 files deep");
    // Nine levels of nine includes each: 9^9 files without the limit.
    for level in 0..9 {
        let next = dir.path().join(format!("{}.cnf", level + 1));
        let mut text = String::new();
        for _ in 0..9 {
            writeln!(text, "!include {}", next.display()).unwrap();
        }
        fs::write(dir.path().join(format!("{level}.cnf")), text).unwrap();
    }
    fs::write(dir.path().join("9.cnf"), "[mysqld]\n").unwrap();
    assert_refused(&path, "more than 1000 files are included");
    fs::write(&path, "!include /no/such/file.cnf\n").unwrap();
    assert_refused(&path, "line 1: cannot include /no/such/file.cnf");
}
