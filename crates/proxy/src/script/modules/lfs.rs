//! `lfs`: files and directories.

use std::{
    cell::RefCell,
    fs::{self, FileType, Metadata},
    io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, MetadataExt as _},
    },
};

use lua::{
    File, FileLock, bad_argument,
    mlua::{IntoLua, Lua, MultiValue, Result, Table, Value},
    raise,
};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

use super::function::add;

/// What functions of this module return: a value, or nil and why there is none.
type Outcome = (Value, Option<String>);

fn done(result: io::Result<()>) -> Result<Outcome> {
    Ok(match result {
        Ok(()) => (Value::Boolean(true), None),
        Err(error) => (Value::Nil, Some(error.to_string())),
    })
}

pub(super) fn module(lua: &Lua) -> Result<Table> {
    let module = lua.create_table()?;
    add(lua, &module, "attributes", attributes)?;
    add(lua, &module, "chdir", |_, path: String| {
        done(std::env::set_current_dir(path))
    })?;
    add(lua, &module, "currentdir", |lua, ()| {
        Ok(match std::env::current_dir() {
            Ok(path) => {
                let path = lua.create_string(path.as_os_str().as_bytes())?;
                (Value::String(path), None)
            }
            Err(error) => (Value::Nil, Some(error.to_string())),
        })
    })?;
    add(lua, &module, "dir", dir)?;
    add(lua, &module, "mkdir", |_, path: String| {
        done(fs::create_dir(path))
    })?;
    add(lua, &module, "rmdir", |_, path: String| {
        done(fs::remove_dir(path))
    })?;
    add(lua, &module, "touch", touch)?;
    add(
        lua,
        &module,
        "lock",
        |lua, (file, mode, start, length): (Value, Value, Option<i64>, Option<i64>)| {
            let lock = match &mode {
                Value::String(mode) if mode.as_bytes().starts_with(b"r") => FileLock::Read,
                Value::String(mode) if mode.as_bytes().starts_with(b"w") => FileLock::Write,
                Value::String(_) => return Err(raise(lua, "lock: invalid mode")),
                other => return Err(bad_argument(lua, 2, "lock", "string", other)),
            };
            lock_part(lua, "lock", &file, lock, (start, length))
        },
    )?;
    add(
        lua,
        &module,
        "unlock",
        |lua, (file, start, length): (Value, Option<i64>, Option<i64>)| {
            lock_part(lua, "unlock", &file, FileLock::Unlock, (start, length))
        },
    )?;
    Ok(module)
}

/// Locks or unlocks a part of a file: where it begins and how long it is, the whole file without these.
fn lock_part(
    lua: &Lua,
    function: &str,
    file: &Value,
    lock: FileLock,
    (start, length): (Option<i64>, Option<i64>),
) -> Result<Outcome> {
    match File::of(lua, function, file)? {
        Some(file) => done(file.lock(lock, start.unwrap_or(0), length.unwrap_or(0))),
        None => Err(bad_argument(lua, 1, function, "FILE*", file)),
    }
}

fn mode(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_file() => "file",
        kind if kind.is_dir() => "directory",
        kind if kind.is_symlink() => "link",
        kind if kind.is_socket() => "socket",
        kind if kind.is_fifo() => "named pipe",
        kind if kind.is_char_device() => "char device",
        kind if kind.is_block_device() => "block device",
        _ => "other",
    }
}

fn attributes(lua: &Lua, (path, name): (String, Option<String>)) -> Result<Outcome> {
    let meta = match fs::metadata(&path) {
        Ok(meta) => meta,
        Err(error) => return Ok((Value::Nil, Some(error.to_string()))),
    };
    let all = attribute_table(lua, &meta)?;
    Ok(match name {
        Some(name) => (all.get(name)?, None),
        None => (Value::Table(all), None),
    })
}

fn attribute_table(lua: &Lua, meta: &Metadata) -> Result<Table> {
    let all = lua.create_table()?;
    all.raw_set("mode", mode(meta.file_type()))?;
    let numbers = [
        ("dev", meta.dev() as i64),
        ("ino", meta.ino() as i64),
        ("nlink", meta.nlink() as i64),
        ("uid", meta.uid().into()),
        ("gid", meta.gid().into()),
        ("rdev", meta.rdev() as i64),
        ("access", meta.atime()),
        ("modification", meta.mtime()),
        ("change", meta.ctime()),
        ("size", meta.size() as i64),
        ("blocks", meta.blocks() as i64),
        ("blksize", meta.blksize() as i64),
    ];
    for (name, number) in numbers {
        all.raw_set(name, number)?;
    }
    Ok(all)
}

/// A function that returns the next name at each call.
fn dir(lua: &Lua, path: String) -> Result<Value> {
    let entries =
        fs::read_dir(&path).map_err(|error| raise(lua, format!("cannot open {path}: {error}")))?;
    let selves = [".", ".."].map(|name| Ok(name.into()));
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let names = RefCell::new(selves.into_iter().chain(names));
    let next = lua.create_function(move |lua, _: MultiValue| match names.borrow_mut().next() {
        Some(Ok(name)) => Ok(Value::String(lua.create_string(name.as_bytes())?)),
        Some(Err(error)) => Err(raise(lua, error.to_string())),
        None => Ok(Value::Nil),
    })?;
    next.into_lua(lua)
}

/// Sets the times of a file: of the access, and of the modification, which is the same without one.
fn touch(
    _: &Lua,
    (path, access, modification): (String, Option<i64>, Option<i64>),
) -> Result<Outcome> {
    let time = |seconds: Option<i64>| match seconds {
        Some(tv_sec) => Timespec { tv_sec, tv_nsec: 0 },
        None => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        },
    };
    let times = Timestamps {
        last_access: time(access),
        last_modification: time(modification.or(access)),
    };
    done(utimensat(CWD, path, &times, AtFlags::empty()).map_err(io::Error::from))
}
