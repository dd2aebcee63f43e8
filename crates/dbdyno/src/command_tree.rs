//! The whole command line as one definition, for completions and man pages: dbdyno's own and the front doors'.

use clap::Command;

use crate::front_doors::FRONT_DOORS;

/// `cli` with the front doors, whose arguments it passes on unchanged.
pub(crate) fn with_front_doors(cli: Command) -> Command {
    let doors = FRONT_DOORS.iter().map(|door| door.command());
    with_paragraphs(with_links(cli)).subcommands(doors)
}

/// `cli` with the front doors and all their options.
pub(crate) fn command_tree(cli: Command) -> Command {
    let doors = FRONT_DOORS.iter().map(|door| door.whole_command());
    with_paragraphs(with_links(cli)).subcommands(doors)
}

/// `cli`, whose help also names the tools that links to dbdyno replace.
fn with_links(cli: Command) -> Command {
    let linked = FRONT_DOORS.iter().filter(|door| door.is_linked);
    let names: Vec<&str> = linked.map(|door| door.name).collect();
    let (last, others) = names.split_last().expect("there are some");
    let links = format!(
        "Called by the name {} or {last} (through a link), dbdyno is that program.",
        others.join(", ")
    );
    let help = cli.get_after_help().map(ToString::to_string);
    cli.after_help(format!("{}\n\n{links}", help.unwrap_or_default()))
}

/// `command`, with all its help epilogues as paragraphs that follow the terminal's width.
fn with_paragraphs(mut command: Command) -> Command {
    if let Some(help) = command.get_after_help() {
        let help = flowing(&help.to_string());
        command = command.after_help(help);
    }
    command.mut_subcommands(with_paragraphs)
}

/// Joins the lines of each paragraph; indented lines (examples, lists) are not changed.
fn flowing(text: &str) -> String {
    let is_running = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut out = String::new();
    let mut before = "";
    for line in text.lines() {
        if !out.is_empty() {
            let joins = is_running(before) && is_running(line);
            out.push(if joins { ' ' } else { '\n' });
        }
        out.push_str(line);
        before = line;
    }
    out
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn paragraphs_flow_and_examples_stay() {
        let text =
            "One sentence\nover two lines.\n\nExamples:\n  dbdyno run a\n  dbdyno run b\nThe end.";
        let flowed =
            "One sentence over two lines.\n\nExamples:\n  dbdyno run a\n  dbdyno run b\nThe end.";
        assert_eq!(flowing(text), flowed);
    }

    #[test]
    fn no_front_door_is_left_without_its_options() {
        let mut tree = command_tree(crate::commands::Cli::command());
        tree.build();
        for command in tree.get_subcommands() {
            let hides_words = command.get_arguments().any(|arg| arg.get_id() == "args");
            assert!(!hides_words, "{} tells no options", command.get_name());
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
