//! `dbdyno man`: a man page for each command.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use clap::Command;
use clap_mangen::Man;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
dbdyno's packages install the man pages. To install them for the current user:
  dbdyno man ~/.local/share/man/man1
  man dbdyno-run")]
pub(crate) struct ManArgs {
    /// Directory for the man pages; it is created if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the man pages of the whole command line.
pub(crate) fn run(args: &ManArgs, tree: Command) -> anyhow::Result<ExitCode> {
    let written =
        std::fs::create_dir_all(&args.directory).and_then(|()| write_pages(tree, &args.directory));
    written.map_err(Blamed::io(Blame::Input, &args.directory))?;
    Ok(ExitCode::SUCCESS)
}

fn write_pages(tree: Command, directory: &Path) -> io::Result<()> {
    let mut tree = tree.disable_help_subcommand(true);
    tree.build();
    write_page(&tree, directory)
}

/// The page of a command and those of its subcommands.
fn write_page(command: &Command, directory: &Path) -> io::Result<()> {
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    for subcommand in shown {
        write_page(subcommand, directory)?;
    }
    let name = command.get_display_name().unwrap_or(command.get_name());
    Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("dbdyno ", env!("CARGO_PKG_VERSION")))
        .manual("dbdyno")
        .generate_to(directory)
        .map(|_| ())
}
