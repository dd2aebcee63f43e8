//! The whole command line as one definition, for completions and man pages: ours, and those of the front doors.

use clap::Command;

use crate::front_doors::FRONT_DOORS;

/// `cli` with the front doors, whose arguments it hands over as they were typed.
pub(crate) fn with_front_doors(cli: Command) -> Command {
    let doors = FRONT_DOORS.iter().map(|door| door.command());
    with_links(cli).subcommands(doors)
}

/// `cli` with the front doors and all their options.
pub(crate) fn command_tree(cli: Command) -> Command {
    let doors = FRONT_DOORS.iter().map(|door| door.whole_command());
    with_links(cli).subcommands(doors)
}

/// `cli`, whose help also names the tools that a link makes of it.
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

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
