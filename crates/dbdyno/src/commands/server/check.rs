//! `dbdyno server check`: a server's validation of a my.cnf, without starting the server.

use std::path::PathBuf;
use std::process::ExitCode;

use blame::{Blame, Blamed};
use server::{Installation, Settings};

/// Check whether a server version accepts option files, without starting the server
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Server binary that checks the option files [default: found automatically]
    #[arg(long, value_name = "FILE")]
    mysqld: Option<PathBuf>,
    /// Server version that the option files are for, such as mariadb-10.11 or mysql-8.0
    #[arg(long, value_name = "VERSION")]
    run: Option<String>,
    /// Option files to check; a later file overrides an earlier one
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The same as FILE, as in `server create`; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    cnf: Vec<PathBuf>,
    /// Server option, which overrides the option files; may be repeated
    #[arg(long, value_name = "OPTION=VALUE", value_parser = super::server_option::parse_set)]
    set: Vec<(String, String)>,
}

pub(crate) fn run(args: CheckArgs) -> Result<ExitCode, Blamed> {
    let installation = Installation::find(args.run.as_deref(), args.mysqld.as_deref())?;
    let settings = Settings {
        cnf: [args.files, args.cnf].concat(),
        set: args.set.into_iter().collect(),
        ..Settings::default()
    };
    let checked = server::check(&installation, &settings)?;
    if checked.catalogue.is_none() {
        eprintln!(
            "note: dbdyno has no option catalogue for {} {}; only the server's own check is used",
            installation.flavour, installation.version
        );
    }
    for finding in &checked.findings {
        let word = if finding.is_refusal() {
            "refused"
        } else {
            "note"
        };
        println!("{word}: {finding}");
    }
    for replaced in &checked.replaced {
        println!(
            "note: {}: {}: not checked, because a private server does not use it; `dbdyno config lint` checks it",
            replaced.at, replaced.name
        );
    }
    if checked.findings.iter().any(mycnf::Finding::is_refusal) {
        return Ok(ExitCode::from(Blame::Input as u8));
    }
    let version = format!("{} {}", installation.flavour, installation.version);
    println!("{}", accepted(&version, checked.catalogue.is_some()));
    Ok(ExitCode::SUCCESS)
}

/// Which checks accept the options, and which was not made.
fn accepted(version: &str, has_catalogue: bool) -> String {
    let catalogue = if has_catalogue {
        " and by dbdyno's option catalogue"
    } else {
        ""
    };
    format!(
        "accepted by the option check of {version}{catalogue}; no server was started, and InnoDB can still refuse a value \
         at its start"
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{CheckArgs, PathBuf, accepted};

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: CheckArgs,
    }

    #[test]
    fn files_are_taken_by_position_or_by_option() {
        let files = ["a.cnf", "b.cnf"].map(PathBuf::from);
        let parse = |line: &[&str]| Line::try_parse_from([&["check"][..], line].concat());
        let by_position = parse(&["a.cnf", "b.cnf"]).unwrap().args;
        assert_eq!(by_position.files, files);
        let by_option = parse(&["--cnf", "a.cnf", "--cnf", "b.cnf"]).unwrap().args;
        assert_eq!(by_option.cnf, files);
        assert!(parse(&["a.cnf", "--cnf", "b.cnf"]).is_err());
    }

    #[test]
    fn an_answer_names_the_checks() {
        let by_both = accepted("mysql 5.7.22", true);
        assert!(
            by_both.starts_with(
                "accepted by the option check of mysql 5.7.22 and by dbdyno's option catalogue; no server was started"
            ),
            "{by_both}"
        );
        let by_server = accepted("mysql 4.1.22", false);
        assert!(
            by_server.starts_with("accepted by the option check of mysql 4.1.22; no server"),
            "{by_server}"
        );
    }
}
