//! The numbers of files that other programs wrote.

/// A number that is finite and not negative; its fraction may follow a comma, as sysstat writes it in some locales.
pub(crate) fn amount(text: &str, column: &str) -> Result<f64, String> {
    let value: f64 = match text.trim().replace(',', ".").parse() {
        Ok(value) => value,
        Err(_) => return Err(format!("{column} is not a number: {text:?}")),
    };
    if !value.is_finite() {
        return Err(format!("{column} is not a finite number: {text:?}"));
    }
    if value < 0.0 {
        return Err(format!("{column} is negative: {text}"));
    }
    Ok(value)
}

/// The number of CPUs in a text such as `(4 CPU)`.
pub(crate) fn cpu_count(text: &str) -> Option<u32> {
    let (_, rest) = text.rsplit_once('(')?;
    let (count, rest) = rest.split_once(' ')?;
    let count = count.parse::<u32>().ok().filter(|count| *count > 0);
    count.filter(|_| rest.starts_with("CPU"))
}

/// Whether a device passes its requests on to others, or has no disk: it would be counted twice, or for nothing.
///
/// 7 and 9 are the major numbers of loops and of arrays. That of the device mapper differs from machine to machine, and
/// may be a disk's on another one.
pub(crate) fn is_stacked(device: &str) -> bool {
    const BEGINNINGS: [&str; 7] = ["dm-", "md", "loop", "ram", "zram", "dev9-", "dev7-"];
    BEGINNINGS.iter().any(|begin| device.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_and_not_negative() {
        assert_eq!(amount(" 1,25 ", "r/s"), Ok(1.25));
        for (text, problem) in [
            ("-1.5", "r/s is negative: -1.5"),
            ("nan", "r/s is not a finite number: \"nan\""),
            ("1e999", "r/s is not a finite number: \"1e999\""),
            ("", "r/s is not a number: \"\""),
        ] {
            assert_eq!(amount(text, "r/s"), Err(problem.to_owned()));
        }
    }

    #[test]
    fn devices_above_others_are_known_by_their_names() {
        assert!(
            ["dm-0", "md127", "loop3", "dev9-0"]
                .into_iter()
                .all(is_stacked)
        );
        assert!(
            !["sda", "nvme0n1", "dev253-0", "vda"]
                .into_iter()
                .any(is_stacked)
        );
    }

    #[test]
    fn cpus_are_counted_in_the_words_of_sysstat() {
        assert_eq!(cpu_count("LINUX-RESTART\t(16 CPU)"), Some(16));
        assert_eq!(
            cpu_count("Linux 6.1.0 (db1) \t11/20/26 \t_x86_64_\t(4 CPU)"),
            Some(4)
        );
        assert_eq!(cpu_count("LINUX-RESTART"), None);
        assert_eq!(cpu_count("(0 CPU)"), None);
    }
}
