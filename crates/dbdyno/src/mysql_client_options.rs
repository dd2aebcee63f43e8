//! Options that people type by habit, from the mysql client, and what takes their place here.

use std::ffi::{OsStr, OsString};

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// What to type in place of what clap refused, or in place of a request for help that was a host; `None` where nothing of
/// the kind was typed.
pub(crate) fn hint(cli: &Command, args: &[OsString], error: &clap::Error) -> Option<String> {
    let command = called(cli, args);
    let takes = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
    match error.kind() {
        ErrorKind::DisplayHelp => {
            let host = host_behind_h(args).filter(|_| takes("host"))?;
            Some(format!("-h prints help; name a host with --host {host}"))
        }
        ErrorKind::UnknownArgument if takes("password_file") => {
            let option = match error.get(ContextKind::InvalidArg)? {
                ContextValue::String(option) => option.as_str(),
                _ => return None,
            };
            let is_password = matches!(option, "-p" | "--password");
            is_password.then(|| {
                "a command line is visible to other users: give the password with --password-file FILE, in \
                 MYSQL_PWD, or under [client] in an option file"
                    .to_owned()
            })
        }
        _ => None,
    }
}

/// The command whose options these are.
fn called<'c>(cli: &'c Command, args: &[OsString]) -> &'c Command {
    let mut command = cli;
    for arg in args.iter().filter_map(|arg| arg.to_str()) {
        command = command.find_subcommand(arg).unwrap_or(command);
    }
    command
}

/// The value behind `-h`, in one word with it or in two.
fn host_behind_h(args: &[OsString]) -> Option<&str> {
    let words: Vec<&str> = args.iter().filter_map(|it| OsStr::to_str(it)).collect();
    let at = words
        .iter()
        .position(|word| word.starts_with("-h") && *word != "-help")?;
    let host = match &words[at][2..] {
        "" => words.get(at + 1).copied()?,
        joined => joined,
    };
    let is_host = !host.starts_with('-') && !host.is_empty();
    is_host.then_some(host)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    fn hint_on(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Cli::command().try_get_matches_from(&words).unwrap_err();
        hint(&Cli::command(), &words[1..], &error)
    }

    #[test]
    fn a_host_and_a_password_are_answered_with_the_way() {
        for (line, said) in [
            ("dbdyno quick -h db1", Some("--host db1")),
            ("dbdyno quick -hdb1", Some("--host db1")),
            ("dbdyno script run -h db1 a.sql", Some("--host db1")),
            ("dbdyno quick -p", Some("--password-file")),
            ("dbdyno quick -psecret", Some("--password-file")),
            ("dbdyno quick --password=secret", Some("--password-file")),
            ("dbdyno quick -h", None),
            ("dbdyno quick --help", None),
            ("dbdyno quick -h --server one", None),
            ("dbdyno report -h x", None),
            ("dbdyno report -p x", None),
            ("dbdyno quick --no-such", None),
        ] {
            let found = hint_on(line);
            match said {
                Some(said) => assert!(found.as_ref().unwrap().contains(said), "{line}: {found:?}"),
                None => assert_eq!(found, None, "{line}"),
            }
            assert!(!found.unwrap_or_default().contains("secret"));
        }
    }
}
