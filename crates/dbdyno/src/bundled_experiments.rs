//! The experiments that come with dbdyno, found by their name.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};

/// Name of their directory, in a package, in a checkout and beside the program.
const DIRECTORY: &str = "experiments";
/// What is wrong where there are none.
const NONE: &str = "this installation contains no experiment files";

/// An experiment that comes with dbdyno.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BundledExperiment {
    /// Its file's name without `.toml`.
    pub(crate) name: String,
    pub(crate) file: PathBuf,
}

/// All of them, by name; empty where this program came without any.
///
/// Errors: their directory cannot be read.
pub(crate) fn all() -> Result<Vec<BundledExperiment>, Blamed> {
    let Some(directory) = directory() else {
        return Ok(Vec::new());
    };
    let failed = Blamed::io(Blame::Machine, &directory);
    let mut found = Vec::new();
    for entry in fs::read_dir(&directory).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let is_experiment = file.extension().is_some_and(|it| it == "toml");
        if let Some(name) = file.file_stem().filter(|_| is_experiment) {
            let name = name.to_string_lossy().into_owned();
            found.push(BundledExperiment { name, file });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The one of this name; an error where there is none.
pub(crate) fn named(name: &str) -> Result<BundledExperiment, Blamed> {
    let all = all()?;
    if all.is_empty() {
        return Err(none());
    }
    let names: Vec<String> = all.iter().map(|it| it.name.clone()).collect();
    let found = all.into_iter().find(|it| it.name == name);
    found.ok_or_else(|| {
        let message = format!("dbdyno has no experiment `{name}`");
        let hint = format!("there are {}", names.join(", "));
        Blamed::new(Blame::Input, message).hint(hint)
    })
}

/// The error where this installation contains no experiment files.
pub(crate) fn none() -> Blamed {
    Blamed::new(Blame::Input, NONE).hint(how_to_get_them(&places()))
}

/// Where dbdyno looked for them, and where they come from.
///
/// ```text
/// dbdyno looked in /opt/share/dbdyno/experiments and /opt/bin/experiments; its packages and its source tree ...
/// ```
fn how_to_get_them(places: &[PathBuf]) -> String {
    let places: Vec<String> = places.iter().map(|it| it.display().to_string()).collect();
    let looked = match places.split_last() {
        Some((last, [])) => format!("dbdyno looked in {last}"),
        Some((last, others)) => format!("dbdyno looked in {} and {last}", others.join(", ")),
        None => "dbdyno does not know where its program is, because /proc is missing".to_owned(),
    };
    format!(
        "{looked}; its packages and its source tree contain a directory `{DIRECTORY}`: copy it beside the program, or \
         name a file in it"
    )
}

/// The file that a user names: a path, or the name of a bundled experiment where there is no such file.
pub(crate) fn file_of(named: &Path) -> Result<PathBuf, Blamed> {
    if named.is_file() {
        return Ok(named.to_owned());
    }
    let Some(name) = name_in(named) else {
        return Ok(named.to_owned());
    };
    let all = all()?;
    let found = all.iter().find(|it| it.name == name);
    let is_name = named.as_os_str() == name;
    match found {
        Some(found) if is_name => Ok(found.file.clone()),
        Some(_) if !named.exists() => Err(missing(named).hint(format!(
            "an experiment of that name comes with dbdyno: dbdyno run {name}"
        ))),
        None if is_name && !named.exists() => {
            let has_any = !all.is_empty();
            Err(missing(named).hint(hint_for_unknown(has_any, &places())))
        }
        _ => Ok(named.to_owned()),
    }
}

fn missing(named: &Path) -> Blamed {
    let message = format!("{}: there is no such experiment file", named.display());
    Blamed::new(Blame::Input, message)
}

/// The hint for a name that no experiment has; `has_any` if there are experiments in one of the places.
fn hint_for_unknown(has_any: bool, places: &[PathBuf]) -> String {
    if has_any {
        "dbdyno experiments lists the experiments that come with dbdyno".to_owned()
    } else {
        format!("{NONE}: {}", how_to_get_them(places))
    }
}

/// The name that a path may stand for: `versions`, `versions.toml` and `experiments/versions.toml` for `versions`.
fn name_in(named: &Path) -> Option<&str> {
    let is_plain = named.components().count() == 1 && named.extension().is_none();
    let is_file = named.extension().is_some_and(|it| it == "toml");
    (is_plain || is_file).then(|| named.file_stem()?.to_str())?
}

/// Where they are: the first of the places that exists.
fn directory() -> Option<PathBuf> {
    places().into_iter().find(|it| it.is_dir())
}

/// Where they can be: beside this program, or in its package or checkout, else in a checkout in which dbdyno is called.
fn places() -> Vec<PathBuf> {
    // The system has resolved the links to the program.
    let program = env::current_exe().ok();
    let beside = program.iter().flat_map(|program| beside(program));
    let called_in = env::current_dir().ok().filter(|it| is_checkout(it));
    let called_in = called_in.map(|it| it.join(DIRECTORY));
    let mut places: Vec<PathBuf> = beside.chain(called_in).collect();
    // The checkout of the program is often the one in which it is called.
    places.dedup();
    places
}

/// Where a program's experiments can be: `/usr/share/dbdyno/experiments` for `/usr/bin/dbdyno`; a directory beside the
/// program, as in an unpacked archive with `dbdyno` and `experiments`, or beside its directory `bin`; and the checkout
/// that contains the program.
fn beside(program: &Path) -> Vec<PathBuf> {
    let own = program.parent();
    let prefix = own.and_then(Path::parent);
    let packaged = prefix.map(|prefix| prefix.join("share/dbdyno").join(DIRECTORY));
    // Beside any other directory, it could be one's own.
    let is_bin = own.is_some_and(|own| own.ends_with("bin"));
    let beside_bin = prefix.filter(|_| is_bin).map(|it| it.join(DIRECTORY));
    let own = own.map(|it| it.join(DIRECTORY));
    let checkout = program.ancestors().find(|it| is_checkout(it));
    let checkout = checkout.map(|it| it.join(DIRECTORY));
    let places = [packaged, own, beside_bin, checkout];
    places.into_iter().flatten().collect()
}

fn is_checkout(directory: &Path) -> bool {
    directory.join("crates/dbdyno/Cargo.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_its_experiments_beside_it() {
        let of = |program: &str| beside(Path::new(program));
        let packaged = Path::new("/usr/share/dbdyno/experiments");
        let own = Path::new("/usr/bin/experiments");
        let beside_bin = Path::new("/usr/experiments");
        assert_eq!(of("/usr/bin/dbdyno"), [packaged, own, beside_bin]);
        // Outside of a directory `bin`, only the archive's own directory.
        assert_eq!(
            of("/opt/dyno/dbdyno"),
            [
                Path::new("/opt/share/dbdyno/experiments"),
                Path::new("/opt/dyno/experiments")
            ]
        );
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let checkout = checkout.unwrap();
        let built = checkout.join("target/release/dbdyno");
        let found = beside(&built);
        assert_eq!(found.last(), Some(&checkout.join(DIRECTORY)));
    }

    #[test]
    fn without_experiments_the_hint_names_the_places_and_no_command() {
        let places = beside(Path::new("/opt/bin/dbdyno"));
        let hint = hint_for_unknown(false, &places);
        assert_eq!(
            hint,
            "this installation contains no experiment files: dbdyno looked in /opt/share/dbdyno/experiments, \
             /opt/bin/experiments and /opt/experiments; its packages and its source tree contain a directory \
             `experiments`: copy it beside the program, or name a file in it"
        );
        let unknown = how_to_get_them(&[]);
        assert!(
            unknown.contains("/proc is missing; its packages"),
            "{unknown}"
        );
        let listed = hint_for_unknown(true, &places);
        assert!(listed.starts_with("dbdyno experiments lists"), "{listed}");
    }

    #[test]
    fn what_may_be_a_name() {
        for (named, name) in [
            ("versions", Some("versions")),
            ("versions.toml", Some("versions")),
            ("experiments/versions.toml", Some("versions")),
            ("experiments/versions", None),
            ("versions.txt", None),
            ("", None),
        ] {
            assert_eq!(name_in(Path::new(named)), name, "{named}");
        }
    }

    #[test]
    fn files_come_before_names() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("versions.toml");
        let hint = |named: &Path| file_of(named).unwrap_err().hints.concat();
        assert!(hint(&own).ends_with("dbdyno run versions"));
        fs::write(&own, "").unwrap();
        assert_eq!(file_of(&own).unwrap(), own);
        assert!(hint(Path::new("no-such")).starts_with("dbdyno experiments"));
        let bundled = file_of(Path::new("versions")).unwrap();
        assert!(bundled.ends_with("experiments/versions.toml"));
    }
}
