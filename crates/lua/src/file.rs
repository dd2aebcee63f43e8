//! Files that scripts have opened with `io.open`, and locks on parts of them.

use std::io;

use mlua::{AnyUserData, Function, Lua, Value};

use crate::raise;

/// Where Lua's own `io.type` is kept: a script may replace it.
const IO_TYPE: &str = "dbdyno.io.type";

/// An open file of a script.
#[derive(Debug)]
pub struct File {
    /// Keeps Lua from closing the file.
    _object: AnyUserData,
    descriptor: libc::c_int,
}

/// What a lock of [`File::lock`] permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLock {
    /// Others may lock for reading, too.
    Read,
    /// No other process may lock it.
    Write,
    /// Removes the lock.
    Unlock,
}

/// Keeps what [`File::of`] needs, before any script runs.
pub(crate) fn install(lua: &Lua) -> mlua::Result<()> {
    let io: mlua::Table = lua.globals().get("io")?;
    lua.set_named_registry_value(IO_TYPE, io.get::<Function>("type")?)
}

impl File {
    /// The file of a value; `None` for a value that is no file. A closed one is an error in the script that calls
    /// `function`.
    pub fn of(lua: &Lua, function: &str, value: &Value) -> mlua::Result<Option<Self>> {
        let Value::UserData(object) = value else {
            return Ok(None);
        };
        let io_type: Function = lua.named_registry_value(IO_TYPE)?;
        match io_type.call::<Option<String>>(object)?.as_deref() {
            Some("file") => {}
            Some(_) => return Err(raise(lua, format!("{function}: closed file"))),
            None => return Ok(None),
        }
        let place = object.to_pointer().cast::<*mut libc::FILE>();
        // SAFETY: io.type, which is Lua's own, says that this object is an open file; such an object begins with the
        // FILE of C, and `object` keeps it.
        let descriptor = unsafe { libc::fileno(*place) };
        Ok(Some(Self {
            _object: object.clone(),
            descriptor,
        }))
    }

    /// Locks `length` bytes from `start`, or unlocks them; 0 bytes are all up to the end, wherever it will be. It does
    /// not wait: a lock of another process is an error. A lock ends with its process, or when the process closes the
    /// file.
    pub fn lock(&self, lock: FileLock, start: i64, length: i64) -> io::Result<()> {
        let kind = match lock {
            FileLock::Read => libc::F_RDLCK,
            FileLock::Write => libc::F_WRLCK,
            FileLock::Unlock => libc::F_UNLCK,
        };
        let part = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: start as libc::off_t,
            l_len: length as libc::off_t,
            l_pid: 0,
        };
        // SAFETY: the descriptor is open as long as the file's object, and the pointer is that of a whole flock.
        let done = unsafe { libc::fcntl(self.descriptor, libc::F_SETLK, &raw const part) };
        match done {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}
