//! The options of a benchmark's table as options of a command line: `table_size` is `--table-size`.

use clap::{
    Arg, ArgMatches,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser},
};
use settings::{Absent, Kind, OptionSpec, Value, Values};

/// One option.
pub(crate) fn argument(option: &'static OptionSpec) -> Arg {
    let argument = Arg::new(option.name)
        .long(option.name.replace('_', "-"))
        .help(option.help)
        .value_name(option.value_name)
        .value_parser(parser(option.kind));
    // As with sysbench, an option that is named without a value is on.
    let argument = if matches!(option.kind, Kind::Flag) {
        argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("on")
    } else {
        argument
    };
    match option.absent {
        Absent::Default(default) | Absent::Changed { now: default, .. } => argument
            .default_value(default)
            .hide_default_value(default.is_empty()),
        Absent::Required(_) => argument.required(true),
        Absent::Unset => argument,
    }
}

/// What a command line gives the options.
pub(crate) fn values(
    options: impl Iterator<Item = &'static OptionSpec>,
    matches: &ArgMatches,
) -> Values {
    let mut values = Values::default();
    for option in options {
        if let Some(value) = matches.get_one::<Value>(option.name) {
            values.set(option.name, value.clone());
        }
    }
    values
}

fn parser(kind: Kind) -> ValueParser {
    let of_kind = move |text: &str| kind.parse(text).ok_or_else(|| kind.expected());
    match kind {
        Kind::Flag => {
            let on = PossibleValue::new("on").aliases(["true", "1"]);
            let off = PossibleValue::new("off").aliases(["false", "0"]);
            let words = PossibleValuesParser::new([on, off]);
            words
                .map(|word| Value::Flag(matches!(word.as_str(), "on" | "true" | "1")))
                .into()
        }
        Kind::Choice(words) => PossibleValuesParser::new(words)
            .try_map(move |word| of_kind(&word))
            .into(),
        _ => ValueParser::new(of_kind),
    }
}

/// Holds that a command has an option of a table by the same name, default, bounds and words.
#[cfg(test)]
pub(crate) fn assert_alike(command: &clap::Command, option: &OptionSpec) {
    let long = option.name.replace('_', "-");
    let mut arguments = command.get_arguments();
    let argument = arguments
        .find(|argument| argument.get_long() == Some(&long))
        .unwrap_or_else(|| panic!("no --{long}"));
    let default = match option.absent {
        Absent::Default(default) | Absent::Changed { now: default, .. } => Some(default),
        Absent::Required(_) | Absent::Unset => None,
    };
    if let Some(default) = default {
        assert_eq!(argument.get_default_values(), [default], "--{long}");
    }
    let takes = |value: &str| {
        let line = ["command".to_owned(), format!("--{long}={value}")];
        command.clone().try_get_matches_from(line).is_ok()
    };
    let (good, bad) = match option.kind {
        Kind::Choice(words) => (words.iter().map(ToString::to_string).collect(), Vec::new()),
        Kind::Count(min, max) => (vec![min.to_string(), max.to_string()], vec![max + 1]),
        Kind::Number(min, max) => (vec![min.to_string(), max.to_string()], Vec::new()),
        Kind::Flag => (vec!["on".to_owned(), "off".to_owned()], Vec::new()),
        _ => (Vec::new(), Vec::new()),
    };
    for value in good {
        assert!(takes(&value), "--{long} {value}");
    }
    for value in bad {
        assert!(!takes(&value.to_string()), "--{long} {value}");
    }
    assert!(!takes("no-such-value"), "--{long}");
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    static OPTIONS: [OptionSpec; 4] = [
        OptionSpec::with_default("table_size", Kind::Count(1, 5000), "10", "Rows"),
        OptionSpec::with_default("auto_inc", Kind::Flag, "on", "Ids"),
        OptionSpec::with_default("keys", Kind::Choice(&["before", "after"]), "after", "Keys"),
        OptionSpec::without_default("exponent", Kind::Number(0.0, 1.0), "Exponent"),
    ];

    fn given(line: &str) -> Result<Values, String> {
        let line = ["test"].into_iter().chain(line.split_whitespace());
        let command = Command::new("test").args(OPTIONS.iter().map(argument));
        let matches = command.try_get_matches_from(line);
        let matches = matches.map_err(|error| error.to_string())?;
        Ok(values(OPTIONS.iter(), &matches))
    }

    #[test]
    fn a_command_line_has_the_defaults_and_the_bounds_of_the_table() {
        assert_eq!(given("").unwrap(), settings::defaults(&OPTIONS));
        let all = given("--table-size=2k --auto-inc=0 --keys before --exponent 0.5").unwrap();
        assert_eq!(
            (all.count("table_size"), all.flag("auto_inc")),
            (Some(2000), false)
        );
        assert_eq!(
            (all.text("keys"), all.number("exponent")),
            (Some("before"), Some(0.5))
        );
        assert!(given("--auto-inc").unwrap().flag("auto_inc"));
        for (line, expected) in [
            ("--table-size 6k", "a count from 1 to 5000"),
            ("--keys never", "[possible values: before, after]"),
            ("--auto-inc=maybe", "[possible values: on, off]"),
            ("--exponent 2", "a number from 0 to 1"),
        ] {
            let error = given(line).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
