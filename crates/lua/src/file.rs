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

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::{Host, HostOptions};

    /// Locks the first ten bytes as another process would.
    fn lock_elsewhere(file: &std::fs::File) {
        let part = libc::flock {
            l_type: libc::F_WRLCK as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 10,
            l_pid: 0,
        };
        // SAFETY: the file is open, and the pointer is that of a whole flock.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const part) };
        assert_eq!(done, 0);
    }

    #[test]
    fn a_part_that_another_holds_is_refused() {
        let other = tempfile::NamedTempFile::new().unwrap();
        lock_elsewhere(other.as_file());
        let host = Host::new(&HostOptions::default()).unwrap();
        let open = format!("return io.open('{}', 'r+')", other.path().display());
        let value: Value = host.lua().load(open).eval().unwrap();
        let file = File::of(host.lua(), "lock", &value).unwrap().unwrap();
        assert!(file.lock(FileLock::Write, 5, 10).is_err());
        assert!(file.lock(FileLock::Read, 0, 0).is_err());
        file.lock(FileLock::Write, 10, 0).unwrap();
        file.lock(FileLock::Unlock, 10, 0).unwrap();
    }

    #[test]
    fn only_lua_s_own_open_files_are_files() {
        let host = Host::new(&HostOptions::default()).unwrap();
        let lua = host.lua();
        let eval = |text: &str| lua.load(text).eval::<Value>().unwrap();
        // A replaced function decides nothing.
        eval("io.type = function() return 'file' end");
        for text in [
            "return 1",
            "return {}",
            "return newproxy(true)",
            "return print",
        ] {
            assert!(
                File::of(lua, "lock", &eval(text)).unwrap().is_none(),
                "{text}"
            );
        }
        assert!(
            File::of(lua, "lock", &eval("return io.stdout"))
                .unwrap()
                .is_some()
        );
        let closed = eval("local f = io.tmpfile() f:close() return f");
        let error = File::of(lua, "lock", &closed).unwrap_err();
        assert!(error.to_string().contains("lock: closed file"), "{error}");
    }
}
