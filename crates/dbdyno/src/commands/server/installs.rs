//! `dbdyno server install`, `installed` and `uninstall`: the versions available for new servers.

use std::path::PathBuf;

use blame::{Blame, Blamed};
use runs::named_server;
use server::{Installed, Progress, RECIPES};

use crate::{commands::server::table::aligned, progress::Step};

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    /// Server version to install, such as mysql-5.7 or mariadb-11.8; with --from, a name of your choice
    name: String,
    /// Install from this archive, directory or server binary (mysqld) instead of from packages
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct InstalledArgs {
    /// Also list the versions that can be installed
    #[arg(long)]
    all: bool,
}

pub(super) fn install(args: &InstallArgs) -> Result<(), Blamed> {
    let name = &args.name;
    let root = root()?;
    let known = server::installed(&root)?;
    let known = known.into_iter().find(|it| it.name == *name);
    // An archive may hold another server of this name.
    if let Some(known) = known.filter(|_| args.from.is_none()) {
        eprintln!("note: {name} is installed already; nothing was changed");
        print_line(&known);
        return Ok(());
    }
    let step = Step::spinner(format!("installing {name}"));
    let mut show = |progress| step.say(format!("installing {name}: {}", described(progress)));
    let installed = server::install(&root, name, args.from.as_deref(), &mut show)?;
    drop(step);
    if installed.name != *name {
        eprintln!("note: {name} is {} now", installed.name);
    }
    print_line(&installed);
    Ok(())
}

fn print_line(installed: &Installed) {
    println!(
        "{}: {} {}, {}",
        installed.name,
        installed.installation.flavour,
        installed.installation.version,
        units::bytes(installed.disk_bytes)
    );
}

/// The installed versions and, if requested, those that can be installed.
pub(super) fn table(args: &InstalledArgs) -> Result<String, Blamed> {
    let mut rows = vec![["NAME", "VERSION", "SIZE", "FROM"].map(str::to_owned)];
    let installed = server::installed(&root()?)?;
    for one in &installed {
        rows.push([
            one.name.clone(),
            format!("{} {}", one.installation.flavour, one.installation.version),
            units::bytes(one.disk_bytes),
            one.source.clone(),
        ]);
    }
    let is_new = |name: &str| installed.iter().all(|one| one.name != name);
    for recipe in RECIPES
        .iter()
        .filter(|recipe| args.all && is_new(recipe.name))
    {
        rows.push([
            recipe.name.to_owned(),
            "not installed".to_owned(),
            format!(
                "{} to load",
                units::bytes(u64::from(recipe.download_mb) * 1_000_000)
            ),
            recipe.source(),
        ]);
    }
    Ok(aligned(&rows))
}

pub(super) fn uninstall(name: &str) -> Result<(), Blamed> {
    Ok(server::uninstall(&root()?, name, &named_server::root()?)?)
}

fn root() -> Result<PathBuf, Blamed> {
    server::installs_root().ok_or_else(|| {
        Blamed::new(
            Blame::Input,
            "no directory for installed servers: HOME is not set",
        )
        .hint("set HOME or XDG_DATA_HOME".to_owned())
    })
}

fn described(progress: Progress) -> String {
    match progress {
        Progress::Download { bytes, about_bytes } => format!(
            "downloaded {} of about {}",
            units::bytes(bytes.min(about_bytes)),
            units::bytes(about_bytes)
        ),
        Progress::Unpack => "unpacking".to_owned(),
        Progress::Try => "trying it".to_owned(),
    }
}
