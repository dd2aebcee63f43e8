//! A dump, or a directory of mydumper, loaded over several connections.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use ::files::UserText;
use blame::{Blame, Blamed};
use dataset::{DumpError, DumpLoad, LoadedDump, load_dump, own_data::dump::myloader_session};
use protocol::Endpoint;
use runs::{Context, Destination, Length, population::default_streams};

/// Length of the progress bar, which shows a share of the bytes.
const WHOLE: u64 = 1000;

#[derive(Debug, Default)]
pub(super) struct DumpFiles {
    /// In the order in which they are loaded.
    paths: Vec<PathBuf>,
    /// Settings of the session before them.
    session: Vec<String>,
    /// The database that their names say.
    database: Option<String>,
}

/// The files of a dump; those of a directory by the names that mydumper gives them.
pub(super) fn files(path: &Path) -> Result<DumpFiles, Blamed> {
    if !path.is_dir() {
        // What is not read at all is refused before a server is made for it.
        UserText::open(path).map_err(Blamed::io(Blame::Input, path))?;
        let metadata = path.metadata().map_err(Blamed::io(Blame::Input, path))?;
        if metadata.is_file() && metadata.len() == 0 {
            let message = format!("{}: the file is empty", path.display());
            let hint = "the dump program failed: create the dump again";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        return Ok(DumpFiles {
            paths: vec![path.to_owned()],
            ..DumpFiles::default()
        });
    }
    let failed = Blamed::io(Blame::Input, path);
    let mut names = BTreeSet::new();
    for entry in path.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            let name = path.file_name().unwrap_or_default();
            names.insert(name.to_string_lossy().into_owned());
        }
    }
    if let Some((what, hint)) = obstacle(&names) {
        let message = format!("{}: {what}", path.display());
        return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    }
    let metadata = path.join("metadata");
    let session = match fs::read(&metadata) {
        Ok(metadata) => myloader_session(&metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => myloader_session(b""),
        Err(error) => return Err(Blamed::io(Blame::Input, &metadata)(error)),
    };
    let database = databases(&names).first().map(|name| (*name).to_owned());
    let texts = names.into_iter().filter(|name| is_text(name));
    let mut files: Vec<_> = texts.map(|name| (stage(&name), name)).collect();
    files.sort();
    let paths = files.into_iter().map(|(_, name)| path.join(name));
    Ok(DumpFiles {
        paths: paths.collect(),
        session,
        database,
    })
}

/// The databases whose tables have files: `shop` of `shop.orders-schema.sql`; `shop-schema-create.sql` is of a database as
/// a whole.
fn databases(names: &BTreeSet<String>) -> BTreeSet<&str> {
    let of_tables = names.iter().filter(|name| is_text(name));
    of_tables
        .filter(|name| !name.contains("-schema-create.sql") && !name.contains("-schema-post.sql"))
        .filter_map(|name| Some(name.split_once('.')?.0))
        .collect()
}

/// Whether a file of this name has statements.
fn is_text(name: &str) -> bool {
    let ends = [".sql", ".sql.gz", ".sql.zst"];
    ends.iter().any(|end| name.ends_with(end))
}

/// Why a directory with files of these names cannot be loaded, and what helps.
fn obstacle(names: &BTreeSet<String>) -> Option<(String, &'static str)> {
    let others = "only dumps by mysqldump, mariadb-dump and mydumper can be read";
    if names.contains("@.json") || names.contains("@.done.json") {
        let what = "this is a MySQL Shell dump (@.json), which is not supported".to_owned();
        return Some((what, others));
    }
    if !names.iter().any(|name| is_text(name)) {
        let what = "it contains no mydumper file".to_owned();
        let hint =
            "a dump is one file, or a directory with NAME.TABLE-schema.sql and NAME.TABLE.sql";
        return Some((what, hint));
    }
    if names.contains("metadata.partial") {
        let what = "mydumper was interrupted, or is still running (metadata.partial)".to_owned();
        return Some((what, "wait until it ends, or dump again"));
    }
    // `mysqldump --tab` writes orders.sql and orders.txt.
    let is_of_tab = |name: &str| {
        let table = name.strip_suffix(".txt");
        table.is_some_and(|table| names.contains(&format!("{table}.sql")))
    };
    let is_of_rows = |name: &&String| {
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        name.ends_with(".dat") || name.ends_with(".csv") || is_of_tab(name)
    };
    if let Some(rows) = names.iter().find(is_of_rows) {
        let what = format!("the rows are in separate files, not in the statements ({rows})");
        return Some((
            what,
            "dump again without --tab, --load-data, --csv and --fifodir",
        ));
    }
    let databases = databases(names);
    if databases.len() > 1 {
        let databases: Vec<&str> = databases.into_iter().collect();
        let what = format!(
            "it contains tables from several databases: {}",
            databases.join(", ")
        );
        return Some((what, "dump one database: mydumper --database"));
    }
    None
}

