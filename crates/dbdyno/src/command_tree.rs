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
    let linked = FRONT_DOORS.iter().filter(|door| door.is_linked());
    let names: Vec<&str> = linked.map(|door| door.name).collect();
    let (last, others) = names.split_last().expect("there are some");
    let links = format!(
        "Called by one of these names (through a link), dbdyno behaves like that program: {}, {last}.",
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
    use clap::{Args, CommandFactory};

    use super::*;
    use crate::connection_options::ConnectionOptions;

    #[test]
    fn paragraphs_flow_and_examples_stay() {
        let text =
            "One sentence\nover two lines.\n\nExamples:\n  dbdyno run a\n  dbdyno run b\nThe end.";
        let flowed =
            "One sentence over two lines.\n\nExamples:\n  dbdyno run a\n  dbdyno run b\nThe end.";
        assert_eq!(flowing(text), flowed);
    }

    /// A flattened group of options gives its heading to all that follows it.
    #[test]
    fn options_stand_under_their_own_heading() {
        let own = ConnectionOptions::augment_args(Command::new("own"));
        let connection: Vec<&str> = own.get_arguments().map(|it| it.get_id().as_str()).collect();
        let mut commands: Vec<Command> = vec![with_front_doors(crate::commands::Cli::command())];
        while let Some(command) = commands.pop() {
            for argument in command.get_arguments() {
                let id = argument.get_id().as_str();
                let is_own = match argument.get_help_heading() {
                    Some("Connection") => connection.contains(&id) || id.contains("password"),
                    Some("Server on another host") => id.starts_with("observe"),
                    _ => true,
                };
                assert!(is_own, "{}: --{id}", command.get_name());
            }
            commands.extend(command.get_subcommands().cloned());
        }
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
