//! Parser for command lines in the style of MySQL's and MariaDB's own programs.
//!
//! Long options may be abbreviated unambiguously; `_` is equivalent to `-`; `--skip-`, `--disable-` and `--enable-` set
//! switches; `--loose-` turns an unknown option into a warning. Short options may be bundled; a value may be attached.

use std::collections::BTreeMap;

use blame::{Blame, Blamed};
use clap::{Arg, ArgAction, Command};

/// An option of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    /// Long name.
    pub(super) name: &'static str,
    /// Short form, one letter.
    pub(super) short: Option<char>,
    /// Its argument.
    pub(super) takes: ArgumentKind,
    /// The programs that have it.
    pub(super) of: ProgramSet,
    /// Description in the help text.
    pub(super) help: &'static str,
    /// Default, for the help text.
    pub(super) default: Option<&'static str>,
    /// The reason why it is not supported; it is then refused by name.
    pub(super) refused: Option<&'static str>,
}

impl Spec {
    /// The description with the default.
    pub(super) fn help_text(&self) -> String {
        match self.default {
            Some(default) => format!("{} [default: {default}]", self.help),
            None => self.help.to_owned(),
        }
    }
}

/// Argument of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    /// None, or on or off after `=`.
    Switch,
    /// A value, after `=` or as the next word; its name in the help text.
    Value(&'static str),
    /// An optional value after `=`; its name in the help text.
    MaybeValue(&'static str),
}

/// The programs that have an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramSet {
    /// The programs of both families.
    Both,
    /// MySQL's programs.
    MySql,
    /// MariaDB's programs.
    MariaDb,
    /// dbdyno alone: abbreviations of the originals' options have precedence over dbdyno's.
    Ours,
}

/// The given value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    On,
    Off,
    Text(String),
}

/// The given options; the last occurrence of each applies.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    given: BTreeMap<&'static str, Value>,
    /// Number of times that each was enabled.
    times: BTreeMap<&'static str, u32>,
    /// Warnings, and words that belong to no option.
    pub(super) warnings: Vec<String>,
}

/// The options of a program, for completions and man pages.
pub(super) fn definition(program: &'static str, specs: &[Spec]) -> Command {
    let taken = specs.iter().filter(|spec| spec.refused.is_none());
    let args = taken.map(|spec| {
        let arg = Arg::new(spec.name).long(spec.name).help(spec.help_text());
        let arg = match spec.takes {
            ArgumentKind::Switch => arg.action(ArgAction::SetTrue),
            ArgumentKind::Value(value) => arg.value_name(value),
            ArgumentKind::MaybeValue(value) => {
                arg.value_name(value).num_args(0..=1).require_equals(true)
            }
        };
        // Shells treat ? as a wildcard.
        arg.short(spec.short.filter(char::is_ascii_alphanumeric))
    });
    Command::new(program)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(args)
}

/// A program's options.
pub(super) struct Options<'s> {
    /// The options that this program accepts.
    pub(super) specs: &'s [Spec],
    /// Its name in errors.
    pub(super) program: &'s str,
}

impl Arguments {
    /// The value of an option.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.given.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether an option was given and not disabled.
    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.given.get(name), Some(Value::On | Value::Text(_)))
    }

    /// Whether a switch was disabled.
    pub(super) fn is_off(&self, name: &str) -> bool {
        matches!(self.given.get(name), Some(Value::Off))
    }

    /// Number of times that a switch was enabled.
    pub(super) fn times(&self, name: &str) -> u32 {
        self.times.get(name).copied().unwrap_or(0)
    }

    /// Adds options that were given later, which have precedence.
    pub(super) fn add(&mut self, later: Self) {
        self.given.extend(later.given);
        for (name, times) in later.times {
            *self.times.entry(name).or_default() += times;
        }
        self.warnings.extend(later.warnings);
    }

    fn put(&mut self, spec: &Spec, given: Value) {
        if given == Value::On {
            *self.times.entry(spec.name).or_default() += 1;
        }
        self.given.insert(spec.name, given);
    }
}

