//! Requirements for every dbdyno process that has ended.

use crate::torture::trial::{Ended, Excess, PASSWORD};

/// The documented exit codes.
const DOCUMENTED: [i32; 7] = [0, 1, 2, 3, 4, 5, 130];

/// The faults in the end and output of a command.
pub(crate) fn faults(ended: &Ended) -> Vec<String> {
    let mut faults = Vec::new();
    match ended.excess {
        Some(Excess::Time) => faults.push(format!("still runs after {:.1?}", ended.took)),
        Some(Excess::Memory) => {
            faults.push(format!("took {} MiB of memory", ended.peak_bytes >> 20));
        }
        Some(Excess::Output) => faults.push("floods its output".to_owned()),
        None => faults.extend(bad_end(ended)),
    }
    let stdout = String::from_utf8_lossy(&ended.stdout);
    for (name, text) in [("output", &*stdout), ("error output", &ended.stderr)] {
        if text.contains(PASSWORD) {
            faults.push(format!("its {name} holds the password"));
        }
    }
    if let Some(raw) = ended.stderr.chars().find(|shown| is_raw(*shown)) {
        faults.push(format!("its error output holds a raw {raw:?}"));
    }
    if ended.stderr.contains("panicked") || ended.stderr.contains("bug in dbdyno") {
        faults.push("panicked".to_owned());
    }
    faults
}

/// The fault in its exit status.
fn bad_end(ended: &Ended) -> Option<String> {
    let told = String::from_utf8_lossy(&ended.stdout) + &*ended.stderr;
    // `server check` prints the options that a server refuses: that is its answer.
    let is_told = told.to_lowercase().contains("error") || told.contains("refused: ");
    match (ended.code, ended.signal) {
        (Some(70 | 101), _) => Some("exited as after a panic".to_owned()),
        (Some(code), _) if !DOCUMENTED.contains(&code) => Some(format!("exited with {code}")),
        (Some(code @ 2..), _) if code != 130 && !is_told => {
            Some(format!("exited with {code} and no error told"))
        }
        (Some(130), _) if ended.signalled.is_empty() => {
            Some("says that it was interrupted, and was not".to_owned())
        }
        (Some(_), _) => None,
        (None, Some(signal)) if ended.signalled.iter().any(|sent| sent.as_raw() == signal) => None,
        (None, signal) => Some(format!("was ended by signal {signal:?}")),
    }
}

/// A control character that a terminal interprets.
fn is_raw(shown: char) -> bool {
    shown.is_control() && !matches!(shown, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::Signal;

    use super::*;

    fn ended(code: Option<i32>, signal: Option<i32>, stderr: &str) -> Ended {
        Ended {
            line: "dbdyno".to_owned(),
            code,
            signal,
            stdout: Vec::new(),
            stderr: stderr.to_owned(),
            took: Duration::ZERO,
            peak_bytes: 0,
            excess: None,
            signalled: Vec::new(),
        }
    }

    #[test]
    fn every_fault_is_seen() {
        let error = "error: no\n";
        let good = [
            ended(Some(0), None, "note: fine"),
            ended(Some(1), None, ""),
            ended(Some(3), None, error),
            Ended {
                signalled: vec![Signal::INT],
                ..ended(Some(130), None, "interrupted")
            },
            Ended {
                signalled: vec![Signal::KILL],
                ..ended(None, Some(9), "")
            },
        ];
        for ended in good {
            assert_eq!(faults(&ended), [""; 0], "{ended:?}");
        }
        let stdout = format!("x {PASSWORD}").into_bytes();
        let bad = [
            ended(Some(70), None, error),
            ended(Some(101), None, error),
            ended(Some(7), None, error),
            ended(Some(3), None, ""),
            ended(Some(130), None, error),
            ended(None, Some(11), error),
            ended(Some(2), None, "error: \u{1b}[31mred"),
            ended(Some(2), None, "error: a\rb"),
            ended(Some(3), None, "error: thread main panicked"),
            ended(Some(2), None, &format!("error: {PASSWORD}")),
            Ended {
                stdout,
                ..ended(Some(0), None, "")
            },
        ];
        let excesses = [Excess::Time, Excess::Memory, Excess::Output];
        let excessive = excesses.map(|excess| Ended {
            excess: Some(excess),
            ..ended(None, Some(9), "")
        });
        for ended in bad.into_iter().chain(excessive) {
            assert_eq!(faults(&ended).len(), 1, "{ended:?}");
        }
    }
}
