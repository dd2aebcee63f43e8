//! A dump, or a directory of mydumper, loaded over several connections.

use std::path::{Path, PathBuf};

use load::{DumpError, DumpLoad, load_dump};
use protocol::Endpoint;

use crate::{
    blame::Blamed,
    data::{Destination, population::default_streams},
    exit_code::Blame,
    listener::{Context, Length},
};

/// Length of the progress bar, which shows a share of the bytes.
const WHOLE: u64 = 1000;

/// The files of a dump in the order in which they are loaded; those of a directory by the names that mydumper gives them.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, Blamed> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = Blamed::io(Blame::Input, path);
    let mut files = Vec::new();
    for entry in path.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let ends = [".sql", ".sql.gz", ".sql.zst"];
        if ends.iter().any(|end| name.ends_with(end)) && path.is_file() {
            files.push((stage(&name), name, path));
        }
    }
    files.sort();
    if files.is_empty() {
        let message = format!("{}: no file of mydumper is in it", path.display());
        let hint =
            "a dump is one file, or a directory with NAME.TABLE-schema.sql and NAME.TABLE.sql";
        return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    }
    Ok(files.into_iter().map(|(_, _, path)| path).collect())
}

/// Databases and tables come first, then rows, then what depends on them.
fn stage(name: &str) -> u8 {
    let has = |part: &str| name.contains(part);
    match () {
        () if has("-schema-create.sql") => 0,
        () if has("-schema.sql") => 1,
        () if has("-schema-view.sql") => 3,
        () if has("-schema-triggers.sql") || has("-schema-post.sql") => 4,
        () => 2,
    }
}

/// Loads it into the endpoint's database.
pub(super) fn load(
    path: &Path,
    as_lines: bool,
    destination: &Destination<'_>,
    context: &Context,
) -> Result<(), Blamed> {
    let load = DumpLoad {
        endpoint: destination.endpoint.clone(),
        files: files(path)?,
        streams: default_streams(),
        as_lines,
        spool_in: destination.directory.map(Path::to_owned),
    };
    let what = format!("loading {}", path.display());
    let step = context.step(&what, Length::Paced(WHOLE));
    let loaded = load_dump(&load, &context.interrupt, &mut |progress| {
        let share = progress.bytes as f64 / progress.bytes_expected.max(1) as f64;
        step.reach(((share * WHOLE as f64) as u64).min(WHOLE - 1));
        let rate = progress.bytes as f64 / progress.elapsed.as_secs_f64().max(1e-9);
        let pace = format!("{what}: {}", units::bytes_per_s(rate));
        match progress.left() {
            Some(left) => step.say_with(&pace, left),
            None => step.say(&pace),
        }
    });
    let loaded = loaded.map_err(|error| blamed(destination.endpoint, error))?;
    let plain = loaded.statements - loaded.as_lines;
    if as_lines && plain > 0 {
        step.note(&format!(
            "note: {plain} of {} INSERTs were sent as they are: LOAD DATA could have changed their rows",
            loaded.statements
        ));
    }
    Ok(())
}

fn blamed(endpoint: &Endpoint, error: DumpError) -> Blamed {
    let (blame, remedy) = match error {
        DumpError::Connection(error) => return Blamed::of_server(&endpoint.address, error),
        DumpError::Read { .. } => (Blame::Input, "make the dump again, or name another file"),
        DumpError::Foreign { .. } => (Blame::Input, "name a dump"),
        DumpError::Split { .. } => (
            Blame::Input,
            "the dump may have been cut off: make it again",
        ),
        DumpError::Statement { .. } => (
            Blame::Input,
            "correct the statement, or make the dump with a version that this server reads",
        ),
        DumpError::Databases { .. } => (
            Blame::Input,
            "dump one database: mysqldump NAME, without --databases and --all-databases",
        ),
        DumpError::Spool { .. } => (Blame::Machine, "see the kernel's messages about the disk"),
        DumpError::Interrupted => (Blame::Interrupted, "run again"),
        DumpError::Thread(_) => (Blame::Machine, "see the limits of this machine"),
    };
    let hint = format!("the tables are incomplete, and no run uses them; {remedy}");
    Blamed::new(blame, error).hint(hint)
}
