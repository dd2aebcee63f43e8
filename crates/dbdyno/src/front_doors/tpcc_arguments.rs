//! Command lines of tpcc-mysql: single letters with a value each, or the positional form of its older versions.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use benchmarks::tpcc::tpcc_mysql_layout as tpcc_mysql;
use blame::{Blame, Blamed};
use clap::{Arg, Command};
use protocol::{Address, Endpoint, Password};

use crate::connection_options::{ConnectionOptions, hidden_argument::hide_argument, local_socket};

/// Replaces a password in printed options.
pub(super) const HIDDEN: &str = "********";

/// The options of a call, of either form.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Options with their values, in the order on the command line.
    pub(super) given: Vec<(char, String)>,
    values: BTreeMap<char, String>,
}

/// A tool of tpcc-mysql.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Its option letters; each has a value.
    pub(super) letters: &'static str,
    /// Letters of the positional form; it may end after the numbers in `complete_after`. The first is server[:port].
    pub(super) positions: &'static str,
    pub(super) complete_after: &'static [usize],
    pub(super) usage: &'static str,
}

impl Tool {
    /// Its options, for completions and man pages.
    pub(super) fn definition(&self) -> Command {
        let letters: &'static str = self.letters;
        let args = letters.char_indices().map(|(at, letter)| {
            let arg = Arg::new(&letters[at..at + 1]).short(letter);
            arg.value_name(value_of(letter))
        });
        Command::new(self.name)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .args(args)
            .after_help(self.usage)
    }

    /// Parses a command line; passwords are hidden from the process list.
    pub(super) fn parse(&self, args: impl Iterator<Item = OsString>) -> anyhow::Result<Arguments> {
        let args: Vec<String> = args
            .map(|arg| arg.into_string())
            .collect::<Result<_, _>>()
            .map_err(|arg| {
                let message = format!("{}: {arg:?} is not valid UTF-8", self.name);
                Blamed::new(Blame::Input, message)
            })?;
        let is_positional = args.first().is_some_and(|arg| !arg.starts_with('-'));
        let arguments = if is_positional {
            self.positional(&args)?
        } else {
            self.letters(&args)?
        };
        if let Some(password) = arguments.text('p').filter(|password| !password.is_empty()) {
            hide_argument(password)?;
        }
        Ok(arguments)
    }

    fn letters(&self, args: &[String]) -> Result<Arguments, Blamed> {
        let mut arguments = Arguments::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut letters = arg.chars();
            let letter = match (letters.next(), letters.next()) {
                (Some('-'), Some(letter)) => letter,
                _ => return Err(self.misuse(&format!("'{arg}' belongs to no option"))),
            };
            if !self.letters.contains(letter) {
                return Err(self.misuse(&format!("invalid option -- '{letter}'")));
            }
            let attached = letters.as_str();
            let value = if !attached.is_empty() {
                Some(attached.to_owned())
            } else {
                args.next().cloned()
            };
            let value = value.ok_or_else(|| {
                self.misuse(&format!("option requires an argument -- '{letter}'"))
            })?;
            arguments.put(letter, value);
        }
        Ok(arguments)
    }

    fn positional(&self, args: &[String]) -> Result<Arguments, Blamed> {
        if !self.complete_after.contains(&args.len()) {
            let message = format!("{} arguments in the positional form", args.len());
            return Err(self.misuse(&message));
        }
        let mut arguments = Arguments::default();
        for (letter, value) in self.positions.chars().zip(args) {
            match value.split_once(':') {
                Some((host, port)) if letter == 'h' => {
                    arguments.put('h', host.to_owned());
                    arguments.put('P', port.to_owned());
                }
                _ => arguments.put(letter, value.clone()),
            }
        }
        Ok(arguments)
    }

    /// An error of the command line, with the usage.
    pub(super) fn misuse(&self, what: &str) -> Blamed {
        Blamed::new(
            Blame::Input,
            format!("{}: {what}\n{}", self.name, self.usage),
        )
    }

    /// The number of an option; `default` if it is not given.
    pub(super) fn number(
        &self,
        arguments: &Arguments,
        letter: char,
        default: u32,
    ) -> Result<u32, Blamed> {
        match arguments.text(letter) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| self.misuse(&format!("option {letter}: '{text}' is not a number"))),
        }
    }

    /// The endpoint: localhost, `l` and an empty name mean the unix socket, as in the C library, or TCP if there is no
    /// socket; standard error reports which.
    pub(super) fn endpoint(&self, arguments: &Arguments) -> anyhow::Result<Endpoint> {
        let host = arguments.text('h').unwrap_or_default();
        let is_local = matches!(host, "" | "l" | "localhost");
        let port = self.number(arguments, 'P', 3306)?;
        let port = u16::try_from(port)
            .map_err(|_| self.misuse(&format!("option P: {port} is not a port")))?;
        let socket = match (arguments.text('S'), is_local) {
            (Some(socket), _) => Some(PathBuf::from(socket)),
            (None, true) => local_socket(),
            (None, false) => None,
        };
        let is_tcp = !is_local || socket.is_none();
        let options = ConnectionOptions {
            host: is_tcp.then(|| if is_local { "127.0.0.1" } else { host }.to_owned()),
            port: is_tcp.then_some(port),
            socket,
            user: arguments.text('u').map(str::to_owned),
            database: arguments.text('d').map(str::to_owned),
            no_defaults: true,
            ..ConnectionOptions::default()
        };
        let mut endpoint = options.endpoint()?;
        if let Some(password) = arguments.text('p') {
            endpoint.password = Some(Password::from(password));
        }
        if is_local {
            match &endpoint.address {
                Address::Unix(path) => {
                    eprintln!("note: localhost is the unix socket {}", path.display());
                }
                Address::Tcp { host, port } => {
                    eprintln!("note: localhost is TCP, {host}:{port}: there is no unix socket");
                }
            }
        }
        Ok(endpoint)
    }
}

