//! Runs the ordinary clients of package registries and watches their progress.

use std::io;
use std::process::{Command, Output};

use super::error::InstallError;
use crate::error::Error;
use crate::process::program;

/// Maximum length of a client's message in an error, characters.
const SAID_CHARS_MAX: usize = 400;

/// A client that runs for one download.
pub(super) struct Client<'a> {
    /// The program name, for errors.
    pub(super) name: &'static str,
    /// The item to fetch, for errors.
    pub(super) what: &'a str,
}

impl Client<'_> {
    /// Runs a client to its end and returns its output; `watch` is called from time to time with its process number.
    pub(super) fn run(
        &self,
        command: Command,
        watch: &mut dyn FnMut(u32),
    ) -> Result<Output, Error> {
        let output = program::output(command, watch).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => Error::io("wait for", self.name.as_ref())(error),
            _ => self.not_started(&error),
        })?;
        if output.status.success() {
            Ok(output)
        } else {
            Err(self.failed(&output))
        }
    }

    fn not_started(&self, error: &io::Error) -> Error {
        let what = self.what.to_owned();
        let client = self.name;
        match error.kind() {
            io::ErrorKind::NotFound => InstallError::NoClient { client, what },
            _ => InstallError::Client {
                client,
                what,
                status: "not started".to_owned(),
                said: error.to_string(),
            },
        }
        .into()
    }

    fn failed(&self, output: &Output) -> Error {
        InstallError::Client {
            client: self.name,
            what: self.what.to_owned(),
            status: output.status.to_string(),
            said: last_words(output),
        }
        .into()
    }
}

/// Bytes that a process has written to files and pipes: approximately its downloaded bytes.
pub(super) fn written_bytes(pid: u32) -> u64 {
    let counters = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let written = counters
        .lines()
        .find_map(|line| line.strip_prefix("wchar: "));
    written.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// The first error line of a client, else its last line: Maven and apt mark their errors, npm's begin with `npm`.
fn last_words(output: &Output) -> String {
    let text =
        [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let lines = || text.iter().flat_map(|text| text.lines()).map(str::trim);
    let complaint = lines().find_map(|line| {
        ["[ERROR]", "E:", "npm error", "npm ERR!"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .filter(|rest| !rest.trim().is_empty())
    });
    let words = complaint.or_else(|| lines().rfind(|line| !line.is_empty()));
    words
        .unwrap_or("nothing")
        .trim()
        .chars()
        .take(SAID_CHARS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Output, Error> {
        let client = Client {
            name: "sh",
            what: "x",
        };
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        client.run(command, &mut |_| {})
    }

    #[test]
    fn the_complaint_is_told() {
        for (script, said) in [
            (
                "echo one; echo '[ERROR] no such artifact'; echo two; exit 1",
                "no such artifact",
            ),
            (
                "echo W: odd >&2; echo 'E: Unable to locate package x' >&2; exit 100",
                "Unable to locate package x",
            ),
            ("echo first; echo last; exit 3", "last"),
            ("exit 4", "nothing"),
        ] {
            let error = shell(script).unwrap_err().to_string();
            assert!(
                error.starts_with("x: sh could not fetch it (exit status: "),
                "{error}"
            );
            assert!(error.ends_with(&format!("): {said}")), "{error}");
        }
        assert_eq!(shell("echo out; echo err >&2").unwrap().stdout, b"out\n");
    }

    #[test]
    fn a_missing_client_is_named_with_its_package() {
        let client = Client {
            name: "mvn",
            what: "mysql-5.7",
        };
        let error = client
            .run(Command::new("/nonexistent/mvn"), &mut |_| {})
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "mvn: not found; it is needed to download mysql-5.7"
        );
        assert!(error.hint().unwrap().contains("apt-get install maven"));
    }
}
