//! Removes a password from the process list.

use std::{
    fs::{self, OpenOptions},
    io,
    ops::Range,
    os::unix::fs::FileExt,
};

/// Overwrites a secret in this process's own arguments, which `ps` and `/proc` show to all users: as a separate
/// argument (`-p SECRET`) and as the end of an option (`-pSECRET`, `--password=SECRET`). It was visible until then,
/// so a password file is safer. `std::env::args` returns the arguments without it afterwards.
pub(crate) fn hide_argument(secret: &str) -> io::Result<()> {
    let arguments = fs::read("/proc/self/cmdline")?;
    let start = arguments_start(&fs::read_to_string("/proc/self/stat")?)
        .ok_or_else(|| io::Error::other("/proc/self/stat has no start of the arguments"))?;
    let memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
    for place in places(&arguments, secret.as_bytes()) {
        // One character and then NULs, so that the length is hidden, too.
        let mut mask = vec![0; place.len()];
        mask[0] = b'x';
        memory.write_all_at(&mask, start + place.start as u64)?;
    }
    Ok(())
}

/// The address of the first argument. Source: proc(5), field 48 of /proc/PID/stat.
fn arguments_start(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let start = fields.split_whitespace().nth(45)?.parse().ok()?;
    (start > 0).then_some(start)
}

/// Positions of the secret in the arguments, each of which ends with a NUL.
fn places(arguments: &[u8], secret: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut at = 0;
    for argument in arguments.split(|&byte| byte == 0) {
        let end = at + argument.len();
        let holds = argument == secret || argument.starts_with(b"-") && argument.ends_with(secret);
        if holds && !secret.is_empty() {
            places.push(end - secret.len()..end);
        }
        at = end + 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_secret_is_found_as_argument_and_as_end_of_an_option() {
        let cases: [(&str, &[usize]); 4] = [
            ("a\0-psecret\0b\0", &[4]),
            ("a\0-p\0secret\0", &[5]),
            ("a\0--password=secret\0secret\0", &[13, 20]),
            ("secretary\0topsecret\0--secret-x\0", &[]),
        ];
        for (arguments, found) in cases {
            let places = places(arguments.as_bytes(), b"secret");
            let starts: Vec<usize> = places.iter().map(|place| place.start).collect();
            assert_eq!(starts, found, "{arguments:?}");
            assert!(places.iter().all(|place| place.len() == "secret".len()));
        }
        assert!(places(b"a\0\0-x\0", b"").is_empty());
    }

    /// Set in the child process of the test below.
    const IS_OTHER: &str = "DBDYNO_TEST_HIDES_ITS_ARGUMENT";

    #[test]
    fn other_processes_do_not_see_it_any_more() {
        let own = || String::from_utf8(fs::read("/proc/self/cmdline").unwrap()).unwrap();
        if std::env::var_os(IS_OTHER).is_some() {
            assert!(own().contains("hunter2"));
            hide_argument("hunter2").unwrap();
            println!("seen: {}", own().replace('\0', " "));
            return;
        }
        // The test program interprets the secret as the name of another test.
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["other_processes_do_not_see_it", "hunter2", "--nocapture"])
            .env(IS_OTHER, "1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        let seen = said.lines().find(|line| line.contains("seen: ")).unwrap();
        assert!(
            seen.contains(" x ") && seen.ends_with("--nocapture "),
            "{seen}"
        );
        assert!(!seen.contains("hunter2"), "{seen}");
    }
}