impl Arguments {
    fn put(&mut self, letter: char, value: String) {
        self.given.push((letter, value.clone()));
        self.values.insert(letter, value);
    }

    /// The value of an option; the last one of several.
    pub(super) fn text(&self, letter: char) -> Option<&str> {
        self.values.get(&letter).map(String::as_str)
    }

    /// Prints the letters that were given, as the tools do.
    pub(super) fn print(&self) {
        for (letter, _) in &self.given {
            print!("{}", tpcc_mysql::option_line(*letter, self.shown(*letter)));
        }
    }

    /// The same for the eyes of others.
    pub(super) fn shown(&self, letter: char) -> &str {
        match (letter, self.text(letter)) {
            ('p', Some(_)) => HIDDEN,
            (_, value) => value.unwrap_or_default(),
        }
    }
}

/// Name of a letter's value, in one or two words.
fn value_of(letter: char) -> &'static str {
    match letter {
        'h' => "SERVER_HOST",
        'P' => "PORT",
        'd' => "DATABASE_NAME",
        'u' => "MYSQL_USER",
        'p' => "MYSQL_PASSWORD",
        'w' => "WAREHOUSES",
        'c' => "CONNECTIONS",
        'r' => "WARMUP_TIME",
        'f' => "REPORT_FILE",
        't' => "TRX_FILE",
        'i' => "REPORT_INTERVAL",
        _ => "VALUE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Tool = Tool {
        name: "tpcc_load",
        letters: "hPduwplmn",
        positions: "hdupwlmn",
        complete_after: &[5, 8],
        usage: "usage",
    };

    fn parse(line: &[&str]) -> Result<Vec<(char, String)>, String> {
        let args: Vec<String> = line.iter().map(|arg| (*arg).to_owned()).collect();
        let is_positional = !line[0].starts_with('-');
        let parsed = if is_positional {
            TOOL.positional(&args)
        } else {
            TOOL.letters(&args)
        };
        parsed
            .map(|arguments| arguments.given)
            .map_err(|error| error.message)
    }

    #[test]
    fn both_forms_say_the_same() {
        let given = |pairs: &[(char, &str)]| -> Vec<(char, String)> {
            pairs
                .iter()
                .map(|(letter, value)| (*letter, (*value).to_owned()))
                .collect()
        };
        // As in articles on tpcc-mysql.
        assert_eq!(
            parse(&["localhost", "tpcc", "root", "new-password", "400"]).unwrap(),
            given(&[
                ('h', "localhost"),
                ('d', "tpcc"),
                ('u', "root"),
                ('p', "new-password"),
                ('w', "400")
            ])
        );
        assert_eq!(
            parse(&["db1:3307", "tpcc", "root", "", "4", "2", "1", "2"]).unwrap()[..2],
            given(&[('h', "db1"), ('P', "3307")])
        );
        assert_eq!(
            parse(&["-h", "127.0.0.1", "-P3307", "-d", "tpcc", "-p", "a b"]).unwrap(),
            given(&[
                ('h', "127.0.0.1"),
                ('P', "3307"),
                ('d', "tpcc"),
                ('p', "a b")
            ])
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_the_usage() {
        for (line, message) in [
            (
                &["-h"][..],
                "tpcc_load: option requires an argument -- 'h'\nusage",
            ),
            (&["-x", "1"], "tpcc_load: invalid option -- 'x'\nusage"),
            (&["--help"], "tpcc_load: invalid option -- '-'\nusage"),
            (
                &["-w", "1", "more"],
                "tpcc_load: 'more' belongs to no option\nusage",
            ),
            (
                &["db1", "tpcc"],
                "tpcc_load: 2 arguments in the positional form\nusage",
            ),
        ] {
            assert_eq!(parse(line).unwrap_err(), message);
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let args = ["-p", "secret", "-u", "root"].map(str::to_owned);
        let arguments = TOOL.letters(&args).unwrap();
        assert_eq!(
            (arguments.shown('p'), arguments.shown('u')),
            (HIDDEN, "root")
        );
        assert_eq!(arguments.shown('d'), "");
    }
}
