//! The whole command line as one definition, for completions and man pages: ours, and those of the front doors.

use clap::Command;

use crate::{
    commands,
    front_doors::{self, mysqlslap::Dialect},
};

/// `cli` with the options of the front doors, which read their command lines themselves.
pub(crate) fn command_tree(cli: Command) -> Command {
    let doors = [
        ("oltp", commands::oltp::definition()),
        ("super-smack", front_doors::super_smack::definition()),
        (
            "mysqlslap",
            front_doors::mysqlslap::definition(Dialect::MySql),
        ),
        (
            "mariadb-slap",
            front_doors::mysqlslap::definition(Dialect::MariaDb),
        ),
        ("tpcc_load", front_doors::tpcc_load::definition()),
        ("tpcc_start", front_doors::tpcc_start::definition()),
        ("gen-data", front_doors::gen_data::definition()),
    ];
    let mut cli = cli;
    for (name, definition) in doors {
        cli = cli.mut_subcommand(name, |door| {
            let about = door.get_about().cloned();
            let definition = definition.name(name).bin_name(format!("dbdyno {name}"));
            match (definition.get_about(), about) {
                (None, Some(about)) => definition.about(about),
                _ => definition,
            }
        });
    }
    cli
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_front_door_is_left_without_its_options() {
        let mut tree = command_tree(crate::Cli::command());
        tree.build();
        for command in tree.get_subcommands() {
            let hides_words = command.get_arguments().any(|arg| arg.get_id() == "args");
            assert!(!hides_words, "{} tells no options", command.get_name());
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
