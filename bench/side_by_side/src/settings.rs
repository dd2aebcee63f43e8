//! Eight settings, each compared for a minute side by side and by long steady runs one after the other.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use crate::{
    figures::{difference, seconds},
    store::{Outcome, Store, words},
};

/// A setting with its two values, as options of `dbdyno ab`.
struct Setting {
    name: &'static str,
    option: &'static str,
    levels: &'static str,
}

/// The setting whose levels are option files, because the absence of an option is no value. Both have sync_binlog = 1.
const BINARY_LOG: &str = "log_bin";

const SETTINGS: [Setting; 8] = [
    set(
        "innodb_flush_log_at_trx_commit",
        "innodb_flush_log_at_trx_commit=1,2",
    ),
    set("innodb_doublewrite", "innodb_doublewrite=ON,OFF"),
    set(
        "innodb_buffer_pool_size",
        "innodb_buffer_pool_size=32M,256M",
    ),
    set("innodb_io_capacity", "innodb_io_capacity=200,2000"),
    set("query_cache", "query_cache_type=OFF,ON"),
    set("performance_schema", "performance_schema=OFF,ON"),
    Setting {
        name: BINARY_LOG,
        option: "--cnf",
        levels: "",
    },
    set(
        "innodb_adaptive_hash_index",
        "innodb_adaptive_hash_index=OFF,ON",
    ),
];

const fn set(name: &'static str, levels: &'static str) -> Setting {
    Setting {
        name,
        option: "--set",
        levels,
    }
}

/// How many settings at least must have a short interval that holds the ratio of the long runs.
const HELD_AT_LEAST: usize = 7;

/// How long the settings are compared.
#[derive(Debug, clap::Args)]
pub(crate) struct Settings {
    /// Measured time of each server side by side
    #[arg(long, value_name = "TIME", default_value = "20s")]
    duration: String,
    /// Time budget side by side: the default has time for one session
    #[arg(long, value_name = "TIME", default_value = "100s")]
    session_budget: String,
    /// Pairs of long runs
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(3..))]
    pairs: u16,
    /// Measured time of a long run, after a warm-up that ends when the run is steady
    #[arg(long, value_name = "TIME", default_value = "60s")]
    long: String,
}

/// Both comparisons of a setting; `None` for one that failed.
#[derive(Debug)]
pub(crate) struct Compared {
    name: &'static str,
    short: Option<Outcome>,
    long: Option<Outcome>,
}

impl Settings {
    /// Number of comparisons.
    pub(crate) const COMPARISONS: usize = 2 * SETTINGS.len();

    /// Makes all comparisons.
    pub(crate) fn measure(&self, store: &mut Store, seed: u64) -> Result<Vec<Compared>> {
        let mut all = Vec::new();
        for (setting, seed) in SETTINGS.iter().zip(seed..) {
            let seed = seed.to_string();
            let place = format!("truth/{}", setting.name);
            let levels = levels(store, setting, &place)?;
            let name = format!("{place}/side-by-side");
            let mut command = words(&["ab", "--design", "side-by-side", setting.option, &levels]);
            command.extend(words(&["--duration", &self.duration]));
            command.extend(words(&["--budget", &self.session_budget, "--seed", &seed]));
            command.extend(words(&["oltp", "read_write", "--table-size", "250k"]));
            let short = store.outcome(&name, &command)?;
            let long = match &short {
                Some(_) => self.measure_long(store, &place, &seed)?,
                // The long runs use its experiment file.
                None => None,
            };
            let name = setting.name;
            all.push(Compared { name, short, long });
        }
        Ok(all)
    }

    /// The same experiment in the classical design, with a fixed number of long runs.
    fn measure_long(&self, store: &mut Store, place: &str, seed: &str) -> Result<Option<Outcome>> {
        let beside = store
            .root()
            .join(format!("{place}/side-by-side/results/ab.toml"));
        let beside =
            std::fs::read_to_string(&beside).with_context(|| beside.display().to_string())?;
        let file = store.write(&format!("{place}/classical.toml"), &classical(&beside)?)?;
        let file = file.display().to_string();
        let mut command = words(&["run", "--repeats", &self.pairs.to_string()]);
        command.extend(words(&["--duration", &self.long, "--warmup", "auto"]));
        command.extend(words(&["--seed", seed, &file]));
        store.outcome(&format!("{place}/classical"), &command)
    }
}

