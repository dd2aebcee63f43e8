//! The machine that figures were measured on.

use std::fs;

/// `2 processors A 1, a virtual machine, Linux 6.1`
pub fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let (model, processors) = processors(&cpuinfo);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let virtual_machine = match cpuinfo.contains(" hypervisor") {
        true => "a virtual machine, ",
        false => "",
    };
    format!(
        "{processors} processors {model}, {virtual_machine}Linux {}",
        kernel.trim()
    )
}

/// The load average of the last minute.
pub fn load_average() -> String {
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
