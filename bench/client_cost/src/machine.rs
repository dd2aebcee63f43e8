//! What the figures were measured on.

use std::{fs, process::Command};

use crate::{finished::Finished, servers::MariaDb, tool::Programs};

/// One paragraph: processors, kernel, versions, how busy the machine was with other work.
pub(crate) fn describe(programs: &Programs, server: &MariaDb) -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let (model, processors) = processors(&cpuinfo);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let virtual_machine = match cpuinfo.contains(" hypervisor") {
        true => "a virtual machine, ",
        false => "",
    };
    let mariadb = server.ask("SELECT VERSION()").unwrap_or_default();
    format!(
        "{processors} processors {model}, {virtual_machine}Linux {}; MariaDB {}; {}; {}; {}; {}.",
        kernel.trim(),
        mariadb.trim(),
        version(Command::new(&programs.dbdyno), "--version"),
        version(Command::new("sysbench"), "--version"),
        version(Command::new("mariadb-slap"), "--version"),
        version(Command::new("go"), "version"),
    )
}

/// The load average of the last minute.
pub(crate) fn load_average() -> String {
    let line = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    line.split_whitespace()
        .next()
        .unwrap_or("unknown")
        .to_owned()
}

/// Model and number of the processors that /proc/cpuinfo lists.
fn processors(cpuinfo: &str) -> (&str, usize) {
    let models: Vec<&str> = cpuinfo
        .lines()
        .filter(|line| line.starts_with("model name"))
        .filter_map(|line| Some(line.split_once(": ")?.1))
        .collect();
    (
        models.first().copied().unwrap_or("of unknown model"),
        models.len(),
    )
}

/// The first line of what a program says its version is.
fn version(mut command: Command, option: &str) -> String {
    let program = command.get_program().display().to_string();
    command.arg(option);
    match Finished::success_of(command) {
        Ok(finished) => {
            let line = finished.stdout.lines().next().unwrap_or_default();
            // mariadb-slap begins with the path that it was called by.
            line.trim_start_matches("/usr/bin/").trim().to_owned()
        }
        Err(_) => format!("{program} of unknown version"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted() {
        let cpuinfo = "processor\t: 0\nmodel name\t: A 1\nflags\t\t: fpu\n\nprocessor\t: 1\nmodel name\t: A 1\n";
        assert_eq!(processors(cpuinfo), ("A 1", 2));
        assert_eq!(processors(""), ("of unknown model", 0));
    }
}
