//! `gen-data`: Super Smack's row generator, with the original's command line and output.

use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::ffi::OsStringExt,
    process::ExitCode,
};

use benchmarks::smack::gen_data::{CommandError, GenData, Request};
use blame::{Blame, Blamed};
use clap::{Arg, Command};

const USAGE: &str = "\
usage: gen-data -n ROWS -f FORMAT

Prints rows of random letters and numbers; every call prints the same rows.

  -n, --num-rows=ROWS  number of rows
  -f, --format=FORMAT  format of a row: text with
                         %12-12s  12 letters        %3-5s  3 or 4 letters
                         %n       number of the row  %d    random number
                         %%       a percent sign
  -V, --version        print the version
  -?                   print this help

example: gen-data -n 9000 -f '%12-12s%n,%25-25s,%n,%d'
";

/// Its options, for completions and man pages.
pub(crate) fn definition() -> Command {
    let rows = Arg::new("num-rows").short('n').value_name("ROWS");
    let format = Arg::new("format").short('f').value_name("FORMAT");
    Command::new("gen-data")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(rows.long("num-rows").help("Number of rows"))
        .arg(format.long("format").help("Format of a row"))
        .after_help(USAGE)
}

/// Runs gen-data with the arguments after its name.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let args: Vec<Vec<u8>> = args.map(OsString::into_vec).collect();
    match Request::parse(&args) {
        Ok(Request::Rows(generator)) => print_rows(&generator),
        Ok(Request::Usage) => {
            eprint!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Ok(Request::Version) => {
            eprintln!("gen-data version {}", env!("CARGO_PKG_VERSION"));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(refusal(&error).into()),
    }
}

fn refusal(error: &CommandError) -> Blamed {
    let hint = match error {
        CommandError::Format(_) => "a directive is %s, %n or %d, with a width such as %12-12s",
        _ => "for example gen-data -n 9000 -f '%12-12s%n,%25-25s,%n,%d'; see -?",
    };
    Blamed::new(Blame::Input, format!("gen-data: {error}")).hint(hint.to_owned())
}

fn print_rows(generator: &GenData) -> anyhow::Result<ExitCode> {
    let mut stdout = crate::output::data();
    let mut rows = generator.stream();
    let mut piece = Vec::new();
    while rows.fill(&mut piece) {
        match stdout.write_all(&piece) {
            Ok(()) => piece.clear(),
            // The reader closed the pipe, as in `gen-data ... | head`.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => {
                let message = format!("gen-data: cannot write the rows: {error}");
                return Err(Blamed::new(Blame::Machine, message).into());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
