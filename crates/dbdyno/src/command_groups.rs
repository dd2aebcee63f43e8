//! The commands of `dbdyno --help` by what they are for.

use clap::Command;
use report::wrapped_behind;

use crate::front_doors::FrontDoor;

/// Commands that serve one purpose.
struct Group {
    title: &'static str,
    members: Members,
    example: Option<&'static str>,
}

/// The commands of a group.
enum Members {
    Named(&'static [&'static str]),
    /// The tools that a link to dbdyno replaces.
    Linked,
    /// Those of no other group: what a benchmark brings.
    Others,
}

/// Every command, in the order of a first week.
const GROUPS: [Group; 7] = [
    Group {
        title: "Measure",
        members: Members::Named(&["quick", "ab", "run", "experiments"]),
        example: Some("dbdyno ab --cnf old.cnf,new.cnf script orders.sql --dump prod.sql.gz"),
    },
    Group {
        title: "Results",
        members: Members::Named(&["report", "compare", "audit", "history", "rerun"]),
        example: Some("dbdyno audit results/quick-1"),
    },
    Group {
        title: "Inspect and tune",
        members: Members::Named(&["top", "tables", "sql", "config", "storage", "size"]),
        example: Some("dbdyno config lint my.cnf --for mysql-8.0"),
    },
    Group {
        title: "Servers",
        members: Members::Named(&["server", "observe", "proxy"]),
        example: Some("dbdyno server create demo --run mariadb"),
    },
    Group {
        title: "Workloads",
        members: Members::Others,
        example: Some("dbdyno script orders.sql --server demo --connections 16"),
    },
    Group {
        title: "Command lines of other tools",
        members: Members::Linked,
        example: None,
    },
    Group {
        title: "Tools",
        members: Members::Named(&["calibrate", "null-server", "import", "completions", "man"]),
        example: None,
    },
];

/// The widest text of a help, columns.
const WIDTH_AT_MOST: usize = 100;

/// `cli`, whose help lists its commands by group, for a terminal of this width.
pub(crate) fn grouped(cli: Command, width: u16) -> Command {
    let width = usize::from(width).clamp(60, WIDTH_AT_MOST);
    let groups: Vec<String> = GROUPS.iter().map(|group| group.text(&cli, width)).collect();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\nOptions:\n{{options}}{{after-help}}",
        groups.join("\n")
    );
    cli.help_template(template)
}

impl Group {
    /// Its commands, by name.
    fn commands<'c>(&self, cli: &'c Command) -> Vec<&'c Command> {
        let shown = cli.get_subcommands().filter(|it| !it.is_hide_set());
        let is_named = |command: &&Command| {
            let name = command.get_name();
            GROUPS.iter().any(|group| match group.members {
                Members::Named(names) => names.contains(&name),
                Members::Linked => FrontDoor::linked(name).is_some(),
                Members::Others => false,
            })
        };
        match self.members {
            Members::Named(names) => {
                let found = names.iter().map(|name| cli.find_subcommand(name));
                found.flatten().collect()
            }
            Members::Linked => shown
                .filter(|command| FrontDoor::linked(command.get_name()).is_some())
                .collect(),
            Members::Others => shown.filter(|command| !is_named(command)).collect(),
        }
    }

    /// The title, a line for each command, and the example.
    fn text(&self, cli: &Command, width: usize) -> String {
        let longest = cli.get_subcommands().filter(|it| !it.is_hide_set());
        let longest = longest.map(|it| it.get_name().len()).max().unwrap_or(0);
        let lines = self.commands(cli).into_iter().map(|command| {
            let about = command.get_about().map(ToString::to_string);
            let head = format!("  {:longest$}  ", command.get_name());
            wrapped_behind(&head, &about.unwrap_or_default(), width) + "\n"
        });
        let lines: String = lines.collect();
        let example = self.example.map(|it| format!("  Example: {it}\n"));
        format!("{}:\n{lines}{}", self.title, example.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, ffi::OsString};

    use clap::{Arg, CommandFactory, error::ErrorKind};

    use super::*;
    use crate::{
        command_tree::{command_tree, with_front_doors},
        commands::{Cli, script::with_run},
    };

    #[test]
    fn every_command_stands_in_one_group() {
        let cli = with_front_doors(Cli::command());
        let shown = cli.get_subcommands().filter(|it| !it.is_hide_set());
        let all: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped = GROUPS.iter().flat_map(|it| it.commands(&cli));
        let grouped: Vec<&str> = grouped.map(Command::get_name).collect();
        assert_eq!(grouped.len(), all.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), all);
    }

    /// The options of dbdyno's own commands, each with the name of its command.
    fn options(command: &Command) -> Vec<(String, Arg)> {
        let name = command.get_name();
        let own = command.get_arguments();
        let own = own.map(|it| (name.to_owned(), it.clone()));
        let below = command.get_subcommands();
        let below = below.filter(|it| FrontDoor::linked(it.get_name()).is_none());
        own.chain(below.flat_map(options)).collect()
    }

    #[test]
    fn one_thing_has_one_name_in_all_commands() {
        for (command, option) in options(&command_tree(Cli::command())) {
            let name = option.get_long().unwrap_or_default();
            if name == "connections" {
                assert_eq!(option.get_short(), Some('c'), "{command}");
            }
            // Lengths are --duration, and numbers of executions --repeats.
            let is_old = ["seconds", "runs", "margin", "sample-every"].contains(&name);
            let has_value = option.get_action().takes_values();
            assert!(!(is_old && has_value), "{command} --{name}");
        }
    }

    #[test]
    fn the_help_fits_a_terminal_and_its_examples_are_commands() {
        let cli = with_front_doors(Cli::command());
        let help = grouped(cli.clone(), 80).render_help().to_string();
        for group in &GROUPS {
            let text = group.text(&cli, 80);
            assert!(help.contains(&text), "{help}");
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
            if let Some(example) = group.example {
                let words = example.split(' ').map(OsString::from);
                let words: Vec<OsString> = words.collect();
                let line = [&words[..1], &with_run(words[1..].to_vec())].concat();
                let refused = cli.clone().try_get_matches_from(line).err();
                // Its files are not here.
                let refused = refused.filter(|it| it.kind() != ErrorKind::ValueValidation);
                assert!(refused.is_none(), "{example}: {refused:?}");
            }
        }
    }
}