/// Databases, sequences and tables come first, then rows, then what depends on them: a column may have a sequence as its
/// default. Within a stage, the database is first by its name (`shop-schema-create.sql`, `shop.s-schema-sequence.sql`).
fn stage(name: &str) -> u8 {
    let has = |part: &str| name.contains(part);
    match () {
        () if has("-schema-create.sql") || has("-schema-sequence.sql") => 0,
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
    let files = files(path)?;
    let load = DumpLoad {
        endpoint: destination.endpoint.clone(),
        files: files.paths,
        session: files.session,
        database: files.database,
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
    let LoadedDump {
        progress: loaded,
        notes,
    } = loaded.map_err(|error| blamed(destination.endpoint, error))?;
    for note in &notes {
        step.note(&format!("note: {note}"));
    }
    let plain = loaded.statements - loaded.as_lines;
    if as_lines && plain > 0 {
        step.note(&format!(
            "note: {plain} of {} INSERTs were sent as they are: LOAD DATA could have changed their rows",
            loaded.statements
        ));
    }
    Ok(())
}

fn blamed(endpoint: &Endpoint, mut error: DumpError) -> Blamed {
    let of_error = match &mut error {
        DumpError::Statement { hint, .. } => hint.take(),
        _ => None,
    };
    let (blame, remedy) = match error {
        DumpError::Connection(error) => return error.blamed(&endpoint.address),
        DumpError::Read { .. } => (Blame::Input, "create the dump again, or name another file"),
        DumpError::Foreign { .. } => (Blame::Input, "name a dump"),
        DumpError::Split { .. } => (Blame::Input, "the dump may be truncated: create it again"),
        DumpError::Statement { .. } => (
            Blame::Input,
            "correct the statement, or create the dump with a version that this server can read",
        ),
        DumpError::Databases { .. } => (
            Blame::Input,
            "dump one database: mysqldump NAME, without --databases and --all-databases",
        ),
        DumpError::Spool { .. } => (Blame::Machine, "see the kernel's messages about the disk"),
        DumpError::Interrupted => (Blame::Interrupted, "run again"),
        DumpError::Thread(_) => (Blame::Machine, "see the limits of this machine"),
    };
    let remedy = of_error.as_deref().unwrap_or(remedy);
    let hint = format!("the tables are incomplete and are not used by any run; {remedy}");
    Blamed::new(blame, error).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_mydumper_are_loaded_in_the_order_of_what_they_need() {
        let in_order = [
            "shop-schema-create.sql",
            "shop.s-schema-sequence.sql.zst",
            "shop.a-schema.sql",
            "shop.a.00000.sql.gz",
            "shop.v-schema-view.sql",
            "shop-schema-post.sql",
            "shop.a-schema-triggers.sql",
        ];
        let mut files: Vec<_> = in_order.iter().rev().map(|it| (stage(it), *it)).collect();
        files.sort_unstable();
        let names: Vec<_> = files.into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, in_order);
    }

    #[test]
    fn a_directory_that_cannot_be_loaded_is_known_by_its_names() {
        for (names, says) in [
            (
                "metadata shop.t-schema.sql shop.t.00000.sql.zst shop-schema-create.sql shop-schema-post.sql",
                None,
            ),
            (
                "metadata prod.x_2015-05-11.sql prod.foo-schema-schema.sql",
                None,
            ),
            ("@.json shop@t.sql shop@t@@0.tsv.zst", Some("MySQL Shell")),
            ("readme.txt", Some("no mydumper file")),
            (
                "metadata.partial shop.t-schema.sql",
                Some("metadata.partial"),
            ),
            (
                "metadata prod.t-schema.sql prod.t.00000.dat prod.t.00000.sql",
                Some("prod.t.00000.dat"),
            ),
            (
                "a.t-schema.sql a.t.00000.dat.zst",
                Some("a.t.00000.dat.zst"),
            ),
            ("orders.sql orders.txt", Some("orders.txt")),
            (
                "metadata other.z-schema.sql prod.t-schema.sql",
                Some("several databases: other, prod"),
            ),
        ] {
            let names: BTreeSet<String> = names.split(' ').map(str::to_owned).collect();
            let found = obstacle(&names).map(|(what, _)| what);
            match says {
                None => assert_eq!(found, None),
                Some(says) => assert!(found.as_ref().unwrap().contains(says), "{found:?}"),
            }
        }
    }
}
