//! The options of the loads of two sides, as their experiments have them: run records name the operations, not how they were
//! done, such as the mode of a script.

use std::{collections::BTreeMap, path::Path};

use experiment::{Experiment, PlannedRun};
use settings::{Rows, Value};
use verdict::Levels;

/// The options of a load of a combination, by the name that a sentence gives them; `None` for an option without a value.
type LoadOptions = BTreeMap<String, Option<String>>;

/// The options that differ in the combinations of both sides, one sentence each: `mode: prepared against text`. Nothing is
/// said of a side without an experiment. The levels are those that a side names.
pub(super) fn other_options(
    [a, b]: [&[Experiment]; 2],
    [levels_of_a, levels_of_b]: [&Levels; 2],
) -> Vec<String> {
    let named = [levels_of_a, levels_of_b];
    let of_a = by_combination(a, levels_of_a, named);
    let of_b = by_combination(b, levels_of_b, named);
    let mut found = Vec::new();
    for (a, b) in shared(&of_a, &of_b) {
        for sentence in differing(a, b) {
            if !found.contains(&sentence) {
                found.push(sentence);
            }
        }
    }
    found
}

/// The options of each combination of a side, without the factors that the sides name.
fn by_combination(
    experiments: &[Experiment],
    own: &Levels,
    named: [&Levels; 2],
) -> BTreeMap<Levels, LoadOptions> {
    let runs = experiments.iter().flat_map(|it| &it.plan().runs);
    let is_of_side = |run: &&PlannedRun| {
        let mut levels = run.combination.iter();
        levels.all(|(factor, level)| own.get(factor).is_none_or(|own| own == level))
    };
    let of_side = runs.filter(is_of_side).map(|run| {
        let mut combination = run.combination.clone();
        combination.retain(|factor, _| !named.iter().any(|levels| levels.contains_key(factor)));
        (combination, load_options(run))
    });
    of_side.collect()
}

/// The options of the combinations that both sides have; of sides of one combination each, those of both.
fn shared<'o>(
    a: &'o BTreeMap<Levels, LoadOptions>,
    b: &'o BTreeMap<Levels, LoadOptions>,
) -> Vec<(&'o LoadOptions, &'o LoadOptions)> {
    if a.len() == 1 && b.len() == 1 {
        return a.values().zip(b.values()).collect();
    }
    let both = a.iter();
    both.filter_map(|(combination, a)| Some((a, b.get(combination)?)))
        .collect()
}

fn differing(a: &LoadOptions, b: &LoadOptions) -> Vec<String> {
    let none = "none".to_owned();
    let both = a
        .iter()
        .filter_map(|(name, a)| Some((name, a, b.get(name)?)));
    both.filter(|(_, a, b)| a != b)
        .map(|(name, a, b)| {
            let [a, b] = [a, b].map(|it| it.as_ref().unwrap_or(&none));
            format!("{name}: {a} against {b}")
        })
        .collect()
}

/// The benchmark of each load, and its options. Of two benchmarks, only the options that both have are compared.
fn load_options(run: &PlannedRun) -> LoadOptions {
    let mut options = LoadOptions::new();
    for load in &run.loads {
        let source = &load.spec.source;
        let name = load.spec.name.as_ref();
        let of_load = name.map_or_else(String::new, |name| format!("{name}: "));
        options.insert(format!("{of_load}load"), Some(source.name().to_owned()));
        for option in source.kind.options() {
            let value = source.values.get(option.name);
            options.insert(format!("{of_load}{}", option.name), value.map(in_words));
        }
    }
    options
}

/// The value in words. Directories are left out: the same files may be in another place.
fn in_words(value: &Value) -> String {
    let file_name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    match value {
        Value::Flag(true) => "on".to_owned(),
        Value::Flag(false) => "off".to_owned(),
        Value::Count(count) | Value::Rows(Rows::Count(count)) => count.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Rows(Rows::TimesBufferPool(times)) => format!("{times} x the buffer pool"),
        Value::Choice(word) => (*word).to_owned(),
        Value::Text(text) => text.clone(),
        Value::Mix(counts) => {
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            counts.join(":")
        }
        Value::WeightedFiles(files) => {
            let files = files.iter();
            let files = files.map(|it| format!("{}@{}", file_name(&it.path), it.weight));
            files.collect::<Vec<_>>().join(" ")
        }
        Value::Pairs(pairs) => {
            let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join(" ")
        }
        Value::File(path) | Value::DataFile(path) => file_name(path),
        Value::DataFiles(files) => {
            let files = files.iter();
            let files = files.map(|(name, path)| format!("{name}={}", file_name(path)));
            files.collect::<Vec<_>>().join(" ")
        }
        Value::Tables(tables) => {
            let names: Vec<&str> = tables.iter().map(|it| it.name.as_str()).collect();
            names.join(" ")
        }
        Value::Directory(_) => "a directory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use benchmarks::VOCABULARY;
    use experiment::Overrides;

    use super::*;

    /// An experiment with these levels of a factor and this load.
    fn experiment(scripts: &str, load: &str) -> [Experiment; 1] {
        let text = format!(
            "format = 1\nrepeats = 1\n[matrix]\nscript = [{scripts}]\n[server]\nrun = \"mariadb\"\n\
             [data]\noltp = {{ tables = 1 }}\n[load]\noltp = {load}\nconnections = 8\nwarmup = \"5s\"\n\
             duration = \"5s\"\n"
        );
        let path = Path::new("/a/trial.toml");
        [Experiment::parse(path, &text, &Overrides::default(), &VOCABULARY).unwrap()]
    }

    fn found(a: &[Experiment], b: &[Experiment], named: [&Levels; 2]) -> Vec<String> {
        other_options([a, b], named)
    }

    #[test]
    fn an_option_that_differs_is_other_work() {
        let both = r#""read_write", "read_only""#;
        let of = |rand_type: &str| {
            let load = format!("{{ script = \"{{script}}\", rand_type = {rand_type:?} }}");
            experiment(both, &load)
        };
        let none = Levels::new();
        let (uniform, pareto) = (of("uniform"), of("pareto"));
        let named = [&none; 2];
        let said = ["rand_type: uniform against pareto"];
        assert_eq!(found(&uniform, &pareto, named), said);
        assert_eq!(found(&uniform, &of("uniform"), named), [""; 0]);
        // An option that was not given has its default.
        let default = experiment(both, r#"{ script = "{script}" }"#);
        assert_eq!(found(&default, &uniform, named), [""; 0]);
        assert_eq!(found(&[], &pareto, named), [""; 0]);
    }

    #[test]
    fn the_combinations_of_both_sides_are_compared() {
        let load = r#"{ script = "{script}" }"#;
        let two = experiment(r#""read_write", "read_only""#, load);
        let one = experiment(r#""read_only""#, load);
        let none = Levels::new();
        assert_eq!(found(&two, &one, [&none; 2]), [""; 0]);
        let level = |level: &str| Levels::from([("script".to_owned(), level.to_owned())]);
        let (write, only) = (level("read_write"), level("read_only"));
        assert_eq!(found(&two, &one, [&only; 2]), [""; 0]);
        let said = ["script: read_write against read_only"];
        assert_eq!(found(&two, &one, [&write, &only]), said);
    }
}