impl Options<'_> {
    pub(super) fn parse(&self, words: &[String]) -> Result<Arguments, Blamed> {
        let mut arguments = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_bytes() {
                b"--" => {
                    words.by_ref().for_each(|word| arguments.stray(word));
                }
                [b'-', b'-', ..] => self.long(&word[2..], &mut words, &mut arguments)?,
                [b'-', _, ..] => self.short(&word[1..], &mut words, &mut arguments)?,
                _ => arguments.stray(word),
            }
        }
        Ok(arguments)
    }

    fn long<'w>(
        &self,
        word: &str,
        words: &mut impl Iterator<Item = &'w String>,
        arguments: &mut Arguments,
    ) -> Result<(), Blamed> {
        let (written, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let name = written.replace('_', "-");
        let Some((spec, switched)) = self.find(&name)? else {
            if name.starts_with("loose-") {
                let warning = format!("unknown option '--{written}', ignored");
                arguments.warnings.push(warning);
                return Ok(());
            }
            return Err(self.unknown(written));
        };
        if let Some(to) = switched {
            let value = value.map_or(Some(true), switch_of);
            let Some(value) = value.filter(|_| spec.takes == ArgumentKind::Switch) else {
                return Err(self.error(&format!("option '--{written}' takes no value")));
            };
            let given = if value == to { Value::On } else { Value::Off };
            return self.take(spec, given, arguments);
        }
        let given = match (spec.takes, value) {
            (ArgumentKind::Switch, None) => Value::On,
            (ArgumentKind::Switch, Some(value)) => match switch_of(value) {
                Some(true) => Value::On,
                Some(false) => Value::Off,
                None => {
                    let message = format!("option '--{written}': '{value}' is neither on nor off");
                    return Err(self.error(&message));
                }
            },
            (ArgumentKind::Value(_) | ArgumentKind::MaybeValue(_), Some(value)) => {
                Value::Text(value.to_owned())
            }
            (ArgumentKind::MaybeValue(_), None) => Value::On,
            (ArgumentKind::Value(_), None) => Value::Text(self.next_word(written, "--", words)?),
        };
        self.take(spec, given, arguments)
    }

    fn short<'w>(
        &self,
        word: &str,
        words: &mut impl Iterator<Item = &'w String>,
        arguments: &mut Arguments,
    ) -> Result<(), Blamed> {
        let mut letters = word.chars();
        while let Some(letter) = letters.next() {
            let known = self.specs.iter().find(|spec| spec.short == Some(letter));
            let Some(spec) = known else {
                return Err(self.error(&format!("unknown option '-{letter}'")));
            };
            let attached = letters.as_str();
            let given = match spec.takes {
                ArgumentKind::Switch => {
                    self.take(spec, Value::On, arguments)?;
                    continue;
                }
                _ if !attached.is_empty() => Value::Text(attached.to_owned()),
                ArgumentKind::MaybeValue(_) => Value::On,
                ArgumentKind::Value(_) => {
                    Value::Text(self.next_word(&letter.to_string(), "-", words)?)
                }
            };
            return self.take(spec, given, arguments);
        }
        Ok(())
    }

    fn next_word<'w>(
        &self,
        written: &str,
        dashes: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<String, Blamed> {
        words
            .next()
            .cloned()
            .ok_or_else(|| self.error(&format!("option '{dashes}{written}' requires an argument")))
    }

    fn take(&self, spec: &Spec, given: Value, arguments: &mut Arguments) -> Result<(), Blamed> {
        match spec.refused {
            Some(why) if given != Value::Off => {
                Err(self.error(&format!("option '--{}': {why}", spec.name)))
            }
            _ => {
                arguments.put(spec, given);
                Ok(())
            }
        }
    }

    /// The option with this name, and the value set by a prefix of the name.
    fn find(&self, name: &str) -> Result<Option<(&Spec, Option<bool>)>, Blamed> {
        let exact = self.specs.iter().find(|spec| spec.name == name);
        if let Some(spec) = exact {
            return Ok(Some((spec, None)));
        }
        if let Some(rest) = name.strip_prefix("loose-") {
            return self.find(rest);
        }
        for (prefix, to) in [("skip-", false), ("disable-", false), ("enable-", true)] {
            if let Some(rest) = name.strip_prefix(prefix) {
                let found = self.find(rest)?;
                return Ok(found.map(|(spec, _)| (spec, Some(to))));
            }
        }
        let of = |ours| {
            let specs = self.specs.iter();
            let begins = move |spec: &&Spec| {
                (spec.of == ProgramSet::Ours) == ours
                    && !name.is_empty()
                    && spec.name.starts_with(name)
            };
            specs.filter(begins).collect::<Vec<_>>()
        };
        for candidates in [of(false), of(true)] {
            match &candidates[..] {
                [] => {}
                [spec] => return Ok(Some((spec, None))),
                [first, .., last] => {
                    let message = format!(
                        "ambiguous option '--{name}' ({}, {})",
                        first.name, last.name
                    );
                    return Err(self.error(&message));
                }
            }
        }
        Ok(None)
    }

    fn unknown(&self, written: &str) -> Blamed {
        self.error(&format!("unknown option '--{written}'"))
    }

    /// An error of the command line.
    pub(super) fn error(&self, what: &str) -> Blamed {
        self.blamed(Blame::Input, what)
    }

    /// An error of the command line for which the originals have exit code 1: options that contradict each other.
    pub(super) fn refusal(&self, what: &str) -> Blamed {
        self.blamed(Blame::Answer, what)
    }

    fn blamed(&self, blame: Blame, what: &str) -> Blamed {
        Blamed::new(blame, format!("{}: {what}", self.program))
            .hint(format!("{} --help lists the options", self.program))
    }
}

impl Arguments {
    /// Warns of a word that belongs to no option, which the originals ignore.
    fn stray(&mut self, word: &str) {
        let shown = word.chars().count();
        let warning = format!(
            "a word of {shown} letters belongs to no option and is ignored; write a password \
             directly after -p: -pPASSWORD"
        );
        self.warnings.push(warning);
    }
}

/// Parses a word for on or off.
fn switch_of(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" => Some(true),
        "0" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// Parses a number with the binary units of the servers' options: 1k is 1024.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests;
