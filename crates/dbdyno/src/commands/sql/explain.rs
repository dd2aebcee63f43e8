//! `dbdyno sql explain`: how a server executes a statement, in every form that it has.

use std::{io::IsTerminal, path::PathBuf, process::ExitCode, time::Duration};

use blame::{Blame, Blamed};
use runs::signals;
use statements::explain::{self, Execute};

use super::{input::InputArgs, timeout::timeout};
use crate::{
    commands::run::terminal_width,
    connection_options::ConnectionOptions,
    output::{write_file, write_out},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
For each statement, dbdyno uses every form of EXPLAIN that the server supports. The forms are EXPLAIN as a table (with
EXTENDED and its warnings, if the server has them), FORMAT=JSON, FORMAT=TREE, EXPLAIN ANALYZE or MariaDB's ANALYZE, and
the optimizer trace. The plan is drawn from the form with the most information. With --forms, a plan is drawn from every
form.

A statement that only reads is executed once in a read-only transaction, so that the rows and times of its plan can be
measured. A statement that changes data is explained but not executed. With --analyze, it is also executed, in a
transaction that is rolled back. USE, and SET of session variables, are executed and apply to the statements that follow
them.

Examples:
  dbdyno sql explain --server demo -e 'select count(*) from page where page_len > 9000'
  dbdyno sql explain queries.sql --host db1 --database wiki --output plans.html
  dbdyno sql explain --server demo -e 'update page set page_len = 0' --analyze")]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Also execute statements that change data, and roll back their changes
    #[arg(long)]
    analyze: bool,
    /// Execute no statement; show only the optimizer's estimates
    #[arg(long, conflicts_with = "analyze")]
    no_analyze: bool,
    /// Time limit for each statement; a statement that exceeds it is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Draw a plan from every form of EXPLAIN, not only from the form with the most information
    #[arg(long)]
    forms: bool,
    /// Output format [default: determined by the file extension of --output, otherwise text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for a terminal, with each plan as a tree
    Text,
    /// One JSON object: each plan as dbdyno parsed it, with the server's original output
    Json,
    /// HTML page for a browser
    Html,
}

pub(super) fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let format = args.wanted_format();
    let statements = args.input.statements(&args.connection)?;
    let endpoint = args.connection.endpoint()?;
    signals::interrupt()?;
    let explained = explain::explain(&endpoint, &statements, args.execute(), args.timeout)?;
    let text = match format {
        Format::Text => {
            let width = usize::from(terminal_width()).min(explain::WIDTH_AT_MOST);
            explain::text(&explained, width, args.forms)
        }
        Format::Json => explain::json(&explained),
        Format::Html => explain::page(&explained),
    };
    match &args.output {
        Some(path) => {
            write_file(path, text.as_bytes())?;
        }
        None if format == Format::Html && std::io::stdout().is_terminal() => {
            let message = "HTML is not written to a terminal";
            return Err(Blamed::new(Blame::Input, message)
                .hint("use --output FILE".to_owned())
                .into());
        }
        None if format != Format::Text => write_out(text.as_bytes())?,
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

impl ExplainArgs {
    fn execute(&self) -> Execute {
        if self.no_analyze {
            Execute::Nothing
        } else if self.analyze {
            Execute::Everything
        } else {
            Execute::Reads
        }
    }

    fn wanted_format(&self) -> Format {
        let ending = self
            .output
            .as_ref()
            .and_then(|path| path.extension()?.to_str());
        self.format.unwrap_or(match ending {
            Some("json") => Format::Json,
            Some("html") => Format::Html,
            _ => Format::Text,
        })
    }
}
