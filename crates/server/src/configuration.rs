//! Builds the server's option file from the user's settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mycnf::{OptionFile, Options, PrivateOptions, Sources, is_switched_on};

use crate::directory::layout::Layout;
use crate::error::Error;
use crate::installation::Installation;

/// The user's settings for a private server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Option files, layered in this order: a later one wins.
    pub cnf: Vec<PathBuf>,
    /// Single options, which win over the files.
    pub set: BTreeMap<String, String>,
    /// Options that hold unless the files or `set` have them.
    pub defaults: &'static [(&'static str, &'static str)],
    /// The TCP port; `None` chooses a free one.
    pub port: Option<u16>,
}

pub(crate) fn configure(
    layout: &Layout,
    installation: &Installation,
    settings: &Settings,
) -> Result<PrivateOptions, Error> {
    let layers = settings.cnf.iter().map(|path| OptionFile::read(path));
    let layers = layers.collect::<Result<Vec<_>, _>>()?;
    configure_layers(layout, installation, settings, &layers)
}

/// The same with option files that were read already, in the place of those that the settings name.
pub(crate) fn configure_layers(
    layout: &Layout,
    installation: &Installation,
    settings: &Settings,
    layers: &[OptionFile],
) -> Result<PrivateOptions, Error> {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let mut defaults = vec![
        ("server-id", "1".to_owned()),
        ("tmpdir", path(&layout.temporary)),
        ("secure-file-priv", path(&layout.files)),
        // MySQL 8 refuses LOAD DATA LOCAL by default; here only our own clients use it.
        ("local-infile", "1".to_owned()),
    ];
    let given = settings.defaults.iter();
    defaults.extend(given.map(|(option, value)| (*option, (*value).to_owned())));
    if installation.is_mariadb() && installation.numbers().at_least([11, 4]) {
        // With TLS the server would create a new key at every start, which takes seconds.
        defaults.push(("ssl", "0".to_owned()));
    }
    let mut guarded = vec![("bind-address", "127.0.0.1".to_owned())];
    guarded.extend(installation_options(installation));
    if !installation.is_mariadb() && installation.numbers().at_least([8, 0, 11]) {
        // The X plugin listens on every address, whatever bind-address says.
        guarded.push(("loose-mysqlx", "OFF".to_owned()));
    }
    let private = PrivateOptions::new(&Sources {
        defaults: &defaults,
        layers,
        groups: &installation.option_groups(),
        guarded: &guarded,
        set: &settings.set,
        decided: &decided_options(layout, installation),
    })?;
    Ok(private)
}

/// The locations of the server's own files.
pub(crate) fn installation_options(installation: &Installation) -> Vec<(&'static str, String)> {
    [
        ("lc-messages-dir", installation.messages_dir()),
        ("character-sets-dir", installation.character_sets_dir()),
        ("plugin-dir", installation.plugin_dir()),
    ]
    .into_iter()
    .filter_map(|(name, path)| Some((name, path?.to_string_lossy().into_owned())))
    .collect()
}

/// The options that dbdyno decides; socket and port are on the command line because they can change at a start.
pub(crate) fn decided_options(
    layout: &Layout,
    installation: &Installation,
) -> Vec<(&'static str, String)> {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let mut options = vec![
        ("basedir", path(&installation.basedir)),
        ("datadir", path(&layout.data)),
        ("pid-file", path(&layout.pid_file)),
    ];
    if rustix::process::geteuid().is_root() {
        // Every server refuses to run as root without this option.
        options.push(("user", "root".to_owned()));
    }
    options
}

/// The address at which clients on this machine reach the server.
pub(crate) fn host(options: &Options) -> String {
    let bound = options.value("bind_address").unwrap_or_default();
    match bound.split(',').next().unwrap_or_default().trim() {
        "" | "*" | "0.0.0.0" | "::" => "127.0.0.1".to_owned(),
        address => address.to_owned(),
    }
}

pub(crate) fn is_without_tls(options: &Options) -> bool {
    options
        .last("ssl")
        .is_some_and(|entry| is_switched_on(&entry.name, entry.value.as_deref()) == Some(false))
}