/// The levels of a setting on the command line; option files are written.
fn levels(store: &Store, setting: &Setting, place: &str) -> Result<String> {
    if setting.name != BINARY_LOG {
        return Ok(setting.levels.to_owned());
    }
    let without = "[mysqld]\nsync_binlog = 1\n";
    let with = format!("{without}log_bin = binlog\n");
    let without = store.write(&format!("{place}/without.cnf"), without)?;
    let with = store.write(&format!("{place}/with.cnf"), &with)?;
    Ok(format!("{},{}", without.display(), with.display()))
}

/// An experiment file of `ab` for the classical design: without the keys of the design side by side, and without those
/// of its budget, in the place of which `--repeats` is given. Nothing else differs.
fn classical(beside: &str) -> Result<String> {
    let is_left = |line: &&str| {
        let key = line.split_once('=').map(|(key, _)| key.trim());
        let is_of_design = matches!(key, Some("design" | "slice" | "settle" | "quiet"));
        let is_of_budget = matches!(key, Some("repeats" | "at_most" | "time_at_most"));
        !is_of_design && !is_of_budget
    };
    let lines: Vec<&str> = beside.lines().filter(is_left).collect();
    ensure!(
        beside.contains("\ndesign = \"side by side\"\n"),
        "the experiment file of ab does not have the design side by side"
    );
    Ok(lines.join("\n") + "\n")
}

impl Compared {
    /// True if the short interval holds the ratio of the long runs; `None` if one of them is missing.
    fn holds(&self) -> Option<bool> {
        let truth = self.long.as_ref()?.answer.ratio?;
        Some(self.short.as_ref()?.answer.holds(truth.estimate))
    }
}

/// The table of settings.
pub(crate) fn table(all: &[Compared]) -> String {
    let mut text = "| setting | side by side, %: difference (95 % interval) | its time, s | long steady runs, %: \
                    difference (95 % interval) | interval side by side holds the difference of the long runs |\n\
                    | --- | ---: | ---: | ---: | --- |\n"
        .to_owned();
    for compared in all {
        let of =
            |outcome: &Option<Outcome>| difference(outcome.as_ref().and_then(|it| it.answer.ratio));
        let short = compared.short.as_ref();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            compared.name,
            of(&compared.short),
            short.map_or("-".to_owned(), |it| seconds(it.wall_s)),
            of(&compared.long),
            match compared.holds() {
                Some(true) => "yes",
                Some(false) => "**no**",
                None => "not measured",
            },
        );
    }
    let held = all.iter().filter(|it| it.holds() == Some(true)).count();
    let measured = all.iter().filter(|it| it.holds().is_some()).count();
    let _ = writeln!(
        text,
        "\n{held} of {measured} intervals hold the difference of the long runs; the target is {HELD_AT_LEAST} of {}.",
        all.len()
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer::Decision, figures::tests::outcome};

    #[test]
    fn the_long_runs_have_the_same_experiment() {
        let beside = "\
# Written by: dbdyno ab --design side-by-side --set innodb_doublewrite=ON,OFF
format = 1
seed = 1
repeats = \"until decided\"
at_most = 1
time_at_most = \"1m 40s\"
# The servers of a session run at the same time.
design = \"side by side\"
slice = \"500ms\"
settle = \"100ms\"

[matrix]
innodb_doublewrite = [\"ON\", \"OFF\"]

[load]
warmup = \"5s\"
duration = \"20s\"
";
        let expected = "\
# Written by: dbdyno ab --design side-by-side --set innodb_doublewrite=ON,OFF
format = 1
seed = 1
# The servers of a session run at the same time.

[matrix]
innodb_doublewrite = [\"ON\", \"OFF\"]

[load]
warmup = \"5s\"
duration = \"20s\"
";
        assert_eq!(classical(beside).unwrap(), expected);
        // What it has is no file of that design.
        assert!(classical(expected).is_err());
    }

    #[test]
    fn an_interval_holds_the_difference_of_the_long_runs_or_not() {
        let compared = |name, long: Option<(f64, f64)>| Compared {
            name,
            short: Some(outcome(Decision::Slower, 0.9, 0.96, 61.0)),
            long: long.map(|(low, high)| outcome(Decision::Slower, low, high, 900.0)),
        };
        let all = [
            compared("inside", Some((0.92, 0.94))),
            compared("outside", Some((0.96, 1.0))),
            compared("failed", None),
        ];
        let text = table(&all);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| inside | -7.0 (-10.0 to -4.0) | 61 | -7.0 (-8.0 to -6.0) | yes |",
                "| outside | -7.0 (-10.0 to -4.0) | 61 | -2.0 (-4.0 to +0.0) | **no** |",
                "| failed | -7.0 (-10.0 to -4.0) | 61 | - | not measured |",
                "",
                "1 of 2 intervals hold the difference of the long runs; the target is 7 of 3.",
            ]
        );
    }
}
