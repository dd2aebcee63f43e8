//! Tests that reading any file ends with an experiment or an error.

use experiment::Overrides;
use proptest::prelude::*;

use crate::Bench;

/// Pieces of experiment files, so that random texts get far into the parser.
fn fragment() -> impl Strategy<Value = String> {
    let lines = [
        "format = 1\n",
        "[matrix]\n",
        "[[exclude]]\n",
        "[server]\n",
        "[data]\n",
        "[load]\n",
        "[each]\n",
        "[report]\n",
        "[server.set]\n",
        "smack = \"a.smack\"\n",
        "connections = \"{a}\"\n",
        "duration = \"{b}\"\n",
        "mix = \"{a}\"\n",
        "rows = \"{b}\"\n",
        "a = [1, 2, \"1:0\"]\n",
        "b = [\"1s\", \"0.5x\", \"1M\"]\n",
        "a = 1\n",
        "cnf = [\"{b}.cnf\"]\n",
        "chart = { x = \"a\", line = \"b\" }\n",
        "before = [\"SELECT '{a}'\"]\n",
        "restart = \"never\"\n",
        "design = \"side by side\"\n",
        "slice = \"1s\"\n",
        "innodb_buffer_pool_size = \"{b}\"\n",
    ];
    prop_oneof![
        8 => prop::sample::select(lines.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,12}\n?",
        1 => "[a-z]{1,8} = [\"{}\\[\\]a-z0-9.: -]{0,12}\n",
    ]
}

proptest! {
    #[test]
    fn random_text_does_not_panic(
        fragments in prop::collection::vec(fragment(), 0..30),
        scale in prop::option::of(prop::num::f64::ANY),
    ) {
        let overrides = Overrides { scale, ..Overrides::default() };
        let bench = Bench::new();
        if let Err(error) = bench.parse_with(&fragments.concat(), &overrides) {
            prop_assert!(!error.to_string().is_empty());
            let _ = error.hint();
        }
    }

    /// A valid file with one byte range replaced: similar to typical mistakes.
    #[test]
    fn a_damaged_file_does_not_panic(at in 0..600_usize, length in 0..20_usize, noise in "\\PC{0,8}") {
        let mut text: Vec<char> = include_str!("../../../../experiments/hp-sizing.toml")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| line.chars().chain(['\n']))
            .collect();
        let at = at * text.len() / 600;
        let end = (at + length).min(text.len());
        text.splice(at..end, noise.chars());
        let text: String = text.into_iter().collect();
        let text = text.replace("smacks/hp-sizing.smack", "a.smack");
        if let Err(error) = Bench::new().parse_with(&text, &Overrides::default()) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn deep_and_long_files_are_refused() {
    let bench = Bench::new();
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("format = 1\nquestion = \"{}\"\n", "x".repeat(2 << 20)),
    ] {
        let error = bench.parse_with(&text, &Overrides::default()).unwrap_err();
        assert!(error.to_string().len() < 1000, "{error}");
    }
}
