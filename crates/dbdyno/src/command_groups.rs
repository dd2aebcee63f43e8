//! The commands of `dbdyno --help` by what they are for.

use clap::Command;
use report::wrapped_behind;

/// Commands that serve one purpose.
struct Group {
    title: &'static str,
    commands: &'static [&'static str],
    example: Option<&'static str>,
}

/// Every command, in the order of a first week.
const GROUPS: [Group; 7] = [
    Group {
        title: "Ask",
        commands: &["quick", "ab", "run", "experiments"],
        example: Some("dbdyno ab --set innodb_flush_log_at_trx_commit=1,2 oltp read_write"),
    },
    Group {
        title: "Read",
        commands: &["report", "compare", "audit", "history", "rerun"],
        example: Some("dbdyno audit results/quick-1"),
    },
    Group {
        title: "Look",
        commands: &["top", "tables", "sql", "config", "storage"],
        example: Some("dbdyno config lint my.cnf --for mysql-8.0"),
    },
    Group {
        title: "Servers",
        commands: &["server", "observe"],
        example: Some("dbdyno server create one --run mariadb"),
    },
    Group {
        title: "Loads",
        commands: &["script", "oltp", "tpcc", "tpch", "wiki"],
        example: Some("dbdyno script orders.sql --server one --connections 16"),
    },
    Group {
        title: "Command lines of other tools",
        commands: &[
            "super-smack",
            "gen-data",
            "mysqlslap",
            "mariadb-slap",
            "tpcc_load",
            "tpcc_start",
            "proxy",
            "mysql-proxy",
        ],
        example: None,
    },
    Group {
        title: "Tools",
        commands: &["calibrate", "null-server", "import", "completions", "man"],
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
    /// The title, a line for each command, and the example.
    fn text(&self, cli: &Command, width: usize) -> String {
        let longest = GROUPS.iter().flat_map(|group| group.commands);
        let longest = longest.map(|name| name.len()).max().unwrap_or(0);
        let lines = self.commands.iter().map(|name| {
            let command = cli.find_subcommand(name);
            let about = command.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            wrapped_behind(&format!("  {name:longest$}  "), &about, width) + "\n"
        });
        let example = self.example.map(|it| format!("  Example: {it}\n"));
        format!(
            "{}:\n{}{}",
            self.title,
            lines.collect::<String>(),
            example.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::{command_tree::with_front_doors, commands::Cli};

    #[test]
    fn every_command_stands_in_one_group() {
        let cli = with_front_doors(Cli::command());
        let shown = cli.get_subcommands().filter(|it| !it.is_hide_set());
        let all: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|it| it.commands).copied().collect();
        assert_eq!(grouped.len(), all.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), all);
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
                let words = example.split(' ');
                let matches = cli.clone().try_get_matches_from(words);
                assert!(matches.is_ok(), "{example}: {matches:?}");
            }
        }
    }
}
