//! Private servers by name: `~/.local/share/dbdyno/servers/NAME`, a directory or a link to one.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use experiment::nearest;
use protocol::{Address, Endpoint};
use server::Server;

/// The directory of named servers.
pub fn root() -> Result<PathBuf, Blamed> {
    server::servers_root().ok_or_else(|| {
        Blamed::new(
            Blame::Input,
            "no directory for private servers: HOME is not set",
        )
        .hint("set HOME or XDG_DATA_HOME".to_owned())
    })
}

/// The path of the server with this name, whether it exists or not.
pub fn path(name: &str) -> Result<PathBuf, Blamed> {
    check_name("server", name)?;
    Ok(root()?.join(name))
}

/// An error if a name is not usable for a directory; `what` is the kind of the named thing.
pub fn check_name(what: &str, name: &str) -> Result<(), Blamed> {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(['-', '.']) {
        let message = format!("{name:?} is not a valid name for a {what}");
        return Err(Blamed::new(Blame::Input, message).hint(
            "a name has letters, digits, - _ and . and starts with a letter, digit or _".to_owned(),
        ));
    }
    Ok(())
}

pub fn open(name: &str) -> Result<Server, Blamed> {
    match Server::open(&path(name)?) {
        Err(error @ server::Error::Missing { .. }) => {
            let near = names()?;
            let near = nearest(name, &near).map(|near| format!("did you mean {near}?"));
            Err(Blamed::from(error).hint(near))
        }
        opened => Ok(opened?),
    }
}

fn names() -> Result<Vec<String>, Blamed> {
    let listed = server::list(&root()?)?.into_iter();
    let names = listed.filter_map(|it| Some(it.path.file_name()?.to_str()?.to_owned()));
    Ok(names.collect())
}

/// The endpoint of the server with this name; an error if it is not running.
pub fn endpoint(name: &str) -> Result<Endpoint, Blamed> {
    let server = open(name)?;
    if server.is_running() {
        Ok(server.endpoint())
    } else {
        let message = format!("server {name} is not running");
        Err(Blamed::new(Blame::Input, message).hint(format!("dbdyno server start {name}")))
    }
}

/// The endpoint of the running private server whose socket this is; `None` where it is no private server's.
pub fn endpoint_at(socket: &Path) -> Result<Option<Endpoint>, Blamed> {
    let Ok(root) = root() else {
        return Ok(None);
    };
    let address = Address::Unix(socket.to_owned());
    for listed in server::list(&root)? {
        let Ok(server) = Server::open(&listed.path) else {
            continue;
        };
        let endpoint = server.endpoint();
        if server.is_running() && endpoint.address == address {
            return Ok(Some(endpoint));
        }
    }
    Ok(None)
}

/// Whether the name is unused. A link to a server that no longer exists does not count, and is removed.
pub fn is_free(path: &Path) -> Result<bool, Blamed> {
    match (path.symlink_metadata(), path.exists()) {
        (Err(_), _) => Ok(true),
        (Ok(metadata), false) if metadata.is_symlink() => {
            unlink(path)?;
            Ok(true)
        }
        (Ok(_), _) => Ok(false),
    }
}

/// Links a server in another directory to its name.
pub fn link(path: &Path, directory: &Path) -> Result<(), Blamed> {
    let linked =
        fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| symlink(directory, path));
    linked.map_err(|error| failed("link", path, &error))
}

/// Removes the link of a server in another directory.
pub fn unlink(path: &Path) -> Result<(), Blamed> {
    // Only a symbolic link can have been created by `link`; files and directories are never removed.
    if path.is_symlink() {
        fs::remove_file(path).map_err(|error| failed("remove", path, &error))
    } else {
        Err(failed("unlink", path, &io::ErrorKind::InvalidInput.into()))
    }
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Blamed {
    Blamed::new(
        Blame::Machine,
        format!("{}: cannot {what}: {error}", path.display()),
    )
}
